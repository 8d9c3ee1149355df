/* half.c: steps of recipes on elements of 16 bits: f16 arithmetic, done in f32 and
 * rounded once, and bytes as words.
 *
 * Halves are converted by F16C, which knows denormals whatever MXCSR says and makes
 * NaNs quiet; products of two are exact in f32, sums are rounded once more without harm
 * (fp.h), and the sum of a product is made odd if it is inexact.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

static enum x86_form extract(const struct emit *e)
{
    return e->x->evex ? X86_EXTRACTI32X8 : X86_EXTRACTI128;
}

/* Halves of source i as f32, in its temporary. */
static unsigned widen_source(struct emit *e, struct job *j, unsigned i, unsigned which,
                             unsigned part)
{
    unsigned to = temp_reg(e, TEMP_S0 + i), from;
    struct x86_rm rm = operand_rm(e, j, OP_S0 + i, part);
    if (which != HALF_LOWS && rm.kind == RM_MEM) {
        rm.mem.disp += which == HALF_SECOND ? (int32_t)(e->part_bytes / 2) : 0;
        x86_vec(e->x, X86_CVTPH2PS, to, 0, rm, 0, 0);
        return to;
    }
    from = rm.kind == RM_REG ? rm.reg : operand_reg(e, j, OP_S0 + i, part);
    if (which == HALF_LOWS) {
        operand_widen(e, to, from, false, 0);
        return to;
    }
    if (which == HALF_SECOND) {
        x86_vec(e->x, extract(e), from, 0, rm_reg(to), 0, 1);
        from = to;
    }
    x86_vec(e->x, X86_CVTPH2PS, to, 0, rm_reg(from), 0, 0);
    return to;
}

/* a = a * b + c, rounded towards zero, and odd if that is not exact: then rounding down
 * and up gives neighbours, of which one is odd. In lanes rather than by an opmask,
 * which would take as long again as the sum. Changes t. */
static void fma_to_odd_evex(struct emit *e, unsigned a, unsigned b, unsigned c,
                            unsigned t)
{
    unsigned up = temp_reg(e, TEMP_X);
    x86_vec(e->x, X86_MOVUPS, t, 0, rm_reg(a), 0, 0);
    x86_vec(e->x, X86_MOVUPS, up, 0, rm_reg(a), 0, 0);
    x86_vec(e->x, X86_FMADD132PS, t, c, rm_reg(b), X86_DOWN, 0);
    x86_vec(e->x, X86_FMADD132PS, up, c, rm_reg(b), X86_UP, 0);
    x86_vec(e->x, X86_FMADD132PS, a, c, rm_reg(b), X86_TO_ZERO, 0);
    x86_vec(e->x, X86_PXOR, t, t, rm_reg(up), 0, 0);
    x86_vec(e->x, X86_PTERNLOGD, a, t, const_rm(C_1), 0, 0xf8);
}

/* The same from the sum to nearest and its error, which is exact: to the odd neighbour
 * on the error's side. Changes b and c. */
static void fma_to_odd_vex(struct emit *e, unsigned a, unsigned b, unsigned c)
{
    unsigned sum = temp_reg(e, TEMP_X), t = temp_reg(e, TEMP_E);
    struct x86 *x = e->x;
    x86_vec(x, X86_MOVUPS, sum, 0, rm_reg(a), 0, 0);
    x86_vec(x, X86_FMADD132PS, sum, c, rm_reg(b), 0, 0); /* NaNs as they should be */
    x86_vec(x, X86_MULPS, a, a, rm_reg(b), 0, 0);
    x86_vec(x, X86_SUBPS, b, sum, rm_reg(a), 0, 0);
    x86_vec(x, X86_SUBPS, t, sum, rm_reg(b), 0, 0);
    x86_vec(x, X86_SUBPS, t, a, rm_reg(t), 0, 0);
    x86_vec(x, X86_SUBPS, b, c, rm_reg(b), 0, 0);
    x86_vec(x, X86_ADDPS, t, t, rm_reg(b), 0, 0); /* the error */
    x86_vec(x, X86_CMPPS, b, t, const_rm(C_ZERO), 0, 0xc);
    x86_vec(x, X86_PXOR, t, t, rm_reg(sum), 0, 0);
    x86_vec(x, X86_PSRAD_I, t, 0, rm_reg(t), 0, 31);
    x86_vec(x, X86_POR, t, t, const_rm(C_1), 0, 0); /* 1 away from zero, or -1 */
    x86_vec(x, X86_PAND, c, sum, const_rm(C_1), 0, 0);
    x86_vec(x, X86_PSUBD, c, c, const_rm(C_1), 0, 0); /* 0 if it is odd */
    x86_vec(x, X86_PAND, t, t, rm_reg(c), 0, 0);
    x86_vec(x, X86_PAND, t, t, rm_reg(b), 0, 0);
    x86_vec(x, X86_PADDD, a, sum, rm_reg(t), 0, 0);
}

static void step_halves(struct emit *e, struct job *j, const struct step *s,
                        unsigned part)
{
    static const enum x86_form forms[] = {X86_ADDPS, X86_SUBPS, X86_MULPS};
    unsigned op = s->imm & 3u, which = s->imm & 12u;
    unsigned a = widen_source(e, j, 0, which, part);
    unsigned b = widen_source(e, j, 1, which, part);
    if (op != HALF_FMA) {
        x86_vec(e->x, forms[op], a, a, rm_reg(b), 0, 0);
    } else {
        unsigned c = widen_source(e, j, 2, which, part);
        if (e->x->evex)
            fma_to_odd_evex(e, a, b, c, operand_rm(e, j, s->d, part).reg);
        else
            fma_to_odd_vex(e, a, b, c);
    }
    x86_vec(e->x, X86_CVTPS2PH, a, 0, operand_rm(e, j, s->d, part), 0, 0);
}

static void step_bytes(struct emit *e, struct job *j, const struct step *s, unsigned d,
                       unsigned part)
{
    unsigned i = s->b - OP_S0;
    bool is_signed = s->imm & BYTES_NEG && j->u->pk.neg >> i & 1u;
    enum x86_form right = is_signed ? X86_PSRAW_I : X86_PSRLW_I;
    unsigned from = operand_reg(e, j, s->b, part);
    if (!(s->imm & BYTES_HIGH)) {
        x86_vec(e->x, X86_PSLLW_I, d, 0, rm_reg(from), 0, 8);
        from = d;
    }
    x86_vec(e->x, right, d, 0, rm_reg(from), 0, 8);
}

void half_run(struct emit *e, struct job *j, const struct step *s, unsigned part)
{
    bool last = s->d == OP_D;
    unsigned d = last ? result_reg(e, j, part) : operand_rm(e, j, s->d, part).reg;
    unsigned k = last ? result_k(e, j, part) : 0;
    if (s->form == STEP_HALVES) {
        step_halves(e, j, s, part);
    } else if (s->form == STEP_WIDEN) {
        operand_widen(e, d, operand_reg(e, j, s->b, part), false, k);
    } else if (s->form == STEP_NARROW) {
        x86_vec(e->x, X86_CVTPS2PH, operand_reg(e, j, s->b, part), 0, rm_reg(d), 0,
                s->imm);
    } else if (s->form == STEP_JOIN) {
        x86_vec(e->x, e->x->evex ? X86_INSERTI32X8 : X86_INSERTI128, d,
                operand_reg(e, j, s->a, part), operand_rm(e, j, s->b, part), k, 1);
    } else {
        step_bytes(e, j, s, d, part);
    }
}
