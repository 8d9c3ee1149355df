/* predecode_vector.c: from a decoded vector instruction to its micro-op: modifiers,
 * DPP, results, and which handler can do with how little.
 *
 * See predecode.c for the rest.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "excp_class.h"
#include "predecode.h"

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

/* What argument i reads: v_fma_mix has an f16, inline constants too, where OP_SEL_HI
 * says so. */
static unsigned source_type(const struct isa_inst *inst, const struct sem_entry *e,
                            unsigned i)
{
    return is_mix(inst, e) && inst->op_sel_hi >> i & 1u ? SEM_T_F16 : e->args[i];
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
        set_source(c, &u->s[i], src[i], source_type(c->inst, e, i));
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

void predecode_lane(struct ctx *c, struct uop *u, const struct sem_entry *e)
{
    const struct level_ops *level = c->env->level;
    const struct isa_inst *inst = c->inst;
    fill_lane(c, u, e, 0);
    if (inst->enc == ISA_ENC_VOPD) {
        const struct sem_entry *y = c->env->sem[inst->op_y];
        u->fn = level->valu_vopd;
        memset(&u[1], 0, sizeof u[1]);
        u[1].isa_op = inst->op_y;
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

void predecode_matrix(struct ctx *c, struct uop *u, const struct sem_entry *e)
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
