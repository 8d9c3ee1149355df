/* pmc_facts.c: what performance counters can know of a dispatch: its instructions by
 * kind, what the timing model has counted, and where on the chip.
 *
 * Without times nothing has a place: workgroups are taken to go to WGPs one by one,
 * engine by engine, and to do the same. With times what is known for the chip alone
 * (instructions by kind, waits) is shared by what WGPs have issued. Sums are exact
 * either way. Must not know registers. SPDX-License-Identifier: MIT
 */
#include "pmc.h"

#include <stdlib.h>

#include "emu.h"
#include "facts.h"
#include "isa.h"
#include "timing.h"

uint64_t pmc_share(uint64_t number, uint64_t from, uint64_t to, uint64_t all)
{
    unsigned __int128 n = number;
    return all ? (uint64_t)(n * to / all) - (uint64_t)(n * from / all) : 0;
}

/* Sums over the chip, and weights of WGPs. */
struct sums {
    uint64_t of[PMC_FACTS];
    uint64_t weight[PMC_WGPS];
};

/* ---- instructions by kind ----------------------------------------------------------
 */

static bool is_vector(const struct isa_facts *f)
{
    return f->space == ISA_SPACE_GLOBAL || f->space == ISA_SPACE_SCRATCH ||
           f->space == ISA_SPACE_BUFFER || f->space == ISA_SPACE_TBUFFER ||
           f->space == ISA_SPACE_IMAGE;
}

static void add_memory(struct sums *s, const struct isa_facts *f, bool returns,
                       uint64_t n)
{
    if (f->space == ISA_SPACE_FLAT)
        s->of[PMC_FLAT] += n;
    else if (is_vector(f) && f->access != ISA_ACCESS_NONE)
        s->of[returns ? PMC_LOADS : PMC_STORES] += n;
}

/* An opcode has been executed n times. returns: so does it a value to VGPRs. */
static void add_opcode(struct sums *s, unsigned op, bool returns, uint64_t n)
{
    const struct isa_facts *f = isa_facts(op);
    switch (f->pipe) {
    case ISA_PIPE_TRANS:
        s->of[PMC_TRANS] += n;
        s->of[PMC_VALU] += n;
        break;
    case ISA_PIPE_VALU:
    case ISA_PIPE_HALF:
    case ISA_PIPE_QUARTER:
    case ISA_PIPE_DOUBLE:
    case ISA_PIPE_WMMA:
    case ISA_PIPE_WMMA4:
        s->of[PMC_VALU] += n;
        break;
    case ISA_PIPE_SALU:
    case ISA_PIPE_SMUL:
    case ISA_PIPE_JUMP:
    case ISA_PIPE_SWAIT:
        s->of[PMC_SALU] += n;
        break;
    case ISA_PIPE_BRANCH:
        s->of[PMC_BRANCHES] += n;
        break;
    case ISA_PIPE_MESSAGE:
        s->of[PMC_MESSAGES] += n;
        break;
    case ISA_PIPE_SMEM:
        s->of[PMC_SMEM] += n;
        break;
    case ISA_PIPE_LDS:
    case ISA_PIPE_LDS_FADD:
    case ISA_PIPE_PERMUTE:
    case ISA_PIPE_BVH_STACK:
        s->of[PMC_LDS] += n;
        break;
    default:
        s->of[PMC_DELAYS] += op == ISA_S_DELAY_ALU ? n : 0;
        break;
    }
    add_memory(s, f, returns, n);
}

static void add_waves(struct sums *s, const struct emu_dispatch *d, uint64_t waves,
                      uint64_t instructions)
{
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++)
        items *= d->items[i] ? d->items[i] : (uint64_t)d->groups[i] * d->block[i];
    uint64_t most = waves * (d->wave64 ? 64 : 32); /* fewer began of one that was cut */
    s->of[PMC_ITEMS] = items < most ? items : most;
    s->of[PMC_WAVES] = s->of[d->wave64 ? PMC_WAVES_64 : PMC_WAVES_32] = waves;
    s->of[PMC_ALL] = s->of[d->wave64 ? PMC_ALL_64 : PMC_ALL_32] = instructions;
}

/* Instructions as halves of a wave. */
static void add_halves(struct sums *s, const struct emu_dispatch *d)
{
    uint64_t halves = d->wave64 ? 2 : 1;
    s->of[PMC_VALU_32] = s->of[PMC_VALU] * halves;
    s->of[PMC_LDS_32] = s->of[PMC_LDS] * halves;
    s->of[PMC_FLAT_32] = s->of[PMC_FLAT] * halves;
    s->of[PMC_VECTOR_32] = s->of[PMC_VALU_32] + s->of[PMC_LDS_32] + s->of[PMC_FLAT_32] +
                           (s->of[PMC_LOADS] + s->of[PMC_STORES]) * halves;
}

/* What has no place yet gets one. */
static void place(struct pmc_facts *f, const struct sums *s)
{
    uint64_t all = 0, from = 0;
    for (unsigned g = 0; g < PMC_WGPS; g++)
        all += s->weight[g];
    for (unsigned g = 0; g < PMC_WGPS; g++) {
        for (unsigned fact = 0; fact < PMC_FACTS; fact++)
            if (s->of[fact])
                f->of[fact][g] = pmc_share(s->of[fact], from, from + s->weight[g], all);
        from += s->weight[g];
    }
}

/* ---- without times -----------------------------------------------------------------
 */

/* Does the opcode return a value? Of atomics that may the opcode does not say. */
static bool opcode_returns(unsigned op)
{
    const struct isa_facts *f = isa_facts(op);
    return f->access == ISA_ACCESS_LOAD || f->access == ISA_ACCESS_SAMPLE ||
           f->mem & ISA_MEM_RETURNS;
}

void pmc_facts_executed(struct pmc_facts *f, const uint64_t *executed,
                        const struct emu_dispatch *d, const struct emu_stats *stats)
{
    struct sums s = {0};
    uint64_t groups = stats->workgroups;
    for (unsigned g = 0; g < PMC_WGPS; g++) {
        unsigned se = g % BOARD_SE, sa = g / BOARD_SE % BOARD_SA_PER_SE;
        unsigned wgp = g / (BOARD_SE * BOARD_SA_PER_SE);
        s.weight[(se * BOARD_SA_PER_SE + sa) * PMC_WGPS_PER_SA + wgp] =
            groups / PMC_WGPS + (g < groups % PMC_WGPS);
    }
    for (unsigned op = 1; executed && op < ISA_OP_COUNT; op++)
        if (executed[op])
            add_opcode(&s, op, opcode_returns(op), executed[op]);
    add_halves(&s, d);
    add_waves(&s, d, stats->waves, stats->instructions);
    place(f, &s);
}

/* ---- with times --------------------------------------------------------------------
 */

static bool returns_value(const struct emu_inst *inst)
{
    for (unsigned i = 0; i < inst->n_regs; i++)
        if (emu_reg_is_vgpr(&inst->reg[i]) && inst->reg[i].flags & ISA_OF_OUT)
            return true;
    return false;
}

/* Is it a wait for the unit that the instruction goes to? */
static bool is_issue(unsigned stall)
{
    return stall == TM_S_PORT || stall == TM_S_VALU_PIPE || stall == TM_S_VALU_QUEUE ||
           stall == TM_S_MEM_QUEUE;
}

static void add_waits(struct sums *s, const struct tm_inst_use *use)
{
    for (unsigned k = 0; k < TM_STALLS; k++) {
        uint64_t cycles = use->stall[k];
        if (k == TM_S_NONE)
            continue;
        s->of[is_issue(k) ? PMC_WAIT_ISSUE : PMC_WAIT] += cycles;
        if (is_issue(k) && use->cls == TM_LDS)
            s->of[PMC_WAIT_LDS] += cycles;
        if (k == TM_S_BARRIER)
            s->of[PMC_WAIT_BARRIER] += cycles;
        if (k == TM_S_SLEEP)
            s->of[PMC_WAIT_SLEEP] += cycles;
        if (k == TM_S_FETCH || k == TM_S_CODE_TLB)
            s->of[PMC_WAIT_FETCH] += cycles;
    }
}

/* Instructions and what they waited for; returns how many were issued. */
static uint64_t add_instructions(struct sums *s, const struct tm_engine *t)
{
    uint64_t all = 0;
    for (size_t i = 0; i < tm_inst_uses(t); i++) {
        struct tm_inst_use use;
        tm_inst_use(t, i, &use);
        add_opcode(s, use.inst->isa.op, returns_value(use.inst), use.times);
        add_waits(s, &use);
        all += use.times;
    }
    return all;
}

/* Shares of the LDS' cycles. */
static void place_lds(struct pmc_facts *f, const struct tm_wgp_use *use,
                      uint64_t active, uint64_t conflict)
{
    struct sums s = {.of = {[PMC_LDS_ACTIVE] = active, [PMC_LDS_CONFLICT] = conflict}};
    for (unsigned g = 0; g < PMC_WGPS; g++)
        s.weight[g] = use[g].cu[0].lds_cycles + use[g].cu[1].lds_cycles;
    place(f, &s);
}

static void place_known(struct pmc_facts *f, const struct tm_wgp_use *use)
{
    for (unsigned g = 0; g < PMC_WGPS; g++) {
        const struct tm_wgp_use *u = &use[g];
        f->of[PMC_BUSY][g] = u->busy_cycles;
        f->of[PMC_WAVE_CYCLES][g] = u->wave_cycles;
        f->of[PMC_CODE_HIT][g] = u->code_hits;
        f->of[PMC_CODE_MISS][g] = u->code_misses;
        f->of[PMC_SCALAR_HIT][g] = u->scalar_hits;
        f->of[PMC_SCALAR_MISS][g] = u->scalar_misses;
        for (unsigned c = 0; c < 2; c++) {
            f->of[PMC_L0_READS][2 * g + c] = u->cu[c].l0_hits + u->cu[c].l0_misses;
            f->of[PMC_L0_MISS][2 * g + c] = u->cu[c].l0_misses;
        }
    }
}

static void place_shared(struct pmc_facts *f, const struct tm_engine *t,
                         const uint64_t count[TM_COUNTS])
{
    for (unsigned a = 0; a < BOARD_SE * BOARD_SA_PER_SE; a++) {
        uint64_t hits, misses;
        tm_gl1_use(t, a / BOARD_SA_PER_SE, a % BOARD_SA_PER_SE, &hits, &misses);
        f->of[PMC_GL1_READS][a] = hits + misses;
        f->of[PMC_GL1_MISS][a] = misses;
    }
    f->of[PMC_GL2_HIT][0] = count[TM_K_GL2_HIT];
    f->of[PMC_GL2_MISS][0] = count[TM_K_GL2_MISS];
    f->of[PMC_GL2_ALL][0] = count[TM_K_GL2_HIT] + count[TM_K_GL2_MISS];
}

void pmc_facts_timed(struct pmc_facts *f, const struct tm_engine *t,
                     const struct emu_dispatch *d)
{
    struct sums by_issue = {0}, by_wave = {0};
    uint64_t count[TM_COUNTS];
    struct tm_machine machine;
    struct tm_use use;
    struct tm_peaks peaks;
    tm_measure(t, &machine, &use, &peaks);
    if (machine.ses * machine.arrays * machine.wgps != PMC_WGPS)
        return; /* another chip's */
    struct tm_wgp_use *wgps = calloc(PMC_WGPS, sizeof *wgps);
    if (!wgps)
        return;
    tm_wgp_uses(t, wgps);
    tm_counts(t, count);
    uint64_t all = add_instructions(&by_issue, t) - use.skipped;
    by_issue.of[PMC_VALU] = count[TM_K_VALU] - use.skipped;
    add_halves(&by_issue, d);
    by_issue.of[PMC_ALL] = by_issue.of[d->wave64 ? PMC_ALL_64 : PMC_ALL_32] = all;
    add_waves(&by_wave, d, use.waves, 0);
    for (unsigned g = 0; g < PMC_WGPS; g++) {
        by_issue.weight[g] = wgps[g].issued;
        by_wave.weight[g] = wgps[g].waves;
    }
    place(f, &by_issue);
    place(f, &by_wave);
    place_lds(f, wgps, use.lds_data, count[TM_K_LDS_BANK]);
    place_known(f, wgps);
    place_shared(f, t, count);
    free(wgps);
}
