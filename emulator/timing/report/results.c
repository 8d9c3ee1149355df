/* results.c: what a run came to, as numbers for other programs.
 *
 * Reads the engine's accounts, changes nothing. SPDX-License-Identifier: MIT
 */
#include "several.h"

/* Lanes of a SIMD, operations of a lane: v_dual_fmac_f32. */
#define SIMD_LANES 32
#define LANE_FLOPS 4
/* 16 x 16 x 16, a multiplication and an addition each. */
#define WMMA_FLOPS 8192

size_t tm_inst_uses(const struct tm_engine *t)
{
    return t->insts.numbers.n;
}

void tm_inst_use(const struct tm_engine *t, size_t index, struct tm_inst_use *out)
{
    const struct tm_inst *i = t->insts.inst[index];
    *out = (struct tm_inst_use){.inst = i->inst,
                                .offset = i->offset,
                                .cls = i->cls,
                                .pipe = i->pipe,
                                .times = tm_inst_times(i),
                                .cycles = tm_inst_cycles(i),
                                .conflicts = i->conflicts,
                                .requests = i->asked.requests,
                                .lanes = i->asked.lanes,
                                .bytes = i->asked.bytes,
                                .lines = i->asked.lines,
                                .segments = i->asked.segments,
                                .address_cycles = i->asked.cycles};
    for (unsigned s = 0; s < TM_STALLS; s++)
        out->stall[s] = i->stall[s];
}

void tm_progress(const struct tm_engine *t, struct tm_progress *out)
{
    *out = (struct tm_progress){.groups = t->end_group,
                                .started = t->pace.groups,
                                .ended = t->pace.groups - t->live_groups,
                                .all = t->launch.n_groups,
                                .capacity = t->pace.capacity,
                                .insts = t->chip.issues.all};
    if (t->several)
        out->groups = out->all = 0;
    for (unsigned k = 0; t->several && k < t->several->n; k++)
        out->groups = out->all += t->several->one[k].launch.n_groups;
}

void tm_launch_seen(const struct tm_engine *t, unsigned index,
                    struct tm_launch_seen *out)
{
    *out = (struct tm_launch_seen){.begun = 0};
    if (!t->several || index >= t->several->n)
        return;
    const struct tm_one *o = &t->several->one[index];
    *out = (struct tm_launch_seen){
        .begun = o->begun, .first = o->first, .end = o->end, .groups = o->started};
}

unsigned tm_launch_last(const struct tm_engine *t)
{
    return t->several ? t->several->last : 0;
}

bool tm_is_shared(const struct tm_engine *t)
{
    return t->several != NULL;
}

unsigned tm_at_turn(const struct tm_engine *t)
{
    return t->several ? t->several->at : 0;
}

uint64_t tm_in_runs(const struct tm_engine *t)
{
    return t->chip.issues.in_runs;
}

uint64_t tm_loads_postponed(const struct tm_engine *t)
{
    return t->chip.issues.loads_postponed;
}

void tm_counts(const struct tm_engine *t, uint64_t count[TM_COUNTS])
{
    tm_account_count(t, count);
}

static unsigned enabled_cus(const struct tm_machine *m)
{
    unsigned cus = 0, per = 2 * m->wgps;
    for (unsigned s = 0; s < m->ses; s++)
        for (unsigned a = 0; a < m->arrays; a++)
            for (unsigned c = 0; c < per; c++)
                cus += m->enabled[s] >> (16 * a + c) & 1u;
    return cus;
}

void tm_measure(const struct tm_engine *t, struct tm_machine *machine,
                struct tm_use *use, struct tm_peaks *peaks)
{
    const struct tm_params *p = &t->chip.b.p;
    double cus = enabled_cus(&t->machine), simds = 2 * cus;
    *machine = t->machine;
    *use = (struct tm_use){.waves = t->totals.waves,
                           .peak_waves = t->totals.peak_waves,
                           .wave_cycles = t->totals.wave_cycles,
                           .skipped = t->chip.issues.skipped,
                           .lds_data = t->chip.lds.active};
    for (size_t i = 0; i < (size_t)t->chip.n_ses * t->chip.wgps_per_se; i++)
        for (unsigned c = 0; c < 2; c++) {
            const struct tm_cu *cu = &t->chip.wgps[i].cu[c];
            use->simd_cycles += (double)(cu->simd[0].room.held + cu->simd[1].room.held);
        }
    *peaks = (struct tm_peaks){.cus = (unsigned)cus,
                               .valu = simds,
                               .flops = simds * SIMD_LANES * LANE_FLOPS,
                               .wmma = simds * WMMA_FLOPS / p->wmma_cycles,
                               .salu = simds,
                               .lds_bytes = cus * p->lds_banks * 4,
                               .l0_bytes = cus * p->vmem_lines_per_cycle * 64,
                               .gl2_bytes = p->gl2_channels * p->gl2_channel_bytes,
                               .mall_bytes = p->mall_bytes_per_ns,
                               .dram_bytes = p->dram_bytes_per_ns};
}

/* From a time to the end; where a run was cut, to where it stood. */
static uint64_t cycles_to(const struct tm_engine *t, int64_t from, int64_t end)
{
    return (uint64_t)tm_max((end < 0 ? tm_now(t) : end) - from, 0);
}

static struct tm_wgp_use use_of(const struct tm_engine *t, const struct tm_wgp *g)
{
    uint64_t still = g->room.waves ? cycles_to(t, g->room.busy_since, -1) : 0;
    struct tm_wgp_use use = {.busy_cycles = (uint64_t)g->room.busy_cycles + still,
                             .code_hits = g->fetch.icache.hits,
                             .code_misses = g->fetch.icache.misses,
                             .scalar_hits = g->smem.cache.hits,
                             .scalar_misses = g->smem.cache.misses};
    for (unsigned c = 0; c < 2; c++) {
        const struct tm_cu *cu = &g->cu[c];
        use.issued += cu->simd[0].port.issued + cu->simd[1].port.issued;
        use.cu[c].lds_cycles = cu->lds.cycles;
        use.cu[c].l0_hits = cu->vmem.l0_hits;
        use.cu[c].l0_misses = cu->vmem.l0_misses;
    }
    return use;
}

void tm_wgp_uses(const struct tm_engine *t, struct tm_wgp_use *out)
{
    unsigned per_se = t->chip.wgps_per_se;
    for (size_t i = 0; i < (size_t)t->chip.n_ses * per_se; i++)
        out[i] = use_of(t, &t->chip.wgps[i]);
    for (size_t i = 0; i < t->all->records.n; i++) {
        const struct tm_record *r = &t->all->records.record[i];
        struct tm_wgp_use *use =
            &out[r->se * per_se + r->sa * t->machine.wgps + r->wgp];
        use->waves++;
        use->wave_cycles += cycles_to(t, r->start, r->end);
    }
}

void tm_gl1_use(const struct tm_engine *t, unsigned se, unsigned sa, uint64_t *hits,
                uint64_t *misses)
{
    *hits = t->chip.se[se].gl1[sa].hits;
    *misses = t->chip.se[se].gl1[sa].misses;
}
