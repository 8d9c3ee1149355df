/* asm_match.c: tries one row on a parsed statement.
 *
 * Operands are taken in the row's order and checked against what the row says: register
 * bank, number of registers, constants. Modifiers go into the instruction if the row
 * takes them. Knows no text.
 * Invariant: what is put into the instruction is what was written; a value that the
 * encoding cannot hold makes the match fail.
 * SPDX-License-Identifier: MIT
 */
#include "print.h"
#include "stmt.h"

#include <string.h>

static bool fail_opnd(struct match *m, const struct st_opnd *o, enum st_error error)
{
    return st_fail_at(m->s, m->s->text + o->at, error);
}

/* ---- constants ---- */

/* The numbers an operand takes: print.h's classes, and pairs of 16-bit integers. */
enum { CONST_PK_I16 = CONST_F64 + 1 };

static unsigned number_class(const struct match *m, const struct isa_opnd_desc *desc)
{
    unsigned enc = m->row->enc;
    if (m->row->mods & ISA_RM_MIX)
        return CONST_F16;
    switch (desc->fmt) {
    case ISA_FMT_PK2_I16:
    case ISA_FMT_PK2_U16:
        return enc == ISA_ENC_VOP3P ? CONST_PK_I16 : CONST_32;
    case ISA_FMT_WMMA_F16:
    case ISA_FMT_WMMA_BF16:
    case ISA_FMT_WMMA_F32:
    case ISA_FMT_WMMA_I32: /* LLVM: by the size of the tuple, not of its elements */
        return m->wave == ISA_WAVE32 ? CONST_I64 : CONST_32;
    default:
        break;
    }
    unsigned class = constant_class(desc->fmt);
    return class == CONST_I16 && enc <= ISA_ENC_SOPP ? CONST_32 : class;
}

/* A number in the form the operand's format gives it. */
struct constant {
    uint64_t bits;    /* as inline constants are compared */
    uint32_t literal; /* as the literal dword holds it */
    bool inline_only;
};

/* Does v fit in so many bits, signed or unsigned? */
static bool fits(int64_t v, unsigned bits)
{
    int64_t half = (int64_t)1 << (bits - 1);
    return v >= -half && v < 2 * half;
}

static const double double_inline[9] = {
    0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532,
};

/* Selector of a 64-bit inline constant, or 0. */
static unsigned inline_double(uint64_t bits)
{
    for (unsigned i = 0; i < 9; i++) {
        uint64_t have;
        memcpy(&have, &double_inline[i], sizeof have);
        if (have == bits)
            return ISA_SEL_FLOAT_FIRST + i;
    }
    return 0;
}

static unsigned find16(const uint16_t table[9], uint64_t bits)
{
    for (unsigned i = 0; i < 9; i++)
        if (table[i] == bits)
            return ISA_SEL_FLOAT_FIRST + i;
    return 0;
}

static unsigned find32(uint64_t bits)
{
    for (unsigned i = 0; i < 9; i++)
        if (inline_float_bits[i] == bits)
            return ISA_SEL_FLOAT_FIRST + i;
    return 0;
}

static unsigned inline_integer(int64_t v)
{
    if (v >= 0 && v <= 64)
        return ISA_SEL_INT_0 + (unsigned)v;
    if (v < 0 && v >= -16)
        return ISA_SEL_INT_POS_LAST + (unsigned)-v;
    return 0;
}

/* Selector of an inline constant with these bits, or 0. */
static unsigned inline_float(uint64_t bits, unsigned class)
{
    switch (class) {
    case CONST_F16:
    case CONST_PK_F16:
        return find16(inline_half_bits, bits);
    case CONST_BF16:
    case CONST_PK_BF16:
        return find16(inline_bfloat_bits, bits);
    case CONST_I64:
    case CONST_F64:
        return inline_double(bits);
    default:
        return find32(bits);
    }
}

/* Round a double to exp_bits and frac_bits, nearest even. False if it overflows, or if
 * a denormal result is not exact. */
static bool narrow(uint64_t bits, unsigned exp_bits, unsigned frac_bits, uint32_t *out)
{
    uint32_t sign = (uint32_t)(bits >> 63) << (exp_bits + frac_bits);
    int exponent = (int)(bits >> 52 & 2047) - 1023;
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int bias = (1 << (exp_bits - 1)) - 1;
    uint32_t infinity = ((1u << exp_bits) - 1) << frac_bits;

    if (exponent == 1024) {
        *out = sign | infinity |
               (fraction != 0 ? (uint32_t)(fraction >> (52 - frac_bits)) : 0u);
        return true;
    }
    if ((bits << 1) == 0) {
        *out = sign;
        return true;
    }
    if (exponent == -1023)
        return false; /* far below the smallest denormal */
    uint64_t value = fraction | UINT64_C(1) << 52;
    int drop = 52 - (int)frac_bits; /* bits below the last kept one */
    bool denormal = exponent < 1 - bias;
    if (denormal)
        drop += 1 - bias - exponent;
    if (drop > 54)
        return false;
    uint64_t rest = value & ((UINT64_C(1) << drop) - 1), kept = value >> drop;
    uint64_t half = UINT64_C(1) << (drop - 1);
    if (denormal && rest != 0)
        return false;
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    uint64_t result =
        denormal ? kept : kept + ((uint64_t)(exponent + bias - 1) << frac_bits);
    *out = sign | (uint32_t)result;
    return result < infinity;
}

/* |x| and -x of a number in a 32-bit encoding change the number itself. */
static uint64_t apply_signs(uint64_t bits, unsigned width, unsigned mods)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    if (mods & ST_ABS)
        bits &= ~sign;
    if (mods & ST_NEG)
        bits ^= sign;
    return bits;
}

static bool float_constant(struct match *m, const struct st_opnd *o, unsigned class,
                           unsigned signs, struct constant *c)
{
    uint64_t bits = apply_signs((uint64_t)o->value, 64, signs);
    uint32_t half, narrowed;
    if (class == CONST_I64 || class == CONST_F64) {
        *c = (struct constant){bits, (uint32_t)(bits >> 32), class == CONST_I64};
        return true;
    }
    /* 16-bit operands must not overflow in half precision, whatever they become. */
    bool small = class == CONST_F16 || class == CONST_PK_F16 || class == CONST_BF16 ||
                 class == CONST_PK_BF16 || class == CONST_I16;
    if (small && !narrow(bits, 5, 10, &half))
        return fail_opnd(m, o, ST_E_FLOAT_RANGE);
    if (class == CONST_F16 || class == CONST_PK_F16) {
        *c = (struct constant){half, half, false};
        return true;
    }
    bool bfloat = class == CONST_BF16 || class == CONST_PK_BF16;
    if (bits == UINT64_C(0x3fc45f306725feed) && bfloat) {
        *c = (struct constant){0x3e22, 0x3e22, false}; /* 0.15915494, rounded down */
        return true;
    }
    if (!narrow(bits, 8, bfloat ? 7 : 23, &narrowed))
        return fail_opnd(m, o, ST_E_FLOAT_RANGE);
    *c = (struct constant){narrowed, narrowed, false};
    return true;
}

static bool int_constant(struct match *m, const struct st_opnd *o, unsigned class,
                         unsigned signs, struct constant *c)
{
    int64_t v = o->value;
    bool half = class == CONST_F16 || class == CONST_BF16 || class == CONST_I16;
    bool wide = class == CONST_I64 || class == CONST_F64;
    if (signs != 0 && wide) /* of which half of the literal? VOP3 has bits for it */
        return fail_opnd(m, o, ST_E_SIGN_MOD);
    if (!fits(v, half ? 16 : 32) && !wide)
        return fail_opnd(m, o, ST_E_LITERAL_SIZE);
    if (wide) {
        c->bits = (uint64_t)v;
        c->inline_only =
            !fits(v, 32) || (class == CONST_F64 && (o->mods & (ST_ABS | ST_NEG)) != 0);
        c->literal = (uint32_t)v;
    } else if (half) {
        c->bits = c->literal = (uint32_t)apply_signs((uint64_t)v & 0xffff, 16, signs);
        if (class == CONST_I16)
            c->bits = (uint32_t)v; /* 0xffff is not -1 here */
        c->inline_only = false;
    } else {
        c->bits = c->literal =
            (uint32_t)apply_signs((uint64_t)v & 0xffffffff, 32, signs);
        c->inline_only = false;
    }
    return true;
}

/* The inline integer with these bits, or 0. */
static unsigned integer_selector(uint64_t bits, unsigned class)
{
    if (class == CONST_I64 || class == CONST_F64)
        return inline_integer((int64_t)bits);
    if (class == CONST_F16 || class == CONST_BF16)
        return inline_integer((int16_t)bits);
    return inline_integer((int32_t)bits);
}

static bool set_literal(struct match *m, const struct st_opnd *o, uint32_t value,
                        bool unresolved)
{
    if (st_is_dpp(m->inst))
        return fail_opnd(m, o, ST_E_DPP_LITERAL);
    if (m->literal && (m->unresolved || unresolved || m->inst->literal != value))
        return fail_opnd(m, o, ST_E_TWO_LITERALS);
    m->literal = true;
    m->inst->literal = value;
    m->inst->variant = ISA_VAR_LITERAL;
    if (unresolved) {
        m->unresolved = true;
        m->fixup_kind = ISA_FIXUP_ABS32;
        m->handle = value;
    }
    return true;
}

/* Does the operand take a literal, besides inline constants? */
static bool takes_literal(const struct match *m, const struct isa_opnd_desc *desc)
{
    switch (desc->type) {
    case ISA_OPR_SRC:
    case ISA_OPR_SSRC:
        return (m->row->variants >> ISA_VAR_LITERAL & 1) != 0 ||
               m->row->enc == ISA_ENC_VOPD;
    default:
        return false;
    }
}

static bool put_literal(struct match *m, const struct isa_opnd_desc *desc,
                        const struct st_opnd *o, uint32_t value, bool unresolved,
                        struct isa_opnd *out)
{
    if (!takes_literal(m, desc))
        return fail_opnd(m, o, ST_E_NOT_LITERAL);
    out->kind = ISA_OPND_LITERAL;
    out->sel = ISA_SEL_LITERAL;
    return set_literal(m, o, value, unresolved);
}

static bool constant(struct match *m, const struct isa_opnd_desc *desc,
                     const struct st_opnd *o, unsigned signs, struct isa_opnd *out)
{
    struct constant c = {0};
    unsigned class = number_class(m, desc);
    if (o->kind == ST_EXPR && class != CONST_32) /* there is no such relocation */
        return fail_opnd(m, o, ST_E_SYMBOL);
    if (o->kind == ST_EXPR)
        return put_literal(m, desc, o, (uint32_t)o->value, true, out);
    if (o->kind == ST_FLOAT ? !float_constant(m, o, class, signs, &c)
                            : !int_constant(m, o, class, signs, &c))
        return false;
    unsigned sel = o->kind == ST_INT ? integer_selector(c.bits, class) : 0;
    /* 16-bit integers know float constants only as written, 1.0 */
    if (sel == 0 && !(o->kind == ST_INT && class == CONST_I16))
        sel = inline_float(c.bits, class);
    if (sel == 0 && o->kind == ST_FLOAT && c.bits == 0)
        sel = ISA_SEL_INT_0; /* 0.0 */
    if (sel == 0 && class == CONST_F64 &&
        !c.inline_only) { /* the literal is the upper half */
        uint64_t bits = (uint64_t)c.literal << 32;
        sel = bits == 0 ? ISA_SEL_INT_0 : inline_double(bits);
    }
    if (sel != 0) {
        out->kind = ISA_OPND_REG;
        out->sel = (uint16_t)sel;
        return true;
    }
    if (c.inline_only)
        return fail_opnd(m, o,
                         o->kind == ST_FLOAT ? ST_E_FLOAT_INT64 : ST_E_LITERAL_SIZE);
    return put_literal(m, desc, o, c.literal, false, out);
}

/* K of FMAAK and FMAMK, the value of s_setreg_imm32_b32: always a literal dword. */
static bool literal_operand(struct match *m, const struct isa_opnd_desc *desc,
                            const struct st_opnd *o, struct isa_opnd *out)
{
    struct constant c = {0};
    unsigned class = desc->fmt == ISA_FMT_F16 ? CONST_F16 : CONST_32;
    bool real = o->kind == ST_FLOAT && m->row->enc != ISA_ENC_SOPK;
    if (o->kind != ST_INT && !real)
        return fail_opnd(m, o, ST_E_IMM);
    if (o->mods & (ST_ABS | ST_NEG | ST_SEXT))
        return fail_opnd(m, o, ST_E_SIGN_MOD);
    if (o->kind == ST_FLOAT ? !float_constant(m, o, class, 0, &c)
                            : !int_constant(m, o, class, 0, &c))
        return false;
    out->kind = ISA_OPND_LITERAL;
    out->sel = ISA_SEL_LITERAL;
    return set_literal(m, o, c.literal, false);
}

/* ---- registers ---- */

/* Registers a mask or WMMA accumulator covers depend on the wave size. */
static unsigned dwords_in_wave(const struct match *m, const struct isa_opnd_desc *desc)
{
    if (desc->fmt == ISA_FMT_M64)
        return m->wave == ISA_WAVE64 ? 2 : 1;
    bool accumulator = desc->fmt >= ISA_FMT_WMMA_F32 && desc->fmt <= ISA_FMT_WMMA_IU4 &&
                       (desc->field == ISA_FIELD_VDST || desc->field == ISA_FIELD_SRC2);
    return accumulator && m->wave == ISA_WAVE64 ? desc->dwords / 2u : desc->dwords;
}

/* Number of the source a field is, or 3. */
static unsigned source_number(unsigned field)
{
    switch (field) {
    case ISA_FIELD_SRC0:
        return 0;
    case ISA_FIELD_SRC1:
    case ISA_FIELD_VSRC1:
        return 1;
    case ISA_FIELD_SRC2:
        return 2;
    default:
        return 3;
    }
}

static bool is_compact(unsigned enc)
{
    return enc == ISA_ENC_VOP1 || enc == ISA_ENC_VOP2 || enc == ISA_ENC_VOPC;
}

/* v1.l and v1.h: a bit of the field in compact encodings, op_sel elsewhere. */
static bool put_half(struct match *m, const struct isa_opnd_desc *desc,
                     const struct st_opnd *o, struct isa_opnd *out)
{
    bool compact = is_compact(m->row->enc);
    if (compact && desc->bits == 16 && o->sel >= ISA_SEL_VGPR0 + 128)
        return fail_opnd(m, o, ST_E_LOW_VGPR);
    if (!(o->mods & (ST_LO | ST_HI)))
        return true;
    if (!(m->row->mods & ISA_RM_TRUE16) || desc->bits != 16)
        return fail_opnd(m, o, ST_E_HALF);
    if (!(o->mods & ST_HI))
        return true;
    if (compact)
        out->flags |= ISA_OF_HI16;
    else
        m->inst->op_sel |= (uint8_t)(1u << source_number(desc->field));
    return true;
}

static bool vector_register(struct match *m, const struct isa_opnd_desc *desc,
                            const struct st_opnd *o, struct isa_opnd *out)
{
    if (o->kind != ST_REG || o->sel < ISA_SEL_VGPR0)
        return fail_opnd(m, o, ST_E_VGPR);
    if (o->dwords != out->dwords)
        return fail_opnd(m, o, ST_E_WIDTH);
    out->kind = ISA_OPND_REG;
    out->sel = o->sel;
    return put_half(m, desc, o, out);
}

/* Does the operand take the scalar register (or special value) sel? */
static bool takes_scalar(const struct isa_opnd_desc *desc, unsigned sel)
{
    bool special = sel > ISA_SEL_EXEC_HI;
    switch (desc->type) {
    case ISA_OPR_SDST:
        return !special;
    case ISA_OPR_SDST_NULL:
        return sel == ISA_SEL_NULL;
    case ISA_OPR_SMEM_OFFSET:
        return !special; /* seven bits */
    case ISA_OPR_SREG:
        if (desc->field == ISA_FIELD_SDATA)
            return sel <= ISA_SEL_NULL;
        if (desc->field == ISA_FIELD_SADDR)
            return sel < ISA_SEL_EXEC_HI;
        if (desc->flags & ISA_OF_OUT) /* LLVM lets eight-bit fields name what reads */
            return !special || (desc->field == ISA_FIELD_VDST &&
                                (desc->fmt == ISA_FMT_M64 || sel == ISA_SEL_SCC));
        if (desc->field == ISA_FIELD_SBASE || desc->field == ISA_FIELD_SRSRC ||
            desc->field == ISA_FIELD_SSAMP)
            return !special;
        if (desc->field == ISA_FIELD_SSRC0) /* pairs include the apertures, not SCC */
            return !special || (desc->dwords == 2) == (sel < ISA_SEL_SCC);
        return true;
    case ISA_OPR_SRC_VGPR_OR_INLINE:
        return sel == ISA_SEL_NULL || special;
    default:
        return true;
    }
}

static bool scalar_register(struct match *m, const struct isa_opnd_desc *desc,
                            const struct st_opnd *o, struct isa_opnd *out)
{
    if (desc->type == ISA_OPR_SDST_NULL && o->sel != ISA_SEL_NULL)
        return fail_opnd(m, o, ST_E_NULL);
    if (!takes_scalar(desc, o->sel))
        return fail_opnd(m, o, ST_E_CLASS);
    bool any_width = desc->type == ISA_OPR_SRC_VGPR_OR_INLINE || out->dwords <= 2;
    if (o->dwords == 0 ? !any_width : o->dwords != out->dwords)
        return fail_opnd(m, o, desc->fmt == ISA_FMT_M64 ? ST_E_WAVE_MASK : ST_E_WIDTH);
    out->kind = ISA_OPND_REG;
    out->sel = o->sel;
    return true;
}

/* With DPP the first two sources are vector registers. */
static bool must_be_vector(const struct match *m, const struct isa_opnd_desc *desc)
{
    return st_is_dpp(m->inst) &&
           (desc->field == ISA_FIELD_SRC0 || desc->field == ISA_FIELD_SRC1);
}

/* ---- |x|, -x ---- */

static bool is_float(unsigned fmt)
{
    return fmt == ISA_FMT_F16 || fmt == ISA_FMT_F32 || fmt == ISA_FMT_F64 ||
           fmt == ISA_FMT_BF16 || fmt == ISA_FMT_PK2_F16 || fmt == ISA_FMT_PK2_BF16;
}

/* Put the signs of a source into the instruction. Numbers in compact encodings take
 * them themselves: *number gets what to apply. */
static bool signs(struct match *m, const struct isa_opnd_desc *desc,
                  const struct st_opnd *o, unsigned *number)
{
    unsigned n = source_number(desc->field), mods = m->row->mods;
    unsigned abs = (o->mods & ST_ABS) != 0, neg = (o->mods & ST_NEG) != 0;
    unsigned sext = (o->mods & ST_SEXT) != 0;
    *number = 0;
    if (n == 3)
        return fail_opnd(m, o, ST_E_SIGN_MOD);
    bool takes_abs = (mods & ISA_RM_ABS0 << n) != 0;
    bool takes_neg = (mods & ISA_RM_NEG0 << n) != 0;
    if (m->row->enc == ISA_ENC_VOP3P && !(mods & ISA_RM_MIX))
        takes_abs = takes_neg = false; /* neg_lo: and neg_hi: instead */
    if (mods & ISA_RM_MIX)
        takes_abs = takes_neg;
    bool integer = !takes_abs && !is_float(desc->fmt);
    bool halves = st_is_dpp(m->inst) && m->row->enc == ISA_ENC_VOP3 &&
                  (mods & ISA_RM_OPSEL0 << n);
    bool minus_ok = takes_neg && (!integer || desc->fmt == ISA_FMT_I16);
    bool sext_ok = integer && (takes_neg || halves);
    if ((abs && !takes_abs) || (neg && !minus_ok) || (sext && !sext_ok))
        return fail_opnd(m, o, ST_E_SIGN_MOD);
    if (is_compact(m->row->enc)) {
        if (o->kind != ST_REG) {
            *number = o->mods;
            return true;
        }
        if (m->inst->variant != ISA_VAR_DPP16)
            return fail_opnd(m, o, ST_E_SIGN_MOD);
    }
    m->inst->neg |= (uint8_t)((neg | sext) << n);
    if (mods & ISA_RM_MIX)
        m->inst->neg_hi |= (uint8_t)(abs << n);
    else
        m->inst->abs |= (uint8_t)(abs << n);
    return true;
}

/* ---- operands ---- */

static bool immediate(struct match *m, const struct isa_opnd_desc *desc,
                      const struct st_opnd *o, struct isa_opnd *out)
{
    out->kind = ISA_OPND_IMM;
    if (o->kind == ST_EXPR) {
        m->fixup_kind = ISA_FIXUP_BRANCH;
        m->handle = (uint32_t)o->value;
        m->unresolved = true;
        return desc->type == ISA_OPR_LABEL || fail_opnd(m, o, ST_E_SYMBOL);
    }
    if (o->kind != ST_IMM)
        return fail_opnd(m, o, ST_E_IMM);
    out->imm = (int32_t)o->value;
    bool is_unsigned = desc->fmt == ISA_FMT_U16 || (m->row->mods & ISA_RM_OPTIONAL) ||
                       desc->field != ISA_FIELD_SIMM16;
    if (is_unsigned && o->value < 0)
        return fail_opnd(m, o, ST_E_RANGE);
    unsigned width = isa_positions[m->row->enc][desc->field].width;
    if (o->value >> width > 0)
        return fail_opnd(m, o, ST_E_RANGE);
    m->inst->chan = o->chan;
    return true;
}

static bool is_immediate(unsigned type)
{
    switch (type) {
    case ISA_OPR_ATTR:
    case ISA_OPR_CLAUSE:
    case ISA_OPR_DELAY:
    case ISA_OPR_HWREG:
    case ISA_OPR_LABEL:
    case ISA_OPR_SENDMSG:
    case ISA_OPR_SIMM16:
    case ISA_OPR_TGT:
    case ISA_OPR_VERSION:
    case ISA_OPR_WAITCNT:
    case ISA_OPR_WAITCNT_DEPCTR:
        return true;
    default:
        return false;
    }
}

/* A scalar or mixed operand: register, special value, constant, literal. */
static bool source(struct match *m, const struct isa_opnd_desc *desc,
                   const struct st_opnd *o, unsigned number_signs, struct isa_opnd *out)
{
    bool mixed = desc->type == ISA_OPR_SRC || desc->type == ISA_OPR_SRC_VGPR_OR_INLINE;
    if (o->kind == ST_REG && o->sel >= ISA_SEL_VGPR0)
        return mixed ? vector_register(m, desc, o, out) : fail_opnd(m, o, ST_E_SGPR);
    if (must_be_vector(m, desc))
        return fail_opnd(m, o, ST_E_DPP_SOURCE);
    if (o->kind == ST_REG) {
        if (o->mods & (ST_LO | ST_HI))
            return fail_opnd(m, o, ST_E_HALF);
        return scalar_register(m, desc, o, out);
    }
    switch (desc->type) {
    case ISA_OPR_SRC:
    case ISA_OPR_SRC_VGPR_OR_INLINE:
    case ISA_OPR_SSRC:
    case ISA_OPR_SSRC_LANESEL:
    case ISA_OPR_SREG_M0_INL:
        if (o->kind == ST_INT || o->kind == ST_FLOAT || o->kind == ST_EXPR)
            return constant(m, desc, o, number_signs, out);
        return fail_opnd(m, o, o->kind == ST_OFF ? ST_E_OFF : ST_E_OPERAND);
    default:
        return fail_opnd(m, o, o->kind == ST_OFF ? ST_E_OFF : ST_E_NOT_IMM);
    }
}

bool st_match_operand(struct match *m, const struct isa_opnd_desc *desc)
{
    struct stmt *s = m->s;
    if (m->next >= s->n_opnds)
        return st_fail_at(s, s->end, ST_E_TOO_FEW);
    const struct st_opnd *o = &s->opnd[m->next++];
    struct isa_opnd *out = &m->inst->opnd[m->inst->n_opnds++];
    *out = (struct isa_opnd){
        .flags = desc->flags,
        .fmt = desc->fmt,
        .field = desc->field,
        .dwords = (uint8_t)dwords_in_wave(m, desc),
        .spare = (uint8_t)m->next, /* for messages: its place in the text */
    };
    unsigned number_signs = 0;
    if (o->mods & ST_LIST)
        return fail_opnd(m, o, ST_E_WIDTH);
    if (is_immediate(desc->type))
        return immediate(m, desc, o, out);
    if (desc->type == ISA_OPR_SIMM32)
        return literal_operand(m, desc, o, out);
    if ((o->mods & (ST_ABS | ST_NEG | ST_SEXT)) && !signs(m, desc, o, &number_signs))
        return false;
    if (desc->type == ISA_OPR_VGPR || desc->type == ISA_OPR_SRC_VGPR)
        return vector_register(m, desc, o, out);
    return source(m, desc, o, number_signs, out);
}

/* Operands that are in the text but in no field: VCC of v_cmp_*_e32. */
static bool match_vcc(struct match *m)
{
    struct stmt *s = m->s;
    unsigned dwords = m->wave == ISA_WAVE64 ? 2 : 1;
    if (m->next >= s->n_opnds)
        return st_fail_at(s, s->end, ST_E_TOO_FEW);
    const struct st_opnd *o = &s->opnd[m->next++];
    if (o->kind != ST_REG || o->sel != ISA_SEL_VCC_LO || o->mods != 0)
        return fail_opnd(m, o, ST_E_CLASS);
    return o->dwords == dwords || fail_opnd(m, o, ST_E_WAVE_MASK);
}

/* Does the statement leave out VCC where it is the only choice? */
static bool leaves_out_vcc(const struct match *m)
{
    unsigned with = 0, without = 0;
    if (m->row->enc != ISA_ENC_VOP2 && m->row->enc != ISA_ENC_VOPC)
        return false;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        with++;
        without += !(desc->flags & ISA_OF_NO_FIELD);
    }
    return with != without && m->s->n_opnds == without;
}

static void put_exec(struct match *m, const struct isa_opnd_desc *desc)
{
    m->inst->opnd[m->inst->n_opnds++] = (struct isa_opnd){
        .kind = ISA_OPND_REG,
        .flags = desc->flags,
        .fmt = desc->fmt,
        .sel = ISA_SEL_EXEC_LO,
        .field = desc->field,
    };
}

static bool match_operands(struct match *m)
{
    bool no_vcc = leaves_out_vcc(m);
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        if (desc->type == ISA_OPR_EXEC) {
            if (desc->field != ISA_FIELD_NONE)
                put_exec(m, desc);
        } else if (desc->flags & ISA_OF_NO_FIELD) {
            if (!no_vcc && !match_vcc(m))
                return false;
        } else if ((m->row->mods & ISA_RM_OPTIONAL) && m->next >= m->s->n_opnds) {
            break;
        } else if (!st_match_operand(m, desc)) {
            return false;
        }
    }
    return true;
}

static bool match_by_encoding(struct match *m)
{
    switch (m->row->enc) {
    case ISA_ENC_MIMG:
        return st_match_image(m);
    case ISA_ENC_SMEM:
    case ISA_ENC_DS:
    case ISA_ENC_FLAT:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
    case ISA_ENC_EXP:
        return st_match_memory(m);
    default:
        return match_operands(m);
    }
}

bool st_match(struct match *m)
{
    struct isa_inst *inst = m->inst;
    unsigned variant = inst->variant;
    memset(inst, 0, offsetof(struct isa_inst, opnd));
    inst->op = m->row->op;
    inst->row = (uint16_t)(m->row - isa_rows);
    inst->enc = m->row->enc;
    inst->variant = (uint8_t)variant;
    m->next = 0;
    m->literal = m->unresolved = false;
    m->fixup_kind = ISA_FIXUP_NONE;
    if (m->row->flags & ISA_RF_LITERAL)
        inst->variant = ISA_VAR_LITERAL;
    if (!match_by_encoding(m))
        return false;
    if (m->next < m->s->n_opnds)
        return fail_opnd(m, &m->s->opnd[m->next], ST_E_TOO_MANY);
    return st_match_modifiers(m) && st_check(m);
}
