/* sync.c: barriers that not all of a workgroup reach together.
 *
 * The chip lets waves go on when those that have not ended are at some barrier (manual
 * 5.5), whichever it is and with whatever lanes; languages demand that all work-items
 * reach the same one. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "internal.h"

/* Lanes that have a work-item but are off at the barrier. */
static void check_lanes(struct ck *ck, const struct ck_wave *w,
                        const struct emu_event *e)
{
    struct ck_finding f;
    uint64_t off = w->items & ~e->exec;
    if (!off)
        return;
    ck_finding_at(ck, CK_SYNC, "masked-lanes", e, off, &f);
    (void)snprintf(f.text, sizeof f.text,
                   "barrier that %d of %d lanes of the wave do not reach",
                   __builtin_popcountll(off), __builtin_popcountll(w->items));
    ck_report(ck, &f);
}

/* A wave that waits at another barrier. */
static void check_same(struct ck *ck, const struct ck_wave *w,
                       const struct emu_event *e)
{
    const struct ck_group *g = w->group;
    struct ck_finding f;
    for (unsigned i = 0; i < g->n_waves; i++) {
        const struct ck_wave *other = &g->wave[i];
        if (!other->waits || other->barrier_pc == e->inst->pc)
            continue;
        ck_finding_at(ck, CK_SYNC, "different-barriers", e, 0, &f);
        ck_actor_at(ck, other, other->barrier_pc, 0, &f.other);
        (void)snprintf(f.text, sizeof f.text,
                       "barrier that meets another barrier: wave %u waits elsewhere",
                       other->info->wave);
        ck_report(ck, &f);
        return;
    }
}

/* waiting is at a barrier that ended will not reach any more. */
static void tell_ended(struct ck *ck, const struct ck_wave *waiting, uint64_t pc,
                       const struct ck_wave *ended, uint64_t ended_pc,
                       const struct emu_event *e)
{
    struct ck_finding f;
    ck_finding_at(ck, CK_SYNC, "missed-barrier", e, 0, &f);
    ck_actor_at(ck, waiting, pc, 0, &f.at);
    ck_actor_at(ck, ended, ended_pc, 0, &f.other);
    (void)snprintf(f.text, sizeof f.text,
                   "barrier that wave %u does not reach: it has ended",
                   ended->info->wave);
    ck_report(ck, &f);
}

static void check_ended(struct ck *ck, const struct ck_wave *w,
                        const struct emu_event *e)
{
    const struct ck_group *g = w->group;
    for (unsigned i = 0; i < g->n_waves && g->n_ended; i++) {
        if (!g->wave[i].ended)
            continue;
        tell_ended(ck, w, e->inst->pc, &g->wave[i], g->wave[i].pc, e);
        return;
    }
}

static void check_waiting(struct ck *ck, const struct ck_wave *w,
                          const struct emu_event *e)
{
    const struct ck_group *g = w->group;
    for (unsigned i = 0; i < g->n_waves; i++) {
        const struct ck_wave *other = &g->wave[i];
        if (!other->waits)
            continue;
        tell_ended(ck, other, other->barrier_pc, w, e->inst->pc, e);
        return;
    }
}

bool ck_sync_fine(const struct ck_wave *w, uint64_t pc, uint64_t exec)
{
    const struct ck_group *g = w->group;
    if (w->items & ~exec || g->n_ended)
        return false;
    for (unsigned i = 0; i < g->n_waves; i++)
        if (g->wave[i].waits && g->wave[i].barrier_pc != pc)
            return false;
    return true;
}

void ck_sync_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    if (e->flags & EMU_EV_FAULT)
        return;
    if (e->flags & EMU_EV_ENDED) {
        check_waiting(ck, w, e);
    } else if (e->inst->kind == EMU_KIND_BARRIER) {
        check_lanes(ck, w, e);
        check_same(ck, w, e);
        check_ended(ck, w, e);
    }
}
