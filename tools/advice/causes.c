/* causes.c: what kept waves from going on, and what one may try.
 *
 * The shares are of the cycles of all waves: where many waves take turns, those of one
 * hide those of others, so a cause matters as far as the chip's units idle meanwhile.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "parts.h"

#define BIT(why)    (UINT64_C(1) << TM_S_##why)
#define BUSY        60.0 /* percent of a rate from which it bounds */
#define WORTH_A_SAY 1.0  /* percent */

static const struct rule {
    uint64_t waits;
    const char *name, *attempt;
    /* Said instead when that rate is near what is possible. */
    int busy; /* enum advice_unit; -1: none */
    const char *busy_attempt;
} rules[] = {
    {BIT(VM_DRAM) | BIT(VM_MALL), "data from VRAM or the Infinity Cache",
     "start loads earlier and keep several in flight before s_waitcnt vmcnt; more "
     "waves "
     "a SIMD; keep what is used again in LDS or registers",
     ADVICE_VRAM,
     "VRAM gives what it can: read less, by tiles in LDS or registers, smaller types, "
     "passes merged into one"},
    {BIT(VM_L0) | BIT(VM_FILL) | BIT(VM_GL1) | BIT(VM_GL2), "data from caches",
     "start loads earlier, wider ones (b64, b128) and fewer; more waves a SIMD",
     ADVICE_GL2, "the GL2 gives what it can: share lines within a workgroup by LDS"},
    {BIT(VM_PATH) | BIT(MEM_QUEUE), "the path to memory is full",
     "fewer lines an instruction: neighbouring lanes to neighbouring addresses; wider "
     "loads; see the table of memory instructions",
     -1, NULL},
    {BIT(VSCNT), "stores to be acknowledged",
     "store once at the end, whole lines at a time; leave s_waitcnt_vscnt out where "
     "nobody needs it",
     -1, NULL},
    {BIT(SMEM_HIT) | BIT(SMEM_FILL) | BIT(SMEM_GL2) | BIT(SMEM_MISS), "scalar loads",
     "load all arguments at once (b128 and up) and early; do vector work before "
     "s_waitcnt lgkmcnt",
     -1, NULL},
    {BIT(LGKM_LDS), "LDS data on its way",
     "load the next tile's values before using this one's; wider reads (b64, b128)", -1,
     NULL},
    {BIT(LDS_BANK), "LDS bank conflicts",
     "a row pitch that is odd in dwords (one of padding), or exchanged bits of the "
     "index: lanes of a wave in different banks",
     -1, NULL},
    {BIT(LDS_BUSY), "the LDS is busy",
     "keep more in registers: larger tiles a lane, values read once and used often; "
     "reads of one address by all lanes cost one cycle",
     ADVICE_LDS, "the LDS moves what it can: larger tiles in registers"},
    {BIT(BARRIER), "barriers",
     "even work for all waves of a workgroup; two tiles in turn with one barrier; "
     "smaller workgroups; none where a workgroup is one wave",
     -1, NULL},
    {BIT(VALU_DEP) | BIT(VALU_QUEUE) | BIT(VALU_DRAIN) | BIT(SDST) | BIT(WAR),
     "results of vector instructions",
     "independent work in between: unroll, several sums instead of one; fewer writes "
     "of "
     "VCC and SGPRs",
     ADVICE_VALU, "the vector units compute all the time: fewer or packed operations"},
    {BIT(VALU_PIPE), "long vector instructions",
     "32-bit multiplications, f64 and transcendentals take 4 to 32 cycles: 24-bit "
     "multiplications, f32, tables",
     -1, NULL},
    {BIT(PORT), "turns that other waves had",
     "more waves than the units need: no loss by itself; fewer instructions help",
     ADVICE_VALU,
     "the vector units compute all the time: fewer operations, packed f16, v_dual, "
     "matrices (WMMA)"},
    {BIT(CODE_TLB) | BIT(FETCH) | BIT(BRANCH), "instruction fetch and branches",
     "shorter code (32 KiB fit in the cache), less unrolling, no far jumps in loops; "
     "more work a wave, as a cold start costs each kernel the same",
     -1, NULL},
    {BIT(LAUNCH) | BIT(END), "launch and end of waves",
     "more work a wave: a loop over several items; fewer arguments in SGPRs", -1, NULL},
    {BIT(SALU), "scalar results", "scalar work earlier, or by vector instructions", -1,
     NULL},
    {BIT(SLEEP) | BIT(SWITCH) | BIT(OTHER), "hints, exports, s_sleep",
     "see the instructions", -1, NULL},
};

static double of_inst(const struct advice_inst *i, uint64_t waits)
{
    double sum = 0;
    for (unsigned s = 0; s < TM_STALLS; s++)
        if (waits >> s & 1u)
            sum += (double)i->use.stall[s];
    return sum;
}

static int by_percent(const void *a, const void *b)
{
    const struct advice_cause *x = a, *y = b;
    return x->percent > y->percent ? -1 : x->percent < y->percent;
}

static struct advice_cause cause_of(const struct advice *a, const struct rule *r,
                                    double all)
{
    struct advice_cause c = {
        .name = r->name, .attempt = r->attempt, .worst = a->n_insts};
    double sum = 0, most = 0;
    for (size_t i = 0; i < a->n_insts; i++) {
        double one = of_inst(&a->inst[i], r->waits);
        sum += one;
        if (one > most) {
            most = one;
            c.worst = i;
        }
    }
    const struct advice_rate *rate = r->busy >= 0 ? &a->rate[r->busy] : NULL;
    if (rate && advice_percent(rate->value, rate->peak) >= BUSY)
        c.attempt = r->busy_attempt;
    c.percent = advice_percent(sum, all);
    c.worst_percent = advice_percent(most, all);
    return c;
}

static struct advice_cause idle(const struct advice *a)
{
    double chip = 2.0 * a->peaks.cus * a->cycles;
    struct advice_cause c = {.name = "SIMDs without a wave",
                             .attempt =
                                 "more or smaller workgroups: the chip holds more",
                             .idle = true,
                             .worst = a->n_insts};
    if (a->machine.n_groups * a->machine.waves_per_group > 2 * a->peaks.cus)
        c.attempt = "even workgroups: some end late; a number of workgroups that fills "
                    "the chip a whole number of times; shorter kernels are mostly "
                    "start and end";
    double percent = 100 - advice_percent(a->use.simd_cycles, chip);
    c.percent = percent > 0 ? percent : 0;
    return c;
}

void advice_find_causes(struct advice *a)
{
    double all = 0;
    for (unsigned s = 0; s < TM_STALLS; s++)
        all += a->stall[s];
    a->n_causes = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct advice_cause c = cause_of(a, &rules[i], all);
        if (c.percent >= WORTH_A_SAY)
            a->cause[a->n_causes++] = c;
    }
    struct advice_cause c = idle(a);
    if (c.percent >= WORTH_A_SAY)
        a->cause[a->n_causes++] = c;
    qsort(a->cause, a->n_causes, sizeof *a->cause, by_percent);
}
