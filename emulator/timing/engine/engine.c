/* engine.c: the event loop: whose turn it is.
 *
 * Time jumps from one wave's turn (turn.c) to the next. Must not know what a turn is
 * for.
 * SPDX-License-Identifier: MIT
 */
#include "ahead.h"
#include "several.h"

#include <stdlib.h>
#include <string.h>

#define POLL_EVENTS 4096u
#define HELD        512 /* cycles between turns of a wave that has to stand still */

/* What is accepted at the end of a window, before anything else is issued. */
static int64_t accepted(const struct tm_engine *t, int64_t end)
{
    return end == INT64_MAX ? end : end + PARAM(&t->chip.b, lds_start);
}

void tm_gather_wgp(struct tm_engine *t, struct tm_wgp *g, int64_t end)
{
    for (unsigned c = 0; c < 2; c++)
        tm_send_settle(&t->chip.b, &g->cu[c].send, accepted(t, end));
}

void tm_look_up(struct tm_engine *t, unsigned se, int64_t end)
{
    struct tm_se *s = &t->all->chip.se[se];
    for (unsigned k = 0; k < t->chip.wgps_per_se; k++)
        tm_gather_wgp(t, &s->wgps[k], end);
    tm_sent_look_up(&t->chip.b, t->chip.mem, &s->sent, accepted(t, end));
}

rd_status tm_ask(struct tm_engine *t, int64_t end, bool *any)
{
    struct tm_sent *sent[TM_MAX_SES] = {NULL};
    bool lost = false;
    *any = false;
    for (unsigned k = 0; k < t->chip.n_ses; k++) {
        sent[k] = &t->chip.se[k].sent;
        lost |= sent[k]->lost;
        *any |= sent[k]->n_now != 0;
    }
    if (*any)
        tm_sent_ask(&t->chip.b, t->chip.mem, sent, t->chip.n_ses);
    t->asked = end;
    return lost ? RD_E_NOMEM : RD_OK;
}

void tm_return(struct tm_engine *t, unsigned se)
{
    tm_sent_return(&t->chip.b, &t->all->chip.se[se].sent);
}

rd_status tm_begin_dispatch(struct tm_engine *t, unsigned se)
{
    struct tm_dispatcher *d = &t->all->dispatcher[se];
    d->scheduled = true;
    return tm_push_own(t, tm_first_launch(t, d->next_number), se);
}

rd_status tm_push_event(struct tm_engine *t, int64_t when, const struct tm_wave *w)
{
    return tm_events_push(&t->events, tm_now(t), when, tm_key(w));
}

rd_status tm_turn_of_own(struct tm_engine *t, unsigned number)
{
    if (number == TM_OWN) /* it has been looked */
        return RD_OK;
    return number < TM_MAX_SES ? tm_dispatch(t, number)
                               : tm_take_ends(t, number - TM_MAX_SES);
}

rd_status tm_turn_of(struct tm_engine *t, const struct tm_event *e)
{
    t->chip.b.now = e->t;
    tm_fetch_waves(t);
    struct tm_wave *w = tm_wave_of(t, e->key);
    if (!w)
        return tm_turn_of_own(t, (unsigned)(e->key >> TM_INDEX_BITS));
    tm_at_hand(t, w->group->launch);
    if (t->several && !w->ended && t->several->one[w->group->launch].stands)
        return tm_push(t, tm_now(t) + HELD, w);
    rd_status st = tm_turn_of_wave(t, w);
    if (st != RD_E_FAULT)
        return st;
    emu_stepper_blame(t->stepper,
                      w->wave); /* nobody else does behind several threads */
    return tm_join_failed(t, w);
}

rd_status tm_gather_and_ask(struct tm_engine *t, int64_t end)
{
    for (unsigned k = 0; k < t->chip.n_ses; k++)
        tm_look_up(t, k, end);
    bool any;
    rd_status st = tm_ask(t, end, &any);
    for (unsigned k = 0; any && k < t->chip.n_ses; k++)
        tm_return(t, k);
    return st;
}

static rd_status run(struct tm_engine *t)
{
    rd_status st = tm_run_parts(t, t->config.threads);
    if (st == RD_E_BUSY)
        st = tm_run_windows(t);
    if (st == RD_E_BUSY) {
        st = tm_several_push(t);
        for (unsigned s = 0; !t->several && s < t->chip.n_ses && st == RD_OK; s++)
            st = tm_begin_dispatch(t, s);
    }
    for (unsigned n = 1; st == RD_OK && t->events.n; n++) {
        struct tm_event e;
        st = tm_events_pop(&t->events, tm_now(t), &e);
        if (st == RD_OK && e.t >= t->asked + TM_WINDOW)
            st = tm_gather_and_ask(t, e.t / TM_WINDOW * TM_WINDOW);
        if (st != RD_OK)
            return st;
        t->chip.b.now = e.t;
        if (t->several && t->several->dying)
            st = tm_join_bury(t);
        bool look = e.t >= tm_several_looks(t) || (t->several && t->several->resumed);
        if (st == RD_OK && look)
            st = tm_several_look(t);
        if (st != RD_OK)
            return st;
        if (e.t >= t->sample_at)
            tm_account_sample(t, e.t);
        if (e.t >= t->all->pace.next)
            tm_sample_tick(t);
        if (t->pace.cut)
            break;
        if (n % POLL_EVENTS == 0 && t->config.poll &&
            !t->config.poll(t->config.poll_ctx, (uint64_t)tm_now(t)))
            return RD_E_TIMEOUT;
        st = tm_turn_of(t, &e);
    }
    return st == RD_OK ? tm_gather_and_ask(t, INT64_MAX)
                       : st; /* what nobody waited for */
}

/* ---- the outside ---- */

rd_status tm_create(const struct tm_config *config, struct tm_engine **out)
{
    uint32_t any = config->have_cu_mask ? 0 : 1;
    for (unsigned i = 0; i < TM_MAX_SES; i++)
        any |= config->cu_mask[i];
    if (!any || config->first_se >= TM_MAX_SES || config->sclk_mhz < 0 ||
        config->sclk_mhz > 1e5)
        return RD_E_RANGE;
    struct tm_engine *t = calloc(1, sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    t->config = *config;
    if (config->whole) {
        t->executed = *config->whole;
        t->config.whole = &t->executed;
    }
    if (t->config.sclk_mhz <= 0)
        t->config.sclk_mhz = 2500;
    t->chip.b.ghz = t->config.sclk_mhz / 1000;
    t->chip.b.p = tm_params_gfx1100;
    t->chip.b.n = tm_params_whole(&t->chip.b.p);
    t->chip.b.fabric_low = config->fabric_low;
    t->all = t;
    t->alone = true;
    t->chip.mem = &t->memory;
    t->next_age = 3 * TM_MAX_SES; /* below: dispatchers, ends of waves of arrays */
    *out = t;
    return RD_OK;
}

void tm_destroy(struct tm_engine *t)
{
    if (!t)
        return;
    tm_machine_destroy(t);
    for (size_t i = 0; i < t->all->records.n; i++) {
        struct tm_list *list = t->all->records.record[i].list;
        if (list)
            free(list->inst);
        free(list);
    }
    for (size_t i = 0; i < t->insts.numbers.n; i++)
        free(t->insts.inst[i]);
    numbers_free(&t->insts.numbers);
    free(t->insts.inst);
    free(t->insts.at);
    free(t->all->records.record);
    tm_events_destroy(&t->events);
    if (t->several) {
        free(t->several->one);
        free(t->several->done);
    }
    free(t->several);
    free(t->all->pace.start);
    free(t->all->pace.begun);
    free(t->all->pace.length);
    free(t);
}

rd_status tm_set(struct tm_engine *t, const char *name, double value)
{
    rd_status st = tm_params_set(&t->chip.b.p, name, value);
    t->chip.b.n = tm_params_whole(&t->chip.b.p);
    return st;
}

/* The dispatch, alone. */
static rd_status open_dispatch(struct tm_engine *t, struct emu *emu,
                               const struct emu_dispatch *dispatch,
                               struct emu_fault *fault)
{
    rd_status st = emu_stepper_create(emu, dispatch, &t->stepper, fault);
    if (st != RD_OK)
        return st;
    emu_stepper_sclk(t->stepper, t->config.sclk_mhz);
    t->launch = *emu_stepper_launch(t->stepper);
    if (tm_is_part(t)) {
        if (t->config.part_first > t->launch.n_groups ||
            t->config.part_groups > t->launch.n_groups - t->config.part_first)
            return RD_E_RANGE;
        t->launch.n_groups = t->config.part_groups;
    }
    t->chip.b.lanes = t->launch.lanes;
    t->all->pools.vgprs =
        t->config.tolerate || t->config.ended || t->launch.vgprs > TM_VGPRS
            ? TM_VGPRS
            : t->launch.vgprs;
    t->chip.b.wgp_mode = dispatch->rsrc1 >> 29 & 1u;
    if (t->config.tolerate)
        emu_stepper_tolerate(t->stepper);
    return emu_stepper_want(t->stepper, EMU_WANT_ACCESS | EMU_WANT_ROWS);
}

/* What is open runs to its end. */
static rd_status run_open(struct tm_engine *t)
{
    rd_status st = tm_machine_create(t);
    if (st == RD_OK && t->several) {
        st = tm_several_begin(t);
    } else if (st == RD_OK) {
        tm_dispatch_begin(t, t->launch.dispatch, 0);
        st = tm_sample_begin(t);
    }
    if (st != RD_OK)
        return st;
    tm_account_begin(t);
    if (t->config.ended && !t->config.poll(t->config.poll_ctx, 0))
        return RD_E_TIMEOUT;
    t->began = true;
    st = run(t);
    rd_status joined = tm_join_parts(t);
    st = st == RD_OK ? joined : st;
    if (st == RD_OK && t->pace.cut)
        tm_sample_cut(t);
    tm_account_finish(t, st);
    return st;
}

/* What points into the dispatches ends. */
static void close_dispatches(struct tm_engine *t, struct emu_stats *stats)
{
    for (size_t i = 0; i < t->insts.numbers.n; i++) {
        t->insts.inst[i]->kept = *t->insts.inst[i]->inst;
        t->insts.inst[i]->inst = &t->insts.inst[i]->kept;
    }
    tm_pool_free(&t->all->pools);
    if (t->several)
        tm_several_destroy(t, stats);
    else
        emu_stepper_destroy(t->stepper, stats);
    t->stepper = NULL;
}

/* Are there workgroups that no CU of their engine can take? */
static bool is_left_over(const struct tm_engine *t)
{
    for (unsigned s = 0; s < t->chip.n_ses && !t->pace.cut; s++)
        if (t->all->dispatcher[s].used && tm_is_left(t, s))
            return true;
    return false;
}

rd_status tm_run_several(struct tm_engine *t, struct emu *emu,
                         const struct tm_launch *launches, unsigned n,
                         struct emu_fault *fault, struct emu_stats *stats)
{
    const struct emu_dispatch *first = launches[0].dispatch;
    const struct emu_inspector *inspector = first->inspector; /* it may go before all */
    t->first = launches[0];
    rd_status st = n > 1 ? tm_several_create(t, emu, launches, n, fault)
                         : open_dispatch(t, emu, first, fault);
    bool opened = st == RD_OK;
    if (opened)
        st = run_open(t);
    bool fell = opened && st == RD_E_FAULT;
    if (fell && fault)
        *fault = *emu_stepper_fault(t->stepper);
    if (st == RD_OK && (t->all->live_groups || is_left_over(t)))
        st = RD_E_TIMEOUT; /* waves that nobody will wake, or begin */
    bool only = !t->several, open = t->config.ended != NULL;
    if (inspector && (fell || st == RD_E_TIMEOUT) && (only || !open))
        (void)tm_show_fault(t, inspector, TM_ALL,
                            fell ? emu_stepper_fault(t->stepper) : NULL);
    t->over = true;
    tm_join_finish(t, st);
    struct tm_ended how = {.status = st, .over = true};
    close_dispatches(t, open ? &how.stats : stats);
    if (open && only) {
        if (fault)
            how.fault = *fault;
        t->config.ended(t->config.poll_ctx, 0, &how);
    }
    return st;
}

rd_status tm_run(struct tm_engine *t, struct emu *emu,
                 const struct emu_dispatch *dispatch, struct emu_fault *fault,
                 struct emu_stats *stats)
{
    const struct tm_launch one = {.dispatch = dispatch};
    return tm_run_several(t, emu, &one, 1, fault, stats);
}
