/* pace.c: how much of a grid is simulated, and what is noted down on the way for an
 * estimate of the rest (report/sample.c): starts of workgroups, instructions over time.
 *
 * Must not know instructions, nor what follows from the numbers. Invariant: what is
 * simulated is the beginning of the whole run, cycle by cycle.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>

#include "engine.h"

/* Workgroups that the enabled CUs hold at once. */
static uint64_t capacity(const struct tm_engine *t)
{
    enum tm_limit limit;
    unsigned waves = tm_occupancy(t, &limit) * (t->chip.b.wgp_mode ? 4 : 2);
    unsigned per =
        waves / t->need.waves_per_group ? waves / t->need.waves_per_group : 1;
    uint64_t groups = 0;
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        unsigned cus = (unsigned)__builtin_popcount(t->chip.wgps[i].room.enabled);
        groups += per * (uint64_t)(t->chip.b.wgp_mode ? cus != 0 : cus);
    }
    return groups ? groups : 1;
}

rd_status tm_sample_begin(struct tm_engine *t)
{
    uint64_t all = t->launch.n_groups, n = t->config.sample;
    enum tm_limit limit;
    if (tm_occupancy(t, &limit) * (t->chip.b.wgp_mode ? 4 : 2) <
        t->need.waves_per_group)
        return RD_E_NO_ROOM; /* it would wait for ever */
    t->end_group = all;
    t->pace.capacity = capacity(t);
    t->pace.next = INT64_MAX;
    if (t->config.sample_percent > 0)
        n = (uint64_t)ceil(t->config.sample_percent / 100 * (double)all);
    if (n == 0)
        return RD_OK;
    if (n < t->pace.capacity) /* a chip that is not full shows nothing */
        n = t->pace.capacity;
    if (n >= all)
        return RD_OK;
    t->end_group = n;
    t->pace.start = calloc((size_t)n, sizeof *t->pace.start);
    if (!t->pace.start)
        return RD_E_NOMEM;
    t->pace.step = 64;
    t->pace.next = t->pace.step;
    return RD_OK;
}

void tm_sample_start(struct tm_engine *t)
{
    if (t->pace.start && t->pace.groups < t->end_group)
        t->pace.start[t->pace.groups] = tm_now(t);
    if (++t->pace.groups == t->pace.capacity)
        t->pace.full_from = tm_now(t);
}

void tm_sample_hole(struct tm_engine *t)
{
    if (!t->pace.full_until)
        t->pace.full_until = tm_now(t);
}

void tm_sample_tick(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    while (tm_now(t) >= p->next) {
        p->insts[p->n++] = t->chip.issues.all;
        if (p->n == TM_PACES) { /* half as fine from here on */
            for (unsigned i = 0; i < TM_PACES / 2; i++)
                p->insts[i] = p->insts[2 * i + 1];
            p->n = TM_PACES / 2;
            p->step *= 2;
        }
        p->next = (int64_t)(p->n + 1) * p->step;
    }
}
