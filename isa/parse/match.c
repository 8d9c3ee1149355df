/* match.c: tries one row on a parsed statement.
 *
 * Operands are taken in the row's order and checked against what the row says: register
 * bank, number of registers, constants. Modifiers go into the instruction if the row
 * takes them. Knows no text.
 * Invariant: what is put into the instruction is what was written; a value that the
 * encoding cannot hold makes the match fail.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

static bool fail_opnd(struct match *m, const struct st_opnd *o, enum st_error error)
{
    return st_fail_at(m->s, m->s->text + o->at, error);
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
    m->scalar = true;
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
    if (m->row->enc == ISA_ENC_VOP2 && isa_op_rows[m->row->op][1] == 0 &&
        !(m->row->variants >> ISA_VAR_DPP16 &
          1)) /* FMAAK, FMAMK: no other form to have signs in */
        takes_abs = takes_neg = false;
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
            return st_match_constant(m, desc, o, number_signs, out);
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
    if (st_has_syntax(desc->type))
        return immediate(m, desc, o, out);
    if (desc->type == ISA_OPR_SIMM32)
        return st_match_literal(m, desc, o, out);
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
    m->literal = m->scalar = m->unresolved = false;
    m->fixup_kind = ISA_FIXUP_NONE;
    if (m->row->flags & ISA_RF_LITERAL)
        inst->variant = ISA_VAR_LITERAL;
    if (!match_by_encoding(m))
        return false;
    if (m->next < m->s->n_opnds)
        return fail_opnd(m, &m->s->opnd[m->next], ST_E_TOO_MANY);
    return st_match_modifiers(m) && st_check(m);
}
