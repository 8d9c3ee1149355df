/* encode.c: struct isa_inst to bytes, the inverse of decode.c over the same tables.
 *
 * Every operand goes into the field it names, every modifier into its own; what does
 * not fit is an error, never cut off. Knows no text and no rule beyond field widths:
 * whether hardware executes the result is the assembler's business.
 * Invariant: code and bytes are written only on success.
 * SPDX-License-Identifier: MIT
 */
#include "isa_asm.h"
#include "tables.h"

#include <string.h>

/* One instruction being encoded. */
struct enc {
    uint64_t word;
    uint32_t trailer;
    const struct isa_inst *inst;
    const struct isa_row *row;
    bool ok;
};

static void put(struct enc *e, unsigned field, uint32_t value)
{
    const struct isa_pos *p = &isa_positions[e->inst->enc][field];
    if (value == 0)
        return; /* most modifiers, most of the time */
    if (((uint64_t)value >> p->width) != 0)
        e->ok = false;
    else
        e->word |= (uint64_t)value << p->shift;
}

static void put_trailer(struct enc *e, unsigned layout, unsigned field, uint32_t value)
{
    const struct isa_pos *p = &isa_positions[layout][field];
    if (((uint64_t)value >> p->width) != 0)
        e->ok = false;
    else
        e->trailer |= value << p->shift;
}

/* A signed value into the field's low bits. */
static void put_signed(struct enc *e, unsigned field, int32_t value)
{
    unsigned width = isa_positions[e->inst->enc][field].width;
    int32_t limit = (int32_t)1 << (width - 1);
    if (value < -limit || value >= limit)
        e->ok = false;
    else
        put(e, field, (uint32_t)value & (((uint32_t)1 << width) - 1));
}

/* A modifier: if the encoding has no field for it, it must not be set. */
static void put_flag(struct enc *e, unsigned field, uint32_t flag)
{
    if (e->inst->flags & flag)
        put(e, field, 1);
}

static bool has_dpp(const struct isa_inst *inst)
{
    return inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8;
}

/* ---- operands ---- */

/* Number of a vector register with the half bit of the 32-bit encodings. */
static uint32_t vgpr_bits(const struct isa_opnd *o)
{
    return (o->sel & 255u) | (o->flags & ISA_OF_HI16 ? 128u : 0u);
}

static void put_immediate(struct enc *e, const struct isa_opnd *o)
{
    unsigned width = isa_positions[e->inst->enc][o->field].width;
    int64_t imm = o->imm;
    if (width == 0 || imm < -((int64_t)1 << (width - 1)) || imm >> width > 0)
        e->ok = false;
    else
        put(e, o->field, (uint32_t)imm & (((uint32_t)1 << width) - 1));
}

/* "off": no address, no export source. */
static void put_off(struct enc *e, const struct isa_opnd *o)
{
    if (o->field == ISA_FIELD_SADDR)
        put(e, o->field, ISA_SEL_NULL);
}

/* VOPD's second destination drops bit 0, which must differ from the first one's. */
static void put_vdsty(struct enc *e, const struct isa_opnd *o)
{
    uint32_t x = isa_get(e->word, ISA_ENC_VOPD, ISA_FIELD_VDSTX);
    uint32_t y = o->sel & 255u;
    if ((x ^ y) & 1)
        put(e, o->field, y >> 1);
    else
        e->ok = false;
}

static void put_register(struct enc *e, const struct isa_opnd *o)
{
    const struct isa_pos *p = &isa_positions[e->inst->enc][o->field];
    uint32_t raw = o->sel;
    bool vgpr = raw >= ISA_SEL_VGPR0;

    if (o->field == ISA_FIELD_VDSTY) {
        put_vdsty(e, o);
    } else if (o->field == ISA_FIELD_SRC0 && has_dpp(e->inst)) {
        e->ok &= vgpr;
        put_trailer(e, ISA_LAYOUT_DPP8, ISA_FIELD_VSRC0, vgpr_bits(o));
    } else if (p->width == 0) { /* VADDRA and on lie behind the base encoding */
        put_trailer(e, ISA_LAYOUT_NSA, o->field, vgpr_bits(o));
    } else if (vgpr) {
        put(e, o->field, vgpr_bits(o) + (p->width == 9 ? ISA_SEL_VGPR0 : 0u));
    } else {
        if (raw & ((1u << p->pad) - 1))
            e->ok = false;
        put(e, o->field, raw >> p->pad);
    }
}

static void put_operand(struct enc *e, const struct isa_opnd *o)
{
    if ((o->flags & (ISA_OF_IMPLICIT | ISA_OF_NO_FIELD)) || o->field == ISA_FIELD_NONE)
        return;
    switch (o->kind) {
    case ISA_OPND_REG:
        put_register(e, o);
        break;
    case ISA_OPND_LITERAL:
        if (o->field != ISA_FIELD_SIMM32)
            put(e, o->field, ISA_SEL_LITERAL);
        break;
    case ISA_OPND_IMM:
        put_immediate(e, o);
        break;
    case ISA_OPND_OFF:
        put_off(e, o);
        break;
    default:
        break;
    }
}

/* ---- modifiers ---- */

static void vop3_modifiers(struct enc *e)
{
    const struct isa_inst *inst = e->inst;
    put(e, ISA_FIELD_ABS, inst->abs);
    put(e, ISA_FIELD_NEG, inst->neg);
    put(e, ISA_FIELD_OMOD, inst->omod);
    put(e, ISA_FIELD_OP_SEL, inst->op_sel);
    put(e, ISA_FIELD_WAIT_EXP, inst->wait);
    put_flag(e, ISA_FIELD_CLAMP, ISA_M_CLAMP);
}

static void vop3p_modifiers(struct enc *e)
{
    vop3_modifiers(e);
    put(e, ISA_FIELD_NEG_HI, e->inst->neg_hi);
    put(e, ISA_FIELD_OP_SEL_HI, e->inst->op_sel_hi & 3u);
    put(e, ISA_FIELD_OP_SEL_HI_2, (uint32_t)e->inst->op_sel_hi >> 2);
}

static void cache_modifiers(struct enc *e)
{
    put_flag(e, ISA_FIELD_GLC, ISA_M_GLC);
    put_flag(e, ISA_FIELD_SLC, ISA_M_SLC);
    put_flag(e, ISA_FIELD_DLC, ISA_M_DLC);
    put_flag(e, ISA_FIELD_TFE, ISA_M_TFE);
}

static void flat_modifiers(struct enc *e)
{
    cache_modifiers(e);
    put_flag(e, ISA_FIELD_SVE, ISA_M_SVE);
    if (e->inst->enc == ISA_ENC_FLAT) /* never negative: LDS or scratch may be meant */
        put(e, ISA_FIELD_OFFSET, (uint32_t)e->inst->offset);
    else
        put_signed(e, ISA_FIELD_OFFSET, e->inst->offset);
}

static void ds_modifiers(struct enc *e)
{
    if ((e->inst->offset & ~0xffff) != 0)
        e->ok = false;
    put(e, ISA_FIELD_OFFSET0, (uint32_t)e->inst->offset & 255);
    put(e, ISA_FIELD_OFFSET1, (uint32_t)e->inst->offset >> 8 & 255);
    put_flag(e, ISA_FIELD_GDS, ISA_M_GDS);
}

static void buffer_modifiers(struct enc *e)
{
    cache_modifiers(e);
    put_flag(e, ISA_FIELD_IDXEN, ISA_M_IDXEN);
    put_flag(e, ISA_FIELD_OFFEN, ISA_M_OFFEN);
    put(e, ISA_FIELD_OFFSET, (uint32_t)e->inst->offset);
    put(e, ISA_FIELD_FORMAT, e->inst->format);
}

static void image_modifiers(struct enc *e)
{
    cache_modifiers(e);
    put_flag(e, ISA_FIELD_LWE, ISA_M_LWE);
    put_flag(e, ISA_FIELD_A16, ISA_M_A16);
    put_flag(e, ISA_FIELD_D16, ISA_M_D16);
    put_flag(e, ISA_FIELD_R128, ISA_M_R128);
    put_flag(e, ISA_FIELD_UNORM, ISA_M_UNORM);
    put(e, ISA_FIELD_DMASK, e->inst->dmask);
    put(e, ISA_FIELD_DIM, e->inst->dim);
    if (e->inst->variant == ISA_VAR_NSA)
        put(e, ISA_FIELD_NSA, 1);
}

static void dpp_modifiers(struct enc *e)
{
    const struct isa_inst *inst = e->inst;
    bool fi = (inst->flags & ISA_M_FI) != 0;
    if (inst->variant == ISA_VAR_DPP8) {
        put(e, ISA_FIELD_SRC0, fi ? ISA_SEL_DPP8_FI : ISA_SEL_DPP8);
        if (inst->dpp8 >> 24 != 0)
            e->ok = false;
        e->trailer |= inst->dpp8 << 8;
        return;
    }
    put(e, ISA_FIELD_SRC0, ISA_SEL_DPP16);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_DPP_CTRL, inst->dpp_ctrl);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_ROW_MASK, inst->row_mask);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_BANK_MASK, inst->bank_mask);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_FI, fi);
    if (inst->flags & ISA_M_BOUND_CTRL)
        put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_BOUND_CTRL, 1);
    if (isa_has_field(inst->enc, ISA_FIELD_NEG))
        return; /* the 64-bit encodings have their own fields */
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_SRC0_ABS, inst->abs & 1u);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_SRC1_ABS, (uint32_t)inst->abs >> 1);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_SRC0_NEG, inst->neg & 1u);
    put_trailer(e, ISA_LAYOUT_DPP16, ISA_FIELD_SRC1_NEG, (uint32_t)inst->neg >> 1);
}

static void modifiers(struct enc *e)
{
    const struct isa_inst *inst = e->inst;
    switch (inst->enc) {
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VINTERP:
        vop3_modifiers(e);
        break;
    case ISA_ENC_VOP3P:
        vop3p_modifiers(e);
        break;
    case ISA_ENC_LDSDIR:
        put(e, ISA_FIELD_WAIT_VDST, inst->wait);
        put(e, ISA_FIELD_ATTR_CHAN, inst->chan);
        break;
    case ISA_ENC_SMEM:
        cache_modifiers(e);
        put_signed(e, ISA_FIELD_OFFSET, inst->offset);
        break;
    case ISA_ENC_DS:
        ds_modifiers(e);
        break;
    case ISA_ENC_FLAT:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
        flat_modifiers(e);
        break;
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
        buffer_modifiers(e);
        break;
    case ISA_ENC_MIMG:
        image_modifiers(e);
        break;
    case ISA_ENC_EXP:
        put(e, ISA_FIELD_EN, inst->dmask);
        put_flag(e, ISA_FIELD_DONE, ISA_M_DONE);
        put_flag(e, ISA_FIELD_ROW_EN, ISA_M_ROW_EN);
        break;
    default:
        break;
    }
}

/* ---- the instruction ---- */

static void store32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
    p[2] = (uint8_t)(value >> 16);
    p[3] = (uint8_t)(value >> 24);
}

static bool row_is_valid(const struct isa_inst *inst, unsigned wave)
{
    if (inst->row >= isa_row_count() || inst->n_opnds > ISA_MAX_OPNDS)
        return false;
    const struct isa_row *row = &isa_rows[inst->row];
    if (row->enc != inst->enc)
        return false;
    if (inst->enc == ISA_ENC_VOPD)
        return wave == ISA_WAVE32 && inst->row_y < isa_row_count() &&
               isa_rows[inst->row_y].enc == ISA_ENC_VOPD;
    return inst->variant == ISA_VAR_NONE || (row->variants >> inst->variant & 1) != 0;
}

rd_status isa_encode(const struct isa_inst *inst, unsigned wave, uint8_t *code,
                     unsigned *bytes)
{
    if (!row_is_valid(inst, wave))
        return RD_E_ENCODING;
    const struct isa_row *row = &isa_rows[inst->row];
    const struct isa_encoding *encoding = &isa_encodings[inst->enc];
    struct enc e = {.inst = inst, .row = row, .ok = true};
    e.word = encoding->fixed | (uint64_t)row->opcode << encoding->op_shift;
    if (inst->enc == ISA_ENC_VOPD)
        e.word |= (uint64_t)isa_rows[inst->row_y].opcode << encoding->y_shift;
    for (unsigned i = 0; i < inst->n_opnds; i++)
        put_operand(&e, &inst->opnd[i]);
    modifiers(&e);
    if (inst->variant == ISA_VAR_LITERAL)
        e.trailer = inst->literal;
    else if (has_dpp(inst))
        dpp_modifiers(&e);
    const struct isa_fixed *fixed = &isa_fixed[row->fixed];
    e.word |= fixed->value;
    if (!e.ok || (e.word & fixed->mask) != fixed->value)
        return RD_E_ENCODING;

    unsigned n = encoding->bytes;
    store32(code, (uint32_t)e.word);
    if (n > 4)
        store32(code + 4, (uint32_t)(e.word >> 32));
    if (inst->variant != ISA_VAR_NONE) {
        store32(code + n, e.trailer);
        n += 4;
    }
    *bytes = n;
    return RD_OK;
}
