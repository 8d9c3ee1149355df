/* sample.c: a part of a grid for the whole: how much is simulated, and what follows.
 *
 * The chip is filled, workgroups follow as others end, the last ones drain. While it is
 * full, instructions issue at some rate; the workgroups left out have as many each as
 * those simulated, and issue at that rate. Cut into parts, the rate also tells how far
 * it can be trusted. Must not know instructions. Invariant: what is simulated is the
 * beginning of the whole run, cycle by cycle.
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
    t->pace.next = INT64_MAX;
    if (t->config.sample_percent > 0)
        n = (uint64_t)ceil(t->config.sample_percent / 100 * (double)all);
    if (n == 0)
        return RD_OK;
    if (n < t->capacity) /* a chip that is not full shows nothing */
        n = t->capacity;
    if (n >= all)
        return RD_OK;
    t->end_group = n;
    t->pace.step = 64;
    t->pace.next = t->pace.step;
    return RD_OK;
}

void tm_sample_start(struct tm_engine *t)
{
    if (++t->pace.groups == t->capacity)
        t->pace.full_from = t->now;
}

void tm_sample_hole(struct tm_engine *t)
{
    if (!t->pace.full_until)
        t->pace.full_until = t->now;
}

void tm_sample_tick(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    while (t->now >= p->next) {
        p->insts[p->n++] = t->n_insts;
        if (p->n == TM_PACES) { /* half as fine from here on */
            for (unsigned i = 0; i < TM_PACES / 2; i++)
                p->insts[i] = p->insts[2 * i + 1];
            p->n = TM_PACES / 2;
            p->step *= 2;
        }
        p->next = (int64_t)(p->n + 1) * p->step;
    }
}

/* Instructions per cycle of the full chip, and the standard error of it. The first
 * eighth of that time is left out: caches are cold, waves go in step. */
static bool full_rate(const struct tm_engine *t, double *rate, double *error)
{
    const struct tm_pace *p = &t->pace;
    int64_t from = p->full_from + (p->full_until - p->full_from) / 8;
    int64_t first = from / p->step, last = p->full_until / p->step - 1;
    int64_t per = tm_max(0, last - first) / PARTS;
    double sum = 0, squares = 0;
    if (per == 0 || last >= (int64_t)p->n)
        return false;
    first = last - per * (int64_t)PARTS;
    for (unsigned i = 0; i < PARTS; i++, first += per) {
        double x =
            (double)(p->insts[first + per] - p->insts[first]) / (double)(per * p->step);
        sum += x;
        squares += x * x;
    }
    *rate = sum / PARTS;
    double variance = (squares - sum * sum / PARTS) / (PARTS - 1);
    *error = sqrt((variance > 0 ? variance : 0) / PARTS);
    return *rate > 0;
}

double tm_sample_span(const struct tm_engine *t)
{
    double span = 0;
    for (unsigned s = 0; s < t->n_ses; s++)
        if (t->se[s].first_start >= 0)
            span = fmax(span, (double)(t->se[s].last_end - t->se[s].first_start));
    return span;
}

void tm_sample_estimate(const struct tm_engine *t, double *span, double *error)
{
    double rate, deviation, left = (double)(t->launch.n_groups - t->end_group);
    *span = tm_sample_span(t);
    *error = 0;
    if (t->end_group == 0 || left <= 0)
        return;
    if (full_rate(t, &rate, &deviation)) {
        double more = left * (double)t->n_insts / (double)t->end_group / rate;
        /* The last ones may drain differently: by as much as it costs here. */
        uint64_t at = t->pace.insts[t->pace.full_until / t->pace.step - 1];
        double lost =
            (double)(t->now - t->pace.full_until) - (double)(t->n_insts - at) / rate;
        *span += more;
        *error = more * deviation / rate * STUDENT + fmax(lost, 0);
        return;
    }
    /* Too short: as many more as it takes; how they overlap was not seen. */
    *span *= (double)t->launch.n_groups / (double)t->end_group;
    *error = *span / 2;
}
