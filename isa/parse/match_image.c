/* match_image.c: MIMG: how many registers data and address take, addresses as a tuple
 * or as separate registers (NSA).
 *
 * The sizes follow the same rules as in decode/mem.c; here they are demanded.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include "image.h"

static bool has(const struct match *m, unsigned mod)
{
    return (m->s->has & ST_BIT(mod)) != 0;
}

static bool fail_opnd(struct match *m, unsigned i, enum st_error error)
{
    return st_fail_at(m->s, m->s->text + m->s->opnd[i].at, error);
}

static bool fail_mod(struct match *m, unsigned mod, enum st_error error)
{
    const char *at = m->s->text + m->s->mod_at[mod];
    return st_fail_arg(m->s, at, error, at, st_name(m->s, at));
}

/* A modifier that the row fixes to another value is not its own. */
static bool flag(struct match *m, unsigned mod, unsigned field, uint32_t bit)
{
    if (!has(m, mod))
        return true;
    const struct isa_fixed *f = &isa_fixed[m->row->fixed];
    if (f->mask >> isa_positions[ISA_ENC_MIMG][field].shift & 1)
        return fail_mod(m, mod, ST_E_MOD_ROW);
    if (m->s->mod[mod])
        m->inst->flags |= bit;
    return true;
}

static bool modifiers(struct match *m)
{
    struct isa_inst *inst = m->inst;
    bool bvh = (m->row->mods & ISA_RM_BVH) != 0;
    if (bvh && (m->s->has & ~ST_BIT(ST_M_A16)) != 0)
        return fail_mod(m, m->s->last_mod, ST_E_MOD_ROW);
    if (has(m, ST_M_CACHE))
        inst->flags |= (uint32_t)m->s->mod[ST_M_CACHE] & 0xffff;
    if (!flag(m, ST_M_UNORM, ISA_FIELD_UNORM, ISA_M_UNORM) ||
        !flag(m, ST_M_R128, ISA_FIELD_R128, ISA_M_R128) ||
        !flag(m, ST_M_A16, ISA_FIELD_A16, ISA_M_A16) ||
        !flag(m, ST_M_TFE, ISA_FIELD_TFE, ISA_M_TFE) ||
        !flag(m, ST_M_LWE, ISA_FIELD_LWE, ISA_M_LWE) ||
        !flag(m, ST_M_D16, ISA_FIELD_D16, ISA_M_D16))
        return false;
    if (bvh) {
        inst->dmask = 15;
        inst->flags |= ISA_M_UNORM | ISA_M_R128;
        return true;
    }
    if (!has(m, ST_M_DIM))
        return st_fail_at(m->s, m->s->end, ST_E_NEED_DIM);
    inst->dim = (uint8_t)m->s->mod[ST_M_DIM];
    inst->dmask = has(m, ST_M_DMASK) ? (uint8_t)m->s->mod[ST_M_DMASK] : 0;
    return true;
}

/* ---- data ---- */

static unsigned data_dwords(const struct match *m)
{
    unsigned n = (unsigned)__builtin_popcount(m->inst->dmask);
    if (m->row->mods & ISA_RM_GATHER4)
        n = 4;
    if (n == 0)
        n = 1;
    if (m->inst->flags & ISA_M_D16)
        n = (n + 1) / 2;
    return n + (m->inst->flags & ISA_M_TFE ? 1 : 0);
}

static bool check_data(struct match *m)
{
    unsigned dmask = m->inst->dmask, mods = m->row->mods;
    bool atomic = (mods & ISA_RM_ATOMIC) != 0;
    bool msaa_load = m->row->op == ISA_IMAGE_MSAA_LOAD;
    if (atomic) {
        /* Four registers are a 64-bit compare-and-swap, one is not even a 32-bit one.
         */
        bool swap = (mods & ISA_RM_CMPSWAP) != 0;
        if ((dmask != 1 && dmask != 3 && dmask != 15) ||
            data_dwords(m) == (swap ? 1u : 4u))
            return fail_mod(m, has(m, ST_M_DMASK) ? ST_M_DMASK : ST_M_DIM,
                            ST_E_ATOMIC_DMASK);
    } else if (mods & ISA_RM_GATHER4) {
        if (dmask == 0 || (dmask & (dmask - 1)) != 0)
            return fail_mod(m, has(m, ST_M_DMASK) ? ST_M_DMASK : ST_M_DIM,
                            ST_E_GATHER_DMASK);
        bool sampler = m->row->op != ISA_IMAGE_MSAA_LOAD;
        if (sampler && data_dwords(m) == 3)
            return fail_mod(m, ST_M_TFE, ST_E_DATA_SIZE);
    }
    if (msaa_load && m->inst->dim < 6)
        return fail_mod(m, ST_M_DIM, ST_E_MSAA_DIM);
    return true;
}

/* ---- address ---- */

static bool register_part(struct match *m, const struct isa_opnd_desc *desc,
                          unsigned field, unsigned dwords)
{
    struct stmt *s = m->s;
    const struct st_opnd *o = &s->opnd[m->next++];
    if (o->kind != ST_REG || o->sel < ISA_SEL_VGPR0 ||
        (o->mods & (uint8_t)~ST_LIST) != 0)
        return fail_opnd(m, m->next - 1, ST_E_VGPR);
    if (o->dwords != dwords)
        return fail_opnd(m, m->next - 1, ST_E_ADDR_SIZE);
    m->inst->opnd[m->inst->n_opnds++] = (struct isa_opnd){.kind = ISA_OPND_REG,
                                                          .flags = desc->flags,
                                                          .field = (uint8_t)field,
                                                          .dwords = (uint8_t)dwords,
                                                          .sel = o->sel};
    return true;
}

/* Separate registers: four, and a tuple for what is left, or five. */
static bool split_address(struct match *m, const struct isa_opnd_desc *desc,
                          unsigned parts, unsigned dwords)
{
    static const uint8_t fields[5] = {ISA_FIELD_VADDR, ISA_FIELD_VADDRA,
                                      ISA_FIELD_VADDRB, ISA_FIELD_VADDRC,
                                      ISA_FIELD_VADDRD};
    unsigned sizes[5] = {0};
    unsigned expected = dec_image_parts(m->row, m->inst->flags, dwords, sizes);
    if (parts != expected)
        return fail_opnd(m, m->next, ST_E_ADDR_SIZE);
    m->inst->variant = ISA_VAR_NSA;
    for (unsigned i = 0; i < parts; i++)
        if (!register_part(m, desc, fields[i], sizes[i]))
            return false;
    return true;
}

/* May an instruction whose address needs at most so many registers take this tuple?
 * Some dims (2D_MSAA_ARRAY of a sampler) would give it more than any use has; tuples of
 * 4 and 8 stand for smaller ones too. */
static bool tuple_exists(unsigned dwords, unsigned most)
{
    return dwords <= most || (dwords == 4 && most == 3) || (dwords == 8 && most >= 5);
}

static bool match_address(struct match *m, const struct isa_opnd_desc *desc)
{
    struct stmt *s = m->s;
    unsigned parts = 0;
    while (m->next + parts < s->n_opnds && (s->opnd[m->next + parts].mods & ST_LIST))
        parts++;
    unsigned dwords =
        dec_image_address(m->row, m->inst->flags, m->inst->dim, desc->dwords);
    if (parts != 0)
        return dwords <= desc->dwords ? split_address(m, desc, parts, dwords)
                                      : fail_mod(m, ST_M_DIM, ST_E_ADDR_SIZE);
    if (m->next >= s->n_opnds)
        return st_fail_at(s, s->end, ST_E_TOO_FEW);
    const struct st_opnd *o = &s->opnd[m->next];
    if (dwords > 12)
        dwords = 16;
    if (o->kind == ST_REG && o->dwords == 8 && dwords >= 5 && dwords <= 7)
        dwords = 8; /* the tuples in between came later */
    if (!tuple_exists(dwords, desc->dwords))
        return fail_mod(m, ST_M_DIM, ST_E_ADDR_SIZE);
    return register_part(m, desc, ISA_FIELD_VADDR, dwords);
}

bool st_match_image(struct match *m)
{
    if (!modifiers(m))
        return false;
    for (unsigned i = 0; i < m->row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[m->row->opnds + i];
        if (desc->flags & ISA_OF_IMPLICIT)
            continue;
        struct isa_opnd_desc sized = *desc;
        bool ok;
        if (desc->field == ISA_FIELD_VADDR) {
            ok = match_address(m, desc);
        } else {
            if (desc->field == ISA_FIELD_VDATA && !(m->row->mods & ISA_RM_BVH))
                sized.dwords = (uint8_t)data_dwords(m);
            ok = st_match_operand(m, &sized);
            if (!ok && desc->field == ISA_FIELD_VDATA && m->s->error == ST_E_WIDTH)
                m->s->error = ST_E_DATA_SIZE;
        }
        if (!ok)
            return false;
    }
    return (m->row->mods & ISA_RM_BVH) || check_data(m);
}
