/* pace.c: how much of a grid is simulated, and what is noted down on the way for an
 * estimate of the rest (report/sample.c): starts of workgroups, instructions over time.
 *
 * Must not know instructions, nor what follows from the numbers. Invariant: what is
 * simulated is the beginning of the whole run, cycle by cycle.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "later.h"

/* When a pace is known (steady): parts of the time, Student's factor for them; turns of
 * loops, or fillings of the chip, and cycles to be seen at least; how well it is known,
 * how little it may change from the first part to the last. */
#define PARTS   8u
#define STUDENT 2.365
#define ROUNDS  24u
#define TURNS   3u
#define CYCLES  20000
#define KNOWN   0.01
#define GROWS   0.02
/* What is left are the same instructions but for this share. */
#define SAME 0.05
/* The share of the time that what is left may save since caches are no longer cold. */
#define COLD 0.03
/* Ticks from look to look. */
#define JUDGE 16u

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

bool tm_fits(const struct tm_engine *t)
{
    enum tm_limit limit;
    unsigned simds = t->chip.b.wgp_mode ? 4 : 2;
    return tm_occupancy(t, &limit) * simds >= t->need.waves_per_group;
}

rd_status tm_sample_begin(struct tm_engine *t)
{
    uint64_t all = t->launch.n_groups, n = t->config.sample;
    if (!tm_fits(t))
        return RD_E_NO_ROOM; /* it would wait for ever */
    t->end_group = all;
    t->pace.capacity = capacity(t);
    t->pace.next = INT64_MAX;
    t->pace.full = t->pace.capacity;
    if (t->config.whole) {
        t->pace.left_over = all > t->pace.capacity ? all % t->pace.capacity : 0;
        t->pace.few = t->pace.left_over;
        if (t->pace.few == 0 && all > t->pace.capacity)
            t->pace.few = t->pace.capacity / 2;
        if (t->pace.only_left_over)
            t->end_group = t->pace.few;
        if (t->pace.full > t->end_group)
            t->pace.full = t->end_group;
        t->pace.step = 64;
        t->pace.next = t->pace.step;
        return RD_OK;
    }
    if (t->config.sample_percent > 0)
        n = (uint64_t)ceil(t->config.sample_percent / 100 * (double)all);
    if (tm_is_part(t) && all <= t->pace.capacity)
        return RD_E_RANGE;
    if (n == 0 && !tm_is_part(t))
        return RD_OK;
    if (n == 0)
        n = all;
    if (n < t->pace.capacity) /* a chip that is not full shows nothing */
        n = t->pace.capacity;
    if (n >= all && !tm_is_part(t))
        return RD_OK;
    n = n < all ? n : all;
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
    struct tm_pace *p = &t->all->pace;
    if (p->start && p->groups < t->all->end_group)
        p->start[p->groups] = tm_now(t);
    if (++p->groups == p->full)
        p->full_from = tm_now(t);
}

void tm_sample_hole(struct tm_engine *t)
{
    struct tm_pace *p = &t->all->pace;
    if (!p->full_until)
        p->full_until = tm_now(t);
}

/* Between two ticks. */
static struct tm_tick between(const struct tm_pace *p, unsigned first, unsigned last)
{
    const struct tm_tick *a = &p->tick[first], *b = &p->tick[last];
    return (struct tm_tick){b->insts - a->insts, b->branches - a->branches,
                            b->groups - a->groups, b->first_loads - a->first_loads};
}

/* Is the pace of the last two thirds of the time since the chip was full known? Every
 * wave has gone round its loops, or workgroups have followed one another, often enough;
 * parts of the time agree; it grows neither faster nor slower. */
static bool steady(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    int64_t from = p->full_from + (tm_now(t) - p->full_from) / 3;
    unsigned first = (unsigned)(from / p->step);
    if (p->groups < p->full || first >= p->n)
        return false;
    unsigned per = (p->n - 1 - first) / PARTS;
    first = p->n - 1 - per * PARTS;
    struct tm_tick all = between(p, first, p->n - 1);
    if (per == 0 || (int64_t)(per * PARTS) * p->step < CYCLES ||
        (all.branches < ROUNDS * t->totals.resident && all.groups < TURNS * p->full))
        return false;
    double sum = 0, squares = 0, moment = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        unsigned at = first + i * per;
        double x = (double)between(p, at, at + per).insts / (double)(per * p->step);
        sum += x;
        squares += x * x;
        moment += (i - (PARTS - 1) / 2.0) * x;
    }
    double wide = PARTS * (PARTS * PARTS - 1) / 12.0;
    double variance = fmax(squares - sum * sum / PARTS, 0) / (PARTS - 1);
    p->rate = sum / PARTS;
    p->first_loads = (double)all.first_loads / (double)all.insts;
    p->error = STUDENT * sqrt(variance / PARTS);
    double grows = fabs(moment / wide) * PARTS;
    return p->error < KNOWN * p->rate && grows < GROWS * p->rate;
}

/* Executions so far, of each opcode and all together: also of what is not issued. */
static uint64_t count_executions(const struct tm_engine *t, uint64_t seen[ISA_OP_COUNT])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->insts.numbers.n; i++) {
        const struct tm_inst *inst = t->insts.inst[i];
        seen[inst->inst->isa.op] += tm_inst_times(inst);
        sum += tm_inst_times(inst);
    }
    return sum;
}

/* The share of what is left that are other instructions than those so far. */
static double others(const struct tm_engine *t, const uint64_t seen[ISA_OP_COUNT],
                     uint64_t sum)
{
    const struct tm_executed *whole = t->config.whole;
    double left = (double)(whole->insts - sum), differ = 0;
    if (whole->insts <= sum)
        return 0;
    for (unsigned op = 0; op < ISA_OP_COUNT; op++)
        differ += fabs(((double)whole->of_op[op] - (double)seen[op]) / left -
                       (double)seen[op] / (double)sum);
    return differ / 2;
}

/* The share of wave cycles in which something from behind the GL2 was waited for. Those
 * at barriers are others' waits. */
static double waits_for_memory(const struct tm_engine *t)
{
    static const uint8_t far[] = {TM_S_VM_FILL, TM_S_VM_MALL,   TM_S_VM_DRAM,
                                  TM_S_VM_PATH, TM_S_SMEM_FILL, TM_S_SMEM_MISS};
    uint64_t all = 0, waits = 0;
    for (size_t i = 0; i < t->insts.numbers.n; i++) {
        const uint64_t *stall = t->insts.inst[i]->stall;
        for (unsigned s = 0; s < TM_STALLS; s++)
            all += s == TM_S_BARRIER ? 0 : stall[s];
        for (unsigned k = 0; k < sizeof far; k++)
            waits += stall[far[k]];
    }
    return all ? (double)waits / (double)all : 0;
}

/* The share of the time that what is left may take less, because loads cannot go on
 * asking for lines of the buffers that nobody has asked for: there are not so many. */
static double cold(const struct tm_engine *t)
{
    const struct tm_memory *m = t->chip.mem;
    double all = (double)t->config.whole->insts;
    if (t->pace.only_left_over)
        all *= (double)t->pace.few / (double)t->launch.n_groups;
    double left = fmax(all - (double)t->pace.insts, 0);
    double would = t->pace.first_loads * left;
    double can = m->lines > m->n_touched ? (double)(m->lines - m->n_touched) : 0;
    if (!m->touched || would <= can)
        return 0;
    return (1 - can / would) * waits_for_memory(t);
}

/* Is enough known, or is it time to give up? */
static void judge(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    bool known = steady(t);
    if (!known && t->chip.issues.all < t->config.whole->most)
        return;
    uint64_t seen[ISA_OP_COUNT] = {0};
    p->insts = count_executions(t, seen);
    p->other = others(t, seen, p->insts);
    p->cold = known ? cold(t) : p->cold;
    if (known && p->other < SAME && p->cold < COLD)
        p->cut = TM_CUT_STEADY;
    else if (t->chip.issues.all >= t->config.whole->most)
        p->cut = known && p->other >= SAME ? TM_CUT_PHASES
                 : p->cold >= COLD         ? TM_CUT_COLD
                                           : TM_CUT_UNSTEADY;
    double executed = (double)p->insts / (double)t->chip.issues.all;
    p->rate *= executed;
    p->error *= executed;
}

void tm_sample_tick(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    while (tm_now(t) >= p->next) {
        p->tick[p->n++] =
            (struct tm_tick){t->chip.issues.all, t->chip.issues.of_class[TM_BRANCH],
                             p->groups, t->chip.mem->first_loads};
        if (t->config.whole && p->n % JUDGE == 0 && !p->cut)
            judge(t);
        if (p->n == TM_PACES) { /* half as fine from here on */
            for (unsigned i = 0; i < TM_PACES / 2; i++)
                p->tick[i] = p->tick[2 * i + 1];
            p->n = TM_PACES / 2;
            p->step *= 2;
        }
        p->next = (int64_t)(p->n + 1) * p->step;
    }
}

/* How far the workgroups have come. */
static void note_begun(struct tm_engine *t)
{
    struct tm_pace *p = &t->pace;
    size_t bytes = (size_t)t->launch.n_groups * sizeof *p->length;
    p->length = t->config.whole->of_group ? malloc(bytes) : NULL;
    if (!p->length)
        return;
    memcpy(p->length, t->config.whole->of_group, bytes);
    p->begun = calloc((size_t)t->live_groups + 1, sizeof *p->begun);
    for (const struct tm_group *g = t->pools.made_groups; p->begun && g;
         g = g->next_made) {
        if (!g->n_live)
            continue;
        size_t wgp = (size_t)(g->wgp - t->chip.wgps);
        struct tm_begun *b = &p->begun[p->n_begun++];
        *b = (struct tm_begun){.number = g->number,
                               .cycles = tm_now(t) - g->start,
                               .se = (unsigned)(wgp / t->chip.wgps_per_se),
                               .place = (unsigned)wgp * 4 + 2 * g->cu};
        for (unsigned k = 0; k < g->n_waves; k++) {
            b->done += emu_wave_executed(emu_group_wave(g->group, k));
            if (g->n_waves == 1 && g->waves[k]) /* not ended */
                b->place = (unsigned)wgp * 4 + g->waves[k]->simd->index;
        }
    }
}

/* Waves that are still there are there until now. */
void tm_sample_cut(struct tm_engine *t)
{
    int64_t now = tm_now(t);
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++) {
        struct tm_wgp *g = &t->chip.wgps[i];
        if (g->room.waves)
            g->room.busy_cycles += tm_max(now - g->room.busy_since, 0);
        for (unsigned k = 0; k < 4; k++) {
            struct tm_simd *s = &g->cu[k / 2].simd[k % 2];
            s->room.held += s->room.live ? now - s->room.held_since : 0;
        }
    }
    for (size_t i = 1; i < t->pools.n_waves; i++) {
        struct tm_wave *w = t->pools.wave[i];
        if (!w->group || w->left)
            continue;
        t->totals.wave_cycles += (double)(now - w->start);
        tm_catch_up(w); /* what it has issued is counted */
    }
    note_begun(t);
    for (unsigned s = 0; s < t->chip.n_ses; s++)
        if (t->dispatcher[s].first_start >= 0)
            t->dispatcher[s].last_end = now;
    for (size_t i = 0; i < t->records.n; i++)
        if (t->records.record[i].end < 0)
            t->records.record[i].end = now;
    t->live_groups = 0;
    double part = (double)t->pace.insts / (double)t->config.whole->insts;
    t->machine.n_simulated = (uint64_t)ceil(part * (double)t->launch.n_groups);
}

/* How much slower than the mean the waves of the slowest SIMD go: the last to end, if
 * all are equally long and there is room for each. */
static double slowest(const struct tm_engine *t)
{
    double waves = 0, done = 0, most = 0;
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++)
        for (unsigned k = 0; k < 4; k++) {
            const struct tm_simd *s = &t->chip.wgps[i].cu[k / 2].simd[k % 2];
            if (!s->room.waves || !s->port.issued)
                continue;
            waves += s->room.waves;
            done += (double)s->port.issued;
            most = fmax(most, s->room.waves / (double)s->port.issued);
        }
    return waves > 0 ? fmax(most * done / waves, 1) : 1;
}

void tm_pace_seen(const struct tm_engine *t, struct tm_pace_seen *out)
{
    const struct tm_pace *p = &t->pace;
    *out = (struct tm_pace_seen){.cut = p->cut,
                                 .rate = p->rate,
                                 .error = p->error,
                                 .other = p->other,
                                 .cold = p->cold,
                                 .few = p->few};
    if (t->config.whole && p->rate > 0)
        out->few_cycles = (double)p->few * (double)t->config.whole->insts /
                          (double)t->launch.n_groups / p->rate;
    if (p->only_left_over)
        out->few_cycles *= slowest(t);
}

void tm_only_left_over(struct tm_engine *t)
{
    t->pace.only_left_over = true;
}

void tm_tell_left_over(struct tm_engine *t, double cycles, double error)
{
    t->pace.told = true;
    t->pace.told_cycles = cycles;
    t->pace.told_error = error;
}
