/* advice.c: from the engine's accounts to rates, each with what is possible.
 *
 * Must not know how it is shown. Counts are of the whole launch: a sample's are scaled.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "isa.h"
#include "parts.h"

#define LINE 128.0

static int by_offset(const void *a, const void *b)
{
    const struct advice_inst *x = a, *y = b;
    return x->use.offset < y->use.offset ? -1 : x->use.offset > y->use.offset;
}

static rd_status take_insts(const struct tm_engine *t, struct advice *a)
{
    size_t n = tm_inst_uses(t);
    a->inst = calloc(n + 1, sizeof *a->inst);
    if (!a->inst)
        return RD_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        char text[ISA_MAX_TEXT] = "(no instruction)";
        struct advice_inst *x = &a->inst[i];
        tm_inst_use(t, i, &x->use);
        if (x->use.inst->kind != EMU_KIND_ILLEGAL)
            isa_print(&x->use.inst->isa, a->machine.lanes, 0, text);
        x->use.inst = NULL; /* the engine goes first */
        x->text = strdup(text);
        if (!x->text)
            return RD_E_NOMEM;
        a->n_insts = i + 1;
        a->wmma |= x->use.pipe == TM_PIPE_WMMA || x->use.pipe == TM_PIPE_WMMA4;
        a->address_cycles += (double)x->use.address_cycles;
        for (unsigned s = 0; s < TM_STALLS; s++)
            a->stall[s] += (double)x->use.stall[s];
    }
    qsort(a->inst, n, sizeof *a->inst, by_offset);
    return RD_OK;
}

void advice_rates(struct advice *a)
{
    const double *k = a->count, us = advice_us(a), cycles = a->cycles;
    const double ghz = a->machine.sclk_mhz / 1000, cus = a->peaks.cus;
    const double per_ns = us > 0 ? 1 / (1000 * us) : 0; /* bytes to GB/s */
    const double per_cycle = cycles > 0 ? 1 / cycles : 0;
    const struct advice_rate rate[ADVICE_RATES] = {
        [ADVICE_VALU] = {"VALU", "SIMDs", "vector units that compute",
                         k[TM_K_VALU_BUSY] * per_cycle, 2 * cus},
        [ADVICE_FLOPS] = {"floating point", "GFLOP/s",
                          a->wmma ? "of 16-bit matrices at most"
                                  : "of v_dual_fmac_f32 at most",
                          k[TM_K_FLOPS] * per_ns, advice_top(a)},
        [ADVICE_SALU] = {"scalar unit", "instructions/cycle",
                         "one a cycle and SIMD at most", k[TM_K_SALU] * per_cycle,
                         a->peaks.salu},
        [ADVICE_LDS] = {"LDS", "GB/s", "cycles in which it moves data, conflicts too",
                        k[TM_K_LDS_BUSY] * per_cycle * a->peaks.lds_bytes / cus * ghz,
                        a->peaks.lds_bytes * ghz},
        [ADVICE_L0] = {"L0", "GB/s", "what its address units are busy with",
                       a->address_cycles * per_cycle * a->peaks.l0_bytes / cus * ghz,
                       a->peaks.l0_bytes * ghz},
        [ADVICE_GL2] = {"GL2", "GB/s", "lines read from it, bytes written to it",
                        (k[TM_K_GL1_MISS] * LINE + k[TM_K_WRITTEN]) * per_ns,
                        a->peaks.gl2_bytes * ghz},
        [ADVICE_MALL] = {"Infinity Cache", "GB/s", "lines from it and through it",
                         (k[TM_K_MALL_HIT] + k[TM_K_MALL_MISS]) * LINE * per_ns,
                         a->peaks.mall_bytes},
        [ADVICE_VRAM] = {"VRAM", "GB/s", "lines that no cache had",
                         k[TM_K_MALL_MISS] * LINE * per_ns, a->peaks.dram_bytes},
        [ADVICE_WAVES] = {"occupancy", "waves", "on average over the whole chip",
                          a->use.wave_cycles * per_cycle, 2 * cus * a->machine.slots}};
    memcpy(a->rate, rate, sizeof rate);
}

rd_status advice_take(const struct tm_engine *t, const char *kernel, struct advice *out)
{
    uint64_t count[TM_COUNTS];
    *out = (struct advice){.kernel = strdup(kernel ? kernel : "(code without a name)"),
                           .cycles = (double)tm_span_cycles(t),
                           .error = (double)tm_span_error(t)};
    tm_measure(t, &out->machine, &out->use, &out->peaks);
    tm_counts(t, count);
    rd_status st = out->kernel ? take_insts(t, out) : RD_E_NOMEM;
    const struct tm_machine *m = &out->machine;
    double scale = m->n_simulated && m->n_simulated < m->n_groups
                       ? (double)m->n_groups / (double)m->n_simulated
                       : 1;
    for (unsigned i = 0; i < TM_COUNTS; i++)
        out->count[i] = (double)count[i] * scale;
    out->address_cycles *= scale;
    out->use.wave_cycles *= scale;
    out->use.simd_cycles *= scale;
    advice_rates(out);
    advice_find_causes(out);
    if (st != RD_OK)
        advice_free(out);
    return st;
}

void advice_free(struct advice *a)
{
    for (size_t i = 0; i < a->n_insts; i++)
        free(a->inst[i].text);
    free(a->inst);
    free(a->kernel);
    *a = (struct advice){0};
}
