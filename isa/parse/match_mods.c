/* match_mods.c: modifiers of a statement into the instruction, as far as the row takes
 * them, and the rules over a whole instruction.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

static bool fail_mod(struct match *m, unsigned mod, enum st_error error)
{
    const char *at = m->s->text + m->s->mod_at[mod];
    return st_fail_arg(m->s, at, error, at, st_name(m->s, at));
}

static bool has(const struct match *m, unsigned mod)
{
    return (m->s->has & ST_BIT(mod)) != 0;
}

static unsigned source_count(const struct isa_inst *inst)
{
    unsigned n = 0;
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        unsigned field = inst->opnd[i].field;
        n += field == ISA_FIELD_SRC0 || field == ISA_FIELD_SRC1 ||
             field == ISA_FIELD_VSRC1 || field == ISA_FIELD_SRC2;
    }
    return n;
}

/* op_sel: lists the sources, then the destination. An accumulating destination counts
 * as the third source. */
static bool vop3_op_sel(struct match *m)
{
    struct isa_inst *inst = m->inst;
    unsigned value = (unsigned)m->s->mod[ST_M_OP_SEL];
    unsigned ok = m->row->mods / ISA_RM_OPSEL0 & 15;
    unsigned n = source_count(inst);
    if ((m->row->mods & ISA_RM_TRUE16) && m->row->enc == ISA_ENC_VOP3)
        ok |= ((1u << n) - 1) | 8;
    if (ok == 0)
        return fail_mod(m, ST_M_OP_SEL, ST_E_MOD_ROW);
    if (inst->enc == ISA_ENC_VOP3 && (inst->opnd[0].flags & ISA_OF_IN))
        n = 3;
    unsigned bits = value & ((1u << n) - 1);
    if (value >> n & 1)
        bits |= 8;
    if ((bits & ~ok) != 0 || value >> (n + 1) != 0)
        return fail_mod(m, ST_M_OP_SEL, ST_E_OP_SEL);
    inst->op_sel |= (uint8_t)bits;
    return true;
}

static bool clamp_omod(struct match *m)
{
    if (has(m, ST_M_CLAMP)) {
        if (!(m->row->mods & ISA_RM_CLAMP))
            return fail_mod(m, ST_M_CLAMP, ST_E_MOD_ROW);
        if (m->s->mod[ST_M_CLAMP])
            m->inst->flags |= ISA_M_CLAMP;
    }
    if (has(m, ST_M_OMOD)) {
        if (!(m->row->mods & ISA_RM_OMOD))
            return fail_mod(m, ST_M_OMOD, ST_E_MOD_ROW);
        m->inst->omod = (uint8_t)m->s->mod[ST_M_OMOD];
    }
    return true;
}

static bool vop3_modifiers(struct match *m)
{
    if (has(m, ST_M_OP_SEL) && !vop3_op_sel(m))
        return false;
    m->inst->wait = has(m, ST_M_WAIT_EXP) ? (uint8_t)m->s->mod[ST_M_WAIT_EXP] : 0;
    return clamp_omod(m);
}

/* A list of bits for the sources of a packed instruction. */
static bool packed_bits(struct match *m, unsigned mod, unsigned ok, unsigned absent,
                        uint8_t *out)
{
    unsigned value = (unsigned)m->s->mod[mod];
    if (!has(m, mod)) {
        *out |= (uint8_t)absent;
        return true;
    }
    if (ok == 0)
        return fail_mod(m, mod, ST_E_MOD_ROW);
    if ((value & ~ok) != 0)
        return fail_mod(m, mod, mod <= ST_M_OP_SEL_HI ? ST_E_OP_SEL : ST_E_NEG_BIT);
    *out |= (uint8_t)value;
    return true;
}

static bool packed_modifiers(struct match *m)
{
    struct isa_inst *inst = m->inst;
    unsigned halves = m->row->mods / ISA_RM_OPSEL0 & 7;
    unsigned neg = m->row->mods / ISA_RM_NEG0 & 7;
    unsigned n = source_count(inst), unused = 7u & ~((1u << n) - 1);
    bool mix = (m->row->mods & ISA_RM_MIX) != 0;
    if (!packed_bits(m, ST_M_OP_SEL, halves, 0, &inst->op_sel) ||
        !packed_bits(m, ST_M_OP_SEL_HI, halves, mix ? 0 : 7, &inst->op_sel_hi) ||
        !packed_bits(m, ST_M_NEG_LO, mix ? 0 : neg, 0, &inst->neg) ||
        !packed_bits(m, ST_M_NEG_HI, mix ? 0 : neg, 0, &inst->neg_hi))
        return false;
    if (!mix)
        inst->op_sel_hi |= (uint8_t)unused; /* set for the source that is not there */
    return clamp_omod(m);
}

static bool dpp_modifiers(struct match *m)
{
    struct isa_inst *inst = m->inst;
    const struct stmt *s = m->s;
    if (has(m, ST_M_DPP_CTRL) && has(m, ST_M_DPP8))
        return fail_mod(m, ST_M_DPP8, ST_E_MOD_ROW);
    if (has(m, ST_M_FI) && s->mod[ST_M_FI])
        inst->flags |= ISA_M_FI;
    if (inst->variant == ISA_VAR_DPP8) {
        const uint32_t dpp16 =
            ST_BIT(ST_M_ROW_MASK) | ST_BIT(ST_M_BANK_MASK) | ST_BIT(ST_M_BOUND_CTRL);
        if (s->has & dpp16)
            return fail_mod(m, s->last_mod, ST_E_MOD_ROW);
        inst->dpp8 = (uint32_t)s->mod[ST_M_DPP8];
        return true;
    }
    inst->dpp_ctrl = (uint16_t)s->mod[ST_M_DPP_CTRL];
    inst->row_mask = has(m, ST_M_ROW_MASK) ? (uint8_t)s->mod[ST_M_ROW_MASK] : 15;
    inst->bank_mask = has(m, ST_M_BANK_MASK) ? (uint8_t)s->mod[ST_M_BANK_MASK] : 15;
    if (has(m, ST_M_BOUND_CTRL) && s->mod[ST_M_BOUND_CTRL])
        inst->flags |= ISA_M_BOUND_CTRL;
    return true;
}

bool st_match_modifiers(struct match *m)
{
    const uint32_t dpp = ST_BIT(ST_M_DPP_CTRL) | ST_BIT(ST_M_DPP8) |
                         ST_BIT(ST_M_ROW_MASK) | ST_BIT(ST_M_BANK_MASK) |
                         ST_BIT(ST_M_BOUND_CTRL) | ST_BIT(ST_M_FI);
    uint32_t takes = st_mods_of(m->row->enc);
    if (!st_is_dpp(m->inst))
        takes &= ~dpp;
    uint32_t extra = m->s->has & ~takes;
    if (extra != 0)
        return fail_mod(m, (unsigned)__builtin_ctz(extra), ST_E_MOD_ROW);
    switch (m->row->enc) {
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VINTERP:
        if (!vop3_modifiers(m))
            return false;
        break;
    case ISA_ENC_VOP3P:
        if (!packed_modifiers(m))
            return false;
        break;
    case ISA_ENC_LDSDIR:
        m->inst->wait = has(m, ST_M_WAIT_VDST) ? (uint8_t)m->s->mod[ST_M_WAIT_VDST] : 0;
        break;
    default:
        break;
    }
    return !st_is_dpp(m->inst) || dpp_modifiers(m);
}

/* ---- the constant bus ---- */

/* Distinct scalar registers and values a vector instruction reads. */
struct bus {
    uint16_t sel[8];
    uint8_t dwords[8];
    unsigned n;
};

static void bus_read(struct bus *bus, unsigned sel, unsigned dwords)
{
    bool constant = (sel >= ISA_SEL_INT_0 && sel <= ISA_SEL_INT_NEG_LAST) ||
                    (sel >= ISA_SEL_FLOAT_FIRST && sel <= ISA_SEL_FLOAT_LAST);
    if (sel >= ISA_SEL_VGPR0 || constant || sel == ISA_SEL_NULL)
        return;
    if (sel >= ISA_SEL_SHARED_BASE)
        dwords = 1; /* values, not registers */
    for (unsigned i = 0; i < bus->n; i++)
        if (bus->sel[i] == sel && bus->dwords[i] == dwords)
            return;
    bus->sel[bus->n] = (uint16_t)sel;
    bus->dwords[bus->n++] = (uint8_t)dwords;
}

/* Reads that are in no field: VCC of v_cndmask_b32_e32 and v_div_fmas, M0. */
static void bus_implied(struct bus *bus, const struct isa_row *row)
{
    for (unsigned i = 0; i < row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[row->opnds + i];
        if (desc->field != ISA_FIELD_NONE || !(desc->flags & ISA_OF_IN))
            continue;
        if (desc->type == ISA_OPR_VCC)
            bus_read(bus, ISA_SEL_VCC_LO, 2); /* never the same as vcc_lo */
        else if (desc->type == ISA_OPR_SDST_M0)
            bus_read(bus, ISA_SEL_M0, 1);
    }
}

/* 64-bit shifts read one scalar value, others two. */
static unsigned bus_limit(unsigned op)
{
    return op == ISA_V_LSHLREV_B64 || op == ISA_V_LSHRREV_B64 || op == ISA_V_ASHRREV_I64
               ? 1
               : 2;
}

/* The operand whose read is one too many. */
static bool fail_bus(struct match *m, unsigned limit)
{
    const struct isa_inst *inst = m->inst;
    struct bus bus = {.n = 0};
    unsigned place = 0;
    bus_implied(&bus, m->row);
    for (unsigned i = 0; i < inst->n_opnds && bus.n <= limit; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (!(o->flags & ISA_OF_IN) || o->sel >= ISA_SEL_VGPR0)
            continue;
        bus_read(&bus, o->sel, o->dwords);
        place = o->spare != 0 ? o->spare : place;
    }
    return st_fail_at(m->s, m->s->text + (place != 0 ? m->s->opnd[place - 1].at : 0),
                      ST_E_BUS);
}

static bool check_bus(struct match *m)
{
    const struct isa_inst *inst = m->inst;
    if (!m->scalar && !m->literal)
        return true; /* one implied read is no problem */
    struct bus bus = {.n = 0};
    unsigned literals = 0,
             width = 0; /* a literal read 32 and 64 bits wide counts twice */
    for (unsigned i = 0; i < inst->n_opnds; i++) {
        const struct isa_opnd *o = &inst->opnd[i];
        if (o->kind == ISA_OPND_LITERAL) {
            unsigned dwords = o->dwords == 2 ? 2 : 1;
            literals = literals == 0 || width == dwords ? 1 : 2;
            width = dwords;
        }
        if (o->kind == ISA_OPND_REG && (o->flags & ISA_OF_IN) && o->sel < ISA_SEL_VGPR0)
            bus_read(&bus, o->sel, o->dwords);
    }
    bus_implied(&bus, m->row);
    if (inst->enc == ISA_ENC_VOPD)
        bus_implied(&bus, &isa_rows[inst->row_y]);
    unsigned limit = bus_limit(inst->op);
    return bus.n + literals <= limit || fail_bus(m, limit);
}

bool st_check(struct match *m)
{
    switch (m->inst->enc) {
    case ISA_ENC_VOP1:
    case ISA_ENC_VOP2:
    case ISA_ENC_VOPC:
    case ISA_ENC_VOP3:
    case ISA_ENC_VOP3SD:
    case ISA_ENC_VOP3P:
    case ISA_ENC_VOPD:
        return check_bus(m);
    default:
        return true;
    }
}
