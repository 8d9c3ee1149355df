/* hang.c: the watchdog: waves that run for ever.
 *
 * A hang is proven where a wave comes by a place again with the same registers while no
 * kernel has changed memory in between, and every other wave that could change it does
 * the same or waits at a barrier. What cannot be proven so (a loop that counts) is a
 * hang after ck_config.watchdog instructions of a wave without a barrier.
 * Only then and when is that looked for: as soon as some wave has done many
 * instructions without a barrier, all waves' instructions are seen until one of them
 * turns out not to repeat itself, and again when there were twice as many. Meanwhile
 * waves may run unseen; a turn of theirs counts as a change of memory. Must not know
 * who else writes memory: hosts do not write while `rdna3 run` runs a kernel, but
 * for the answers to its calls; then, and under a driver, they may, and only the second
 * rule holds there. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define SUSPECT  (UINT64_C(1) << 16) /* instructions without progress */
#define LONG     (UINT64_C(1) << 21) /* likewise: somebody else may have to go first */
#define LOOK     (UINT64_C(1) << 12) /* in which a wave's state must come back */
#define WINDOW   64u                 /* passes of a loop between two looks at it */
#define PERIOD   8u                  /* passes after which its state may repeat */
#define PATIENCE (UINT64_C(1) << 24) /* instructions of all waves without a change */

static bool waits_or_spins(const struct ck *ck, const struct ck_wave *w)
{
    return w->ended || w->waits ||
           (w->progress.spins && w->progress.changes == ck->changes);
}

static bool group_hangs(const struct ck *ck, const struct ck_group *g)
{
    for (unsigned i = 0; i < g->n_waves; i++)
        if (!waits_or_spins(ck, &g->wave[i]))
            return false;
    return true;
}

/* Does the group wait for nothing outside of itself? */
static bool group_is_alone(const struct ck_group *g)
{
    for (unsigned i = 0; i < g->n_waves; i++)
        if (g->wave[i].progress.polls_memory && !g->wave[i].ended && !g->wave[i].waits)
            return false;
    return true;
}

/* May the host still write what a wave waits for? */
static bool host_may_write(const struct ck *ck)
{
    return ck->config.host_writes ||
           (ck->config.host_asked && ck->config.host_asked(ck->config.host));
}

static bool proven(const struct ck *ck, const struct ck_group *g)
{
    if (host_may_write(ck) || !group_hangs(ck, g))
        return false;
    if (group_is_alone(g))
        return true;
    if (ck->n_started < ck->launch.n_groups && ck->quiet < PATIENCE)
        return false;
    for (const struct ck_group *other = ck->groups; other; other = other->next)
        if (!group_hangs(ck, other))
            return false;
    return true;
}

/* ---- what is told ---- */

static void describe_place(const struct ck_progress *p, char *text, size_t size)
{
    if (!p->polled_pc)
        (void)snprintf(text, size, "it reads no memory");
    else if (p->polled_space == EMU_SPACE_GLOBAL)
        (void)snprintf(text, size, "it last read %u bytes at 0x%" PRIx64,
                       p->polled_bytes, p->polled);
    else
        (void)snprintf(text, size, "it last read %u bytes at byte %" PRIu64 " of %s",
                       p->polled_bytes, p->polled,
                       p->polled_space == EMU_SPACE_LDS ? "LDS" : "scratch");
}

static void tell_wave(struct ck *ck, const struct ck_wave *w, const struct emu_event *e,
                      bool sure)
{
    struct ck_finding f;
    char where[80];
    const struct ck_progress *p = &w->progress;
    ck_finding_at(ck, CK_SYNC, w->waits ? "waits-for-ever" : "endless-loop", e, 0, &f);
    uint64_t pc = w->waits ? w->barrier_pc : p->polled_pc ? p->polled_pc : w->pc;
    ck_actor_at(ck, w, pc, 0, &f.at);
    if (w->waits) {
        (void)snprintf(f.text, sizeof f.text, "barrier that will not open");
        ck_report(ck, &f);
        return;
    }
    describe_place(p, where, sizeof where);
    if (sure)
        (void)snprintf(f.text, sizeof f.text,
                       "endless loop: nothing that can still run changes what it waits "
                       "for; %s",
                       where);
    else
        (void)snprintf(f.text, sizeof f.text,
                       "no end after %" PRIu64 " instructions; %s", ck->config.watchdog,
                       where);
    if (p->polled_pc) {
        f.located = true;
        f.space = p->polled_space;
        f.bytes = p->polled_bytes;
        f.address = p->polled;
        if (f.space == EMU_SPACE_GLOBAL)
            ck_mem_holds(ck, f.address, &f);
    }
    ck_report(ck, &f);
}

/* All that hang in the group, and the end of the dispatch. */
static void tell(struct ck *ck, const struct ck_wave *first, const struct emu_event *e,
                 bool sure)
{
    const struct ck_group *g = first->group;
    bool keep_going = ck->config.keep_going;
    ck->config.keep_going = true;
    tell_wave(ck, first, e, sure);
    for (unsigned i = 0; i < g->n_waves; i++)
        if (&g->wave[i] != first && !g->wave[i].ended && (sure || g->wave[i].waits))
            tell_wave(ck, &g->wave[i], e, sure);
    ck->config.keep_going = keep_going;
    ck_end(ck);
}

/* ---- what waves do ---- */

static uint64_t hash_bytes(uint64_t h, const uint8_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        h = (h ^ v[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Has a write of a suspect wave left the same in the same places as the last time? */
static bool wrote_the_same(struct ck_wave *w, const struct emu_event *e,
                           const struct emu_access *a)
{
    uint64_t h = e->inst->pc;
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        uint8_t now[64];
        unsigned l = (unsigned)__builtin_ctzll(m);
        if (!emu_wave_peek(e->wave, a->space, l, a->address[l], a->bytes, now))
            return false;
        h = hash_bytes(h ^ a->address[l], now, a->bytes);
    }
    unsigned home = (unsigned)(e->inst->pc / 4 % CK_WRITES), at = home;
    do {
        if (w->progress.written[at].pc == e->inst->pc) {
            bool same = w->progress.written[at].left == h;
            w->progress.written[at].left = h;
            return same;
        }
        if (!w->progress.written[at].pc)
            break;
        at = (at + 1) % CK_WRITES;
    } while (at != home);
    w->progress.written[at].pc = e->inst->pc;
    w->progress.written[at].left = h;
    return false;
}

static void memory_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_progress *p = &w->progress;
    for (unsigned i = 0; i < e->n_accesses; i++) {
        const struct emu_access *a = &e->access[i];
        if (a->read && (a->space != EMU_SPACE_SCRATCH || !p->polled_pc)) {
            p->polled_pc = e->inst->pc;
            p->polled = a->address[__builtin_ctzll(a->lanes)];
            p->polled_bytes = a->bytes;
            p->polled_space = a->space;
            p->polls_memory |= a->space == EMU_SPACE_GLOBAL;
        }
        if (a->write && !wrote_the_same(w, e, a)) {
            ck->changes++;
            ck->quiet = 0;
        }
    }
}

/* A backward branch: has the wave's state come back? */
static void loop_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    struct ck_progress *p = &w->progress;
    if (p->loop_pc != e->next_pc || p->changes != ck->changes) {
        p->loop_pc = e->next_pc;
        p->passes = 0;
        p->spins = false;
    }
    if (p->spins)
        p->proven = w->insts;
    unsigned phase = (unsigned)(p->passes++ % WINDOW);
    if (phase > PERIOD)
        return;
    uint64_t digest = emu_wave_digest(e->wave);
    if (phase == 0) {
        p->digest = digest;
        p->changes = ck->changes;
        p->polls_memory = p->spins = false;
        p->polled_pc = 0;
        return;
    }
    if (digest != p->digest || p->changes != ck->changes)
        return;
    p->spins = true;
    p->proven = w->insts;
    if (proven(ck, w->group))
        tell(ck, w, e, true);
}

void ck_hang_begin(struct ck *ck)
{
    ck->changes = 1;
    ck->quiet = 0;
    ck->looks = false;
    ck->next_look = SUSPECT;
    atomic_store_explicit(&ck->lingers, false, memory_order_relaxed);
}

void ck_hang_end(struct ck *ck)
{
    atomic_store_explicit(&ck->lingers, false, memory_order_relaxed);
}

bool ck_lingers(const struct ck *ck)
{
    return atomic_load_explicit(&ck->lingers, memory_order_relaxed);
}

static void begin_look(struct ck *ck)
{
    ck->looks = true;
    for (struct ck_group *g = ck->groups; g; g = g->next)
        for (unsigned i = 0; i < g->n_waves; i++) {
            struct ck_progress *p = &g->wave[i].progress;
            p->proven = g->wave[i].insts;
            p->spins = false;
            p->loop_pc = 0;
        }
}

bool ck_hang_turn(struct ck *ck, struct ck_wave *w)
{
    struct ck_progress *p = &w->progress;
    uint64_t since = w->insts - p->base;
    if (ck->looks && w->insts - p->proven > LOOK) { /* it does not repeat itself */
        ck->looks = false;
        ck->next_look *= 2;
    } else if (!ck->looks && since > ck->next_look && !host_may_write(ck)) {
        ck->next_look = since;
        begin_look(ck);
    }
    if (!ck->looks) {
        ck->changes++;
        ck->quiet = 0;
    }
    if (since > LONG)
        atomic_store_explicit(&ck->lingers, true, memory_order_relaxed);
    p->expired = since > ck->config.watchdog;
    return ck->looks || p->expired;
}

bool ck_hang_looks(const struct ck *ck, const struct ck_wave *w)
{
    return ck->looks || w->progress.expired;
}

void ck_hang_opens(struct ck *ck, struct ck_group *g)
{
    for (unsigned i = 0; i < g->n_waves; i++)
        g->wave[i].progress.base = g->wave[i].progress.proven = g->wave[i].insts;
    atomic_store_explicit(&ck->lingers, false, memory_order_relaxed);
    ck->changes++;
    ck->quiet = 0;
}

void ck_hang_step(struct ck *ck, struct ck_wave *w, const struct emu_event *e)
{
    if (e->flags & EMU_EV_BARRIER_DONE) {
        ck_hang_opens(ck, w->group);
        return;
    }
    if (!ck_hang_looks(ck, w))
        return;
    ck->quiet++;
    memory_step(ck, w, e);
    if (e->flags & EMU_EV_ENDED)
        ck->quiet = 0;
    else if (e->flags & EMU_EV_TAKEN && e->next_pc <= e->inst->pc) {
        if (w->progress.expired && w->progress.passes++) /* its loads have been seen */
            tell(ck, w, e, false);
        else if (w->progress.expired)
            return;
        else
            loop_step(ck, w, e);
    }
}
