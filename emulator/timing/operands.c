/* operands.c: how the VALU reads its operands from the VGPR banks.
 *
 * Two banks, of even and of odd registers, each read twice a cycle: half a cycle per
 * operand of the fuller bank. Instructions read in the order of issue, ahead of
 * execution where that waits for something else. One whose operand is a result that
 * comes later reads all of them once more, after the instruction behind it, which has
 * begun to read by then. Must not know pipes. Invariant: times are of the SIMD,
 * whosever waves the instructions are, and never go back. Found from the places where
 * the traces of A3 and A1 lose cycles.
 *
 * SPDX-License-Identifier: MIT
 */
#include "engine.h"

/* Operands from the fuller bank. A pair that repeats a source of the wave's pair before
 * it, in the same place, has it already. */
static int64_t bank_reads(const struct tm_wave *w, const struct tm_inst *i)
{
    const struct tm_inst *p = w->hist_from[0];
    if (i->inst->isa.enc != ISA_ENC_VOPD || !p || p->inst->isa.enc != ISA_ENC_VOPD)
        return i->bank_reads;
    int64_t n[2] = {0};
    for (unsigned r = 0; r < i->n_vsrc; r++)
        if (r >= p->n_vsrc || p->vsrc[r].first != i->vsrc[r].first)
            n[i->vsrc[r].first % 2]++;
    return tm_max(n[0], n[1]);
}

int64_t tm_operands(const struct tm_engine *t, const struct tm_wave *w,
                    const struct tm_inst *i, int64_t cycles)
{
    struct tm_simd *s = w->simd;
    struct tm_operands *o = &s->operands;
    int64_t reads = (int64_t)t->p.vgpr_bank_reads, most = bank_reads(w, i);
    o->cost = 2 * cycles;
    if (most > reads && i->pipe < TM_PIPE_WMMA) /* WMMA reads over many cycles */
        o->cost += 2 * (most - reads) / reads;
    o->half = tm_max(2 * t->now, o->half) + o->cost;
    int64_t late = (o->half + o->behind) / 2 - t->now - cycles;
    o->behind = o->again != 0;
    o->half += o->again;
    o->again = 0;
    return late;
}

void tm_operands_wait(const struct tm_engine *t, struct tm_simd *s, int64_t ready)
{
    struct tm_operands *o = &s->operands;
    if (2 * (ready - PARAM(t, valu_latency) + 1) > o->half)
        o->again = o->cost;
}

/* After a pair, an instruction that is none takes the even and the odd register for one
 * where the pair's X result goes: A3, twice in each trip. */
int64_t tm_operands_ready(const struct tm_engine *t, const struct tm_wave *w,
                          const struct tm_inst *i)
{
    int64_t ready = 0;
    bool look = w->pairs_ready > t->now && i->inst->isa.enc != ISA_ENC_VOPD;
    for (unsigned r = 0; r < i->n_vsrc; r++) {
        for (unsigned k = 0; k < i->vsrc[r].n; k++)
            ready = tm_max(ready, tm_stamped(w, w->v[i->vsrc[r].first + k].ready));
        for (unsigned p = 0; look && p < 8; p++)
            if (i->vsrc[r].n == 1 && w->pair_vgpr[p] == i->vsrc[r].first)
                ready = tm_max(ready, w->pair_ready[p]);
    }
    return ready;
}

void tm_operands_pair(struct tm_wave *w, const struct tm_inst *i, int64_t ready)
{
    unsigned p = w->n_pairs++ % 8;
    w->pair_vgpr[p] = (uint8_t)(i->vdst[0].first ^ 1u);
    w->pair_ready[p] = w->pairs_ready = ready;
}
