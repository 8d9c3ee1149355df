/* sample.c: a part of a grid for the whole: how much is simulated, and what follows.
 *
 * The chip is filled, workgroups follow as others end, the last ones drain. The starts
 * between filling and the last start are the steady state; the workgroups left out are
 * given its mean time each. Cut into parts, it also tells how far that mean can be
 * trusted. Must not know instructions. Invariant: what is simulated is the beginning of
 * the whole run, cycle by cycle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "engine.h"

#define PARTS 8u
/* Two-sided 95 % of Student's distribution with PARTS - 1 degrees of freedom. */
#define STUDENT 2.365

/* Workgroups that the enabled CUs hold at once. */
static uint64_t capacity(const struct tm_engine *t)
{
    enum tm_limit limit;
    unsigned waves = tm_occupancy(t, &limit) * (t->wgp_mode ? 4 : 2);
    unsigned per = waves / t->waves_per_group ? waves / t->waves_per_group : 1;
    uint64_t groups = 0;
    for (size_t i = 0; i < (size_t)t->n_ses * t->wgps_per_se; i++) {
        unsigned cus = (unsigned)__builtin_popcount(t->wgps[i].enabled);
        groups += per * (uint64_t)(t->wgp_mode ? cus != 0 : cus);
    }
    return groups ? groups : 1;
}

rd_status tm_sample_begin(struct tm_engine *t)
{
    uint64_t all = t->launch.n_groups, n = t->config.sample;
    t->end_group = all;
    t->capacity = capacity(t);
    if (t->config.sample_percent > 0)
        n = (uint64_t)ceil(t->config.sample_percent / 100 * (double)all);
    if (n == 0)
        return RD_OK;
    if (n < t->capacity) /* a chip that is not full shows nothing */
        n = t->capacity;
    if (n >= all)
        return RD_OK;
    t->end_group = n;
    t->group_starts = calloc((size_t)n, sizeof *t->group_starts);
    return t->group_starts ? RD_OK : RD_E_NOMEM;
}

void tm_sample_start(struct tm_engine *t)
{
    if (t->group_starts && t->n_group_starts < t->end_group)
        t->group_starts[t->n_group_starts++] = t->now;
}

/* Mean cycles from start to start in the steady state, and the standard error of it. */
static bool steady(const struct tm_engine *t, double *mean, double *error)
{
    uint64_t first = t->capacity, n = t->n_group_starts;
    if (n < first + 4 * (uint64_t)PARTS)
        return false;
    uint64_t per = (n - first) / PARTS;
    double sum = 0, squares = 0;
    first = n - 1 - per * PARTS; /* whole parts, the last one up to the last start */
    for (unsigned i = 0; i < PARTS; i++) {
        const int64_t *from = &t->group_starts[first + i * per];
        double x = (double)(from[per] - from[0]) / (double)per;
        sum += x;
        squares += x * x;
    }
    *mean = sum / PARTS;
    double variance = (squares - sum * sum / PARTS) / (PARTS - 1);
    *error = sqrt((variance > 0 ? variance : 0) / PARTS);
    return true;
}

void tm_sample_estimate(const struct tm_engine *t, double *span, double *error)
{
    double mean, deviation, left = (double)(t->launch.n_groups - t->end_group);
    *span = 0;
    for (unsigned s = 0; s < t->n_ses; s++)
        if (t->se[s].first_start >= 0)
            *span = fmax(*span, (double)(t->se[s].last_end - t->se[s].first_start));
    *error = 0;
    if (t->end_group == 0 || left <= 0)
        return;
    if (steady(t, &mean, &deviation)) {
        *span += left * mean;
        *error = left * deviation * STUDENT;
        return;
    }
    /* One filling only: as many more as it takes; how they overlap was not seen. */
    *span *= (double)t->launch.n_groups / (double)t->end_group;
    *error = *span / 2;
}
