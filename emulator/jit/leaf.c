/* leaf.c: vector instructions without a recipe: native code calls the row function of
 * sem/ itself.
 *
 * What surrounds it in valu.c is machine code here: sources in rows, modifiers, EXEC,
 * halves of 16 bits, masks. So no handler runs, the wave need not be looked at again,
 * and with lanes off the result is merged in registers. A row function changes every
 * vector register: rows are written back before it. SPDX-License-Identifier: MIT
 */
#include "emit.h"

#include <assert.h>

#define TEMPS  R10 /* the wave's scratch rows */
#define K_FILL 3u

/* Where a row is: [base + disp]. */
struct place {
    unsigned base;
    int32_t disp;
};

static struct place temp_place(unsigned row)
{
    return (struct place){TEMPS, (int32_t)(row * ROW_BYTES)};
}

static struct x86_rm part_of(const struct emit *e, struct place p, unsigned part)
{
    return rm_mem(p.base, p.disp + (int32_t)(part * e->part_bytes));
}

static void load_temps(struct emit *e)
{
    x86_load(e->x, true, TEMPS, wave_mem(offsetof(struct wave, temp)));
}

/* ---- which instructions ------------------------------------------------------------
 */

static bool suits(const struct emit *e, const struct uop *u)
{
    const uint32_t known = UF_PREP | UF_MASK_OUT | UF_NO_VALUE | UF_DIRECT | UF_ENDS |
                           UF_DST16 | UF_DSTHI | UF_DST64 | UF_DP | UF_MODS |
                           UF_F16RES | UF_F64RES | UF_PKRES | UF_VCC_IN;
    const struct sem_entry *s = e->emu->sem[u->isa_op];
    if (!s || s->kind != SEM_LANE || u->flags & ~known || u->omod || u->excp)
        return false;
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].prep == PREP_SPECIAL || u->s[i].mods & (SM_MIX | SM_SWIZ))
            return false;
    return true;
}

/* ---- sources -----------------------------------------------------------------------
 */

/* 1 or 0 in each lane of a row, as the bits of a mask in SGPRs say. */
static void fill_from_mask(struct emit *e, unsigned row, unsigned sgpr)
{
    unsigned t = temp_reg(e, TEMP_A);
    for (unsigned p = 0; p < e->parts; p++) {
        if (e->x->evex) {
            x86_k_load(e->x, K_FILL, mem_at(W, sgpr_mem(sgpr).disp + (int32_t)(2 * p)));
            x86_vec(e->x, X86_MOVUPS, t, 0, const_rm(C_1), K_FILL | X86_ZERO, 0);
        } else {
            emit_spread_mask(e, t, sgpr, p);
            x86_vec(e->x, X86_PSRLD_I, t, 0, rm_reg(t), 0, 31);
        }
        x86_vec(e->x, X86_MOVUPS_ST, t, 0, part_of(e, temp_place(row), p), 0, 0);
    }
}

/* A packed pair with its halves where OP_SEL wants them. */
static void choose_halves(struct emit *e, const struct uop *u, unsigned i, unsigned t)
{
    static const uint8_t flips[] = {C_ZERO, C_SIGN16, C_SIGN, C_SIGNS16};
    unsigned low = temp_reg(e, TEMP_B), x = temp_reg(e, TEMP_X);
    unsigned flip = 0;
    if (u->s[i].mods & SM_NEG)
        flip = (u->pk.neg >> i & 1u) | (u->pk.neg_hi >> i & 1u) << 1;
    if (u->op_sel >> i & 1u)
        x86_vec(e->x, X86_PSRLD_I, low, 0, rm_reg(t), 0, 16);
    else
        x86_vec(e->x, X86_PAND, low, t, const_rm(C_LOW16), 0, 0);
    if (u->pk.op_sel_hi >> i & 1u) {
        x86_vec(e->x, X86_MOVUPS, x, 0, const_rm(C_LOW16), 0, 0);
        x86_vec(e->x, X86_PANDN, t, x, rm_reg(t), 0, 0);
    } else {
        x86_vec(e->x, X86_PSLLD_I, t, 0, rm_reg(t), 0, 16);
    }
    x86_vec(e->x, X86_POR, t, t, rm_reg(low), 0, 0);
    if (flip)
        x86_vec(e->x, X86_PXOR, t, t, const_rm(flips[flip]), 0, 0);
}

static void modify(struct emit *e, const struct uop *u, unsigned i, unsigned k,
                   unsigned t)
{
    unsigned mods = u->s[i].mods;
    if (mods & SM_PK) {
        choose_halves(e, u, i, t);
        return;
    }
    if (mods & SM_HI16)
        x86_vec(e->x, X86_PSRLD_I, t, 0, rm_reg(t), 0, 16);
    if (!(mods & (SM_ABS | SM_NEG)) || (k == 0 && u->s[i].dwords == 2))
        return;
    if (mods & SM_ABS)
        x86_vec(e->x, X86_PAND, t, t, const_rm(mods_magnitude(mods)), 0, 0);
    if (mods & SM_NEG)
        x86_vec(e->x, X86_PXOR, t, t, const_rm(mods_sign(mods)), 0, 0);
}

/* Source i as rows in memory. */
static struct place put_source(struct emit *e, const struct uop *u, unsigned i)
{
    const struct usrc *s = &u->s[i];
    struct place from = {s->base == SRC_VGPR ? ROWS : CONSTS,
                         (int32_t)(s->row * ROW_BYTES)};
    struct place to = temp_place(TEMP_SRC0 + 2 * i);
    unsigned t = temp_reg(e, TEMP_A);
    if (s->prep == PREP_MASK) {
        fill_from_mask(e, TEMP_SRC0 + 2 * i, s->sel);
        return to;
    }
    if (s->prep == PREP_NONE && !s->mods)
        return from;
    for (unsigned k = 0; k < s->dwords; k++) {
        struct place row = {to.base, to.disp + (int32_t)(k * ROW_BYTES)};
        from.disp += k ? ROW_BYTES : 0;
        for (unsigned p = 0; p < e->parts; p++) {
            if (s->prep != PREP_SGPR)
                x86_vec(e->x, X86_MOVUPS, t, 0, part_of(e, from, p), 0, 0);
            else if (p == 0)
                x86_vec(e->x, X86_BROADCASTSS, t, 0,
                        rm_mem(W, sgpr_mem(s->sel + k).disp), 0, 0);
            if (s->prep != PREP_SGPR || p == 0)
                modify(e, u, i, k, t);
            x86_vec(e->x, X86_MOVUPS_ST, t, 0, part_of(e, row, p), 0, 0);
        }
    }
    return to;
}

/* ---- results -----------------------------------------------------------------------
 */

/* In TEMP_X: the half that is written and the other one of the old row. */
static struct x86_rm merge_halves(struct emit *e, const struct uop *u, unsigned old,
                                  struct x86_rm from)
{
    unsigned x = temp_reg(e, TEMP_X), low = temp_reg(e, TEMP_A),
             keep = temp_reg(e, TEMP_B);
    x86_vec(e->x, X86_MOVUPS, low, 0, const_rm(C_LOW16), 0, 0);
    if (u->flags & UF_DSTHI) {
        x86_vec(e->x, X86_MOVUPS, x, 0, from, 0, 0);
        x86_vec(e->x, X86_PSLLD_I, x, 0, rm_reg(x), 0, 16);
        x86_vec(e->x, X86_PAND, keep, low, rm_reg(old), 0, 0);
    } else {
        x86_vec(e->x, X86_PAND, x, low, from, 0, 0);
        x86_vec(e->x, X86_PANDN, keep, low, rm_reg(old), 0, 0);
    }
    x86_vec(e->x, X86_POR, x, x, rm_reg(keep), 0, 0);
    return rm_reg(x);
}

/* Row k of a result that is in a scratch row. */
static void take_result(struct emit *e, const struct uop *u, unsigned k)
{
    bool half = u->flags & UF_DST16;
    unsigned c = rows_write(e, u->d + k, e->masked || half);
    for (unsigned p = 0; p < e->parts; p++) {
        struct x86_rm from = part_of(e, temp_place(TEMP_RESULT + k), p);
        unsigned d = row_reg(e, c, p);
        if (half)
            from = merge_halves(e, u, d, from);
        if (e->masked && !e->x->evex) {
            unsigned lanes = temp_reg(e, TEMP_E);
            emit_spread_mask(e, lanes, ISA_SEL_EXEC_LO, p);
            x86_vec(e->x, X86_BLENDVPS, d, d, from, 0, lanes << 4);
        } else {
            x86_vec(e->x, X86_MOVUPS, d, 0, from, e->masked ? 1 + p : 0, 0);
        }
    }
    rows_unpin(e);
}

static void take_mask(struct emit *e, const struct uop *u)
{
    unsigned t = temp_reg(e, TEMP_M);
    if (e->x->evex)
        t = temp_reg(e, TEMP_A);
    for (unsigned p = 0; p < e->parts; p++) {
        x86_vec(e->x, X86_MOVUPS, t, 0, part_of(e, temp_place(TEMP_MASK), p), 0, 0);
        if (e->x->evex) {
            x86_vec(e->x, X86_PCMPUD, K_FILL + p, t, const_rm(C_ZERO), 0, CMP_NE);
        } else {
            x86_vec(e->x, X86_PSLLD_I, t, 0, rm_reg(t), 0, 31);
            emit_collect_mask(e, p);
        }
    }
    emit_store_mask(e, u);
}

/* ---- the call ----------------------------------------------------------------------
 */

_Static_assert(offsetof(struct lane_mode, neg) == offsetof(struct lane_mode, clamp) + 1,
               "modifiers are four bytes");
_Static_assert(offsetof(struct lane_mode, op_sel) ==
                   offsetof(struct lane_mode, clamp) + 3,
               "modifiers are four bytes");

/* The modifiers in the wave's mode, where they are zero otherwise. */
static void set_modifiers(struct emit *e, const struct uop *u, bool on)
{
    uint32_t all = u->pk.clamp | (uint32_t)u->pk.neg << 8 |
                   (uint32_t)u->pk.neg_hi << 16 | (uint32_t)u->op_sel << 24;
    if (u->flags & UF_MODS && all)
        x86_store_imm(e->x, false, wave_mem(offsetof(struct wave, mode.clamp)),
                      on ? (int32_t)all : 0);
}

static void point(struct emit *e, unsigned reg, struct place p)
{
    x86_lea(e->x, reg, mem_at(p.base, p.disp));
}

static void call_row(struct emit *e, const struct uop *u, bool aside)
{
    static const uint8_t argument[] = {RDX, RCX, R8};
    struct place s[3];
    load_temps(e);
    for (unsigned i = 0; i < u->n_src; i++)
        s[i] = put_source(e, u, i);
    if (u->flags & UF_VCC_IN)
        fill_from_mask(e, TEMP_MASK, ISA_SEL_VCC_LO);
    set_modifiers(e, u, true);
    struct place d = {ROWS, (int32_t)(u->d * ROW_BYTES)};
    point(e, RDI, aside ? temp_place(TEMP_RESULT) : d);
    point(e, RSI, temp_place(TEMP_MASK));
    for (unsigned i = 0; i < u->n_src; i++)
        point(e, argument[i], s[i]);
    x86_lea(e->x, R9, wave_mem(offsetof(struct wave, mode)));
    x86_mov_imm(e->x, RAX, (uintptr_t)u->op.row);
    x86_call(e->x, RAX);
    set_modifiers(e, u, false);
}

/* f64 and f16 have rounding and denormals of their own: if they are not those of f32,
 * the handler does it. */
static struct far *check_float_mode(struct emit *e, const struct uop *u)
{
    if (!(u->flags & UF_DP))
        return NULL;
    struct far *slow = emit_far(e, FAR_SLOW, u);
    x86_load(e->x, false, RAX, wave_mem(offsetof(struct wave, mxcsr64)));
    x86_alu_load(e->x, ALU_CMP, false, RAX, wave_mem(offsetof(struct wave, mxcsr32)));
    far_from(slow, x86_jcc(e->x, CC_NE));
    return slow;
}

bool emit_leaf(struct emit *e, const struct uop *u)
{
    bool value = !(u->flags & UF_NO_VALUE);
    bool aside = value && (e->masked || u->flags & UF_DST16);
    if (!suits(e, u))
        return false;
    unsigned slow = e->n_far;
    known_forget(e);
    bool may_be_slow = check_float_mode(e, u);
    rows_flush(e, &e->rows);
    rows_forget(&e->rows);
    call_row(e, u, aside);
    emit_load_exec(e);
    if (aside || u->flags & UF_MASK_OUT)
        load_temps(e);
    for (unsigned k = 0; aside && k < (u->flags & UF_DST64 ? 2 : 1); k++)
        take_result(e, u, k);
    if (u->flags & UF_MASK_OUT)
        take_mask(e, u);
    if (may_be_slow)
        emit_back(e, far_at(e, slow));
    if (u->flags & UF_MASK_OUT && u->d2 == ISA_SEL_EXEC_LO)
        emit_new_exec(e);
    e->handled[e->n_insts - 1] = true;
    return true;
}
