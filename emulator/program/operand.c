/* operand.c: from decoded operands to those of a micro-op: constants, sources, outputs.
 *
 * What differs between instructions comes from operand descriptors and from the
 * argument types of the semantics function. SPDX-License-Identifier: MIT
 */
#include "predecode.h"

/* ---- constants ----------------------------------------------------------------- */

bool type_is_16(unsigned t)
{
    return t == SEM_T_U16 || t == SEM_T_I16 || t == SEM_T_F16;
}

bool type_is_64(unsigned t)
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

bool fmt_is_float16(unsigned fmt)
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

bool constant_value(struct ctx *c, const struct isa_opnd *o, unsigned type,
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

unsigned collect_sources(const struct isa_inst *inst, unsigned y,
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

void find_outputs(const struct isa_inst *inst, unsigned y,
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

uint16_t sgpr_slot(const struct isa_opnd *o)
{
    return o->sel == ISA_SEL_NULL || o->sel > ISA_SEL_EXEC_HI ? SGPR_DUMMY : o->sel;
}
