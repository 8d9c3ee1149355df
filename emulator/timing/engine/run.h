/* run.h: what a wave issues a cycle after the other while nobody else of its SIMD may.
 *
 * Most of a matrix multiply are VALU instructions of the wave that comes first: each
 * would be a turn that finds the VALU free, and its next one in the next cycle. Here
 * they follow one another at once, ahead of other waves of the WGP. Must do what turns
 * would: a part of turn.c. Invariant: what others do up to the end of the run does not
 * touch the SIMD.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_RUN_H
#define TM_RUN_H

#include "ahead.h"
#include "engine.h"
#include "exec.h"
#include "issue.h"
#include "later.h"

/* It may go on up to that time, not to it; others: bits of those whose turns it stops
 * at; first: of those that wait for the VALU, whose turn follows its own from cycle to
 * cycle. */
struct tm_go {
    int64_t until;
    uint64_t others;
    struct tm_wave *first;
};

/* Will nothing be asked of the instruction cache when the wave issues its next
 * instruction and looks at what follows? */
static inline bool tm_asks_for_none(const struct tm_fetch_wave *f,
                                    const struct tm_inst *i)
{
    const struct tm_inst *next = i->follows;
    return tm_fetch_has_all(f, i) ||
           (next && next->sort == TM_SORT_PLAIN && tm_fetch_is_line(f, next) &&
            f->fetched > ((uint64_t)i->offset + i->bytes + f->ahead) / TM_CODE_LINE);
}

/* A turn in the next cycle: is it the WGP's own, as advance_window (windows.c) asks it,
 * and nothing but that of a plain instruction, whose code is there? */
static inline bool tm_goes_on(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct tm_inst *i = w->next;
    return i->sort == TM_SORT_PLAIN && w->owed != UINT8_MAX &&
           tm_asks_for_none(&w->fetch, i) && !(w->open && tm_awaits(t, w));
}

static inline uint64_t tm_turns_of(const struct tm_turns *q, int64_t now)
{
    return q->at[(uint64_t)now % TM_WINDOW];
}

/* The wave has issued a plain instruction in this cycle, and has its next turn in the
 * next. What others of its WGP do meanwhile reaches its SIMD by barriers that they
 * open, by vector memory on its way from there, and where the LDS puts somebody off:
 * that is the newest of the SIMD's queue, and who looks behind the run waits for room
 * by the oldest; who has sent it and waits for the VALU would look. */
static inline bool tm_may_go(const struct tm_engine *t, const struct tm_wave *w,
                             struct tm_go *go)
{
    const struct tm_turns *q = w->turns;
    const struct tm_simd *s = w->simd;
    int64_t now = tm_now(t);
    if (!q || w->due != now + 1 || w->mem.sent > now || !tm_goes_on(t, w) ||
        s->cu->send.n || s->in->put_off || s->port.clause[TM_VALU] ||
        w->hints.clause_size || w->hints.delay_on[1] || t->config.insts)
        return false;
    const struct tm_line *line = s->line;
    uint64_t mine = q->of_simd[s->index], own = UINT64_C(1) << w->rank;
    if ((tm_turns_of(q, now) & mine) || (line->behind && line->sent > now))
        return false;
    go->until = tm_min(now + PARAM(&t->chip.b, barrier_cycles), q->end);
    go->until = tm_min(go->until, q->until);
    go->others = mine & ~own;
    go->first = NULL;
    const struct tm_wave *first = line->first;
    if (first && first->due == now + 1 && tm_turn(w) < tm_turn(first) &&
        first->mem.sent + PARAM(&t->chip.b, mem_sent) <= now) {
        go->first = q->wave[first->rank];
        go->others &= ~(UINT64_C(1) << first->rank);
    }
    return now + 1 < go->until && !(tm_turns_of(q, now + 1) & go->others);
}

/* It has gone on from one cycle to another, and the first of those that wait for the
 * VALU has found it taken in each but the last. */
static inline void tm_follow(struct tm_turns *q, struct tm_wave *first, int64_t from,
                             int64_t to)
{
    struct tm_line *line = first->simd->line;
    tm_account_again(first, TM_S_VALU_PIPE, to);
    if (line->behind)
        tm_tell_line(q, line, to, TM_S_VALU_PIPE);
    tm_turns_take(q, (unsigned)((uint64_t)from % TM_WINDOW), first->rank);
    tm_turns_put(q, first, to);
    first->due = to;
}

/* The wave goes on, if it may. Returns true if it has, and what it comes to behind its
 * last instruction, .next, has to be looked at; else it has its next turn. */
static inline bool tm_run_on(struct tm_engine *t, struct tm_wave *w)
{
    struct tm_turns *q = w->turns;
    struct tm_base *b = &t->chip.b;
    struct tm_go go;
    if (!tm_may_go(t, w, &go))
        return false;
    int64_t from = w->due;
    uint64_t flops = 0;
    bool looks = false;
    w->hints.delay_on[0] = false; /* it has held the first */
    tm_turns_take(q, (unsigned)((uint64_t)from % TM_WINDOW), w->rank);
    for (;;) {
        struct tm_inst *i = w->next, *next = i->follows;
        b->now++;
        tm_postpone(w, i);
        valu_issued(b, w, i, 1, valu_result(b, w, i, TM_PIPE_PLAIN, 1), false);
        i->stall[TM_S_NONE]++;
        flops += i->flops;
        looks = next->sort != TM_SORT_PLAIN || !tm_plain_follows(b, w->simd);
        if (looks)
            break;
        w->next = next;
        if (b->now + 1 >= go.until || tm_turns_of(q, b->now + 1) & go.others ||
            !tm_goes_on(t, w))
            break;
    }
    uint64_t n = (uint64_t)(b->now - from + 1);
    struct tm_ports *port = &w->simd->port;
    t->totals.flops_more += flops * ((uint64_t)__builtin_popcount(*w->exec) - 32);
    t->chip.issues.all += n;
    t->chip.issues.in_runs += n;
    t->chip.issues.of_class[TM_VALU] += n;
    port->last[TM_VALU] = b->now;
    port->issued += n;
    w->last_issue = b->now;
    w->account.told = b->now + 1;
    if (go.first && b->now > from)
        tm_follow(q, go.first, from, b->now);
    if (!looks) {
        w->due = b->now + 1;
        tm_turns_put(q, w, w->due);
    }
    return looks;
}

#endif
