/* predecode.c: from a decoded instruction to its micro-op.
 *
 * Everything that can be known before the instruction runs is settled here: which
 * handler, which rows, which modifiers. Mnemonics do not appear; what differs between
 * instructions comes from operand descriptors and from the argument types of the
 * semantics function.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "excp_class.h"
#include "predecode.h"

/* ---- constants ----------------------------------------------------------------- */

static bool type_is_16(unsigned t)
{
    return t == SEM_T_U16 || t == SEM_T_I16 || t == SEM_T_F16;
}

static bool type_is_64(unsigned t)
{
    return t == SEM_T_U64 || t == SEM_T_I64 || t == SEM_T_F64;
}

/* Inline float constant number i (0.5 -0.5 1 -1 2 -2 4 -4 1/2pi) of a width. */
static uint64_t inline_float(unsigned i, unsigned bits)
{
    static const uint16_t f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                   0xc000, 0x4400, 0xc400, 0x3118};
    static const uint32_t f32[] = {0x3f000000, 0xbf000000, 0x3f800000,
                                   0xbf800000, 0x40000000, 0xc0000000,
                                   0x40800000, 0xc0800000, 0x3e22f983};
    static const uint64_t f64[] = {
        0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
        0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
        0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
    return bits == 16 ? f16[i] : bits == 64 ? f64[i] : f32[i];
}

static bool fmt_is_float16(unsigned fmt)
{
    return fmt == ISA_FMT_PK2_F16 || fmt == ISA_FMT_PK2_BF16 ||
           fmt == ISA_FMT_WMMA_F16 || fmt == ISA_FMT_WMMA_BF16 || fmt == ISA_FMT_F16;
}

/* A literal dword widened as the operand's format asks: f64 gets it as its high half,
 * i64 sign-extended, u64 and b64 zero-extended (hardware: functional vectors). */
static uint64_t literal_value(const struct isa_inst *inst, unsigned fmt, unsigned type)
{
    if (!type_is_64(type))
        return inst->literal;
    if (fmt == ISA_FMT_F64)
        return (uint64_t)inst->literal << 32;
    if (fmt == ISA_FMT_I64)
        return (uint64_t)(int64_t)(int32_t)inst->literal;
    return inst->literal;
}

static bool fmt_is_bf16(unsigned fmt)
{
    return fmt == ISA_FMT_BF16 || fmt == ISA_FMT_PK2_BF16 || fmt == ISA_FMT_WMMA_BF16;
}

/* An inline constant for a bf16 operand is the upper half of the 32-bit one; packed
 * operands of v_dot2_f32_bf16 and of the VOPD and VOP3 dot products get the constant in
 * both halves (measured on gfx1100), the other packed ones in the low half. */
static uint64_t inline_packed(const struct ctx *c, const struct isa_opnd *o,
                              unsigned type, uint32_t value)
{
    bool bf16 = fmt_is_bf16(o->fmt);
    uint32_t half = bf16 ? value >> 16 : value & 0xffffu;
    unsigned enc = c->inst->enc;
    bool both =
        enc == ISA_ENC_VOPD || enc == ISA_ENC_VOP3 || (bf16 && enc == ISA_ENC_VOP3P);
    return type == SEM_T_PK16 && both ? half | half << 16 : half;
}

static bool constant_value(struct ctx *c, const struct isa_opnd *o, unsigned type,
                           uint64_t *value)
{
    if (o->kind == ISA_OPND_LITERAL) {
        *value = literal_value(c->inst, o->fmt, type);
        return true;
    }
    if (o->kind == ISA_OPND_IMM) {
        uint32_t imm = (uint16_t)o->imm;
        if (type == SEM_T_I32)
            imm = (uint32_t)(int32_t)(int16_t)imm;
        *value = imm;
        return true;
    }
    if (o->kind != ISA_OPND_REG)
        return false;
    if (o->sel == ISA_SEL_NULL) {
        *value = 0;
        return true;
    }
    if (o->sel >= ISA_SEL_INT_0 && o->sel <= ISA_SEL_INT_NEG_LAST) {
        int v = o->sel <= ISA_SEL_INT_POS_LAST ? o->sel - ISA_SEL_INT_0
                                               : ISA_SEL_INT_POS_LAST - o->sel;
        *value = type_is_64(type) ? (uint64_t)(int64_t)v : (uint32_t)v;
        if (fmt_is_bf16(o->fmt))
            *value = inline_packed(c, o, type, (uint32_t)v);
        return true;
    }
    if (o->sel >= ISA_SEL_FLOAT_FIRST && o->sel <= ISA_SEL_FLOAT_LAST) {
        /* packed integers get the f32 bits */
        unsigned i = o->sel - ISA_SEL_FLOAT_FIRST;
        bool half = type_is_16(type) || ((type == SEM_T_PK16 || type == SEM_T_NONE) &&
                                         fmt_is_float16(o->fmt));
        if (fmt_is_bf16(o->fmt))
            *value = inline_packed(c, o, type, (uint32_t)inline_float(i, 32));
        else if (half)
            *value = inline_packed(c, o, type, (uint32_t)inline_float(i, 16));
        else
            *value = inline_float(i, type_is_64(type) ? 64 : 32);
        return true;
    }
    return false;
}

/* ---- sources -------------------------------------------------------------------- */

void set_source(struct ctx *c, struct usrc *s, const struct isa_opnd *o, unsigned type)
{
    uint64_t value;
    *s = (struct usrc){.dwords = type_is_64(type) ? 2 : 1};
    if (is_vgpr(o)) {
        note_vgprs(c, o);
        s->base = SRC_VGPR;
        s->row = (uint16_t)(o->sel - ISA_SEL_VGPR0);
        if (o->flags & ISA_OF_HI16)
            s->mods |= SM_HI16;
    } else if (constant_value(c, o, type, &value)) {
        int row = constants_row(c->p->constants, value, s->dwords, 1);
        if (row < 0)
            c->error = "too many constants in one code object";
        s->base = SRC_CONST;
        s->row = (uint16_t)row;
    } else if (o->kind == ISA_OPND_REG && o->sel < ISA_SEL_INT_0) {
        s->base = SRC_TEMP;
        s->prep = type == SEM_T_BOOL ? PREP_MASK : PREP_SGPR;
        s->sel = o->sel;
    } else if (o->kind == ISA_OPND_REG && o->sel < ISA_SEL_VGPR0) {
        s->base = SRC_TEMP;
        s->prep = PREP_SPECIAL;
        s->sel = o->sel;
    } else {
        c->error = "operand";
    }
}

/* The operands of one half: explicit inputs in order, then an in-out destination. */
static unsigned collect_sources(const struct isa_inst *inst, unsigned y,
                                const struct isa_opnd *src[4])
{
    unsigned n = 0;
    const struct isa_opnd *accumulator = NULL;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if ((o->flags & ISA_OF_IMPLICIT) || (o->flags & ISA_OF_Y) != y)
            continue;
        if ((o->flags & (ISA_OF_IN | ISA_OF_OUT)) == (ISA_OF_IN | ISA_OF_OUT))
            accumulator = o;
        else if ((o->flags & ISA_OF_IN) && n < 4)
            src[n++] = o;
    }
    if (accumulator && n < 4)
        src[n++] = accumulator;
    return n;
}

/* The destinations: the value and, for carries and compares, the mask. */
static void find_outputs(const struct isa_inst *inst, unsigned y,
                         const struct isa_opnd **value, const struct isa_opnd **mask)
{
    *value = *mask = NULL;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if ((o->flags & ISA_OF_IMPLICIT) || (o->flags & ISA_OF_Y) != y ||
            !(o->flags & ISA_OF_OUT))
            continue;
        if (o->fmt == ISA_FMT_M64) {
            if (!*mask)
                *mask = o;
        } else if (!*value) {
            *value = o;
        }
    }
}

static uint16_t sgpr_slot(const struct isa_opnd *o)
{
    return o->sel == ISA_SEL_NULL ? SGPR_DUMMY : o->sel;
}

/* ---- vector instructions --------------------------------------------------------- */

static bool ret_is_float(unsigned t)
{
    return t == SEM_T_F32 || t == SEM_T_F64 || t == SEM_T_F16 || t == SEM_T_CARRY_F32 ||
           t == SEM_T_CARRY_F64;
}

/* Runs under the f64/f16 float mode? */
static bool is_dp(const struct isa_inst *inst, const struct sem_entry *e,
                  const struct isa_opnd *const *src)
{
    if (inst->enc == ISA_ENC_VINTERP)
        return false;
    bool dp = e->ret == SEM_T_F64 || e->ret == SEM_T_F16 || e->ret == SEM_T_CARRY_F64;
    for (unsigned i = 0; i < e->n_args && i < 3; i++)
        dp |= e->args[i] == SEM_T_F64 || e->args[i] == SEM_T_F16 ||
              (e->args[i] == SEM_T_PK16 && fmt_is_float16(src[i]->fmt));
    return dp;
}

/* v_fma_mix: VOP3P whose sources are all f32 or f16 at the modifiers' choice. */
static bool is_mix(const struct isa_inst *inst, const struct sem_entry *e)
{
    return inst->enc == ISA_ENC_VOP3P && e->n_args == 3 && e->args[0] == SEM_T_F32 &&
           e->args[1] == SEM_T_F32 && e->args[2] == SEM_T_F32;
}

/* OP_SEL picks halves of 16-bit operands one by one. */
static bool has_op_sel(const struct isa_inst *inst)
{
    return inst->enc == ISA_ENC_VOP3 || inst->enc == ISA_ENC_VINTERP;
}

static uint8_t source_mods(const struct isa_inst *inst, const struct sem_entry *e,
                           const struct isa_opnd *o, unsigned i)
{
    unsigned bit = 1u << i, type = e->args[i], mods = 0;
    bool floating = fmt_is_float16(o->fmt);
    if (is_mix(inst, e))
        return SM_MIX;
    if (type == SEM_T_PK16) {
        if (inst->enc != ISA_ENC_VOP3P) { /* v_dot2_f16_f16, v_dual_dot2acc */
            mods |= inst->abs & bit ? SM_ABS : 0;
            mods |= inst->neg & bit ? SM_NEG : 0;
            return (uint8_t)(mods ? mods | SM_PAIR : 0);
        }
        bool plain = !(inst->op_sel & bit) && (inst->op_sel_hi & bit) &&
                     !(floating && ((inst->neg | inst->neg_hi) & bit));
        return plain ? 0 : (uint8_t)(SM_PK | (floating ? SM_NEG : 0));
    }
    bool int_dot = inst->enc == ISA_ENC_VOP3P && type != SEM_T_F32;
    if (!int_dot && (inst->abs & bit))
        mods |= SM_ABS;
    if (!int_dot && (inst->neg & bit))
        mods |= SM_NEG;
    if (type_is_16(type)) {
        /* an accumulator is the half that the destination is */
        unsigned sel = o->flags & ISA_OF_OUT ? 8u : bit;
        if (has_op_sel(inst) && (inst->op_sel & sel))
            mods |= SM_HI16;
        if (mods & (SM_ABS | SM_NEG))
            mods |= SM_LO16;
    }
    if (type == SEM_T_F64 && (mods & (SM_ABS | SM_NEG)))
        mods |= SM_F64;
    return (uint8_t)mods;
}

static void set_result(struct ctx *c, struct uop *u, const struct sem_entry *e,
                       unsigned y)
{
    const struct isa_inst *inst = c->inst;
    const struct isa_opnd *value, *mask;
    unsigned flags = 0;
    find_outputs(inst, y, &value, &mask);
    if (e->ret == SEM_T_BOOL)
        flags |= UF_NO_VALUE;
    else if (!value || !is_vgpr(value))
        c->error = "destination";
    if (value && is_vgpr(value)) {
        note_vgprs(c, value);
        u->d = (uint16_t)(value->sel - ISA_SEL_VGPR0);
        if (type_is_16(e->ret)) {
            flags |= UF_DST16;
            bool hi = (value->flags & ISA_OF_HI16) ||
                      (has_op_sel(inst) && (inst->op_sel & 8)) ||
                      inst->op == ISA_V_FMA_MIXHI_F16;
            flags |= hi ? UF_DSTHI : 0;
        }
    }
    if (type_is_64(e->ret) || e->ret == SEM_T_CARRY64 || e->ret == SEM_T_CARRY_F64)
        flags |= UF_DST64;
    if (e->ret == SEM_T_BOOL || e->ret >= SEM_T_CARRY32) {
        if (!mask)
            c->error = "mask destination";
        else {
            flags |= UF_MASK_OUT;
            u->d2 = sgpr_slot(mask);
        }
    }
    u->flags |= (uint16_t)flags;
}

static void set_clamp(struct uop *u, const struct isa_inst *inst,
                      const struct sem_entry *e, const struct isa_opnd *const *src)
{
    bool packed_float = e->ret == SEM_T_PK16 && fmt_is_float16(src[0]->fmt);
    /* float dot products have neither clamp nor omod (manual 7.2.3.1) */
    bool dot = ret_is_float(e->ret) && e->n_args && e->args[0] == SEM_T_PK16;
    bool clamp = (inst->flags & ISA_M_CLAMP) && !dot;
    if (clamp && (ret_is_float(e->ret) || packed_float))
        u->flags |= UF_CLAMPF;
    else if (clamp)
        u->pk.clamp = 1;
    if (packed_float)
        u->flags |= UF_PKRES;
    if (e->ret == SEM_T_F16)
        u->flags |= UF_F16RES;
    if (e->ret == SEM_T_F64 || e->ret == SEM_T_CARRY_F64)
        u->flags |= UF_F64RES;
    if (ret_is_float(e->ret) && !dot)
        u->omod = inst->omod;
    if ((e->flags & SEM_F_MODE) && (u->pk.clamp || inst->enc == ISA_ENC_VOP3P))
        u->flags |= UF_MODS;
}

/* Lane of its row that DPP16 control ctrl makes lane i read; -1 if out of range
 * (manual, DPP_CTRL). */
static int dpp16_lane(unsigned ctrl, unsigned i)
{
    unsigned n = ctrl & 15u;
    switch (ctrl >> 4) {
    case 0x10: /* row_shl */
        return i + n < 16 ? (int)(i + n) : -1;
    case 0x11: /* row_shr */
        return (int)i - (int)n;
    case 0x12: /* row_ror */
        return (int)((i - n) & 15u);
    case 0x14: /* row_mirror, row_half_mirror */
        return (int)(i ^ (n ? 7u : 15u));
    case 0x15: /* row_share */
        return (int)n;
    case 0x16: /* row_xmask */
        return (int)(i ^ n);
    default: /* quad_perm, 0..0xff */
        return (int)((i & ~3u) | ((ctrl >> (2 * (i & 3u))) & 3u));
    }
}

static void set_dpp(struct uop *u, const struct isa_inst *inst)
{
    bool dpp8 = inst->variant == ISA_VAR_DPP8;
    u->s[0].mods |= SM_SWIZ;
    u->flags |= dpp8 ? UF_DPP8 : UF_DPP_ROW;
    struct udpp dpp = {
        .row_mask = dpp8 ? 0xf : inst->row_mask,
        .bank_mask = dpp8 ? 0xf : inst->bank_mask,
        .fi = inst->flags & ISA_M_FI,
        .bound_ctrl = dpp8 || (inst->flags & ISA_M_BOUND_CTRL),
    };
    for (unsigned i = 0; i < 16; i++) {
        int from = dpp8 ? (int)((i & 8u) | (inst->dpp8 >> (3 * (i & 7u)) & 7u))
                        : dpp16_lane(inst->dpp_ctrl, i);
        if (from < 0)
            continue;
        dpp.from[i] = (uint8_t)from;
        dpp.valid |= (uint16_t)(1u << i);
    }
    u[1].dpp = dpp;
}

/* The lane selections that are built into VINTERP: P10 or P20 from lane 1 or 2 of the
 * quad, P0 from lane 0, whether active or not (manual 12.3). */
static void set_interp(struct uop *u, const struct isa_inst *inst)
{
    bool p2 = inst->op == ISA_V_INTERP_P2_F32 || inst->op == ISA_V_INTERP_P2_F16_F32 ||
              inst->op == ISA_V_INTERP_P2_RTZ_F16_F32;
    u->s[0].mods |= SM_SWIZ;
    u->s[2].mods |= p2 ? 0 : SM_SWIZ;
    u->flags |= UF_DPP8;
    if (inst->op == ISA_V_INTERP_P10_RTZ_F16_F32 ||
        inst->op == ISA_V_INTERP_P2_RTZ_F16_F32)
        u->flags |= UF_RTZ;
    struct udpp dpp = {.valid = 0xffff,
                       .row_mask = 0xf,
                       .bank_mask = 0xf,
                       .fi = true,
                       .bound_ctrl = true};
    for (unsigned i = 0; i < 16; i++)
        dpp.from[i] = (uint8_t)((i & 12u) | (p2 ? 2u : 1u));
    u[1].dpp = dpp;
}

/* Is the result one plain value per lane, or plain but for flags in allowed? */
static bool plain_result(const struct uop *u, unsigned allowed)
{
    unsigned patched = UF_DST16 | UF_CLAMPF | UF_MASK_OUT | UF_NO_VALUE | UF_DPP_ROW |
                       UF_DPP8 | UF_VCC_IN;
    return !(u->flags & patched & ~allowed) && !u->omod;
}

static bool has_mods(const struct uop *u)
{
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].mods)
            return true;
    return false;
}

/* Can the mnemonic's own handler do it (HANDLER_OPERANDS)? */
static bool is_simple(const struct ctx *c, const struct uop *u,
                      const struct sem_entry *e)
{
    return e->handler && !c->p->wave64 && !(u->flags & (UF_MODS | UF_RTZ)) &&
           !has_mods(u) && plain_result(u, UF_MASK_OUT | UF_NO_VALUE);
}

static void fill_lane(struct ctx *c, struct uop *u, const struct sem_entry *e,
                      unsigned y)
{
    const struct isa_opnd *src[4] = {0};
    unsigned n = collect_sources(c->inst, y, src);
    unsigned n_args = e->n_args < 4 ? e->n_args : 3;
    if (n < n_args) {
        c->error = "operand count";
        return;
    }
    u->op.row = e->fn.row;
    if (c->p->exceptions)
        u->excp = (uint16_t)excp_of(y ? c->inst->op_y : c->inst->op, e,
                                    c->inst->flags & ISA_M_CLAMP);
    u->n_src = (uint8_t)n_args;
    if (n_args < e->n_args) /* v_div_fmas reads VCC without naming it */
        u->flags |= UF_VCC_IN;
    u->op_sel = c->inst->op_sel;
    u->pk.neg = c->inst->neg;
    u->pk.neg_hi = c->inst->neg_hi;
    u->pk.op_sel_hi = c->inst->op_sel_hi;
    for (unsigned i = 0; i < n_args; i++) {
        set_source(c, &u->s[i], src[i], e->args[i]);
        u->s[i].mods |= source_mods(c->inst, e, src[i], i);
        if (u->s[i].prep) {
            u->s[i].row = (uint16_t)(TEMP_SRC0 + 2 * i);
            u->flags |= UF_PREP;
        }
    }
    set_result(c, u, e, y);
    if (is_dp(c->inst, e, src))
        u->flags |= UF_DP;
    if (n)
        set_clamp(u, c->inst, e, src);
}

static bool reads_row(const struct uop *u, unsigned row)
{
    for (unsigned i = 0; i < u->n_src; i++)
        if (u->s[i].base == SRC_VGPR && u->s[i].row == row)
            return true;
    return false;
}

static void predecode_lane(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct level_ops *level = c->env->level;
    const struct isa_inst *inst = c->inst;
    fill_lane(c, u, e, 0);
    if (inst->enc == ISA_ENC_VOPD) {
        const struct sem_entry *y = c->env->sem[inst->op_y];
        u->fn = level->valu_vopd;
        memset(&u[1], 0, sizeof u[1]);
        if (!y || y->kind != SEM_LANE)
            c->error = isa_op_name(inst->op_y);
        else
            fill_lane(c, &u[1], y, ISA_OF_Y);
        if (!reads_row(&u[1], u->d))
            u->flags |= UF_DIRECT;
        u->flags |= UF_PAIR;
        if (u->excp || u[1].excp)
            u->fn = c->env->handlers->excp;
        if ((u->flags & UF_DIRECT) && !((u->flags | u[1].flags) & UF_PREP) &&
            !has_mods(u) && !has_mods(&u[1]))
            u->flags |= UF_ROWS;
        return;
    }
    if (inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8)
        set_dpp(u, inst);
    if (inst->enc == ISA_ENC_VINTERP)
        set_interp(u, inst);
    if (u->excp)
        u->fn = c->env->handlers->excp;
    else if (is_simple(c, u, e))
        u->fn = e->handler;
    else if (!plain_result(u, 0))
        u->fn = level->valu_any;
    else
        u->fn =
            (u->flags & UF_PREP) || has_mods(u) ? level->valu_plain : level->valu_fast;
}

static void predecode_matrix(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_opnd *src[4] = {0}, *value, *mask;
    unsigned n = collect_sources(c->inst, 0, src);
    find_outputs(c->inst, 0, &value, &mask);
    if (n < 3 || !value || !is_vgpr(value)) {
        c->error = "operand";
        return;
    }
    note_vgprs(c, value);
    u->op.matrix = e->fn.matrix;
    u->d = (uint16_t)(value->sel - ISA_SEL_VGPR0);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t constant;
        uint8_t rows = src[i]->dwords ? src[i]->dwords : 8;
        u->s[i].dwords = rows;
        if (is_vgpr(src[i])) {
            note_vgprs(c, src[i]);
            u->s[i].row = (uint16_t)(src[i]->sel - ISA_SEL_VGPR0);
        } else if (constant_value(c, src[i], SEM_T_NONE, &constant)) {
            if (fmt_is_float16(src[i]->fmt))
                constant |= constant << 16;
            int row = constants_row(c->p->constants, constant, 1, 8);
            if (row < 0)
                c->error = "too many constants in one code object";
            u->s[i].base = SRC_CONST;
            u->s[i].row = (uint16_t)row;
        } else {
            c->error = "operand";
        }
    }
    u->pk.neg = c->inst->neg;
    u->pk.neg_hi = c->inst->neg_hi;
    u->pk.clamp = !!(c->inst->flags & ISA_M_CLAMP);
    u->op_sel = c->inst->op_sel;
    u->fn = c->env->level->valu_matrix;
}

/* ---- scalar and wave instructions ------------------------------------------------ */

static void predecode_scalar(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_opnd *src[4] = {0}, *value, *mask;
    unsigned n = collect_sources(c->inst, 0, src);
    find_outputs(c->inst, 0, &value, &mask);
    if (!value)
        value = mask;
    if (n < e->n_args || e->n_args > 3) {
        c->error = "operand count";
        return;
    }
    u->op.scalar = e->fn.scalar;
    u->n_src = e->n_args;
    for (unsigned i = 0; i < e->n_args; i++)
        set_source(c, &u->s[i], src[i], e->args[i]);
    if (e->ret == SEM_T_BOOL)
        u->flags |= UF_NO_VALUE;
    else if (value && value->kind == ISA_OPND_REG)
        u->d = sgpr_slot(value);
    else
        c->error = "destination";
    if (type_is_64(e->ret) || e->ret == SEM_T_SCC64)
        u->flags |= UF_DST64;
    u->fn = e->handler;
}

/* A WAVE_OP finds its sources as 32- or 64-bit values by their width, its first
 * destination as a VGPR row or SGPR slot in d, the second one in d2. */
static void predecode_wave(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct isa_inst *inst = c->inst;
    unsigned n_src = 0, n_dst = 0;
    u->fn = e->fn.wave;
    u->op_sel = inst->op_sel;
    if (inst->enc == ISA_ENC_EXP) /* goes nowhere */
        return;
    if (inst->enc == ISA_ENC_VOP3)
        u->pk.clamp = !!(inst->flags & ISA_M_CLAMP);
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->flags & ISA_OF_IMPLICIT)
            continue;
        if (o->kind == ISA_OPND_IMM)
            u->imm = o->imm;
        if ((o->flags & ISA_OF_OUT) && o->kind == ISA_OPND_REG) {
            uint16_t d = is_vgpr(o) ? (uint16_t)(o->sel - ISA_SEL_VGPR0) : sgpr_slot(o);
            if (is_vgpr(o))
                note_vgprs(c, o);
            if (o->flags & ISA_OF_HI16)
                u->op_sel |= (uint8_t)(1u << n_dst);
            if (n_dst++)
                u->d2 = d;
            else
                u->d = d;
        } else if ((o->flags & ISA_OF_IN) && o->kind != ISA_OPND_IMM && n_src < 3) {
            set_source(c, &u->s[n_src++], o, o->dwords == 2 ? SEM_T_U64 : SEM_T_U32);
        }
    }
    u->n_src = (uint8_t)n_src;
}

/* Code that reads the exception flags, or enables exceptions. */
static void note_exceptions(struct ctx *c)
{
    unsigned op = c->inst->op, id = 0, imm = 0;
    if (op != ISA_S_GETREG_B32 && op != ISA_S_SETREG_B32 &&
        op != ISA_S_SETREG_IMM32_B32)
        return;
    for (unsigned i = 0; i < c->inst->n_opnds; i++)
        if (c->inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (uint16_t)c->inst->opnd[i].imm;
    id = imm & 63;
    if (id == HWREG_TRAPSTS && op == ISA_S_GETREG_B32)
        c->p->looks |= (hwreg_mask(imm) & TRAPSTS_MATH) != 0;
    if (id == HWREG_MODE && op != ISA_S_GETREG_B32)
        c->p->looks |= (hwreg_mask(imm) & MODE_EXCP_EN_MASK) != 0;
}

/* ---- entry ----------------------------------------------------------------------- */

/* Atomics that return a value, that do not commute, or that are of several kinds make
 * the order of workgroups visible (sched.c then keeps to one order). */
void note_order(struct ctx *c, unsigned op)
{
    enum isa_order order = isa_facts(op)->order;
    if (order == ISA_ORDER_NONE || c->inst->flags & ISA_M_GLC ||
        (c->p->atomic_order != ISA_ORDER_NONE && c->p->atomic_order != order))
        c->p->order_matters = true;
    c->p->atomic_order = order;
}

/* Outside of the trap handler TTMPs read as zero and swallow writes (manual 3.3.1.4):
 * NULL in their place, or zeros where an address is looked for. Returns what was
 * hidden: ISA_OF_IN, ISA_OF_OUT. */
static unsigned hide_ttmps(struct isa_inst *inst)
{
    unsigned hidden = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        struct isa_opnd *o = &inst->opnd[i];
        if (o->kind != ISA_OPND_REG || o->sel < ISA_SEL_TTMP0 || o->sel >= ISA_SEL_NULL)
            continue;
        hidden |= o->flags & (ISA_OF_IN | ISA_OF_OUT);
        bool base = o->field == ISA_FIELD_SBASE || o->field == ISA_FIELD_SADDR ||
                    o->field == ISA_FIELD_SRSRC || o->field == ISA_FIELD_SSAMP;
        o->sel = base ? SGPR_ZERO : ISA_SEL_NULL;
    }
    return hidden;
}

static const struct uop *x_skip(struct wave *w, const struct uop *u)
{
    (void)w;
    return uop_next(u);
}

/* Does it read the clock? Then the count of instructions must be exact. */
static bool reads_clock(const struct isa_inst *inst)
{
    unsigned imm = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].kind == ISA_OPND_IMM)
            imm = (uint16_t)inst->opnd[i].imm;
    if (inst->op == ISA_S_GETREG_B32)
        return (imm & 63u) == HWREG_SHADER_CYCLES;
    return (inst->op == ISA_S_SENDMSG_RTN_B32 || inst->op == ISA_S_SENDMSG_RTN_B64) &&
           (imm & 0xffu) == RTN_GET_REALTIME;
}

/* Where blocks end. Float instructions of programs that raise exceptions may enter the
 * trap handler; a new MODE is for code that was made for it. */
static void set_block_flags(struct ctx *c, struct uop *u)
{
    const struct isa_facts *f = isa_facts(c->inst->op);
    bool traps = u->excp || (u->flags & UF_PAIR && u[1].excp);
    if (f->flow & (ISA_FLOW_BRANCH | ISA_FLOW_TRAP | ISA_FLOW_STOP | ISA_FLOW_END) ||
        f->state & ISA_STATE_MODE_OUT || traps)
        u->flags |= UF_ENDS;
    if (f->flow & ISA_FLOW_FAULT)
        u->flags |= UF_MAY_FAULT;
    if (reads_clock(c->inst))
        u->flags |= UF_ENDS | UF_ALONE;
}

void predecode(const struct program_env *env, struct program *p,
               const struct isa_inst *inst, struct uop *u)
{
    struct ctx c = {.env = env, .p = p, .inst = inst};
    const struct sem_entry *e = env->sem[inst->op];
    struct isa_inst visible = *inst;
    unsigned hidden = p->privileged ? 0 : hide_ttmps(&visible);
    if (hidden)
        c.inst = &visible;
    *u = (struct uop){.isa_op = inst->op,
                      .dwords = inst->bytes / 4,
                      .fn = env->handlers->unsupported};
    if (!e)
        return;
    switch (e->kind) {
    case SEM_LANE:
        predecode_lane(&c, u, e);
        break;
    case SEM_MATRIX:
        predecode_matrix(&c, u, e);
        break;
    case SEM_SCALAR:
        predecode_scalar(&c, u, e);
        if (hidden & ISA_OF_OUT) /* not even SCC is written */
            u->fn = x_skip;
        break;
    case SEM_WAVE:
        if (!predecode_wave_memory(&c, u, e))
            predecode_wave(&c, u, e);
        break;
    default:
        predecode_memory(&c, u, e);
        break;
    }
    if (e->kind == SEM_ATOMIC && inst->enc != ISA_ENC_DS)
        note_order(&c, inst->op);
    note_exceptions(&c);
    set_block_flags(&c, u);
    if (c.beyond)
        u->fn = env->handlers->beyond;
    if (c.error)
        u->fn = c.error[0] == 'V' ? env->handlers->illegal : env->handlers->unsupported;
}
