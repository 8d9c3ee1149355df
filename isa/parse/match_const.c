/* match_const.c: numbers of a statement as inline constants and literals.
 *
 * What a number becomes depends on the operand's format: 1.0 has other bits in f16 than
 * in f64, 0x3800 is a constant for an f16 and a literal for an i32. The rules are
 * LLVM's. Invariant: a number that the format cannot hold fails; only the low half of a
 * 64-bit float literal is dropped, as LLVM does. SPDX-License-Identifier: MIT
 */
#include "constant.h"
#include "stmt.h"

static bool fail_opnd(struct match *m, const struct st_opnd *o, enum st_error error)
{
    return st_fail_at(m->s, m->s->text + o->at, error);
}

/* The numbers an operand takes: constant.h's classes, and pairs of 16-bit integers. */
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

bool st_match_constant(struct match *m, const struct isa_opnd_desc *desc,
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

bool st_match_literal(struct match *m, const struct isa_opnd_desc *desc,
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
