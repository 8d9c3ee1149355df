/* match_mem.c: operands and modifiers of the memory encodings and of exports: which
 * operands there are, and how wide, depends on the modifiers.
 *
 * Image instructions are in match_image.c.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

static bool has(const struct match *m, unsigned mod)
{
    return (m->s->has & ST_BIT(mod)) != 0;
}

static bool set(const struct match *m, unsigned mod)
{
    return has(m, mod) && m->s->mod[mod] != 0;
}

static bool fail_opnd(struct match *m, unsigned i, enum st_error error)
{
    if (i >= m->s->n_opnds)
        return st_fail_at(m->s, m->s->end, ST_E_TOO_FEW);
    return st_fail_at(m->s, m->s->text + m->s->opnd[i].at, error);
}

static bool fail_mod(struct match *m, unsigned mod, enum st_error error)
{
    return st_fail_at(m->s, m->s->text + m->s->mod_at[mod], error);
}

static bool offset_range(struct match *m, int32_t low, int32_t high, const char *range)
{
    int32_t offset = has(m, ST_M_OFFSET) ? m->s->mod[ST_M_OFFSET] : 0;
    if (offset < low || offset > high)
        return st_fail_arg(m->s, m->s->text + m->s->mod_at[ST_M_OFFSET], ST_E_OFFSET,
                           range, strlen(range));
    m->inst->offset = offset;
    return true;
}

static const char unsigned12[] = "0 to 4095";
static const char signed13[] = "-4096 to 4095";

static void cache(struct match *m)
{
    if (has(m, ST_M_CACHE))
        m->inst->flags |= (uint32_t)m->s->mod[ST_M_CACHE] & 0xffff;
}

/* Next operand: "off" if allowed, else as desc says but so many registers wide. */
static bool address(struct match *m, const struct isa_opnd_desc *desc, unsigned dwords)
{
    if (m->next < m->s->n_opnds && m->s->opnd[m->next].kind == ST_OFF) {
        m->next++;
        m->inst->opnd[m->inst->n_opnds++] = (struct isa_opnd){
            .kind = ISA_OPND_OFF, .flags = desc->flags, .field = desc->field};
        return true;
    }
    struct isa_opnd_desc sized = *desc;
    sized.dwords = (uint8_t)dwords;
    return st_match_operand(m, &sized);
}

/* Does the row fix this one-bit field? -1: no, else its value. */
static int fixed_bit(const struct match *m, unsigned field)
{
    const struct isa_fixed *f = &isa_fixed[m->row->fixed];
    unsigned shift = isa_positions[m->row->enc][field].shift;
    if (!(f->mask >> shift & 1))
        return -1;
    return (int)(f->value >> shift & 1);
}

/* ---- SMEM ---- */

static bool smem_offset(struct match *m, const struct isa_opnd_desc *desc, bool buffer)
{
    struct stmt *s = m->s;
    static const struct st_opnd none = {.kind = ST_INT};
    bool absent = m->next >= s->n_opnds; /* then it is 0 */
    const struct st_opnd *o = absent ? &none : &s->opnd[m->next];
    int64_t offset = has(m, ST_M_OFFSET) ? s->mod[ST_M_OFFSET] : 0;
    const char *at = s->text + (has(m, ST_M_OFFSET) ? s->mod_at[ST_M_OFFSET] : o->at);
    if (o->kind == ST_INT && o->mods == 0) {
        if (has(m, ST_M_OFFSET))
            return st_fail_at(s, at, ST_E_NO_OFFSET);
        offset = o->value;
        m->next += !absent;
        m->inst->opnd[m->inst->n_opnds++] = (struct isa_opnd){.kind = ISA_OPND_REG,
                                                              .flags = desc->flags,
                                                              .field = desc->field,
                                                              .dwords = 1,
                                                              .sel = ISA_SEL_NULL};
    } else if (!st_match_operand(m, desc)) {
        return false;
    }
    static const char signed21[] = "-1048576 to 1048575", unsigned20[] = "0 to 1048575";
    if (offset > 1048575 || offset < (buffer ? 0 : -1048576))
        return st_fail_arg(s, at, ST_E_OFFSET, buffer ? unsigned20 : signed21,
                           strlen(buffer ? unsigned20 : signed21));
    m->inst->offset = (int32_t)offset;
    return true;
}

static bool match_smem(struct match *m)
{
    bool buffer = false;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        if (desc->field == ISA_FIELD_SBASE)
            buffer = desc->dwords == 4;
        bool ok = desc->field == ISA_FIELD_SOFFSET ? smem_offset(m, desc, buffer)
                                                   : st_match_operand(m, desc);
        if (!ok)
            return false;
    }
    cache(m);
    uint32_t flags = m->inst->flags;
    if ((flags & ISA_M_SLC) || (flags != 0 && fixed_bit(m, ISA_FIELD_GLC) == 0))
        return fail_mod(m, ST_M_CACHE, ST_E_SCALAR_MEM);
    return m->row->n_opnds != 0 || (m->s->has & ~ST_BIT(ST_M_CACHE)) == 0 ||
           fail_mod(m, ST_M_OFFSET, ST_E_NO_OFFSET);
}

/* ---- DS ---- */

static bool ds_gds(struct match *m)
{
    int fixed = fixed_bit(m, ISA_FIELD_GDS);
    bool gds = set(m, ST_M_GDS);
    if (fixed == 1 && !gds)
        return st_fail_at(m->s, m->s->end, ST_E_NEED_GDS);
    if (fixed == 0 && has(m, ST_M_GDS))
        return fail_mod(m, ST_M_GDS, ST_E_NO_GDS);
    if (gds)
        m->inst->flags |= ISA_M_GDS;
    return true;
}

static bool match_ds(struct match *m)
{
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (!(desc->flags & ISA_OF_IMPLICIT) && !st_match_operand(m, desc))
            return false;
    }
    if (m->s->swizzle && m->row->op != ISA_DS_SWIZZLE_B32)
        return fail_mod(m, ST_M_OFFSET, ST_E_SWIZZLE);
    bool two = (m->row->mods & ISA_RM_TWO_OFFSETS) != 0;
    if (has(m, ST_M_OFFSET) && (two || fixed_bit(m, ISA_FIELD_OFFSET0) == 0))
        return fail_mod(m, ST_M_OFFSET, ST_E_NO_OFFSET);
    if (!two && (has(m, ST_M_OFFSET0) || has(m, ST_M_OFFSET1)))
        return fail_mod(m, has(m, ST_M_OFFSET0) ? ST_M_OFFSET0 : ST_M_OFFSET1,
                        ST_E_NO_OFFSET);
    if (!offset_range(m, 0, 65535, "0 to 65535"))
        return false;
    if (has(m, ST_M_OFFSET0))
        m->inst->offset |= m->s->mod[ST_M_OFFSET0];
    if (has(m, ST_M_OFFSET1))
        m->inst->offset |= m->s->mod[ST_M_OFFSET1] << 8;
    return ds_gds(m);
}

/* ---- FLAT, GLOBAL, SCRATCH ---- */

static const struct isa_opnd_desc *row_field(const struct isa_row *row, unsigned field)
{
    for (unsigned i = 0; i < row->n_opnds; i++)
        if (isa_opnds[row->opnds + i].field == field)
            return &isa_opnds[row->opnds + i];
    return NULL;
}

/* An atomic has a destination if, and only if, glc asks for the old value. */
static bool returns(struct match *m, bool *skip_vdst)
{
    bool atomic = row_field(m->row, ISA_FIELD_VDST) != NULL &&
                  row_field(m->row, ISA_FIELD_DATA) != NULL;
    bool glc = has(m, ST_M_CACHE) && ((uint32_t)m->s->mod[ST_M_CACHE] & ISA_M_GLC) != 0;
    unsigned operands = 0;
    for (unsigned i = 0; i < m->row->n_opnds; i++)
        operands += !(isa_opnds[m->row->opnds + i].flags & ISA_OF_IMPLICIT);
    *skip_vdst = atomic && !glc;
    if (atomic && glc && m->s->n_opnds + 1 == operands)
        return fail_mod(m, ST_M_CACHE, ST_E_NOT_GLC);
    if (atomic && !glc && m->s->n_opnds == operands)
        return st_fail_at(m->s, m->s->end, ST_E_MUST_GLC);
    return true;
}

static bool flat_operand(struct match *m, const struct isa_opnd_desc *desc)
{
    const struct stmt *s = m->s;
    if (desc->field == ISA_FIELD_SADDR)
        return address(m, desc, desc->dwords);
    if (desc->field != ISA_FIELD_ADDR)
        return st_match_operand(m, desc);
    if (m->row->enc == ISA_ENC_SCRATCH) {
        if (!address(m, desc, 1))
            return false;
        if (m->inst->opnd[m->inst->n_opnds - 1].kind == ISA_OPND_REG)
            m->inst->flags |= ISA_M_SVE;
        return true;
    }
    bool off = s->n_opnds != 0 && s->opnd[s->n_opnds - 1].kind == ST_OFF;
    unsigned dwords = m->row->enc == ISA_ENC_GLOBAL && !off ? 1 : 2;
    if (m->next < s->n_opnds && s->opnd[m->next].kind == ST_OFF)
        return fail_opnd(m, m->next, ST_E_OFF);
    return address(m, desc, dwords);
}

/* SADDR null is how "off" is encoded: with an address it would be 64 bits wide. */
static bool global_null(struct match *m)
{
    const struct isa_inst *inst = m->inst;
    bool addr = false, null = false;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        addr |= inst->opnd[i].field == ISA_FIELD_ADDR;
        null |= inst->opnd[i].field == ISA_FIELD_SADDR &&
                inst->opnd[i].kind == ISA_OPND_REG && inst->opnd[i].sel == ISA_SEL_NULL;
    }
    return inst->enc != ISA_ENC_GLOBAL || !addr || !null ||
           fail_opnd(m, m->s->n_opnds - 1, ST_E_CLASS);
}

static bool match_flat(struct match *m)
{
    bool skip_vdst;
    if (!returns(m, &skip_vdst))
        return false;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if ((desc->flags & ISA_OF_IMPLICIT) ||
            (skip_vdst && desc->field == ISA_FIELD_VDST))
            continue;
        if (!flat_operand(m, desc))
            return false;
    }
    cache(m);
    if (!global_null(m))
        return false;
    if (m->row->enc == ISA_ENC_FLAT)
        return offset_range(m, 0, 4095, unsigned12);
    return offset_range(m, -4096, 4095, signed13);
}

/* ---- MUBUF, MTBUF ---- */

static bool buffer_flags(struct match *m)
{
    struct isa_inst *inst = m->inst;
    cache(m);
    if (set(m, ST_M_IDXEN))
        inst->flags |= ISA_M_IDXEN;
    if (set(m, ST_M_OFFEN))
        inst->flags |= ISA_M_OFFEN;
    if (has(m, ST_M_TFE)) {
        if (fixed_bit(m, ISA_FIELD_TFE) == 0)
            return fail_mod(m, ST_M_TFE, ST_E_TFE_STORE);
        if (set(m, ST_M_TFE))
            inst->flags |= ISA_M_TFE;
    }
    if (m->row->enc == ISA_ENC_MTBUF)
        inst->format = has(m, ST_M_FORMAT) ? (uint8_t)m->s->mod[ST_M_FORMAT] : 1;
    return offset_range(m, 0, 4095, unsigned12);
}

static bool buffer_operand(struct match *m, const struct isa_opnd_desc *desc)
{
    unsigned flags = m->inst->flags;
    if (desc->field == ISA_FIELD_VDATA) {
        unsigned tfe = flags & ISA_M_TFE ? 1 : 0;
        if (tfe != 0 && !(desc->flags & ISA_OF_OUT))
            return fail_mod(m, ST_M_TFE, ST_E_TFE_STORE);
        struct isa_opnd_desc sized = *desc;
        sized.dwords = (uint8_t)(desc->dwords + tfe);
        return st_match_operand(m, &sized);
    }
    if (desc->field != ISA_FIELD_VADDR)
        return st_match_operand(m, desc);
    unsigned n = (flags & ISA_M_IDXEN ? 1u : 0u) + (flags & ISA_M_OFFEN ? 1u : 0u);
    bool off = m->next < m->s->n_opnds && m->s->opnd[m->next].kind == ST_OFF;
    if (off != (n == 0))
        return fail_opnd(m, m->next, ST_E_VADDR);
    return address(m, desc, n);
}

static bool match_buffer(struct match *m)
{
    if (m->row->n_opnds == 0)
        return m->s->has == 0 || fail_mod(m, m->s->last_mod, ST_E_MOD_ROW);
    if (!buffer_flags(m))
        return false;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (!(desc->flags & ISA_OF_IMPLICIT) && !buffer_operand(m, desc))
            return false;
    }
    return true;
}

/* ---- EXP ---- */

static bool match_export(struct match *m)
{
    unsigned source = 0;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        if (desc->field == ISA_FIELD_TGT) {
            if (!st_match_operand(m, desc))
                return false;
            continue;
        }
        if (!address(m, desc, 1))
            return false;
        if (m->inst->opnd[m->inst->n_opnds - 1].kind == ISA_OPND_REG)
            m->inst->dmask |= (uint8_t)(1u << source);
        source++;
    }
    if (set(m, ST_M_DONE))
        m->inst->flags |= ISA_M_DONE;
    if (set(m, ST_M_ROW_EN))
        m->inst->flags |= ISA_M_ROW_EN;
    return true;
}

bool st_match_memory(struct match *m)
{
    switch (m->row->enc) {
    case ISA_ENC_SMEM:
        return match_smem(m);
    case ISA_ENC_DS:
        return match_ds(m);
    case ISA_ENC_MUBUF:
    case ISA_ENC_MTBUF:
        return match_buffer(m);
    case ISA_ENC_EXP:
        return match_export(m);
    default:
        return match_flat(m);
    }
}
