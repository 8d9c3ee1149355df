/* sample.c: a part of a grid for the whole: how much is simulated, and what follows.
 *
 * The chip is filled; workgroups follow as others end; the last ones drain. What is
 * left out is given the pace of the workgroups that began after the filling, seen over
 * whole turns of as many as fit at once, because workgroups of equal length come in
 * bursts. How the pace varies from part to part tells how far to trust it, and whether
 * it changes as the grid goes on. Whatever the starts say, a workgroup takes no less
 * than its share of what it keeps busiest, and a full chip waits no longer than its
 * mean stay. Must not know instructions. Invariant: what is simulated is the beginning
 * of the whole run, cycle by cycle; of later workgroups that differ from all before
 * them nobody can know.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "sample.h"

#define PARTS 8u
/* From so many turns on each part is one of them, or several. */
#define TURNS 4u
/* How much longer than its mean so far a stay may become. */
#define LONGER 1.2
/* What statistics do not see: the last workgroups' share of a stay, and of the pace. */
#define LAST_STAY 0.75
#define ANY_PACE  0.02
/* What the pace of a first filling, whose waves still go in step, may be off. */
#define FIRST_PACE 0.04
/* How much of its stay the last workgroup comes late, and may come too late or early.
 */
#define LATE      0.05
#define LAST_PART 0.15
/* Workgroups that are left over: so far from no time of their own to what they take
 * alone; nine kernels of equally long ones lie between 0.67 and 1.09. */
#define ALONE      0.85
#define ALONE_PART 0.3
/* So much longer are those left over if each waits for itself: enough to tell by. */
#define MUCH 1.1
/* Of the way to the least possible pace, how far it may still go after two turns. */
#define COLD 0.75
/* A rate of instructions known no better than this is none. */
#define EVEN 0.1

/* Student's distribution, within 3 %: two-sided 95 % from three, and 99 % from two
 * degrees of freedom on. */
static double t95(double freedom)
{
    return 1.96 * (1 + 1.4 / (freedom - 0.5));
}
static double t99(double freedom)
{
    return 2.576 * (1 + 2.2 / (freedom - 0.8));
}

/* Instructions per cycle of the full chip, and half of its 95 % interval; false: it was
 * full for too short a time. The first eighth of that is left out: caches are cold,
 * waves go in step. */
static bool full_rate(const struct tm_engine *t, double *rate, double *error)
{
    const struct tm_pace *p = &t->pace;
    int64_t from = p->full_from + (p->full_until - p->full_from) / 8;
    int64_t first = from / p->step, last = p->full_until / p->step - 1;
    int64_t per = tm_max(0, last - first) / PARTS;
    double sum = 0, squares = 0;
    if (per == 0 || last >= (int64_t)p->n ||
        4 * (double)(p->full_until - p->full_from) < tm_sample_span(t))
        return false;
    first = last - per * (int64_t)PARTS;
    for (unsigned i = 0; i < PARTS; i++, first += per) {
        double x = (double)(p->tick[first + per].insts - p->tick[first].insts) /
                   (double)(per * p->step);
        sum += x;
        squares += x * x;
    }
    *rate = sum / PARTS;
    double variance = (squares - sum * sum / PARTS) / (PARTS - 1);
    *error = t95(PARTS - 1) * sqrt((variance > 0 ? variance : 0) / PARTS);
    return *rate > 0;
}

double tm_sample_span(const struct tm_engine *t)
{
    double span = 0, first = INFINITY, last = 0;
    for (unsigned s = 0; s < t->chip.n_ses; s++) {
        const struct tm_dispatcher *d = &t->dispatcher[s];
        if (d->first_start < 0)
            continue;
        span = fmax(span, (double)(d->last_end - d->first_start));
        first = fmin(first, (double)d->first_start);
        last = fmax(last, (double)d->last_end);
    }
    return t->several && span > 0 ? last - first : span;
}

/* Cycles from start to start. */
struct pace {
    double mean, error; /* of the workgroups left out, half of the interval */
    bool changes;       /* they become longer or shorter */
};

/* What the starts after the filling say, in a number of whole turns. */
static void steady(const struct tm_engine *t, uint64_t turns, double left,
                   struct pace *pace)
{
    unsigned parts = turns >= TURNS && turns < PARTS ? (unsigned)turns : PARTS;
    uint64_t per = turns >= TURNS ? turns / parts * t->pace.capacity
                                  : turns * t->pace.capacity / parts;
    double sum = 0, squares = 0, moment = 0, wide = 0;
    const int64_t *start = &t->pace.start[t->pace.groups - 1 - per * parts];
    for (unsigned i = 0; i < parts; i++, start += per) {
        double x = (double)(start[per] - start[0]) / (double)per;
        double at = i - (parts - 1) / 2.0;
        sum += x;
        squares += x * x;
        moment += at * x;
        wide += at * at;
    }
    double about = fmax(squares - sum * sum / parts, 0), slope = moment / wide;
    double rest = fmax(about - slope * moment, 0) / (parts - 2);
    pace->mean = sum / parts;
    pace->error = t95(parts - 1) * sqrt(about / (parts - 1) / parts);
    pace->changes = turns >= 2 && fabs(slope) > t99(parts - 2) * sqrt(rest / wide);
    if (pace->changes) { /* the line goes on, or it does not */
        double by = slope * (parts / 2.0 + left / (double)per / 2);
        pace->mean = fmax(pace->mean + by, 0);
        pace->error += fabs(by);
    }
}

/* Cycles in which the CUs' units had something to do, and how many CUs there are. */
struct busy {
    double valu, lds, cus; /* valu: of both SIMDs */
};

static struct busy units_busy(const struct tm_engine *t)
{
    struct busy b = {0};
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        const struct tm_wgp *g = &t->chip.wgps[i];
        b.cus += __builtin_popcount(g->room.enabled);
        for (unsigned c = 0; c < 2; c++) {
            b.lds += (double)g->cu[c].lds.cycles;
            b.valu +=
                (double)(g->cu[c].simd[0].valu.cycles + g->cu[c].simd[1].valu.cycles);
        }
    }
    return b;
}

/* The least that a workgroup takes of the chip, and the time after which a full chip
 * lets the next one in. */
static void bounds(const struct tm_engine *t, double *least, double *stay)
{
    struct busy b = units_busy(t);
    double simds = 2 * b.cus, ses = 0;
    double groups = (double)t->end_group;
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        ses += t->dispatcher[s].used;
    *least = fmax(b.valu / simds, b.lds / b.cus) / groups;
    for (unsigned c = 0; c < TM_CLASSES; c++)
        *least = fmax(*least, (double)t->chip.issues.of_class[c] / simds / groups);
    if (ses > 0)
        *least = fmax(*least, t->chip.b.p.group_launch_cycles / ses);
    *stay = (t->totals.wave_cycles / (double)(t->totals.waves ? t->totals.waves : 1) +
             t->chip.b.p.slot_reuse_cycles) /
            (double)t->pace.capacity;
    *stay = fmax(*stay, *least);
}

/* One filling only: the next ones take no longer, and follow no faster than the busiest
 * unit allows. Between the two lies the pace of instructions, or else of stays. */
static struct pace one_filling(const struct tm_engine *t, double span, double least,
                               double stay)
{
    double most = fmax(span / (double)t->end_group, stay), rate, error;
    if (!full_rate(t, &rate, &error) || error > EVEN * rate)
        return (struct pace){stay, fmax(most - stay, stay - least), false};
    double mean = (double)t->chip.issues.all / (double)t->end_group / rate;
    mean = fmin(fmax(mean, least), most);
    return (struct pace){mean, fmax(most - mean, COLD * (mean - least)), false};
}

/* The share of the time that SIMDs or LDS had something to do, those that had most. */
static double busiest(const struct tm_engine *t)
{
    struct busy b = units_busy(t);
    return fmin(fmax(b.valu / 2, b.lds) / b.cus / fmax((double)tm_now(t), 1), 1);
}

/* The law by which workgroups that are left over take what was told, but for what the
 * launch has lost at its beginning. False: that does not tell. */
static bool drains(const struct tm_engine *t, double *law)
{
    const struct tm_pace *p = &t->pace;
    double lost = fmax((double)tm_now(t) - (double)p->insts / p->rate, 0);
    double low = 0, high = 1;
    if (!p->told || tm_rest_cycles(t, 1, true) < MUCH * tm_rest_cycles(t, 0, true))
        return false;
    while (high - low > 0.01) {
        *law = (low + high) / 2;
        if (tm_rest_cycles(t, *law, true) < p->told_cycles - lost)
            low = *law;
        else
            high = *law;
    }
    return true;
}

/* A run that ended once its pace was known, of workgroups whose lengths are known:
 * until the last one ends, and what the end may be off. */
static double to_the_end(const struct tm_engine *t, double stay, double *last)
{
    double busy = tm_rest_cycles(t, 0, false), alone = tm_rest_cycles(t, 1, false);
    double law = 1 - busiest(t), wide = 0.5;
    if (drains(t, &law)) {
        wide = ALONE_PART;
        alone = tm_rest_cycles(t, fmin(2 * law, 1), false);
    }
    *last = wide * (alone - busy) + t->pace.told_error;
    if (!tm_rest_all_there(t))
        *last += LAST_PART * stay;
    return tm_rest_cycles(t, law, false);
}

/* A run that ended once its pace was known. The full chip goes on like that; what is
 * left over has the chip for itself, if all workgroups are equally long and stay in
 * step, or fills gaps that earlier ones leave, which costs no time of its own; most of
 * it is the former. */
static void go_on(const struct tm_engine *t, double *span, double *error)
{
    const struct tm_pace *p = &t->pace;
    struct tm_pace_seen seen;
    tm_pace_seen(t, &seen);
    double insts = (double)t->config.whole->insts;
    double per = insts / (double)t->launch.n_groups;
    double full = (insts - (double)p->insts) / p->rate, off = p->error / p->rate;
    double stay = per * (double)p->full / p->rate, alone = 0;
    if (p->left_over)
        alone = seen.few_cycles;
    double last = LAST_PART * stay, any = p->groups > p->full ? ANY_PACE : FIRST_PACE;
    if (p->n_begun) {
        double rest = to_the_end(t, stay, &last);
        *span += rest;
        *error = rest * (off + p->other / 2 + p->cold +
                         (tm_rest_all_there(t) ? ANY_PACE : any)) +
                 last;
        return;
    }
    full -= alone;
    if (p->left_over && p->told) {
        last += p->told_error + ALONE_PART * fabs(p->told_cycles - alone);
        alone += ALONE * (p->told_cycles - alone);
    } else if (p->left_over) {
        last += (stay - alone) / 2;
        alone = (stay + alone) / 2;
    }
    *span += full + alone + LATE * stay;
    *error = full * (off + p->other / 2 + p->cold + any) + last;
}

/* What was simulated of the grid, 0 to 1. */
double tm_sample_part(const struct tm_engine *t)
{
    if (t->pace.cut)
        return (double)t->pace.insts / (double)t->config.whole->insts;
    return (double)t->end_group / (double)t->launch.n_groups;
}

/* The pace of so many workgroups that are left out. */
static struct pace find_pace(const struct tm_engine *t, double left, double stay,
                             double least)
{
    uint64_t n = t->end_group;
    uint64_t turns =
        n > t->pace.capacity ? (n - t->pace.capacity) / t->pace.capacity : 0;
    struct pace pace = one_filling(t, tm_sample_span(t), least, stay);
    if (turns * t->pace.capacity >= PARTS)
        steady(t, turns, left, &pace);
    if (turns && turns < TURNS && !pace.changes) {
        double low = fmax(pace.mean - pace.error, least);
        double high = fmin(pace.mean + pace.error, stay * LONGER);
        if (low < high)
            pace = (struct pace){fmin(fmax(pace.mean, low), high), (high - low) / 2,
                                 false};
        /* caches and translations may still be cold */
        double cold = (pace.mean - least) * (turns < 2 ? 1 : COLD);
        pace.error = fmax(pace.error, cold);
    }
    return pace;
}

void tm_sample_estimate(const struct tm_engine *t, double *span, double *error)
{
    if (t->pace.cut == TM_CUT_STEADY) {
        *span = tm_sample_span(t);
        go_on(t, span, error);
        return;
    }
    double left = (double)(t->launch.n_groups - t->end_group), least, stay;
    *span = tm_sample_span(t);
    *error = 0;
    if (t->end_group == 0 || left <= 0 || t->pace.only_left_over)
        return;
    bounds(t, &least, &stay);
    struct pace pace = find_pace(t, left, stay, least);
    *span += left * pace.mean;
    *error = left * (pace.error + ANY_PACE * pace.mean) +
             LAST_STAY * stay * (double)t->pace.capacity;
}

/* Cycles from the start of the last but n workgroups to that of the last but m. */
static double between_starts(const struct tm_engine *t, uint64_t n, uint64_t m)
{
    const int64_t *last = &t->pace.start[t->end_group - 1];
    return (double)(last[-(int64_t)m] - last[-(int64_t)n]);
}

void tm_part_adds(const struct tm_engine *t, double *cycles, double *error)
{
    const struct tm_pace *p = &t->pace;
    double least, stay, alone, off;
    tm_sample_estimate(t, &alone, &off);
    *cycles = alone;
    *error = off;
    if (!p->start || t->config.part_first == 0)
        return;
    bounds(t, &least, &stay);
    uint64_t turns = t->end_group / p->capacity - 1, seen = 0;
    struct pace pace =
        find_pace(t, (double)(t->launch.n_groups - t->end_group), stay, least);
    double cold = 0;
    if (turns >= TURNS) {
        /* Whole turns, as starts come in bursts; the first one is left out, too: what
         * it waits for is there already when the part follows others. */
        seen = (turns - 1) * p->capacity;
        double rate = between_starts(t, seen, 0) / (double)seen;
        cold = fabs(between_starts(t, seen + p->capacity, seen) -
                    rate * (double)p->capacity);
        if (!pace.changes)
            pace.mean = rate;
    } else if (turns) {
        seen = turns * p->capacity;
    }
    double rest = (double)(t->launch.n_groups - seen);
    *cycles = (seen ? between_starts(t, seen, 0) : 0) + rest * pace.mean;
    *cycles = fmin(*cycles, alone); /* with what nobody else does meanwhile */
    *error = rest * (pace.error + ANY_PACE * pace.mean) + cold;
}
