/* room.h: who waits for room on the way to the LDS.
 *
 * The queue of a SIMD is full most of the time of kernels that live by the LDS, and all
 * its waves wait for the same entry: the first of them has turns, the others stand in
 * line behind it (turns.h). Must do what turns would: a part of turn.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_ROOM_H
#define TM_ROOM_H

#include "engine.h"
#include "issue.h"

/* Is the wave held by want of room alone, and behind others? While one is in a clause,
 * the others wait for that as well. Who was the first and comes behind the wave has no
 * turn then. */
static inline bool tm_stands_for_lds(const struct tm_engine *t, struct tm_wave *w,
                                     int64_t when)
{
    const struct tm_simd *s = w->simd;
    struct tm_turns *q = w->turns;
    struct tm_line *line = &q->lds[s->index];
    const struct tm_wave *first = line->first;
    if (s->port.clause[TM_LDS] ||
        w->counter[TM_LGKM].n >= (unsigned)PARAM(&t->chip.b, counter_most))
        return false;
    if (tm_turns_behind(q, line, w, when))
        return true;
    if (first && line->first == w) {
        w->due = when;
        tm_turns_drop(q, first);
        (void)tm_turns_behind(q, line, first, when);
    }
    return false;
}

/* When waves of a SIMD that wait for nothing else have room on the way to the LDS, and
 * the port, and why not now. Returns false if that cannot be said for all. */
static inline bool lds_opens(const struct tm_base *b, const struct tm_simd *s,
                             struct bound *o)
{
    *o = (struct bound){b->now, TM_S_NONE, NULL};
    at_least(o, s->lds_room, TM_S_MEM_QUEUE);
    at_least(o, s->port.last[TM_LDS] + 1, TM_S_PORT);
    return o->t > b->now && !s->port.clause[TM_LDS];
}

/* Of the waves whose turn in this cycle is to come those at an LDS instruction have
 * none and find that. Returns them. */
static inline uint64_t find_no_room(const struct tm_engine *t, struct tm_turns *q,
                                    uint64_t rest, const struct bound *o)
{
    unsigned most = (unsigned)PARAM(&t->chip.b, counter_most);
    uint64_t who = 0;
    for (; rest; rest &= rest - 1) {
        unsigned rank = (unsigned)__builtin_ctzll(rest);
        struct tm_wave *w = q->wave[rank];
        if (!w->next || w->next->sort != TM_SORT_LDS || w->counter[TM_LGKM].n >= most)
            continue;
        tm_account_again(w, o->why, o->t);
        tm_turns_take(q, (unsigned)((uint64_t)tm_now(t) % TM_WINDOW), rank);
        who |= UINT64_C(1) << rank;
    }
    return who;
}

/* The same for the usual case: it has had its turn and waits for room again, as the
 * first; who is behind it finds no more than that. */
static inline bool tm_lds_leads_on(struct tm_line *line, const struct tm_wave *w)
{
    struct tm_found *last = &line->found[(line->n_found - 1) % TM_FOUND];
    if (line->first != w || !line->n_found || last->why != TM_S_MEM_QUEUE)
        return false;
    last->until = w->due;
    return true;
}

/* A wave has had its turn at an LDS instruction, and with it those who are in line.
 * They would have looked, too, as would those whose turn in this cycle is to come, and
 * found the same: then they are in line, the next of them or the wave as the first. If
 * there is something else to find, they look.
 *
 * come  of the SIMD, whose turn in this cycle is to come */
__attribute__((noinline)) static rd_status tm_lds_line_up(struct tm_engine *t,
                                                          struct tm_turns *q,
                                                          const struct tm_simd *s,
                                                          uint64_t come)
{
    struct tm_line *line = &q->lds[s->index];
    rd_status st = RD_OK;
    struct bound o;
    bool opens = lds_opens(&t->chip.b, s, &o);
    if (opens) {
        if (line->behind)
            tm_tell_line(q, line, o.t, o.why);
        else
            line->n_found = 0;
        line->behind |= find_no_room(t, q, come, &o);
        if (line->first && line->first->due == o.t)
            return RD_OK;
    }
    while (line->behind && st == RD_OK) {
        struct tm_wave *w = tm_turns_next_of(q, line);
        tm_account_line(line, w);
        st = tm_push(t, opens ? o.t : tm_now(t), w);
        line->first = opens ? w : NULL;
        if (opens)
            break;
    }
    return st;
}

#endif
