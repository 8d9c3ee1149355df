/* turns.h: whose turn comes next in a WGP: bits of its waves by cycle of a window.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_TURNS_H
#define TM_TURNS_H

#include "chip.h"

/* A wave of the WGP has a rank for as long as it has its place, those that are older a
 * lower one, and at most one turn to come. */
enum { TM_RANKS = 64 };

/* What waves would have found that have had no turn: to wait until then, and why. */
struct tm_found {
    int64_t until;
    uint8_t why;
};

enum { TM_FOUND = 7 };

/* Waves of a SIMD that wait for the same thing until the same time: all but the first
 * of them have no turn until that one has had its own. */
struct tm_line {
    const struct tm_wave *first;
    uint64_t behind; /* bit per rank */
    bool slow;       /* one of these needs what transcendentals do */
    int64_t sent;    /* when all that they read has been sent */
    unsigned n_found;
    struct tm_found found[TM_FOUND];
};

struct tm_turns {
    uint64_t at[TM_WINDOW]; /* who has a turn in a cycle of the window: bit per rank */
    uint64_t busy;          /* bit per cycle in which somebody has */
    uint64_t later;         /* whose turn comes after the window */
    uint64_t urgent[3];     /* who has got it with priority 1, 2, 3 */
    uint64_t hurried;       /* any of these */
    uint64_t taken;         /* ranks */
    uint64_t ended;         /* who has ended, and keeps its place */
    uint64_t of_simd[4];    /* whose SIMD it is */
    int64_t begin, end;     /* the window */
    int64_t until;          /* its shader engine may change the WGP then */
    int64_t soonest;        /* no turn after the window comes sooner */
    /* By SIMD: for room on the way to the LDS; for the VALU. */
    struct tm_line lds[4], valu[4];
    int64_t due[TM_RANKS];      /* turns after the window */
    uint8_t priority[TM_RANKS]; /* as urgent says */
    struct tm_wave *wave[TM_RANKS];
};

/* turns.c */
void tm_turns_begin(struct tm_turns *q);
/* A wave younger than the others comes; it leaves. */
void tm_turns_enter(struct tm_turns *q, struct tm_wave *w);
void tm_turns_leave(struct tm_turns *q, const struct tm_wave *w);
/* The window is over, and nobody's turn in it is left: the one that begins then. */
void tm_turns_window(struct tm_turns *q, int64_t begin);
/* When the next turn comes, or no later; INT64_MAX: never. */
int64_t tm_turns_next(const struct tm_turns *q);
/* It has another priority from now on. */
void tm_turns_priority(struct tm_turns *q, const struct tm_wave *w);

/* It may have another priority than at its last turn. */
static inline void tm_turns_hurry(struct tm_turns *q, const struct tm_wave *w)
{
    if (w->priority != q->priority[w->rank])
        tm_turns_priority(q, w);
}

static inline void tm_turns_put(struct tm_turns *q, const struct tm_wave *w,
                                int64_t when)
{
    uint64_t bit = UINT64_C(1) << w->rank;
    tm_turns_hurry(q, w);
    if (when < q->end) {
        unsigned cycle = (unsigned)when % TM_WINDOW;
        q->at[cycle] |= bit;
        q->busy |= UINT64_C(1) << cycle;
        return;
    }
    q->later |= bit;
    q->due[w->rank] = when;
    q->soonest = tm_min(q->soonest, when);
}

/* The rank whose turn is first of those of a cycle: by priority, then by age. */
static inline unsigned tm_turns_first(const struct tm_turns *q, uint64_t who)
{
    for (unsigned p = 3; p > 0 && who & q->hurried; p--)
        if (who & q->urgent[p - 1])
            return (unsigned)__builtin_ctzll(who & q->urgent[p - 1]);
    return (unsigned)__builtin_ctzll(who);
}

/* A turn of the window that comes now. */
static inline void tm_turns_take(struct tm_turns *q, unsigned cycle, unsigned rank)
{
    q->at[cycle] &= ~(UINT64_C(1) << rank);
    if (!q->at[cycle])
        q->busy &= ~(UINT64_C(1) << cycle);
}

/* A wave has no turn at its time any more. */
static inline void tm_turns_drop(struct tm_turns *q, const struct tm_wave *w)
{
    if (w->due < q->end)
        tm_turns_take(q, (unsigned)((uint64_t)w->due % TM_WINDOW), w->rank);
    else
        q->later &= ~(UINT64_C(1) << w->rank);
}

/* The wave is to wait until then, with those of a line. Is there one that comes before
 * it? Else it may be what others wait behind. */
static inline bool tm_turns_behind(struct tm_turns *q, struct tm_line *line,
                                   const struct tm_wave *w, int64_t when)
{
    const struct tm_wave *first = line->first;
    if (first && first->due != when)
        return false;
    if (first && tm_turn(first) < tm_turn(w)) {
        if (!line->behind) {
            line->n_found = 0;
            line->sent = 0;
        }
        line->sent = tm_max(line->sent, w->mem.sent);
        line->behind |= UINT64_C(1) << w->rank;
        tm_turns_hurry(q, w);
        return true;
    }
    line->first = w;
    return false;
}

/* The one that comes first of those behind leaves the line. */
static inline struct tm_wave *tm_turns_next_of(const struct tm_turns *q,
                                               struct tm_line *line)
{
    struct tm_wave *w = q->wave[tm_turns_first(q, line->behind)];
    line->behind &= ~(UINT64_C(1) << w->rank);
    return w;
}

#endif
