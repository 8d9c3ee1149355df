/* step.c: the steps of recipes, and how the last one writes the result under EXEC.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

static unsigned exec_k(const struct emit *e, const struct job *j, unsigned part)
{
    if (!e->x->evex || !keeps_lanes(e, j))
        return 0;
    return (j->write != ~0u ? K_WRITE : 1) + part;
}

unsigned result_reg(const struct emit *e, const struct job *j, unsigned part)
{
    bool aside = (keeps_lanes(e, j) && !e->x->evex) || j->u->flags & UF_DST16;
    return aside ? temp_reg(e, TEMP_X) : row_reg(e, j->d, part);
}

/* AVX2: the lanes that are written, as signs. */
static void spread_written(struct emit *e, const struct job *j, unsigned t,
                           unsigned part)
{
    if (j->write == ~0u) {
        emit_spread_mask(e, t, exec_sel(e), part);
        return;
    }
    x86_mov_imm(e->x, RAX, j->write);
    if (e->masked)
        x86_alu_load(e->x, ALU_AND, false, RAX, sgpr_mem(exec_sel(e)));
    x86_vmovd_from(e->x, t, RAX);
    x86_vec(e->x, X86_PBROADCASTD, t, 0, rm_reg(t), 0, 0);
    x86_vec(e->x, X86_PSLLVD, t, t, const_rm(C_LANES0 + part), 0, 0);
}

unsigned result_k(const struct emit *e, const struct job *j, unsigned part)
{
    return j->u->flags & UF_DST16 ? 0 : exec_k(e, j, part);
}

/* A result of 16 bits, the lower ones of from, beside the other half of the row. AVX2:
 * returns where. */
static unsigned merge_half(struct emit *e, const struct job *j, unsigned from,
                           unsigned part)
{
    unsigned d = row_reg(e, j->d, part), t = temp_reg(e, TEMP_X);
    bool upper = j->u->flags & UF_DSTHI;
    if (upper) {
        x86_vec(e->x, X86_PSLLD_I, t, 0, rm_reg(from), 0, 16);
        from = t;
    }
    if (e->x->evex) { /* of each bit: is it of the half? from : d */
        x86_vec(e->x, X86_PTERNLOGD, d, from, const_rm(upper ? C_HIGH16 : C_LOW16),
                exec_k(e, j, part), 0xd8);
        return d;
    }
    t = keeps_lanes(e, j) ? t : d;
    x86_vec(e->x, X86_PBLENDW, t, d, rm_reg(from), 0, upper ? 0xaa : 0x55);
    return t;
}

static void finish_d(struct emit *e, const struct job *j, unsigned from, unsigned part)
{
    unsigned d = row_reg(e, j->d, part);
    if (j->u->flags & UF_DST16)
        from = merge_half(e, j, from, part);
    if (from == d)
        return;
    if (keeps_lanes(e, j) && !e->x->evex) {
        unsigned lanes = e->run.on ? RUN_EXEC : temp_reg(e, TEMP_E);
        if (!e->run.on)
            spread_written(e, j, lanes, part);
        x86_vec(e->x, X86_BLENDVPS, d, d, rm_reg(from), 0, lanes << 4);
    } else {
        x86_vec(e->x, X86_MOVUPS, d, 0, rm_reg(from), exec_k(e, j, part), 0);
    }
}

static void step_fma(struct emit *e, struct job *j, const struct step *s, unsigned part)
{
    bool halves = s->imm; /* EXEC is no mask of theirs, nor dwords broadcast to them */
    enum x86_form form = halves ? X86_FMADD132PH : X86_FMADD132PS;
    unsigned c = operand_reg(e, j, OP_S2, part);
    unsigned a = operand_reg(e, j, OP_S0, part);
    struct x86_rm b = operand_rm(e, j, OP_S1, part);
    if (halves && b.kind == RM_BCAST)
        b = rm_reg(operand_reg(e, j, OP_S1, part));
    if (s->d != OP_D) {
        unsigned to = operand_rm(e, j, s->d, part).reg;
        x86_vec(e->x, X86_MOVUPS, to, 0, rm_reg(a), 0, 0);
        x86_vec(e->x, form, to, c, b, 0, 0);
        return;
    }
    unsigned d = row_reg(e, j->d, part);
    if (c == d && ((e->x->evex && !halves) || !keeps_lanes(e, j))) {
        form = halves ? X86_FMADD231PH : X86_FMADD231PS;
        x86_vec(e->x, form, d, a, b, exec_k(e, j, part), 0);
        return;
    }
    bool all = !keeps_lanes(e, j), in_place = a == d && all;
    bool clash = (b.kind == RM_REG && b.reg == d) || c == d;
    unsigned t = in_place || (all && !clash) ? d : temp_reg(e, TEMP_X);
    if (t != a)
        x86_vec(e->x, X86_MOVUPS, t, 0, rm_reg(a), 0, 0);
    x86_vec(e->x, form, t, c, b, 0, 0);
    if (t != d)
        finish_d(e, j, t, part);
}

static void step_compare_evex(struct emit *e, const struct step *s, unsigned a,
                              struct x86_rm b, unsigned part)
{
    enum x86_form form = s->form == STEP_CMPF   ? X86_CMPPS
                         : s->form == STEP_CMPS ? X86_PCMPD
                                                : X86_PCMPUD;
    bool more = s->form != STEP_CMPF && s->imm & CMP_MORE;
    unsigned k = more ? K_MORE : K_MASK + part;
    x86_vec(e->x, form, k, a, b, 0, s->imm & 0x1fu);
    if (more)
        x86_kop(e->x, KOP_OR, K_MASK + part, K_MASK + part, k);
}

/* AVX2 compares integers for equality and signed greater only. */
static void step_compare_vex(struct emit *e, const struct step *s, unsigned a,
                             struct x86_rm b)
{
    unsigned m = temp_reg(e, TEMP_M), more = temp_reg(e, TEMP_E),
             x = temp_reg(e, TEMP_X), cmp = s->imm & 7u;
    if (s->form == STEP_CMPF) {
        x86_vec(e->x, X86_CMPPS, m, a, b, 0, s->imm);
        return;
    }
    unsigned t = s->imm & CMP_MORE ? more : m;
    bool negate = cmp == CMP_NE || cmp == CMP_GE || cmp == CMP_LE;
    if (cmp == CMP_EQ || cmp == CMP_NE) {
        x86_vec(e->x, X86_PCMPEQD, t, a, b, 0, 0);
    } else if (s->form == STEP_CMPS) {
        x86_vec(e->x, X86_MOVUPS, x, 0, b, 0, 0);
        bool swap = cmp == CMP_LT || cmp == CMP_GE; /* a < b is b > a */
        x86_vec(e->x, X86_PCMPGTD, t, swap ? x : a, rm_reg(swap ? a : x), 0, 0);
    } else { /* unsigned: a >= b if the greater of them is a */
        bool below = cmp == CMP_LT || cmp == CMP_GE;
        x86_vec(e->x, below ? X86_PMAXUD : X86_PMINUD, x, a, b, 0, 0);
        x86_vec(e->x, X86_PCMPEQD, t, x, rm_reg(a), 0, 0);
        negate = cmp == CMP_LT || cmp == CMP_GT;
    }
    if (negate)
        x86_vec(e->x, X86_PXOR, t, t, const_rm(C_ONES), 0, 0);
    if (t != m)
        x86_vec(e->x, X86_POR, m, m, rm_reg(t), 0, 0);
}

static void step_select(struct emit *e, struct job *j, const struct step *s,
                        unsigned part)
{
    unsigned a = operand_reg(e, j, s->a, part);
    struct x86_rm b = operand_rm(e, j, s->b, part);
    bool last = s->d == OP_D;
    unsigned d = last ? result_reg(e, j, part) : operand_rm(e, j, s->d, part).reg;
    if (!e->x->evex) {
        x86_vec(e->x, X86_BLENDVPS, d, a, b, 0, temp_reg(e, TEMP_M) << 4);
    } else {
        d = last && (keeps_lanes(e, j) || j->u->flags & UF_DST16) ? temp_reg(e, TEMP_X)
                                                                  : d;
        x86_vec(e->x, X86_PBLENDMD, d, a, b, K_MASK + part, 0);
    }
    if (last)
        finish_d(e, j, d, part);
}

/* Lanes of a part with NaNs in a or b (AVX-512: to opmask k), as signs in TEMP_M. */
static void find_nans(struct emit *e, struct job *j, const struct step *s,
                      unsigned part, unsigned on)
{
    unsigned a = operand_reg(e, j, s->a, part);
    struct x86_rm b = operand_rm(e, j, s->b, part);
    unsigned to = e->x->evex ? K_MASK + part : temp_reg(e, TEMP_M);
    x86_vec(e->x, X86_CMPPS, to, a, b, on, 3);
}

/* Lanes of a part whose magnitude is out of range, likewise. */
static void find_beyond(struct emit *e, struct job *j, const struct step *s,
                        unsigned part, unsigned on)
{
    static const uint8_t least[] = {C_USUAL, C_NORMAL},
                         span[] = {C_USUAL_SPAN, C_NORMAL_SPAN};
    unsigned t = temp_reg(e, TEMP_X);
    x86_vec(e->x, X86_PAND, t, operand_reg(e, j, s->a, part), const_rm(C_NOT_SIGN), 0,
            0);
    x86_vec(e->x, X86_PSUBD, t, t, const_rm(least[s->imm]), 0, 0);
    if (e->x->evex) {
        x86_vec(e->x, X86_PCMPUD, K_MASK + part, t, const_rm(span[s->imm]), on, CMP_GE);
        return;
    }
    unsigned m = temp_reg(e, TEMP_M);
    x86_vec(e->x, X86_PMAXUD, m, t, const_rm(span[s->imm]), 0, 0);
    x86_vec(e->x, X86_PCMPEQD, m, m, rm_reg(t), 0, 0);
}

/* Only lanes that are on count; with DPP, also those that they may read. */
void step_check(struct emit *e, struct job *j, const struct step *s)
{
    bool all = !e->masked || j->dpp;
    if (s->form == STEP_NO_VCC) {
        x86_alu_mem_imm(e->x, ALU_CMP, false, sgpr_mem(ISA_SEL_VCC_LO + e->half), 0);
        far_from(j->slow, x86_jcc(e->x, CC_NE));
        return;
    }
    if (s->form == STEP_ROUNDED) {
        x86_load(e->x, false, RAX, wave_mem(offsetof(struct wave, mxcsr64)));
        x86_alu_load(e->x, ALU_CMP, false, RAX,
                     wave_mem(offsetof(struct wave, mxcsr32)));
        far_from(j->slow, x86_jcc(e->x, CC_NE));
        return;
    }
    for (unsigned p = 0; p < e->parts; p++) {
        unsigned on = all || !e->x->evex ? 0 : 1 + p;
        if (s->form == STEP_ORDERED)
            find_nans(e, j, s, p, on);
        else
            find_beyond(e, j, s, p, on);
        if (!e->x->evex)
            emit_collect_mask(e, p);
    }
    if (e->x->evex)
        x86_kortest(e->x, K_MASK, K_MASK + 1);
    else if (all)
        x86_test(e->x, false, RAX, RAX);
    else
        x86_alu_load(e->x, ALU_AND, false, RAX, sgpr_mem(exec_sel(e)));
    far_from(j->slow, x86_jcc(e->x, CC_NE));
}

/* NaNs among the operands: the lanes where there is one are put right elsewhere. */
static void step_pick(struct emit *e, struct job *j, const struct step *s,
                      unsigned part)
{
    unsigned a = operand_reg(e, j, s->a, part), x = temp_reg(e, TEMP_X);
    struct x86_rm b = operand_rm(e, j, s->b, part);
    x86_vec(e->x, X86_CMPPS, x, a, b, 0, 3);
    x86_vec(e->x, X86_MOVMSKPS, RAX, 0, rm_reg(x), 0, 0);
    x86_test(e->x, false, RAX, RAX);
    struct far *f = emit_far(e, FAR_PICK, j->u);
    far_from(f, x86_jcc(e->x, CC_NE));
    if (!f)
        return;
    f->a = rm_reg(a);
    f->b = b;
    f->d = operand_rm(e, j, s->d, part).reg;
    f->back = x86_here(e->x);
}

/* fp_pick32: the other operand if one is a NaN; in IEEE mode signalling NaNs, made
 * quiet, the first operand's before the second's. */
void emit_pick(struct emit *e, const struct far *f)
{
    const struct x86_rm operand[] = {f->a, f->b};
    unsigned x = temp_reg(e, TEMP_X), t = temp_reg(e, TEMP_B), m = temp_reg(e, TEMP_E);
    for (unsigned i = 0; i < 2; i++) {
        x86_vec(e->x, X86_MOVUPS, x, 0, operand[i], 0, 0);
        x86_vec(e->x, X86_CMPPS, x, x, rm_reg(x), 0, 3);
        x86_vec(e->x, X86_BLENDVPS, f->d, f->d, operand[!i], 0, x << 4);
    }
    for (unsigned i = 2; i-- > 0 && e->mode & NATIVE_IEEE;) {
        x86_vec(e->x, X86_MOVUPS, x, 0, operand[i], 0, 0);
        x86_vec(e->x, X86_CMPPS, m, x, rm_reg(x), 0, 3);
        x86_vec(e->x, X86_PAND, t, x, const_rm(C_QUIET), 0, 0);
        x86_vec(e->x, X86_PCMPEQD, t, t, const_rm(C_ZERO), 0, 0);
        x86_vec(e->x, X86_PAND, m, m, rm_reg(t), 0, 0);
        x86_vec(e->x, X86_POR, x, x, const_rm(C_QUIET), 0, 0);
        x86_vec(e->x, X86_BLENDVPS, f->d, f->d, rm_reg(x), 0, m << 4);
    }
}

/* Are the elements of the form of 8 or 16 bits? */
static bool has_words(enum x86_form form)
{
    return (form >= X86_PADDW && form <= X86_PSHUFB) ||
           (form >= X86_PSLLW_I && form <= X86_PSRAW_I);
}

void step_run(struct emit *e, struct job *j, const struct step *s, unsigned part)
{
    if (s->d == OP_DH) {
        struct job high = *j;
        struct step step = *s;
        high.d = j->dh;
        step.d = OP_D;
        step_run(e, &high, &step, part);
        return;
    }
    if (s->form >= STEP_WIDEN) {
        half_run(e, j, s, part);
        if (s->d == OP_D)
            finish_d(e, j, result_reg(e, j, part), part);
    } else if (s->form == STEP_FMA) {
        step_fma(e, j, s, part);
    } else if (s->form == STEP_DOUBLE) {
        double_run(e, j, s, part);
    } else if (s->form == STEP_SEL) {
        step_select(e, j, s, part);
    } else if (s->form == STEP_PICK) {
        step_pick(e, j, s, part);
    } else if (s->form >= STEP_CMPF && s->form <= STEP_CMPU) {
        unsigned a = operand_reg(e, j, s->a, part);
        struct x86_rm b = operand_rm(e, j, s->b, part);
        e->run.m_sgpr = NO_SGPR;
        if (e->x->evex)
            step_compare_evex(e, s, a, b, part);
        else
            step_compare_vex(e, s, a, b);
    } else if (s->d == OP_D && s->form == X86_PAND && s->b == K(LOW16) &&
               j->u->flags & UF_DST16) { /* only the lower half will be looked at */
        finish_d(e, j, operand_reg(e, j, s->a, part), part);
    } else if (s->form < X86_FORMS) {
        unsigned a = s->a == OP_NONE ? 0 : operand_reg(e, j, s->a, part);
        struct x86_rm b = operand_rm(e, j, s->b, part);
        bool last = s->d == OP_D;
        /* shifts by a constant take memory with AVX-512 alone */
        if (b.kind != RM_REG && (b.kind == RM_BCAST || !e->x->evex) &&
            s->form >= X86_PSLLD_I && s->form <= X86_PSRLQ_I)
            b = rm_reg(operand_reg(e, j, s->b, part));
        enum x86_form form = (enum x86_form)s->form;
        if (form == X86_MOVUPS && b.kind == RM_BCAST) { /* a move, the last step */
            form = X86_BROADCASTSS;
            b.kind = RM_MEM;
        }
        unsigned d = last ? result_reg(e, j, part) : operand_rm(e, j, s->d, part).reg;
        unsigned k = last ? result_k(e, j, part) : 0;
        if (k && has_words(form)) { /* EXEC is no mask of theirs */
            d = temp_reg(e, TEMP_X);
            k = 0;
        }
        x86_vec(e->x, form, d, a, b, k, s->imm);
        if (last)
            finish_d(e, j, d, part);
    }
}
