/* join.c: launches that come while a run goes on, and that end by themselves.
 *
 * An open run (tm_config.ended) begins with one launch, alone and as fast as any; with
 * the second it becomes one of several. Each is told of as it ends. One that faults or
 * is cancelled takes its own waves with it: they end at their next turns, and nothing
 * of it begins any more. Must not know when a launch begins (several.c).
 * SPDX-License-Identifier: MIT
 */
#include "later.h"
#include "several.h"
#include "windows.h"

rd_status tm_join(struct tm_engine *t, struct emu *emu, const struct tm_launch *launch,
                  unsigned *number, struct emu_fault *fault)
{
    if (!t->config.ended)
        return RD_E_UNSUPPORTED;
    if (t->over)
        return RD_E_BUSY;
    rd_status st = tm_several_share(t, number);
    if (st == RD_OK)
        st = tm_several_add(t, emu, launch, *number, fault);
    return st;
}

/* What is left of the run goes through one queue. */
static void leave_windows(struct tm_engine *t)
{
    t->talks |= t->turns != NULL;
}

void tm_cancel(struct tm_engine *t, unsigned number)
{
    struct tm_several *s = t->several;
    if (!s || number >= s->n || s->one[number].stage == TM_ENDED ||
        s->one[number].status != RD_OK)
        return;
    s->one[number].status = RD_E_TIMEOUT;
    s->dying = true;
    leave_windows(t);
}

void tm_hold(struct tm_engine *t, unsigned number, bool stands)
{
    struct tm_several *s = t->several;
    if (!s || number >= s->n || s->one[number].stands == stands)
        return;
    s->one[number].stands = stands;
    leave_windows(t);
    s->resumed |= !stands;
}

/* The wave's next turn is its end. */
static void end_here(struct tm_wave *w)
{
    for (unsigned k = 0; k < TM_CLASSES; k++)
        if (w->simd->port.clause[k] == w)
            w->simd->port.clause[k] = NULL;
    w->ended = true;
    w->sleeps = w->unmet = w->at_barrier = false;
    w->next = NULL;
    w->account.n_waited = 0;
    if (w->turns)
        w->turns->ended |= UINT64_C(1) << w->rank;
}

rd_status tm_join_failed(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_several *s = t->several;
    if (!s || !t->config.ended)
        return RD_E_FAULT;
    struct tm_one *o = &s->one[w->group->launch];
    int64_t now = tm_now(t);
    uint64_t key = tm_key(w);
    if (o->status != RD_E_FAULT || now < o->fault_at ||
        (now == o->fault_at && key < o->fault_key)) {
        emu_stepper_blame(o->stepper, w->wave);
        o->fault_at = now;
        o->fault_key = key;
    }
    o->status = RD_E_FAULT;
    s->dying = true;
    leave_windows(t);
    end_here(w);
    return tm_push(t, now + 1, w);
}

static rd_status end_waves(struct tm_engine *t, unsigned launch)
{
    rd_status st = RD_OK;
    for (size_t i = 1; i < t->pools.n_waves && st == RD_OK; i++) {
        struct tm_wave *w = t->pools.wave[i];
        if (!w->group || w->left || w->group->launch != launch)
            continue;
        bool waits = w->at_barrier; /* for ever: it has no turn to come */
        tm_catch_up(w);
        w->group->waves[emu_wave_info(w->wave)->wave] = NULL;
        end_here(w);
        if (waits)
            st = tm_push(t, tm_now(t), w);
    }
    return st;
}

/* Its waves end, and none begins. */
static rd_status bury(struct tm_engine *t, unsigned number)
{
    struct tm_several *s = t->several;
    struct tm_one *o = &s->one[number];
    const struct emu_inspector *to = o->is.dispatch->inspector;
    bool fell = o->status == RD_E_FAULT;
    o->buried = true;
    if (to && fell)
        (void)tm_show_fault(t, to, number, emu_stepper_fault(o->stepper));
    tm_several_turn_to(t, number);
    rd_status st = end_waves(t, number);
    s->to_come -= o->stage == TM_TO_COME;
    if (o->stage != TM_PLACED)
        o->placed = tm_now(t);
    o->launch.n_groups = t->launch.n_groups = t->end_group = o->started;
    o->stage = TM_PLACED;
    return st == RD_OK && !o->live ? tm_several_over(t, o) : st;
}

rd_status tm_join_bury(struct tm_engine *t)
{
    struct tm_several *s = t->several;
    rd_status st = RD_OK;
    s->dying = false;
    for (unsigned k = 0; k < s->n && st == RD_OK; k++) {
        const struct tm_one *o = &s->one[k];
        if (o->status != RD_OK && o->stage != TM_ENDED && !o->buried)
            st = bury(t, k);
    }
    return st;
}

void tm_join_tell(struct tm_engine *t, struct tm_one *o)
{
    if (!t->config.ended || o->told)
        return;
    struct tm_ended how = {.status = o->status, .over = t->over};
    if (o->status == RD_E_FAULT)
        how.fault = *emu_stepper_fault(o->stepper);
    emu_stepper_rest(o->stepper, &how.stats);
    o->told = true;
    t->config.ended(t->config.poll_ctx, (unsigned)(o - t->several->one), &how);
}

void tm_join_finish(struct tm_engine *t, rd_status st)
{
    struct tm_several *s = t->several;
    for (unsigned k = 0; s && t->config.ended && k < s->n; k++) {
        struct tm_one *o = &s->one[k];
        if (o->told) /* its dispatch is nobody's any more */
            continue;
        const struct emu_inspector *to = o->is.dispatch->inspector;
        if (o->status == RD_OK) /* waves that nobody will wake, or begin */
            o->status = st == RD_OK ? RD_E_TIMEOUT : st;
        if (to && o->status == RD_E_TIMEOUT)
            (void)tm_show_fault(t, to, k, NULL);
        o->end = tm_now(t);
        o->stage = TM_ENDED;
        tm_join_tell(t, o);
    }
}
