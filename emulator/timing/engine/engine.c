/* engine.c: the event loop: whose turn it is, issue, barriers, ends.
 *
 * Time jumps from one wave's turn to the next. Must not know pipes or caches (issue.c,
 * exec.c, mem.c). Invariant: a wave that is neither at a barrier nor ended has exactly
 * one event.
 * SPDX-License-Identifier: MIT
 */
#include "ahead.h"
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define POLL_EVENTS 4096u
/* ---- instructions ---- */

/* May it be executed when something else of its wave is? The wave is at it. Whoever
 * decides about time looks at EXEC only. */
static bool can_be_left(const struct tm_engine *t, const struct tm_wave *w,
                        const struct tm_inst *i)
{
    bool plain =
        (i->cls == TM_VALU || i->cls == TM_SALU) && !i->special && !i->writes_exec;
    bool nothing =
        i->cls == TM_IMM &&
        (i->special == TM_DELAY || i->special == TM_WAITCNT ||
         i->special == TM_CLAUSE || i->special == TM_NOP || i->special == TM_DEPCTR);
    return (plain || nothing) && !i->alone && emu_wave_may_wait(t->stepper, w->wave);
}

/* ---- execution ---- */

void tm_catch_up(struct tm_wave *w)
{
    if (w->owed)
        emu_wave_catch_up(w->wave, w->owed);
    w->owed = 0;
}

/* Execute what issues, now or later. */
static rd_status step(struct tm_engine *t, struct tm_wave *w, const struct tm_inst *i,
                      const struct emu_event **event)
{
    if (i->postponed && w->owed < UINT8_MAX) {
        w->owed++;
        if (i->cls == TM_VALU)
            tm_fetch_rows(w, i);
        t->plain.exec = t->chip.b.lanes == 32 ? *w->exec : emu_wave_exec(w->wave);
        *event = &t->plain;
        return RD_OK;
    }
    tm_catch_up(w);
    return emu_wave_step(t->stepper, w->wave, (uint64_t)tm_now(t), event);
}

/* One that was not met before; the wave is at it. */
static struct tm_inst *meet(struct tm_engine *t, const struct tm_wave *w,
                            const struct emu_inst *inst)
{
    uint32_t number = numbers_find(&t->all->insts.numbers, inst);
    if (!number)
        number = numbers_give(&t->all->insts.numbers, inst);
    if (number > t->insts.cap) {
        size_t cap = t->insts.cap ? 2 * t->insts.cap : 256;
        cap = number > cap ? number : cap;
        struct tm_inst **bigger = realloc(t->insts.inst, cap * sizeof(*bigger));
        if (!bigger)
            return NULL;
        memset(bigger + t->insts.cap, 0, (cap - t->insts.cap) * sizeof(*bigger));
        t->insts.inst = bigger;
        t->insts.cap = cap;
    }
    struct tm_inst *i = number ? malloc(sizeof *i) : NULL;
    if (!i)
        return NULL;
    tm_inst_describe(inst, tm_canon_code(&t->chip.mem->canon, inst->pc),
                     t->launch.lanes == 64, i);
    tm_inst_costs(&t->chip.b, i);
    tm_inst_bound(i, t->all->pools.vgprs);
    i->postponed = can_be_left(t, w, i);
    t->all->talks |= i->talks;
    return t->insts.inst[number - 1] = i;
}

/* Has the part met it? */
static struct tm_inst *met(const struct tm_engine *t, const struct emu_inst *inst)
{
    uint32_t number = numbers_find(&t->all->insts.numbers, inst);
    return number && number <= t->insts.cap ? t->insts.inst[number - 1] : NULL;
}

/* What the wave is at. before: the one that it met before it, or NULL */
static struct tm_inst *lookup(struct tm_engine *t, const struct tm_wave *w,
                              const struct emu_inst *inst, struct tm_inst *before)
{
    if (before && before->after && before->after->inst == inst)
        return before->after;
    struct tm_inst *i = met(t, inst);
    if (!i)
        i = meet(t, w, inst);
    if (before)
        before->after = i;
    return i;
}

static bool listed(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct tm_config *c = &t->config;
    const struct tm_simd *s = w->simd;
    return c->insts == TM_INSTS_ALL ||
           (c->insts == TM_INSTS_SIMD && s->se == c->se && s->sa == c->sa &&
            s->wgp == c->wgp && s->index == c->simd);
}

static rd_status list(struct tm_engine *t, struct tm_wave *w, uint32_t offset,
                      int64_t at)
{
    struct tm_record *r = &t->all->records.record[w->record];
    if (!listed(t, w))
        return RD_OK;
    if (r->n_insts == r->cap_insts) {
        size_t cap = r->cap_insts ? 2 * r->cap_insts : 64;
        struct tm_timed *bigger = realloc(r->insts, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        r->insts = bigger;
        r->cap_insts = cap;
    }
    r->insts[r->n_insts++] = (struct tm_timed){offset, at};
    return RD_OK;
}

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
            if (!t->alone && (delays == TM_DELAYS || !met(t, inst))) {
                w->next = NULL;
                w->unmet = true;
                return RD_OK;
            }
            w->next = lookup(t, w, inst, before);
            if (!w->next)
                return RD_E_NOMEM;
            if (straight)
                before->follows = w->next;
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
        rd_status st = step(t, w, w->next, &event);
        if (st != RD_OK)
            return st;
        straight = !event->flags;
    }
}

/* What the wave comes to: nearly always what it met behind that before. */
static inline rd_status come_to(struct tm_engine *t, struct tm_wave *w,
                                struct tm_inst *before, bool straight)
{
    struct tm_inst *next = straight && before ? before->follows : NULL;
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
        s->cu->room.held_since + tm_hops(t, s) + PARAM(&t->chip.b, sleep_phase_cycles);
    int64_t since = tm_now(t) - zero - PARAM(&t->chip.b, sleep_late_cycles);
    int64_t past = since > 0 && tick ? since / tick : 0;
    return units && tick ? tm_max(zero + (past + (int64_t)units) * tick, tm_now(t))
                         : tm_now(t);
}

/* ---- waits ---- */

/* The wave's next turn, when it has waited for something. While one is in a clause, the
 * others wait for that as well. */
static inline rd_status wait_until(struct tm_engine *t, struct tm_wave *w, int64_t when,
                                   uint8_t why)
{
    if (why == TM_S_MEM_QUEUE && w->next->cls == TM_LDS && w->turns &&
        !w->simd->port.clause[TM_LDS] && tm_turns_behind(w->turns, w, when)) {
        w->due = when;
        return RD_OK;
    }
    return tm_push(t, when, w);
}

/* The first of those that wait for room on the way to the LDS has had its turn. They
 * would have looked, too, and found the same, but who comes next if there is room. */
static rd_status let_next(struct tm_engine *t, struct tm_turns *q,
                          const struct tm_simd *s)
{
    uint64_t *behind = &q->behind[s->index];
    int64_t now = tm_now(t);
    bool full =
        !s->port.clause[TM_LDS] &&
        queue_free(&s->lds_queue, now, (unsigned)PARAM(&t->chip.b, lds_queue)) > now;
    rd_status st = RD_OK;
    while (*behind && st == RD_OK) {
        struct tm_wave *w = q->wave[tm_turns_first(q, *behind)];
        *behind &= ~(UINT64_C(1) << w->rank);
        tm_account_wait(w, TM_S_MEM_QUEUE, NULL, now);
        st = tm_push(t, now, w);
        if (full)
            break;
    }
    return st;
}

/* What comes next and when it may issue as things stand: the wave's next turn. */
static inline rd_status look_ahead(struct tm_engine *t, struct tm_wave *w,
                                   struct tm_inst *before, bool straight)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from;
    rd_status st = come_to(t, w, before, straight);
    if (st == RD_OK && w->unmet) /* again, alone */
        return tm_push(t, tm_now(t), w);
    if (st != RD_OK)
        return st;
    int64_t when = tm_ready(&t->chip.b, w, &why, &from);
    if (why != TM_S_NONE) /* else it is told when it is known */
        tm_account_wait(w, why, from, when);
    if (w->next->cls == TM_LDS || w->next->cls == TM_VMEM)
        tm_fetch_rows(w, w->next);
    return wait_until(t, w, when, why);
}

/* The same behind an instruction that it has issued. */
static rd_status look_further(struct tm_engine *t, struct tm_wave *w,
                              struct tm_inst *before, bool straight)
{
    rd_status st = look_ahead(t, w, before, straight);
    /* A wait leaves the buffer when it begins, everything else when it issues. */
    if (!w->taken && w->next && w->next->special == TM_WAITCNT)
        tm_fetch_ahead(&t->chip.b, &w->simd->in->fetch, &w->fetch,
                       w->next->offset + w->next->bytes);
    return st;
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
__attribute__((noinline)) static rd_status issued_special(struct tm_engine *t,
                                                          struct tm_wave *w,
                                                          struct tm_inst *i, int64_t at,
                                                          const struct emu_event *event)
{
    rd_status st = RD_OK;
    struct tm_group *g = w->group;
    bool done = event->flags & EMU_EV_BARRIER_DONE, ended = event->flags & EMU_EV_ENDED;
    bool waits = i->special == TM_BARRIER &&
                 (done || emu_wave_state(w->wave) == EMU_WAVE_BARRIER);
    w->at_barrier = waits;
    if (waits)
        w->last = i;
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

/* Before a memory instruction is issued: less what has been asked for, and after it:
 * more. So the sum has what it asked for itself. */
static rd_status issue(struct tm_engine *t, struct tm_wave *w)
{
    const struct emu_event *event;
    struct tm_inst *i = w->next;
    w->skip = tm_skipped(w, i, tm_now(t));
    rd_status st = step(t, w, i, &event);
    if (st == RD_E_BUSY) { /* global wave sync: later */
        tm_account_wait(w, TM_S_OTHER, NULL, tm_now(t) + 64);
        return tm_push(t, tm_now(t) + 64, w);
    }
    if (st != RD_OK)
        return st;
    tm_account_wait(w, w->earliest_why ? w->earliest_why : TM_S_OTHER, NULL,
                    tm_now(t)); /* its turn was put off */
    uint64_t conflicts = t->chip.lds.conflict;
    if (i->cls == TM_VMEM)
        tm_asked_add(&i->asked, &t->chip.sent.traffic.asked, UINT64_MAX);
    tm_issue(&t->chip, w, i, event);
    i->conflicts += t->chip.lds.conflict - conflicts;
    if (i->cls == TM_VMEM)
        tm_asked_add(&i->asked, &t->chip.sent.traffic.asked, 1);
    int64_t at = i->special ? special(t, w, i) : tm_now(t);
    tm_account_issue(t, w, i, at, event);
    st = t->config.insts ? list(t, w, i->offset, at) : RD_OK;
    w->last_issue = at;
    w->last_imm = i->cls == TM_IMM || w->skip;
    w->began = true;
    w->next = NULL;
    if (st != RD_OK)
        return st;
    if (!i->special && !event->flags) {
        tm_fetch_ahead(&t->chip.b, &w->simd->in->fetch, &w->fetch,
                       i->offset + i->bytes);
        return go_on(t, w, i, event);
    }
    return issued_special(t, w, i, at, event);
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

/* May what it knows to come next issue now? */
static rd_status turn_again(struct tm_engine *t, struct tm_wave *w)
{
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from;
    int64_t when = tm_ready_again(&t->chip.b, w, &why, &from);
    struct tm_turns *q = w->turns;
    const struct tm_simd *s = w->simd;
    if (!q || w->next->cls != TM_LDS)
        return issue_from(t, w, when, why, from);
    if (q->first[s->index] == w)
        q->first[s->index] = NULL;
    rd_status st = issue_from(t, w, when, why, from);
    return st == RD_OK && q->behind[s->index] && !q->first[s->index] ? let_next(t, q, s)
                                                                     : st;
}

/* It does not know what comes next. */
__attribute__((noinline)) static rd_status turn_anew(struct tm_engine *t,
                                                     struct tm_wave *w)
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
    rd_status st = take_delays(t, w, NULL, false);
    if (st != RD_OK)
        return st;
    uint8_t why = TM_S_NONE;
    const struct tm_inst *from;
    int64_t when = tm_ready(&t->chip.b, w, &why, &from);
    return issue_from(t, w, when, why, from);
}

static rd_status turn(struct tm_engine *t, struct tm_wave *w)
{
    return w->next ? turn_again(t, w) : turn_anew(t, w);
}

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

void tm_gather(struct tm_engine *t, int64_t end)
{
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++)
        tm_gather_wgp(t, &t->chip.wgps[i], end);
}

rd_status tm_ask(struct tm_engine *t, int64_t end)
{
    tm_sent_ask(&t->chip.b, &t->chip.sent, accepted(t, end));
    t->asked = end;
    return t->chip.sent.lost ? RD_E_NOMEM : RD_OK;
}

rd_status tm_begin_dispatch(struct tm_engine *t, unsigned se)
{
    t->all->dispatcher[se].scheduled = true;
    return tm_push_own(t, 0, se);
}

/* What a wave will look at that waits for nobody any more; NULL: not met yet. */
static struct tm_inst *to_come(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct emu_inst *inst =
        w->began && !w->unmet && !w->owed ? emu_wave_next(w->wave) : NULL;
    struct tm_inst *i = inst ? met(t, inst) : NULL;
    for (unsigned n = 0; i && i->special == TM_DELAY; n++)
        i = n < TM_DELAYS ? i->follows : NULL;
    return i;
}

bool tm_takes_all(struct tm_engine *t, const struct tm_wave *w)
{
    if (!w || t->all->talks || w->ended)
        return true;
    if (w->sleeps)
        return false;
    struct tm_inst *i = w->next ? w->next : to_come(t, w);
    return !i || i->alone || !tm_fetch_is_near(&w->simd->in->fetch, &w->fetch, i);
}

/* Is an operation open that a wait for a counter's limit is for? more: operations that
 * it counts besides by then */
static bool looks_at(const struct tm_fifo *f, unsigned limit, unsigned more)
{
    for (unsigned k = 0; k + limit < f->n + more && k < f->n; k++)
        if (fifo_at(f, f->first + k)->open)
            return true;
    return false;
}

/* The same for the instruction, as a wave comes to it; NULL: not known, which. */
static bool looks(const struct tm_engine *t, const struct tm_wave *w,
                  const struct tm_inst *i, unsigned more)
{
    const struct tm_fifo *vm = &w->counter[TM_VM], *vs = &w->counter[TM_VS];
    unsigned most = (unsigned)PARAM(&t->chip.b, counter_most) - 1;
    if (!i)
        return looks_at(vm, 0, more) || looks_at(vs, 0, more);
    if (i->cls == TM_VMEM && (vm->n + more >= most || vs->n + more >= most))
        return true;
    return (i->waits & 1u && looks_at(vm, i->wait[0], more)) ||
           (i->waits & 2u && looks_at(vs, i->wait[1], more));
}

static const struct tm_inst *behind_delays(const struct tm_inst *i)
{
    while (i && i->special == TM_DELAY)
        i = i->follows;
    return i;
}

bool tm_awaits(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct tm_inst *i = w->next;
    if (w->sleeps)
        return false;
    if (!i || looks(t, w, i, 0))
        return looks(t, w, NULL, 0);
    if (i->special == TM_BARRIER)
        return false; /* it looks in a later turn */
    unsigned more = i->cls == TM_VMEM;
    if (i->cls != TM_BRANCH)
        return looks(t, w, behind_delays(i->follows), more);
    bool known = i->after && i->after->offset == i->target;
    return looks(t, w, behind_delays(i->follows), more) ||
           looks(t, w, known ? behind_delays(i->after) : NULL, more);
}

rd_status tm_turn_of_wave(struct tm_engine *t, struct tm_wave *w)
{
    return turn(t, w);
}

rd_status tm_turn_of_own(struct tm_engine *t, unsigned number)
{
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
    rd_status st = turn(t, w);
    if (st == RD_E_FAULT) /* behind windows of several threads nobody else says which */
        emu_stepper_blame(t->stepper, w->wave);
    return st;
}

rd_status tm_gather_and_ask(struct tm_engine *t, int64_t end)
{
    tm_gather(t, end);
    return tm_ask(t, end);
}

static rd_status run(struct tm_engine *t)
{
    rd_status st = tm_run_parts(t, t->config.threads);
    if (st == RD_E_BUSY)
        st = tm_run_windows(t);
    if (st == RD_E_BUSY) {
        st = RD_OK;
        for (unsigned s = 0; s < t->chip.n_ses && st == RD_OK; s++)
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
    for (size_t i = 0; i < t->all->records.n; i++)
        free(t->all->records.record[i].insts);
    for (size_t i = 0; i < t->insts.numbers.n; i++)
        free(t->insts.inst[i]);
    numbers_free(&t->insts.numbers);
    free(t->insts.inst);
    free(t->all->records.record);
    tm_events_destroy(&t->events);
    free(t->all->pace.start);
    free(t);
}

rd_status tm_set(struct tm_engine *t, const char *name, double value)
{
    rd_status st = tm_params_set(&t->chip.b.p, name, value);
    t->chip.b.n = tm_params_whole(&t->chip.b.p);
    return st;
}

rd_status tm_run(struct tm_engine *t, struct emu *emu,
                 const struct emu_dispatch *dispatch, struct emu_fault *fault,
                 struct emu_stats *stats)
{
    rd_status st = emu_stepper_create(emu, dispatch, &t->stepper, fault);
    if (st != RD_OK)
        return st;
    t->launch = *emu_stepper_launch(t->stepper);
    if (tm_is_part(t)) {
        if (t->config.part_first > t->launch.n_groups ||
            t->config.part_groups > t->launch.n_groups - t->config.part_first) {
            emu_stepper_destroy(t->stepper, stats);
            t->stepper = NULL;
            return RD_E_RANGE;
        }
        t->launch.n_groups = t->config.part_groups;
    }
    t->chip.b.lanes = t->launch.lanes;
    t->all->pools.vgprs =
        t->config.tolerate || t->launch.vgprs > TM_VGPRS ? TM_VGPRS : t->launch.vgprs;
    t->chip.b.wgp_mode = dispatch->rsrc1 >> 29 & 1u;
    if (t->config.tolerate)
        emu_stepper_tolerate(t->stepper);
    st = emu_stepper_want(t->stepper, EMU_WANT_ACCESS | EMU_WANT_ROWS);
    if (st == RD_OK)
        st = tm_machine_create(t);
    if (st == RD_OK) {
        tm_dispatch_begin(t, dispatch);
        st = tm_sample_begin(t);
    }
    if (st == RD_OK) {
        tm_account_begin(t);
        st = run(t);
        rd_status joined = tm_join_parts(t);
        st = st == RD_OK ? joined : st;
        if (st == RD_OK && t->pace.cut)
            tm_sample_cut(t);
        tm_account_finish(t, st);
    }
    if (st == RD_E_FAULT && fault)
        *fault = *emu_stepper_fault(t->stepper);
    if (st == RD_OK && t->all->live_groups)
        st = RD_E_TIMEOUT; /* waves that nobody will wake */
    if (dispatch->inspector && (st == RD_E_FAULT || st == RD_E_TIMEOUT))
        (void)tm_show_fault(t, dispatch->inspector,
                            st == RD_E_FAULT ? emu_stepper_fault(t->stepper) : NULL);
    for (size_t i = 0; i < t->insts.numbers.n;
         i++) { /* what points into the dispatch ends */
        t->insts.inst[i]->kept = *t->insts.inst[i]->inst;
        t->insts.inst[i]->inst = &t->insts.inst[i]->kept;
    }
    tm_pool_free(&t->all->pools);
    emu_stepper_destroy(t->stepper, stats);
    t->stepper = NULL;
    return st;
}
