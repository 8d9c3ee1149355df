/* decode.c: bytes to struct isa_inst, table-driven.
 *
 * The first dword's top nine bits say the encoding, its opcode field the row, the row's
 * operand descriptors which fields to read. Knows nothing of text, and of no mnemonic:
 * what differs between instructions of one encoding is in the tables.
 * Invariant: inst is written only when decoding succeeds.
 * SPDX-License-Identifier: MIT
 */
#include "decode.h"

#include <string.h>

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

/* ---- operands ---- */

/* Operands that no field holds: fixed registers and machine state. */
static void fixed_operand(struct dec *d, struct isa_opnd *o, unsigned type)
{
    o->kind = ISA_OPND_REG;
    switch (type) {
    case ISA_OPR_VCC:
        o->sel = ISA_SEL_VCC_LO;
        break;
    case ISA_OPR_EXEC:
    case ISA_OPR_SDST_EXEC:
        o->sel = ISA_SEL_EXEC_LO;
        break;
    case ISA_OPR_SDST_M0:
        o->sel = ISA_SEL_M0;
        break;
    case ISA_OPR_SSRC_SPECIAL_SCC:
        o->kind = ISA_OPND_SCC;
        break;
    case ISA_OPR_PC:
        o->kind = ISA_OPND_PC;
        break;
    case ISA_OPR_DSMEM:
        o->kind = ISA_OPND_LDS;
        break;
    case ISA_OPR_FLAT_SCRATCH:
        o->kind = ISA_OPND_SCRATCH;
        break;
    default:
        d->ok = false;
    }
    if (o->kind != ISA_OPND_REG)
        o->dwords = 0;
}

static void immediate_operand(struct dec *d, struct isa_opnd *o, unsigned field,
                              unsigned type)
{
    if (field == ISA_FIELD_SIMM32) {
        o->kind = ISA_OPND_LITERAL;
        o->sel = ISA_SEL_LITERAL;
        return;
    }
    uint32_t raw = dec_field(d, field);
    o->kind = ISA_OPND_IMM;
    o->imm = type == ISA_OPR_SIMM16 && field == ISA_FIELD_SIMM16 ? (int16_t)raw
             : type == ISA_OPR_LABEL                             ? (int16_t)raw
                                                                 : (int32_t)raw;
}

/* A vector register. Nine-bit fields hold 256 + n, eight-bit fields n. Sixteen-bit
 * operands of the 32-bit encodings have 7 bits of number and one of half. */
static void vgpr_operand(struct dec *d, struct isa_opnd *o, uint32_t raw,
                         unsigned width, unsigned bits)
{
    bool halves =
        bits == 16 && (d->inst->enc == ISA_ENC_VOP1 || d->inst->enc == ISA_ENC_VOP2 ||
                       d->inst->enc == ISA_ENC_VOPC);
    if (width == 9 && raw < ISA_SEL_VGPR0)
        d->ok = false;
    o->kind = ISA_OPND_REG;
    o->sel = (uint16_t)(ISA_SEL_VGPR0 + (raw & (halves ? 127 : 255)));
    if (halves && (raw & 128))
        o->flags |= ISA_OF_HI16;
}

/* Single scalar registers and constants of the nine-bit space; 209..232, 240.. are
 * checked here, what an operand type excludes is not. */
static bool is_scalar_source(uint32_t sel)
{
    return sel <= ISA_SEL_INT_NEG_LAST ||
           (sel >= ISA_SEL_SHARED_BASE && sel <= ISA_SEL_FLOAT_LAST) ||
           (sel >= ISA_SEL_VCCZ && sel <= ISA_SEL_LITERAL);
}

/* Tuples: SGPR pairs are even, larger ones multiples of four; hardware and LLVM drop
 * the low bits. The tuple must not run over the end of its bank. */
static uint32_t scalar_tuple(struct dec *d, uint32_t sel, unsigned dwords)
{
    if (dwords < 2 || sel > ISA_SEL_EXEC_HI)
        return sel;
    uint32_t low = dwords == 2 ? 1 : 3;
    if (sel <= ISA_SEL_SGPR_LAST) {
        sel &= ~low;
        if (sel + dwords - 1 > ISA_SEL_SGPR_LAST)
            d->ok = false;
    } else if (sel >= ISA_SEL_TTMP0 && sel < ISA_SEL_NULL) {
        sel &= ~low;
        if (sel + dwords > ISA_SEL_NULL)
            d->ok = false;
    } else if (sel != ISA_SEL_NULL &&
               (dwords > 2 || (sel != ISA_SEL_VCC_LO && sel != ISA_SEL_EXEC_LO))) {
        d->ok = false;
    }
    return sel;
}

/* Does the operand accept the selector (below 256)? */
static bool accepts(const struct dec *d, const struct isa_opnd_desc *desc, uint32_t sel)
{
    bool special = (sel >= ISA_SEL_SHARED_BASE && sel < ISA_SEL_FLOAT_FIRST) ||
                   (sel >= ISA_SEL_VCCZ && sel < ISA_SEL_LDS_DIRECT);
    switch (desc->type) {
    case ISA_OPR_SDST:
    case ISA_OPR_SDST_NULL:
        return sel <= ISA_SEL_EXEC_HI;
    case ISA_OPR_SREG:
        if (desc->field == ISA_FIELD_SDATA)
            return sel <= ISA_SEL_NULL;
        if (desc->field == ISA_FIELD_SRC2 && sel >= ISA_SEL_EXEC_LO)
            return special; /* a mask, but not EXEC */
        if (desc->field == ISA_FIELD_SADDR)
            return sel < ISA_SEL_EXEC_HI;
        return sel <= ISA_SEL_EXEC_HI || special;
    case ISA_OPR_SRC_VGPR_OR_INLINE:
        return sel == ISA_SEL_NULL ||
               (sel >= ISA_SEL_INT_0 && sel < ISA_SEL_LDS_DIRECT);
    case ISA_OPR_SRC:
        if ((d->inst->variant == ISA_VAR_DPP16 || d->inst->variant == ISA_VAR_DPP8) &&
            desc->field == ISA_FIELD_SRC1)
            return false;
        return sel != ISA_SEL_LDS_DIRECT || desc->dwords == 1;
    default:
        return sel != ISA_SEL_LDS_DIRECT;
    }
}

static void source_operand(struct dec *d, struct isa_opnd *o, uint32_t raw,
                           const struct isa_opnd_desc *desc)
{
    if (raw >= ISA_SEL_VGPR0) {
        vgpr_operand(d, o, raw, 9, desc->bits);
        if (desc->type != ISA_OPR_SRC && desc->type != ISA_OPR_SRC_VGPR_OR_INLINE)
            d->ok = false;
        return;
    }
    if (!is_scalar_source(raw) || !accepts(d, desc, raw) ||
        (raw == ISA_SEL_LITERAL && d->inst->variant != ISA_VAR_LITERAL))
        d->ok = false;
    o->kind = raw == ISA_SEL_LITERAL ? ISA_OPND_LITERAL : ISA_OPND_REG;
    o->sel = (uint16_t)scalar_tuple(d, raw, o->dwords);
}

/* Registers a mask or WMMA accumulator covers depend on the wave size. */
static unsigned dwords_in_wave(const struct dec *d, const struct isa_opnd_desc *desc)
{
    if (desc->fmt == ISA_FMT_M64)
        return d->wave == ISA_WAVE64 ? 2 : 1;
    bool accumulator = desc->fmt >= ISA_FMT_WMMA_F32 && desc->fmt <= ISA_FMT_WMMA_IU4 &&
                       (desc->field == ISA_FIELD_VDST || desc->field == ISA_FIELD_SRC2);
    return accumulator && d->wave == ISA_WAVE64 ? desc->dwords / 2u : desc->dwords;
}

static void register_operand(struct dec *d, struct isa_opnd *o,
                             const struct isa_opnd_desc *desc)
{
    const struct isa_pos *p = &isa_positions[d->inst->enc][desc->field];
    uint32_t raw = dec_field(d, desc->field) << p->pad;
    bool vgpr = desc->type == ISA_OPR_VGPR || desc->type == ISA_OPR_SRC_VGPR;

    if (desc->field == ISA_FIELD_VDSTY) /* bit 0 is the opposite of VDSTX's */
        raw |= ~dec_field(d, ISA_FIELD_VDSTX) & 1;
    if (desc->field == ISA_FIELD_SRC0 &&
        (d->inst->variant == ISA_VAR_DPP16 || d->inst->variant == ISA_VAR_DPP8)) {
        raw = isa_get(d->trailer, ISA_LAYOUT_DPP8, ISA_FIELD_VSRC0);
        vgpr_operand(d, o, raw, 8, desc->bits);
    } else if (vgpr && !(d->as_hardware && p->width == 9 && raw < ISA_SEL_VGPR0)) {
        vgpr_operand(d, o, raw, p->width, desc->bits);
    } else {
        source_operand(d, o, raw, desc);
    }
}

static bool is_immediate(unsigned type)
{
    switch (type) {
    case ISA_OPR_ATTR:
    case ISA_OPR_CLAUSE:
    case ISA_OPR_DELAY:
    case ISA_OPR_HWREG:
    case ISA_OPR_LABEL:
    case ISA_OPR_SIMM16:
    case ISA_OPR_SIMM32:
    case ISA_OPR_TGT:
    case ISA_OPR_VERSION:
    case ISA_OPR_WAITCNT:
    case ISA_OPR_WAITCNT_DEPCTR:
        return true;
    default:
        return false;
    }
}

static void fill_operand(struct dec *d, const struct isa_opnd_desc *desc)
{
    struct isa_opnd *o = &d->inst->opnd[d->inst->n_opnds++];
    *o = (struct isa_opnd){
        .flags = desc->flags,
        .fmt = desc->fmt,
        .field = desc->field,
        .dwords = (uint8_t)dwords_in_wave(d, desc),
    };
    bool sendmsg_imm =
        desc->type == ISA_OPR_SENDMSG; /* SOPP's SIMM16 and SOP1's SSRC0 alike */
    if (desc->field == ISA_FIELD_NONE || desc->type == ISA_OPR_EXEC)
        fixed_operand(d, o, desc->type);
    else if (is_immediate(desc->type) || sendmsg_imm)
        immediate_operand(d, o, desc->field, desc->type);
    else
        register_operand(d, o, desc);
}

struct isa_opnd *dec_find(struct dec *d, unsigned field)
{
    for (unsigned i = 0; i < d->inst->n_opnds; i++)
        if (d->inst->opnd[i].field == field)
            return &d->inst->opnd[i];
    return NULL;
}

/* ---- modifiers of the ALU encodings ---- */

static void vop3_modifiers(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    /* Rows that select halves ignore |x|, and -x unless DPP reads it as sext(x). */
    unsigned abs_ok = d->row->mods / ISA_RM_ABS0 & 7;
    unsigned neg_ok = d->row->mods / ISA_RM_NEG0 & 7;
    if (inst->variant == ISA_VAR_DPP16 || inst->variant == ISA_VAR_DPP8)
        neg_ok |= d->row->mods / ISA_RM_OPSEL0 & 7;
    inst->abs = (uint8_t)(dec_field(d, ISA_FIELD_ABS) & abs_ok);
    inst->neg = (uint8_t)(dec_field(d, ISA_FIELD_NEG) & neg_ok);
    inst->op_sel = (uint8_t)dec_field(d, ISA_FIELD_OP_SEL);
    inst->omod = (uint8_t)dec_field(d, ISA_FIELD_OMOD);
    inst->flags |= dec_flag(d, ISA_FIELD_CLAMP, ISA_M_CLAMP);
    inst->wait = (uint8_t)dec_field(d, ISA_FIELD_WAIT_EXP);
}

static void vop3p_modifiers(struct dec *d)
{
    vop3_modifiers(d);
    d->inst->neg_hi = (uint8_t)dec_field(d, ISA_FIELD_NEG_HI);
    d->inst->op_sel_hi = (uint8_t)(dec_field(d, ISA_FIELD_OP_SEL_HI) |
                                   dec_field(d, ISA_FIELD_OP_SEL_HI_2) << 2);
}

/* |x| and -x of the 32-bit encodings; the 64-bit ones have their own fields. */
static void dpp16_signs(struct dec *d)
{
    uint32_t t = d->trailer;
    unsigned abs = isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_SRC0_ABS) |
                   isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_SRC1_ABS) << 1;
    unsigned neg = isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_SRC0_NEG) |
                   isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_SRC1_NEG) << 1;
    unsigned abs_ok = d->row->mods / ISA_RM_ABS0 & 7;
    unsigned neg_ok = d->row->mods / ISA_RM_NEG0 & 7;
    if ((abs & ~(abs_ok | neg_ok)) || (neg & ~(abs_ok | neg_ok)))
        d->ok = false;
    d->inst->abs = (uint8_t)(abs & abs_ok);
    d->inst->neg = (uint8_t)neg;
}

static void dpp16_modifiers(struct dec *d)
{
    struct isa_inst *inst = d->inst;
    uint32_t t = d->trailer;
    inst->dpp_ctrl = (uint16_t)isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_DPP_CTRL);
    inst->row_mask = (uint8_t)isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_ROW_MASK);
    inst->bank_mask = (uint8_t)isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_BANK_MASK);
    if (isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_BOUND_CTRL))
        inst->flags |= ISA_M_BOUND_CTRL;
    if (isa_get(t, ISA_LAYOUT_DPP16, ISA_FIELD_FI))
        inst->flags |= ISA_M_FI;
    if (!isa_has_field(inst->enc, ISA_FIELD_OP_SEL) && inst->enc != ISA_ENC_VOP3SD)
        dpp16_signs(d);
}

static void dpp8_modifiers(struct dec *d, uint32_t selector)
{
    d->inst->dpp8 = d->trailer >> 8; /* LANE_SEL_0 is the lowest of 24 bits */
    if (selector == ISA_SEL_DPP8_FI)
        d->inst->flags |= ISA_M_FI;
}

static void modifiers(struct dec *d)
{
    switch (d->inst->enc) {
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VINTERP:
        vop3_modifiers(d);
        break;
    case ISA_ENC_VOP3P:
        vop3p_modifiers(d);
        break;
    case ISA_ENC_LDSDIR:
        d->inst->wait = (uint8_t)dec_field(d, ISA_FIELD_WAIT_VDST);
        d->inst->chan = (uint8_t)dec_field(d, ISA_FIELD_ATTR_CHAN);
        break;
    case ISA_ENC_SMEM:
        dec_smem(d);
        break;
    case ISA_ENC_DS:
        dec_ds(d);
        break;
    case ISA_ENC_FLAT:
    case ISA_ENC_GLOBAL:
    case ISA_ENC_SCRATCH:
        dec_flat(d);
        break;
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
        dec_buffer(d);
        break;
    case ISA_ENC_MIMG:
        dec_image(d);
        break;
    case ISA_ENC_EXP:
        dec_export(d);
        break;
    default:
        break;
    }
    if (d->inst->variant == ISA_VAR_DPP16)
        dpp16_modifiers(d);
    else if (d->inst->variant == ISA_VAR_DPP8)
        dpp8_modifiers(d, dec_field(d, ISA_FIELD_SRC0));
}

/* ---- rows and length ---- */

static const struct isa_row *find_row(uint32_t first, unsigned enc, bool half_y)
{
    const struct isa_encoding *e = &isa_encodings[enc];
    unsigned shift = half_y ? e->y_shift : e->op_shift;
    unsigned width = half_y ? e->y_width : e->op_width;
    unsigned base = half_y ? e->index_y : e->index;
    unsigned row = isa_index[base + ((first >> shift) & ((1u << width) - 1))];
    return row != 0 ? &isa_rows[row - 1] : NULL;
}

static unsigned class_of(uint32_t first)
{
    static const uint8_t segments[4] = {ISA_ENC_FLAT, ISA_ENC_SCRATCH, ISA_ENC_GLOBAL,
                                        ISA_ENC_NONE};
    unsigned enc = isa_classes[first >> 23];
    if (enc == ISA_ENC_FLAT)
        enc = segments[isa_get(first, ISA_ENC_FLAT, ISA_FIELD_SEG)];
    return enc;
}

/* Does any source field of this row's operands hold the literal's selector? */
static bool uses_literal(uint64_t word, const struct isa_row *row)
{
    for (unsigned i = 0; i < row->n_opnds; i++) {
        const struct isa_opnd_desc *o = &isa_opnds[row->opnds + i];
        switch (o->field) {
        case ISA_FIELD_SRC0:
        case ISA_FIELD_SRC1:
        case ISA_FIELD_SRC2:
        case ISA_FIELD_SSRC0:
        case ISA_FIELD_SSRC1:
        case ISA_FIELD_SRCX0:
        case ISA_FIELD_SRCY0:
            if (o->type != ISA_OPR_SENDMSG &&
                isa_get(word, row->enc, o->field) == ISA_SEL_LITERAL)
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

/* Which variant the words ask for; DPP selectors exist only in SRC0. */
static unsigned variant_of(uint64_t word, const struct isa_row *row)
{
    if (row->enc == ISA_ENC_MIMG)
        return isa_get(word, ISA_ENC_MIMG, ISA_FIELD_NSA) ? ISA_VAR_NSA : ISA_VAR_NONE;
    if (isa_has_field(row->enc, ISA_FIELD_SRC0)) {
        uint32_t src0 = isa_get(word, row->enc, ISA_FIELD_SRC0);
        if (src0 == ISA_SEL_DPP16)
            return ISA_VAR_DPP16;
        if (src0 == ISA_SEL_DPP8 || src0 == ISA_SEL_DPP8_FI)
            return ISA_VAR_DPP8;
    }
    if ((row->flags & ISA_RF_LITERAL) || uses_literal(word, row))
        return ISA_VAR_LITERAL;
    return ISA_VAR_NONE;
}

static void fill_operands(struct dec *d, const struct isa_row *row)
{
    for (unsigned i = 0; i < row->n_opnds; i++)
        fill_operand(d, &isa_opnds[row->opnds + i]);
}

/* No tuple of vector registers may run over v255. */
static bool tuples_fit(const struct isa_inst *inst)
{
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->sel >= ISA_SEL_VGPR0 && o->sel + o->dwords > ISA_SEL_COUNT)
            return false;
    }
    return true;
}

/* The fixed part is known: fill inst from words and trailer. */
static bool decode_row(struct dec *d, const struct isa_row *row_y)
{
    struct isa_inst *inst = d->inst;
    inst->op = d->row->op;
    inst->row = (uint16_t)(d->row - isa_rows);
    inst->enc = d->row->enc;
    if (inst->variant == ISA_VAR_LITERAL)
        inst->literal = d->trailer;
    fill_operands(d, d->row);
    if (row_y != NULL) {
        inst->op_y = row_y->op;
        inst->row_y = (uint16_t)(row_y - isa_rows);
        fill_operands(d, row_y);
    }
    modifiers(d);
    return d->ok && tuples_fit(inst);
}

/* Bits that have one value in this row: do they, or does hardware not look at them? */
static bool fixed_bits(uint64_t *word, const struct isa_row *row, bool as_hardware)
{
    const struct isa_fixed *fixed = &isa_fixed[row != NULL ? row->fixed : 0];
    if ((*word & fixed->mask) == fixed->value)
        return true;
    *word = (*word & ~fixed->mask) | fixed->value;
    return as_hardware;
}

static rd_status decode(const void *code, size_t bytes, unsigned wave, bool as_hardware,
                        struct isa_inst *inst)
{
    const uint8_t *p = code;
    if (bytes < 4)
        return RD_E_TRUNCATED;
    uint32_t first = load32(p);
    unsigned enc = class_of(first);
    const struct isa_row *row =
        enc != ISA_ENC_NONE ? find_row(first, enc, false) : NULL;
    if (row == NULL)
        return RD_E_ENCODING;
    const struct isa_row *row_y = NULL;
    if (enc == ISA_ENC_VOPD) {
        row_y = find_row(first, enc, true);
        if (row_y == NULL || wave != ISA_WAVE32)
            return RD_E_ENCODING;
    }

    unsigned length = isa_encodings[row->enc].bytes;
    if (bytes < length)
        return RD_E_TRUNCATED;
    uint64_t word = first | (length > 4 ? (uint64_t)load32(p + 4) << 32 : 0);
    unsigned variant = variant_of(word, row);
    if (row_y != NULL && variant == ISA_VAR_NONE)
        variant = variant_of(word, row_y);
    if (!fixed_bits(&word, row, as_hardware) || !fixed_bits(&word, row_y, as_hardware))
        return RD_E_ENCODING;
    bool exists = (row->variants >> variant & 1) != 0 || row_y != NULL;
    if (variant != ISA_VAR_NONE && !exists)
        return RD_E_ENCODING;

    struct isa_inst result; /* operands are cleared one by one */
    memset(&result, 0, offsetof(struct isa_inst, opnd));
    result.variant = (uint8_t)variant;
    struct dec d = {.word = word,
                    .wave = wave,
                    .row = row,
                    .inst = &result,
                    .as_hardware = as_hardware,
                    .ok = true};
    if (variant != ISA_VAR_NONE) {
        if (bytes < length + 4)
            return RD_E_TRUNCATED;
        d.trailer = load32(p + length);
        length += 4;
    }
    result.bytes = (uint8_t)length;
    if (!decode_row(&d, row_y))
        return RD_E_ENCODING;
    memcpy(inst, &result,
           offsetof(struct isa_inst, opnd) + result.n_opnds * sizeof result.opnd[0]);
    return RD_OK;
}

rd_status isa_decode(const void *code, size_t bytes, unsigned wave,
                     struct isa_inst *inst)
{
    return decode(code, bytes, wave, false, inst);
}

rd_status isa_decode_hw(const void *code, size_t bytes, unsigned wave,
                        struct isa_inst *inst)
{
    return decode(code, bytes, wave, true, inst);
}
