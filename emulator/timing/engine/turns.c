/* turns.c: whose turn comes next in a WGP.
 *
 * Nearly all turns of a busy WGP lie in the window of cycles that is being run: these
 * have a bit of their wave in their cycle. The rest wait until their window begins.
 * Must not know what a turn is for. Invariant: ranks are in the order of age, so the
 * lowest bit of a priority is the one that comes first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "turns.h"

void tm_turns_begin(struct tm_turns *q)
{
    *q = (struct tm_turns){.end = TM_WINDOW, .soonest = INT64_MAX};
}

static uint64_t moved(uint64_t bits, unsigned from, unsigned to)
{
    uint64_t bit = bits >> from & 1u;
    return (bits & ~(UINT64_C(1) << from)) | bit << to;
}

/* Give the lowest ranks to those who are there, in the same order. */
static void close_ranks(struct tm_turns *q)
{
    unsigned to = 0;
    for (uint64_t rest = q->taken; rest; rest &= rest - 1, to++) {
        unsigned from = (unsigned)__builtin_ctzll(rest);
        if (from == to)
            continue;
        for (unsigned c = 0; c < TM_WINDOW; c++)
            q->at[c] = moved(q->at[c], from, to);
        for (unsigned p = 0; p < 3; p++)
            q->urgent[p] = moved(q->urgent[p], from, to);
        q->hurried = moved(q->hurried, from, to);
        q->later = moved(q->later, from, to);
        q->ended = moved(q->ended, from, to);
        q->taken = moved(q->taken, from, to);
        for (unsigned s = 0; s < 4; s++) {
            q->of_simd[s] = moved(q->of_simd[s], from, to);
            q->lds[s].behind = moved(q->lds[s].behind, from, to);
            q->valu[s].behind = moved(q->valu[s].behind, from, to);
        }
        q->due[to] = q->due[from];
        q->priority[to] = q->priority[from];
        q->wave[to] = q->wave[from];
        q->wave[to]->rank = (uint8_t)to;
    }
}

void tm_turns_enter(struct tm_turns *q, struct tm_wave *w)
{
    if (q->taken >> (TM_RANKS - 1))
        close_ranks(q); /* a WGP has no more places than ranks */
    unsigned rank = q->taken ? 64u - (unsigned)__builtin_clzll(q->taken) : 0;
    q->taken |= UINT64_C(1) << rank;
    q->of_simd[w->simd->index] |= UINT64_C(1) << rank;
    q->wave[rank] = w;
    q->priority[rank] = 0;
    w->rank = (uint8_t)rank;
    w->turns = q;
}

void tm_turns_leave(struct tm_turns *q, const struct tm_wave *w)
{
    uint64_t keep = ~(UINT64_C(1) << w->rank);
    q->taken &= keep;
    q->ended &= keep;
    q->of_simd[w->simd->index] &= keep;
    q->hurried &= keep;
    for (unsigned p = 0; p < 3; p++)
        q->urgent[p] &= keep;
}

void tm_turns_priority(struct tm_turns *q, const struct tm_wave *w)
{
    uint64_t bit = UINT64_C(1) << w->rank;
    q->priority[w->rank] = w->priority;
    q->hurried = 0;
    for (unsigned p = 0; p < 3; p++) {
        q->urgent[p] = w->priority == p + 1 ? q->urgent[p] | bit : q->urgent[p] & ~bit;
        q->hurried |= q->urgent[p];
    }
}

void tm_turns_window(struct tm_turns *q, int64_t begin)
{
    q->begin = begin;
    q->end = begin + TM_WINDOW;
    if (q->soonest >= q->end)
        return;
    q->soonest = INT64_MAX;
    for (uint64_t rest = q->later; rest; rest &= rest - 1) {
        unsigned rank = (unsigned)__builtin_ctzll(rest);
        int64_t when = q->due[rank];
        if (when >= q->end) {
            q->soonest = tm_min(q->soonest, when);
            continue;
        }
        q->later &= ~(UINT64_C(1) << rank);
        q->at[when % TM_WINDOW] |= UINT64_C(1) << rank;
        q->busy |= UINT64_C(1) << when % TM_WINDOW;
    }
}

int64_t tm_turns_next(const struct tm_turns *q)
{
    return q->busy ? q->begin + __builtin_ctzll(q->busy) : q->soonest;
}
