/* dpp.c: DPP in vector instructions by recipe: source 0 from other lanes.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

const struct udpp *dpp_of(const struct uop *u)
{
    return u->flags & (UF_DPP_ROW | UF_DPP8) ? &u[1].dpp : NULL;
}

/* The lanes that DPP lets an instruction write whose lanes are all on, or that reads
 * lanes which are off (FI), of that half of the wave. */
uint32_t dpp_writes(const struct udpp *dpp, unsigned half)
{
    uint32_t lanes = 0;
    for (unsigned l = 0; l < 32; l++) {
        bool on = dpp->row_mask >> (2 * half + l / 16) & 1u &&
                  dpp->bank_mask >> l % 16 / 4 & 1u;
        bool valid = dpp->bound_ctrl || dpp->valid >> l % 16 & 1u;
        lanes |= (uint32_t)(on && valid) << l;
    }
    return lanes;
}

/* DPP: the lanes it reads from and those it writes to. */
void dpp_load(struct emit *e, struct job *j)
{
    struct x86 *x = e->x;
    j->from = j->s[0];
    if (!x->evex) { /* both halves of a row of 16 are read after one may be written */
        if (j->from.entry != NO_ENTRY)
            rows_store(e, j->from.entry);
        if (j->has_d) /* which may be the same row */
            e->rows.dirty[j->d] = true;
        return;
    }
    if (j->dpp->valid != 0xffff) {
        x86_mov_imm(x, RAX, j->dpp->valid);
        x86_k_from_gpr(x, K_VALID, RAX);
    }
    for (unsigned p = 0; p < 2 && j->write != ~0u; p++) {
        x86_mov_imm(x, RAX, j->write >> 16 * p & 0xffffu);
        x86_k_from_gpr(x, K_WRITE + p, RAX);
        if (e->masked)
            x86_kop(x, KOP_AND, K_WRITE + p, K_WRITE + p, 1 + p);
    }
}

/* AVX2: lanes of a row of 16 out of its two halves, which are in memory. */
static void permute_halves(struct emit *e, const struct job *j, unsigned part)
{
    unsigned t = temp_reg(e, TEMP_S0), from = temp_reg(e, TEMP_S2),
             x = temp_reg(e, TEMP_X), row = j->from.row, odd = part & 1u;
    x86_vec(e->x, X86_PMOVZXBD, from, 0, rm_mem(RAX, 8 * (int32_t)odd), 0, 0);
    x86_vec(e->x, X86_PERMD, t, from, row_mem(e, row, part - odd), 0, 0);
    x86_vec(e->x, X86_PERMD, x, from, row_mem(e, row, part - odd + 1), 0, 0);
    x86_vec(e->x, X86_PSLLD_I, from, 0, rm_reg(from), 0, 28); /* from 8 on */
    x86_vec(e->x, X86_BLENDVPS, t, t, rm_reg(x), 0, from << 4);
    if (j->dpp->valid == 0xffff)
        return;
    x86_vec(e->x, X86_BROADCASTSS, x, 0,
            rm_mem(RAX, (int32_t)offsetof(struct udpp, valid)), 0, 0);
    x86_vec(e->x, X86_PSLLVD, x, x, const_rm(C_LANES0 + odd), 0, 0);
    x86_vec(e->x, X86_PSRAD_I, x, 0, rm_reg(x), 0, 31);
    x86_vec(e->x, X86_PAND, t, t, rm_reg(x), 0, 0);
}

/* Source 0 of one part with its lanes where DPP wants them. */
void dpp_permute(struct emit *e, struct job *j, unsigned part)
{
    const struct source *s = &j->from;
    unsigned t = temp_reg(e, TEMP_S0), mods = s->mods & ~SM_SWIZ;
    x86_mov_imm(e->x, RAX, (uintptr_t)j->dpp);
    if (e->x->evex) {
        unsigned k = j->dpp->valid == 0xffff ? 0 : K_VALID | X86_ZERO;
        struct x86_rm rm = s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                                : rm_reg(row_reg(e, s->entry, part));
        x86_vec(e->x, X86_PMOVZXBD, temp_reg(e, TEMP_S2), 0, rm_mem(RAX, 0), 0, 0);
        x86_vec(e->x, X86_PERMD, t, temp_reg(e, TEMP_S2), rm, k, 0);
    } else {
        permute_halves(e, j, part);
    }
    if (mods)
        operand_mods(e, j->u, 0, mods, rm_reg(t));
    j->s[0] = (struct source){.at = AT_TEMP};
}

/* Can the recipe be done with u's DPP? The third temporary has the lanes
 * until a part's first step. */
bool dpp_suits(const struct recipe *r, const struct uop *u)
{
    const struct udpp *dpp = dpp_of(u);
    if (!dpp)
        return true;
    if (r->kind != RECIPE_VALUE || (recipe_may_be_slow(r) && !(r->flags & RECIPE_EVEX)))
        return false;
    return u->n_src < 3 || (u->s[2].base == SRC_VGPR && !u->s[2].mods);
}
