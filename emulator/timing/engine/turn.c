/* turn.c: a wave's turn: it issues, or waits; what comes next, barriers, sleep, ends.
 *
 * Must not know pipes or caches (issue.h, exec.h, mem.c) nor whose turn it is.
 * Invariant: a wave that is neither at a barrier nor ended has exactly one event.
 * SPDX-License-Identifier: MIT
 */
#include "ahead.h"
#include "engine.h"
#include "exec.h"
#include "issue.h"
#include "later.h"
#include "room.h"
#include "run.h"

#include <stdlib.h>

/* Not a part of its callers, most of whose calls do not come to it. */
#define TM_APART __attribute__((noinline))

/* ---- a wave's turn ---- */

/* s_delay_alu takes no time of its own: note it and look at what follows.
 *
 * before    the instruction that the wave met before, or NULL
 * straight  it went on behind that
 */
static rd_status take_delays(struct tm_engine *t, struct tm_wave *w,
                             struct tm_inst *before, bool straight)
{
    const struct emu_event *event;
    for (unsigned delays = 0;; delays++) {
        straight = straight && before && (t->alone || delays < TM_DELAYS);
        if (straight && before->follows) {
            w->next = before->follows;
        } else {
            tm_catch_up(w);
            const struct emu_inst *inst = emu_wave_next(w->wave);
            if (!inst)
                return RD_E_INVALID;
            if (!t->alone && (delays == TM_DELAYS || !tm_met(t, inst))) {
                w->next = NULL;
                w->unmet = true;
                return RD_OK;
            }
            w->next = tm_come_across(t, w, inst, before);
            if (!w->next)
                return RD_E_NOMEM;
            if (straight) {
                before->follows = w->next;
                tm_fetch_forget(before);
            }
        }
        before = w->next;
        if (w->next->special != TM_DELAY)
            return RD_OK;
        tm_delay(w, w->next->delay);
        tm_account_free(t, w, w->next);
        if (w->last_imm && w->began && w->earliest < w->last_issue + 2) {
            w->earliest = w->last_issue + 2; /* one of the kind a cycle */
            w->earliest_why = TM_S_SWITCH;
        }
        rd_status st = tm_step(t, w, w->next, &event, TM_SORT_ANY);
        if (st != RD_OK)
            return st;
        straight = !event->flags;
    }
}

/* What the wave comes to: nearly always what it met behind that before, or behind a
 * delay there that nobody hears of. */
static inline rd_status come_to(struct tm_engine *t, struct tm_wave *w,
                                struct tm_inst *before, bool straight)
{
    struct tm_inst *next = straight && before ? before->follows : NULL;
    if (next && next->special == TM_DELAY && next->follows && next->postponed &&
        next->follows->special != TM_DELAY && !w->last_imm && w->owed != UINT8_MAX &&
        !t->observer.step) {
        tm_delay(w, next->delay);
        next->passed++;
        w->owed++;
        w->idle++;
        next = next->follows;
    }
    if (!next || next->special == TM_DELAY)
        return take_delays(t, w, before, straight);
    w->next = next;
    return RD_OK;
}

/* Everybody at the barrier goes on. last: the arrival that was taken last. */
static rd_status open_barrier(struct tm_engine *t, struct tm_group *g, int64_t last)
{
    rd_status st = RD_OK;
    for (unsigned i = 0; i < g->n_waves && st == RD_OK; i++) {
        struct tm_wave *w = g->waves[i];
        if (!w || !w->at_barrier)
            continue;
        w->at_barrier = false;
        w->earliest = last + PARAM(&t->chip.b, barrier_cycles) +
                      (w->slept ? PARAM(&t->chip.b, barrier_slept_cycles) : 0);
        w->earliest_why = TM_S_BARRIER;
        tm_account_wait(w, TM_S_BARRIER, NULL, w->earliest);
        st = tm_push(t, w->earliest, w);
    }
    return st;
}

/* The WGP takes arrivals at barriers one a cycle. */
static int64_t arrive(struct tm_engine *t, struct tm_wgp *wgp)
{
    int64_t at = tm_max(tm_now(t), wgp->barrier_free);
    wgp->barrier_free = at + 1;
    return at;
}

/* When the last store is done, as far as is known; 0: there is none. */
static int64_t stores_end(struct tm_engine *t, struct tm_wave *w)
{
    const struct tm_fifo *stores = &w->counter[TM_VS];
    int64_t end = 0;
    tm_send_settle(&t->chip.b, &w->simd->cu->send,
                   tm_now(t) + PARAM(&t->chip.b, lds_start));
    for (unsigned k = 0; k < stores->n; k++) {
        const struct tm_counted *c = fifo_at(stores, stores->first + k);
        int64_t done = c->open ? tm_known(&t->chip.b, c, tm_now(t)) : c->done + 1;
        end = tm_max(end, done);
    }
    return end;
}

static rd_status end_wave(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i)
{
    int64_t end = tm_now(t) + PARAM(&t->chip.b, end_cycles);
    tm_account_wait(w, TM_S_END, NULL, end);
    end = tm_max(end, stores_end(t, w));
    tm_account_wait(w, TM_S_VSCNT, NULL, end);
    w->last = i;
    w->ended = true;
    if (w->turns)
        w->turns->ended |= UINT64_C(1) << w->rank;
    for (unsigned c = 0; c < TM_COUNTERS; c++)
        if (w->counter[c].lost)
            return RD_E_NOMEM;
    w->group->waves[emu_wave_info(w->wave)->wave] = NULL;
    return tm_push(t, end, w);
}

/* The end of a sleep: a number of ticks of the CU's sleep clock from now. */
static int64_t sleep_end(const struct tm_engine *t, const struct tm_simd *s,
                         unsigned units)
{
    int64_t tick = PARAM(&t->chip.b, sleep_unit_cycles);
    int64_t zero =
        s->cu->room.held_since + tm_hops(t, s) + PARAM(&t->chip.b, clock_start_cycles);
    int64_t since = tm_now(t) - zero - PARAM(&t->chip.b, sleep_late_cycles);
    int64_t past = since > 0 && tick ? since / tick : 0;
    return units && tick ? tm_max(zero + (past + (int64_t)units) * tick, tm_now(t))
                         : tm_now(t);
}

/* ---- waits ---- */

static inline bool is_slow(const struct tm_inst *i)
{
    return i->pipe == TM_PIPE_TRANS || i->pipe == TM_PIPE_DOUBLE ||
           i->pipe == TM_PIPE_HALF;
}

/* When the VALU of a SIMD takes another instruction, and why not now: what each wave
 * finds that waits for nothing else. slow: some are. Returns false if that cannot be
 * said for all. */
static inline bool valu_opens(const struct tm_base *b, const struct tm_simd *s,
                              bool slow, struct bound *o)
{
    const struct tm_valu *v = &s->valu;
    *o = (struct bound){b->now, TM_S_NONE, NULL};
    at_least(o, v->free, TM_S_VALU_PIPE);
    wait_room(b, v, o);
    if (o->t >= v->stalls)
        at_least(o, v->goes, TM_S_SDST);
    return o->t > b->now && !s->port.clause[TM_VALU] && s->port.last[TM_VALU] < o->t &&
           (!slow || v->trans_free <= v->free);
}

/* Is the wave held by the VALU alone, and behind others? Of what these may change
 * meanwhile, tm_put_off tells what it looks at beside that. */
static inline bool stands_for_valu(const struct tm_engine *t, struct tm_wave *w,
                                   int64_t when, uint8_t why)
{
    const struct tm_inst *i = w->next;
    struct tm_line *line = w->simd->line;
    bool slow = is_slow(i);
    struct bound o;
    if (i->pipe == TM_PIPE_NONE || !*w->exec ||
        !valu_opens(&t->chip.b, w->simd, slow, &o) || o.t != when || o.why != why)
        return false;
    w->put_off = false;
    if (!tm_turns_behind(w->turns, line, w, when))
        return false;
    line->slow |= slow;
    return true;
}

TM_APART static bool stands(const struct tm_engine *t, struct tm_wave *w, int64_t when,
                            uint8_t why)
{
    if (!w->turns)
        return false;
    if (why == TM_S_MEM_QUEUE)
        return w->next->cls == TM_LDS && tm_stands_for_lds(t, w, when);
    return w->next->cls == TM_VALU && stands_for_valu(t, w, when, why);
}

/* The wave's next turn, when it has waited for something. */
TM_HOT rd_status wait_until(struct tm_engine *t, struct tm_wave *w, int64_t when,
                            uint8_t why)
{
    bool valu = why == TM_S_VALU_PIPE || why == TM_S_VALU_QUEUE || why == TM_S_SDST;
    if ((valu || why == TM_S_MEM_QUEUE) && stands(t, w, when, why)) {
        w->due = when;
        return RD_OK;
    }
    return tm_push(t, when, w);
}

/* Of those that wait for the VALU of a SIMD, who has been put off looks: then. */
static void let_put_off(struct tm_turns *q, struct tm_line *line, int64_t when)
{
    for (uint64_t rest = line->behind; rest; rest &= rest - 1) {
        struct tm_wave *w = q->wave[__builtin_ctzll(rest)];
        if (!w->put_off)
            continue;
        line->behind &= ~(UINT64_C(1) << w->rank);
        tm_account_line(line, w);
        w->due = when;
        tm_turns_put(q, w, when);
    }
}

void tm_let_put_off(struct tm_wgp *g, struct tm_turns *q)
{
    for (unsigned s = 0; s < 4; s++)
        if (g->put_off >> s & 1u && q->valu[s].behind)
            let_put_off(q, &q->valu[s], q->valu[s].first->due);
    g->put_off = 0;
}

/* The first of those that wait for the VALU has had its turn. They would have looked,
 * too, and found when it takes another instruction: then the next of them is the first.
 * If there is something else to find, they look. */
TM_APART static rd_status line_up(struct tm_engine *t, struct tm_turns *q,
                                  const struct tm_simd *s)
{
    struct tm_line *line = s->line;
    int64_t now = tm_now(t);
    rd_status st = RD_OK;
    struct bound o;
    if (s->in->put_off >> s->index & 1u) {
        let_put_off(q, line, now);
        s->in->put_off &= ~(1u << s->index);
    }
    bool opens = valu_opens(&t->chip.b, s, line->slow, &o);
    if (opens)
        tm_tell_line(q, line, o.t, o.why);
    while (line->behind && st == RD_OK) {
        const struct tm_wave *next = q->wave[tm_turns_first(q, line->behind)];
        if (opens && line->first && tm_turn(line->first) < tm_turn(next))
            break; /* the same wave again */
        struct tm_wave *w = tm_turns_next_of(q, line);
        tm_account_line(line, w);
        st = tm_push(t, opens ? o.t : now, w);
        if (!opens)
            continue;
        line->first = w;
        break;
    }
    line->slow &= line->behind != 0;
    return st;
}

/* It is the first of those that wait for the VALU, and has its turn: that has taken
 * another one's instruction, and all wait on. */
TM_APART static bool waits_on(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_turns *q = w->turns;
    const struct tm_simd *s = w->simd;
    struct tm_line *line = w->simd->line;
    struct bound o;
    if (s->valu.free <= tm_now(t) || s->in->put_off ||
        !valu_opens(&t->chip.b, s, line->slow || is_slow(w->next), &o) ||
        w->mem.sent + PARAM(&t->chip.b, mem_sent) > o.t)
        return false;
    tm_account_wait(w, o.why, NULL, o.t);
    if (line->behind)
        tm_tell_line(q, line, o.t, o.why);
    w->due = o.t;
    tm_turns_put(q, w, o.t);
    return true;
}

/* What comes next and when it may issue as things stand: the wave's next turn. */
TM_HOT rd_status look_ahead(struct tm_engine *t, struct tm_wave *w,
                            struct tm_inst *before, bool straight)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    rd_status st = come_to(t, w, before, straight);
    if (st == RD_OK && w->unmet) /* again, alone */
        return tm_push(t, tm_now(t), w);
    if (st != RD_OK)
        return st;
    tm_fetch_inst(w->next);
    int64_t when = tm_ready(&t->chip.b, w, &why, &from);
    if (why != TM_S_NONE) /* else it is told when it is known */
        tm_account_wait(w, why, from, when);
    tm_fetch_registers(w, w->next);
    return wait_until(t, w, when, why);
}

/* The same behind an instruction that it has issued. */
TM_HOT rd_status look_behind(struct tm_engine *t, struct tm_wave *w,
                             struct tm_inst *before, bool straight)
{
    rd_status st = look_ahead(t, w, before, straight);
    /* A wait leaves the buffer when it begins, everything else when it issues. */
    if (w->next && w->next->special == TM_WAITCNT && !w->taken)
        tm_fetch_ahead(&t->chip.b, &w->simd->in->fetch, &w->fetch,
                       w->next->offset + w->next->bytes);
    return st;
}

/* The same behind a plain instruction, mostly: another one follows it and nothing
 * holds that. */
static inline rd_status look_behind_plain(struct tm_engine *t, struct tm_wave *w,
                                          struct tm_inst *before)
{
    const struct tm_simd *s = w->simd;
    const struct tm_wave *in_clause = s->port.clause[TM_VALU];
    struct tm_inst *next = before->follows;
    if (!next || next->sort != TM_SORT_PLAIN || w->hints.delay_on[1] ||
        (in_clause && in_clause != w) ||
        !tm_fetch_is_there(&t->chip.b, &w->fetch, next) ||
        !tm_plain_follows(&t->chip.b, s))
        return look_behind(t, w, before, true);
    w->next = next;
    tm_fetch_inst(next);
    return tm_push(t, tm_now(t) + 1, w);
}

TM_APART static rd_status look_further(struct tm_engine *t, struct tm_wave *w,
                                       struct tm_inst *before, bool straight)
{
    return look_behind(t, w, before, straight);
}

static rd_status go_on(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                       const struct emu_event *event)
{
    w->taken = event->flags & EMU_EV_TAKEN;
    return look_further(t, w, i, !event->flags);
}

/* What an instruction does to its wave alone; when it is over. */
static int64_t special(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i)
{
    int64_t at = tm_now(t);
    if (i->special == TM_SLEEP) {
        at = sleep_end(t, w->simd, i->sleep_units);
        w->sleeps = true;
    } else if (i->special == TM_PRIORITY) {
        w->priority = i->priority;
        w->earliest = tm_now(t) + PARAM(&t->chip.b, setprio_block);
        w->earliest_why = TM_S_SWITCH;
    } else if (i->special == TM_NOP) {
        w->earliest = tm_now(t) + i->delay + 1;
        w->earliest_why = TM_S_SWITCH;
    } else if (i->special == TM_PREFETCH) {
        w->fetch.ahead = i->ahead;
    }
    if (at > tm_now(t))
        tm_account_wait(w, TM_S_SLEEP, NULL, at);
    return at;
}

/* What else an issue does: barriers, ends, sleep, branches. at: when it is over */
TM_APART static rd_status issued_special(struct tm_engine *t, struct tm_wave *w,
                                         struct tm_inst *i, int64_t at,
                                         const struct emu_event *event)
{
    rd_status st = RD_OK;
    struct tm_group *g = w->group;
    bool done = event->flags & EMU_EV_BARRIER_DONE, ended = event->flags & EMU_EV_ENDED;
    bool waits = i->special == TM_BARRIER &&
                 (done || emu_wave_state(w->wave) == EMU_WAVE_BARRIER);
    w->at_barrier = waits;
    if (waits) {
        w->last = i;
        w->behind = !(event->flags & EMU_EV_TAKEN);
    }
    if (!(event->flags & EMU_EV_TAKEN))
        tm_fetch_ahead(&t->chip.b, &w->simd->in->fetch, &w->fetch,
                       i->offset + i->bytes);
    int64_t arrived = waits ? arrive(t, g->wgp) : tm_now(t);
    if (done) /* the last to arrive waits like the others */
        st = open_barrier(t, g, arrived);
    if (st == RD_OK && ended)
        return end_wave(t, w, i);
    if (st != RD_OK || waits)
        return st;
    if (w->sleeps)
        return tm_push(t, at, w);
    return go_on(t, w, i, event);
}

/* What vector memory instructions ask for. Before one is issued: less what has been
 * asked for, and after it: more. So the sum has what it asked for itself. */
TM_HOT void issue_asking(struct tm_engine *t, struct tm_wave *w, struct tm_inst *i,
                         const struct emu_event *event, enum tm_sort sort)
{
    const struct tm_asked *asked = &w->simd->cu->send.sent->traffic.asked;
    tm_asked_add(&i->asked, asked, UINT64_MAX);
    tm_issue(&t->chip, w, i, event, sort);
    tm_asked_add(&i->asked, asked, 1);
}

/* The wave's next instruction issues now. sort: a constant; other than ANY: what that
 * says is so, and a VALU instruction is not skipped */
TM_HOT rd_status issue_as(struct tm_engine *t, struct tm_wave *w, enum tm_sort sort)
{
    const struct emu_event *event;
    struct tm_inst *i = w->next;
    w->skip = sort == TM_SORT_ANY && tm_skipped(w, i, tm_now(t));
    rd_status st = tm_step(t, w, i, &event, sort);
    if (st == RD_E_BUSY) { /* global wave sync: later */
        tm_account_wait(w, TM_S_OTHER, NULL, tm_now(t) + 64);
        return tm_push(t, tm_now(t) + 64, w);
    }
    if (st != RD_OK)
        return st;
    tm_account_wait(w, w->earliest_why ? w->earliest_why : TM_S_OTHER, NULL,
                    tm_now(t)); /* its turn was put off */
    uint64_t conflicts = t->chip.lds.conflict;
    if (sort == TM_SORT_VMEM || (sort == TM_SORT_ANY && i->cls == TM_VMEM))
        issue_asking(t, w, i, event, sort);
    else
        tm_issue(&t->chip, w, i, event, sort);
    if (sort == TM_SORT_LDS || sort == TM_SORT_ANY)
        i->conflicts += t->chip.lds.conflict - conflicts;
    int64_t at = sort == TM_SORT_ANY && i->special ? special(t, w, i) : tm_now(t);
    tm_account_issue(t, w, i, at, event);
    st = t->config.insts ? tm_account_list(w, i, at) : RD_OK;
    w->last_issue = at;
    w->last_imm =
        sort == TM_SORT_WAIT || (sort == TM_SORT_ANY && i->cls == TM_IMM) || w->skip;
    w->began = true;
    w->next = NULL;
    if (st != RD_OK)
        return st;
    bool plain = sort == TM_SORT_PLAIN || sort == TM_SORT_VALU ||
                 sort == TM_SORT_WAIT || sort == TM_SORT_SALU;
    if (!plain && ((sort != TM_SORT_VMEM && i->special) || event->flags))
        return issued_special(t, w, i, at, event);
    tm_fetch_ahead(&t->chip.b, &w->simd->in->fetch, &w->fetch, i->offset + i->bytes);
    w->taken = false;
    bool rare = sort == TM_SORT_ANY || sort == TM_SORT_SALU || sort == TM_SORT_VMEM;
    return rare                    ? look_further(t, w, i, true)
           : sort == TM_SORT_PLAIN ? look_behind_plain(t, w, i)
                                   : look_behind(t, w, i, true);
}

static rd_status issue(struct tm_engine *t, struct tm_wave *w)
{
    return issue_as(t, w, TM_SORT_ANY);
}

/* A wave's first turn: its registers are set up, its code is asked for. */
static void begin(struct tm_engine *t, struct tm_wave *w)
{
    const struct tm_base *b = &t->chip.b;
    double cycles = b->p.launch_cycles, ns = 0;
    if (t->need.user_sgprs > (unsigned)PARAM(b, launch_user_sgprs))
        ns += b->p.launch_user_ns;
    if (t->need.lds_alloc)
        cycles += b->p.launch_lds_cycles;
    int64_t set_up = w->start + tm_hops(t, w->simd) + tm_lat(b, cycles, ns), walked;
    uint64_t at = tm_canon_code(&t->chip.mem->canon, emu_wave_next(w->wave)->pc);
    w->earliest = tm_fetch_begin(b, &w->simd->in->fetch, w->simd->index, &w->fetch,
                                 set_up, at, &walked);
    w->earliest_why = TM_S_FETCH;
    tm_account_wait(w, TM_S_LAUNCH, NULL, set_up);
    tm_account_wait(w, TM_S_CODE_TLB, NULL, walked);
}

/* Issue now or, at the next turn, when it may.
 *
 * why  what it waits for until then; TM_S_NONE: that is told when it is known
 */
static inline rd_status issue_from(struct tm_engine *t, struct tm_wave *w, int64_t when,
                                   uint8_t why, const struct tm_inst *from)
{
    if (why != TM_S_NONE)
        tm_account_wait(w, why, from, when);
    return when <= tm_now(t) ? issue(t, w) : wait_until(t, w, when, why);
}

/* Something holds it, or may do so. */
TM_APART static rd_status wait_again(struct tm_engine *t, struct tm_wave *w)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    int64_t when = look_again(&t->chip.b, w, &why, &from);
    return issue_from(t, w, when, why, from);
}

/* It has the turn of a line for the VALU. */
static inline bool is_first(const struct tm_wave *w)
{
    return w->simd->line && w->simd->line->first == w;
}

/* Whose line it was, if there are others. */
static inline struct tm_turns *leave_line(const struct tm_wave *w)
{
    struct tm_line *line = w->simd->line;
    line->first = NULL;
    return line->behind ? w->turns : NULL;
}

/* The turn of the first of those that wait for the VALU moves on: this has been taken,
 * and nothing else has changed. What it finds then, those behind it would, too. */
static inline void moves_on(struct tm_turns *q, struct tm_line *line,
                            struct tm_wave *first, unsigned cycle,
                            const struct bound *o)
{
    int64_t to = cycle + o->t - first->due;
    tm_account_again(first, o->why, o->t);
    if (line->behind)
        tm_tell_line(q, line, o->t, o->why);
    first->due = o->t;
    tm_turns_take(q, cycle, first->rank);
    if (to >= TM_WINDOW) {
        tm_turns_put(q, first, o->t);
        return;
    }
    q->at[to] |= UINT64_C(1) << first->rank;
    q->busy |= UINT64_C(1) << to;
}

/* It has taken the VALU for a cycle from the first of those that wait for it, whose
 * turn in this cycle is to come. What that finds is known now, unless one of them can
 * be put off. */
static inline void take_from(struct tm_engine *t, const struct tm_wave *w)
{
    struct tm_turns *q = w->turns;
    const struct tm_simd *s = w->simd;
    struct tm_line *line = w->simd->line;
    int64_t now = tm_now(t);
    if (!line || !line->first || line->first->due != now)
        return;
    struct tm_wave *first = q->wave[line->first->rank];
    unsigned cycle = (unsigned)now % TM_WINDOW;
    if (!(q->at[cycle] >> first->rank & 1u) || first->mem.sent > now ||
        (line->behind && line->sent > now))
        return;
    struct bound o = {s->valu.free, TM_S_VALU_PIPE, NULL};
    wait_room(&t->chip.b, &s->valu, &o);
    if (s->in->put_off || s->port.clause[TM_VALU])
        return; /* it looks itself */
    if (first->mem.sent + PARAM(&t->chip.b, mem_sent) <= o.t)
        moves_on(q, line, first, cycle, &o); /* it could issue, but for the VALU */
}

/* It has issued, and goes on as long as nobody else of its SIMD has a turn. */
static inline rd_status run_on(struct tm_engine *t, struct tm_wave *w)
{
    int64_t from = tm_now(t);
    rd_status st = RD_OK;
    if (w->due == from + 1 && tm_run_on(t, w)) {
        struct tm_inst *i = w->next;
        w->next = NULL;
        st = look_behind(t, w, i, true);
    }
    if (tm_now(t) != from)
        take_from(t, w);
    return st;
}

/* The first of a line leaves it (behind: its turns, or NULL). False: it waits on. */
static inline bool steps_out(struct tm_engine *t, struct tm_wave *w,
                             struct tm_turns **behind)
{
    *behind = NULL;
    if (!is_first(w))
        return true;
    if (waits_on(t, w))
        return false;
    *behind = leave_line(w);
    return true;
}

/* May what it knows to come next issue now? */
TM_APART static rd_status turn_of_any(struct tm_engine *t, struct tm_wave *w)
{
    const struct tm_simd *s = w->simd;
    struct tm_turns *behind;
    if (!steps_out(t, w, &behind))
        return RD_OK;
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    int64_t when = tm_ready_again(&t->chip.b, w, &why, &from, TM_SORT_ANY);
    rd_status st = issue_from(t, w, when, why, from);
    return behind && st == RD_OK ? line_up(t, behind, s) : st;
}

TM_APART static rd_status turn_of_plain(struct tm_engine *t, struct tm_wave *w)
{
    const struct tm_simd *s = w->simd;
    struct tm_turns *behind;
    if (!steps_out(t, w, &behind))
        return RD_OK;
    if (!tm_valu_goes(&t->chip.b, w, w->next)) {
        rd_status st = wait_again(t, w);
        return behind && st == RD_OK ? line_up(t, behind, s) : st;
    }
    rd_status st = issue_as(t, w, TM_SORT_PLAIN);
    if (behind && st == RD_OK)
        st = line_up(t, behind, s);
    else
        take_from(t, w);
    return st == RD_OK ? run_on(t, w) : st;
}

TM_APART static rd_status turn_of_valu(struct tm_engine *t, struct tm_wave *w)
{
    const struct tm_simd *s = w->simd;
    struct tm_turns *behind;
    if (!steps_out(t, w, &behind))
        return RD_OK;
    rd_status st = tm_valu_goes(&t->chip.b, w, w->next) ? issue_as(t, w, TM_SORT_VALU)
                                                        : wait_again(t, w);
    return behind && st == RD_OK ? line_up(t, behind, s) : st;
}

/* Of what stands in no line. */
TM_HOT rd_status turn_of(struct tm_engine *t, struct tm_wave *w, enum tm_sort sort)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    int64_t when = tm_ready_again(&t->chip.b, w, &why, &from, sort);
    if (when > tm_now(t))
        return issue_from(t, w, when, why, from);
    if (why != TM_S_NONE)
        tm_account_wait(w, why, from, when);
    return issue_as(t, w, sort);
}

TM_APART static rd_status turn_of_wait(struct tm_engine *t, struct tm_wave *w)
{
    return turn_of(t, w, TM_SORT_WAIT);
}

TM_APART static rd_status turn_of_salu(struct tm_engine *t, struct tm_wave *w)
{
    return turn_of(t, w, TM_SORT_SALU);
}

TM_APART static rd_status turn_of_vmem(struct tm_engine *t, struct tm_wave *w)
{
    return turn_of(t, w, TM_SORT_VMEM);
}

TM_APART static rd_status turn_of_lds(struct tm_engine *t, struct tm_wave *w)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    struct tm_turns *q = w->turns;
    const struct tm_simd *s = w->simd;
    struct tm_line *line = q ? &q->lds[s->index] : NULL;
    int64_t when = tm_ready_again(&t->chip.b, w, &why, &from, TM_SORT_LDS);
    bool leads = line && (!line->first || line->first->due == tm_now(t));
    if (leads)
        line->first = NULL;
    if (why != TM_S_NONE)
        tm_account_wait(w, why, from, when);
    rd_status st =
        when <= tm_now(t) ? issue_as(t, w, TM_SORT_LDS) : wait_until(t, w, when, why);
    if (!leads)
        return st;
    uint64_t come = q->at[(uint64_t)tm_now(t) % TM_WINDOW] & q->of_simd[s->index];
    if (!(line->behind | come) || st != RD_OK || (!come && tm_lds_leads_on(line, w)))
        return st;
    return tm_lds_line_up(t, q, s, come);
}

/* It does not know what comes next. */
TM_APART static rd_status turn_anew(struct tm_engine *t, struct tm_wave *w)
{
    if (w->sleeps) {
        w->sleeps = false;
        w->slept = true;
        w->earliest = tm_now(t) + 1;
        w->earliest_why = TM_S_SLEEP;
        return tm_push(t, w->earliest, w);
    }
    if (w->ended) {
        int64_t end = w->left ? 0 : stores_end(t, w);
        if (end <= tm_now(t))
            return tm_wave_end(t, w);
        tm_account_wait(w, TM_S_VSCNT, NULL, end);
        return tm_push(t, end, w);
    }
    if (w->unmet) {
        w->unmet = false;
        return look_further(t, w, NULL, false);
    }
    if (!w->began)
        begin(t, w);
    struct tm_inst *before = w->behind ? w->last : NULL;
    w->behind = false;
    rd_status st = take_delays(t, w, before, before != NULL);
    if (st == RD_OK && w->unmet) /* again, alone */
        return tm_push(t, tm_now(t), w);
    if (st != RD_OK)
        return st;
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from = NULL;
    int64_t when = tm_ready(&t->chip.b, w, &why, &from);
    return issue_from(t, w, when, why, from);
}

rd_status tm_turn_of_wave(struct tm_engine *t, struct tm_wave *w)
{
    switch (w->next ? w->next->sort : TM_SORTS) {
    case TM_SORT_PLAIN:
        return turn_of_plain(t, w);
    case TM_SORT_VALU:
        return turn_of_valu(t, w);
    case TM_SORT_LDS:
        return turn_of_lds(t, w);
    case TM_SORT_WAIT:
        return turn_of_wait(t, w);
    case TM_SORT_SALU:
        return turn_of_salu(t, w);
    case TM_SORT_VMEM:
        return turn_of_vmem(t, w);
    case TM_SORT_ANY:
        return turn_of_any(t, w);
    default:
        return turn_anew(t, w);
    }
}
