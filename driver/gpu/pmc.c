/* pmc.c: performance counters: registers by which a program selects events in blocks of
 * the chip, begins and ends to count, takes samples and reads them.
 *
 * What events count is known at the end of each dispatch (pmc_facts.c), so a sample has
 * the dispatches that have ended. Counters are those of the chip: whatever queue runs,
 * as its COMPUTE_PERFCOUNT_ENABLE and the masks of the sequencer let it. Must not know
 * packets.
 *
 * Source: registers of the amdgpu kernel driver's headers (gc_11_0_0), how clients use
 * them (AMD's aqlprofile, Mesa, tinygrad). SPDX-License-Identifier: MIT
 */
#include "pmc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp.h"
#include "timing.h"

#define GRBM_GFX_INDEX           0xc200u
#define SE_BROADCAST             (1u << 31)
#define INSTANCE_BROADCAST       (1u << 30)
#define SA_BROADCAST             (1u << 29)
#define CP_PERFMON_CNTL          0xd808u
#define SQ_PERFCOUNTER_CTRL      0xd9e0u
#define SQG_PERFCOUNTER_CTRL     0xd9d8u
#define STATE                    7u /* 0: disabled, and counters are cleared */
#define STATE_COUNTS             1u
#define SAMPLE_ENABLE            (1u << 10)
#define COMPUTE_PERFCOUNT_ENABLE 0x2e0bu
/* Of SQ_PERFCOUNTER_CTRL, and of CTRL2, two registers behind it. */
#define CS_EN         (1u << 6)
#define FORCE_EN      1u
#define VMID_EN(vmid) (2u << (vmid))
#define VMID_EN_ANY   0x1fffeu

struct block {
    const char *name;
    uint16_t select[PMC_COUNTERS];      /* dword offsets from the first; 0: no more */
    uint32_t value;                     /* the first one's _LO */
    uint8_t step;                       /* from one to the next */
    bool high;                          /* it has a _HI */
    uint16_t events;                    /* mask of PERF_SEL */
    uint8_t ses, sas, instances, shift; /* shift: of INSTANCE_INDEX */
};

#define SES BOARD_SE
#define SAS BOARD_SA_PER_SE
static const struct block blocks[PMC_BLOCKS] = {
    [PMC_GRBM] = {"GRBM", {0xd840, 0xd841}, 0xd040, 3, true, 0x3f, 1, 1, 1, 0},
    [PMC_SQ] = {"SQ",
                {0xd9c0, 0xd9c2, 0xd9c4, 0xd9c6, 0xd9c8, 0xd9ca, 0xd9cc, 0xd9ce},
                0xd1c0,
                2,
                false,
                0x1ff,
                SES,
                SAS,
                PMC_WGPS_PER_SA,
                2},
    [PMC_SQG] = {"SQG",
                 {0xd9d0, 0xd9d1, 0xd9d2, 0xd9d3, 0xd9d4, 0xd9d5, 0xd9d6, 0xd9d7},
                 0xd1e4,
                 2,
                 true,
                 0x1ff,
                 SES,
                 1,
                 1,
                 0},
    [PMC_TCP] = {"TCP",
                 {0xdb40, 0xdb42, 0xdb44, 0xdb45},
                 0xd340,
                 2,
                 true,
                 0x3ff,
                 SES,
                 SAS,
                 16,
                 0},
    [PMC_GL1C] = {"GL1C",
                  {0xdba0, 0xdba2, 0xdba3, 0xdba4},
                  0xd3a0,
                  2,
                  true,
                  0x3ff,
                  SES,
                  SAS,
                  4,
                  0},
    [PMC_GL2C] =
        {"GL2C", {0xdb80, 0xdb82, 0xdb84, 0xdb85}, 0xd380, 2, true, 0x3ff, 1, 1, 32, 0},
};
#define ALL_COUNTERS ((size_t)PMC_BLOCKS * PMC_UNITS * PMC_COUNTERS)
/* Instances that have part in what is counted. */
enum { GL1C_LIVE = 4, GL2C_LIVE = 24 };

static const struct {
    uint8_t block;
    uint16_t event;
    uint8_t fact;
    const char *name;
} events[] = {
#define F(fact, place, timed, text)
#define E(block, event, name, fact) {PMC_##block, event, PMC_##fact, name},
#include "pmc.def"
#undef F
#undef E
};

static const bool timed_only[PMC_FACTS] = {
#define F(fact, place, timed, text) timed,
#define E(block, event, name, fact)
#include "pmc.def"
#undef F
#undef E
};

void gpu_pmc_init(struct gpu_pmc *pmc)
{
    pthread_mutex_init(&pmc->lock, NULL);
}

void gpu_pmc_reset(struct gpu_pmc *pmc)
{
    pthread_mutex_lock(&pmc->lock);
    free(pmc->counter);
    pmc->counter = NULL;
    pmc->control = 0;
    pmc->wants_opcodes = false;
    memset(pmc->sequencer, 0, sizeof pmc->sequencer);
    pthread_mutex_unlock(&pmc->lock);
}

static int event_of(unsigned block, uint32_t select)
{
    uint32_t event = select & blocks[block].events;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i].block == block && events[i].event == event)
            return (int)i;
    return -1;
}

/* ---- which register ---------------------------------------------------------------
 */

enum part { SELECT, LOW, HIGH };

static bool find(uint32_t reg, unsigned *block, unsigned *counter, enum part *part)
{
    for (unsigned b = 0; b < PMC_BLOCKS; b++)
        for (unsigned i = 0; i < PMC_COUNTERS && blocks[b].select[i]; i++) {
            uint32_t low = blocks[b].value + i * blocks[b].step;
            *block = b;
            *counter = i;
            *part = reg == low ? LOW : reg == low + 1 ? HIGH : SELECT;
            if (reg == blocks[b].select[i] || reg == low ||
                (blocks[b].high && reg == low + 1))
                return true;
        }
    return false;
}

static unsigned units_of(const struct block *b)
{
    return (unsigned)b->ses * b->sas * b->instances;
}

/* Is the unit one of those that GRBM_GFX_INDEX selects? Of reads the first is meant. */
static bool is_selected(const struct block *b, unsigned unit, uint32_t index)
{
    unsigned instance = unit % b->instances, array = unit / b->instances;
    unsigned sa = array % b->sas, se = array / b->sas;
    return (index & SE_BROADCAST || b->ses == 1 || (index >> 16 & 0xff) == se) &&
           (index & SA_BROADCAST || b->sas == 1 || (index >> 8 & 0xff) == sa) &&
           (index & INSTANCE_BROADCAST || b->instances == 1 ||
            (index & 0xff) >> b->shift == instance);
}

static struct pmc_counter *counter_at(const struct gpu_pmc *pmc, unsigned block,
                                      unsigned unit, unsigned i)
{
    return &pmc->counter[(block * PMC_UNITS + unit) * PMC_COUNTERS + i];
}

/* ---- time -------------------------------------------------------------------------
 */

static uint64_t cycles_of(const struct gpu *gpu, uint64_t ticks)
{
    double mhz = gpu->sclk_mhz > 0 ? gpu->sclk_mhz : BOARD_SCLK_MHZ;
    return (uint64_t)((double)ticks * mhz * 1e6 / (double)BOARD_CLOCK_HZ);
}

static bool counts(const struct gpu_pmc *pmc)
{
    return (pmc->control & STATE) == STATE_COUNTS;
}

/* Cycles of the clock, or of a kernel, in the counters that want them. Lock held. */
static void add_cycles(struct gpu_pmc *pmc, enum pmc_fact fact, uint64_t cycles)
{
    for (unsigned i = 0; pmc->counter && blocks[PMC_GRBM].select[i]; i++) {
        struct pmc_counter *c = counter_at(pmc, PMC_GRBM, 0, i);
        int e = event_of(PMC_GRBM, c->select);
        if (e >= 0 && events[e].fact == fact)
            c->count += cycles;
    }
}

/* The clock has come so far. Lock held. */
static void advance(struct gpu *gpu)
{
    struct gpu_pmc *pmc = &gpu->pmc;
    uint64_t now = gpu_clock(gpu);
    if (counts(pmc) && now > pmc->since)
        add_cycles(pmc, PMC_CLOCK, cycles_of(gpu, now - pmc->since));
    pmc->since = now;
}

/* ---- registers --------------------------------------------------------------------
 */

static uint32_t *sequencer_at(struct gpu_pmc *pmc, uint32_t reg)
{
    if (reg - SQ_PERFCOUNTER_CTRL < 3)
        return &pmc->sequencer[0][reg - SQ_PERFCOUNTER_CTRL];
    return reg - SQG_PERFCOUNTER_CTRL < 3
               ? &pmc->sequencer[1][reg - SQG_PERFCOUNTER_CTRL]
               : NULL;
}

static uint32_t part_of(const struct pmc_counter *c, enum part part)
{
    return part == SELECT ? c->select
           : part == LOW  ? (uint32_t)c->sampled
                          : (uint32_t)(c->sampled >> 32);
}

uint32_t gpu_pmc_read(struct gpu *gpu, uint32_t reg)
{
    struct gpu_pmc *pmc = &gpu->pmc;
    uint32_t index = reg_look(gpu, NULL, GRBM_GFX_INDEX), value = 0;
    unsigned block, i, u = 0;
    enum part part;
    pthread_mutex_lock(&pmc->lock);
    const uint32_t *plain =
        reg == CP_PERFMON_CNTL ? &pmc->control : sequencer_at(pmc, reg);
    if (plain) {
        value = *plain;
    } else if (pmc->counter && find(reg, &block, &i, &part)) {
        const struct block *b = &blocks[block];
        while (u < units_of(b) && !is_selected(b, u, index))
            u++;
        if (u < units_of(b))
            value = part_of(counter_at(pmc, block, u, i), part);
    }
    pthread_mutex_unlock(&pmc->lock);
    return value;
}

/* Lock held. */
static void sample(struct gpu *gpu)
{
    struct gpu_pmc *pmc = &gpu->pmc;
    advance(gpu);
    for (size_t i = 0; pmc->counter && i < ALL_COUNTERS; i++)
        pmc->counter[i].sampled = pmc->counter[i].count;
}

void gpu_pmc_sample(struct gpu *gpu)
{
    pthread_mutex_lock(&gpu->pmc.lock);
    sample(gpu);
    pthread_mutex_unlock(&gpu->pmc.lock);
}

/* Lock held. */
static void set_control(struct gpu *gpu, uint32_t value)
{
    struct gpu_pmc *pmc = &gpu->pmc;
    advance(gpu);
    pmc->control = value & ~SAMPLE_ENABLE;
    if (value & SAMPLE_ENABLE)
        sample(gpu);
    for (size_t i = 0; pmc->counter && !(value & STATE) && i < ALL_COUNTERS; i++)
        pmc->counter[i].count = pmc->counter[i].sampled = 0;
}

/* What is to be said of an event that has been selected, once. Lock held. */
static void judge(struct gpu *gpu, unsigned block, uint32_t select, char text[200])
{
    struct gpu_pmc *pmc = &gpu->pmc;
    uint32_t event = select & blocks[block].events;
    int e = event_of(block, select);
    text[0] = 0;
    if (e < 0) {
        uint32_t *told = &pmc->unknown[block][event / 32 % 32];
        if (event && !(*told >> event % 32 & 1))
            snprintf(text, 200,
                     "performance counters: event %u of %s is not known, so it reads 0",
                     event, blocks[block].name);
        *told |= 1u << event % 32;
        return;
    }
    unsigned fact = events[e].fact;
    pmc->wants_opcodes |= fact >= PMC_FIRST_OPCODES && fact <= PMC_LAST_OPCODES;
    if (timed_only[fact] && gpu->sclk_mhz == 0 && !pmc->told) {
        snprintf(text, 200,
                 "performance counters: without --timing %s reads 0, and so does what "
                 "else is "
                 "of cycles, waits and caches",
                 events[e].name);
        pmc->told = true;
    }
}

/* Lock held. */
static void write_counters(struct gpu *gpu, uint32_t reg, uint32_t value,
                           uint32_t index, char text[200])
{
    struct gpu_pmc *pmc = &gpu->pmc;
    unsigned block, i;
    enum part part;
    if (!find(reg, &block, &i, &part))
        return;
    if (part == SELECT)
        judge(gpu, block, value, text);
    if (!pmc->counter && value)
        pmc->counter = calloc(ALL_COUNTERS, sizeof *pmc->counter);
    for (unsigned u = 0; pmc->counter && u < units_of(&blocks[block]); u++) {
        struct pmc_counter *c = counter_at(pmc, block, u, i);
        if (!is_selected(&blocks[block], u, index))
            continue;
        if (part == SELECT)
            c->select = value;
        else /* programs clear them */
            c->count = c->sampled = part == LOW
                                        ? c->count >> 32 << 32 | value
                                        : (uint64_t)value << 32 | (uint32_t)c->count;
    }
}

void gpu_pmc_write(struct gpu *gpu, uint32_t reg, uint32_t value)
{
    struct gpu_pmc *pmc = &gpu->pmc;
    uint32_t index = reg_look(gpu, NULL, GRBM_GFX_INDEX);
    char text[200] = "";
    pthread_mutex_lock(&pmc->lock);
    uint32_t *plain = sequencer_at(pmc, reg);
    if (reg == CP_PERFMON_CNTL)
        set_control(gpu, value);
    else if (plain)
        *plain = value;
    else
        write_counters(gpu, reg, value, index, text);
    pthread_mutex_unlock(&pmc->lock);
    if (text[0])
        gpu_log(gpu, "%s", text);
}

/* ---- a dispatch -------------------------------------------------------------------
 */

/* Are waves of the queue counted by the sequencers (0), by those of engines (1)? */
static bool lets_count(const struct gpu_queue *q, unsigned which)
{
    const uint32_t *r = q->gpu->pmc.sequencer[which];
    uint32_t vmids = q->space < 16 ? VMID_EN(q->space) : VMID_EN_ANY;
    bool enabled = r[2] & FORCE_EN ||
                   (q->sh && reg_look(q->gpu, q->sh, COMPUTE_PERFCOUNT_ENABLE) & 1);
    return enabled && r[0] & CS_EN && r[2] & vmids;
}

void cp_pmc_begin(struct gpu_queue *q, struct emu_dispatch *d)
{
    struct gpu_pmc *pmc = &q->gpu->pmc;
    struct cp_pmc *p = &q->pmc;
    pthread_mutex_lock(&pmc->lock);
    bool on = counts(pmc) && pmc->counter;
    bool opcodes = on && pmc->wants_opcodes && !q->gpu->clock.simulated;
    pthread_mutex_unlock(&pmc->lock);
    *p = (struct cp_pmc){.began = on ? cp_clock(q) : 0};
    p->facts = on ? calloc(1, sizeof *p->facts) : NULL;
    d->executed = p->executed =
        p->facts && opcodes ? calloc(GPU_OPCODES, sizeof *p->executed) : NULL;
}

/* What the unit of a block has counted of it. */
static uint64_t of_unit(const struct pmc_facts *f, unsigned block, unsigned unit,
                        unsigned fact)
{
    const uint64_t *of = f->of[fact];
    uint64_t sum = 0;
    switch (block) {
    case PMC_SQ:
        return of[unit];
    case PMC_SQG:
        for (unsigned g = 0; g < PMC_WGPS_PER_SA * BOARD_SA_PER_SE; g++)
            sum += of[unit * PMC_WGPS_PER_SA * BOARD_SA_PER_SE + g];
        return sum;
    case PMC_TCP:
        return unit % 16 < BOARD_CU_PER_SA ? of[unit / 16 * BOARD_CU_PER_SA + unit % 16]
                                           : 0;
    case PMC_GL1C:
        return pmc_share(of[unit / 4], unit % 4, unit % 4 + 1, GL1C_LIVE);
    case PMC_GL2C:
        return unit < GL2C_LIVE ? pmc_share(of[0], unit, unit + 1, GL2C_LIVE) : 0;
    default:
        return 0;
    }
}

/* Lock held. */
static void add_facts(struct gpu_pmc *pmc, const struct pmc_facts *f, unsigned block)
{
    for (unsigned u = 0; u < units_of(&blocks[block]); u++)
        for (unsigned i = 0; i < PMC_COUNTERS && blocks[block].select[i]; i++) {
            struct pmc_counter *c = counter_at(pmc, block, u, i);
            int e = c->select ? event_of(block, c->select) : -1; /* 0: mostly */
            if (e >= 0)
                c->count += of_unit(f, block, u, events[e].fact);
        }
}

/* The part of its time in which no other ran. Lock held. */
static uint64_t alone(struct gpu_pmc *pmc, uint64_t cycles, uint64_t from, uint64_t to)
{
    uint64_t seen = pmc->busy_until;
    if (to > seen)
        pmc->busy_until = to;
    if (seen <= from || to <= from)
        return cycles;
    return to <= seen
               ? 0
               : (uint64_t)((double)cycles * (double)(to - seen) / (double)(to - from));
}

void cp_pmc_timed(struct gpu_queue *q, const struct emu_dispatch *d,
                  const struct tm_engine *t)
{
    struct cp_pmc *p = &q->pmc;
    if (!p->facts)
        return;
    pmc_facts_timed(p->facts, t, d);
    p->cycles = tm_span_cycles(t);
    p->timed = true;
}

void cp_pmc_end(struct gpu_queue *q, const struct emu_dispatch *d,
                const struct emu_stats *stats)
{
    struct gpu *gpu = q->gpu;
    struct gpu_pmc *pmc = &gpu->pmc;
    struct cp_pmc *p = &q->pmc;
    uint64_t now = cp_clock(q);
    if (!p->facts)
        return;
    if (!p->timed)
        pmc_facts_executed(p->facts, p->executed, d, stats);
    uint64_t cycles = p->timed ? p->cycles : cycles_of(gpu, now - p->began);
    pthread_mutex_lock(&pmc->lock);
    if (counts(pmc) && pmc->counter) {
        add_cycles(pmc, PMC_ACTIVE, alone(pmc, cycles, p->began, now));
        for (unsigned b = PMC_TCP; b < PMC_BLOCKS; b++)
            add_facts(pmc, p->facts, b);
        if (lets_count(q, 0))
            add_facts(pmc, p->facts, PMC_SQ);
        if (lets_count(q, 1))
            add_facts(pmc, p->facts, PMC_SQG);
    }
    pthread_mutex_unlock(&pmc->lock);
    free(p->executed);
    free(p->facts);
    *p = (struct cp_pmc){0};
}
