/* match_dual.c: VOPD, two instructions in one: "v_dual_X ... :: v_dual_Y ...".
 *
 * The halves are matched as rows of their own; then the rules that join them are
 * checked: one even and one odd destination, different banks, one literal, two scalar
 * reads, wave32.
 * SPDX-License-Identifier: MIT
 */
#include "stmt.h"

#include <string.h>

/* Number of the vector register in a field, or -1. */
static int vector_in(const struct isa_inst *inst, unsigned field)
{
    for (unsigned i = 0; i < inst->n_opnds; i++)
        if (inst->opnd[i].field == field && inst->opnd[i].kind == ISA_OPND_REG &&
            inst->opnd[i].sel >= ISA_SEL_VGPR0)
            return inst->opnd[i].sel - ISA_SEL_VGPR0;
    return -1;
}

/* The third source: the accumulator of FMAC and DOT2ACC is the destination, FMAMK has
 * its addend in the second source's field and its factor in K. */
static int third_source(const struct isa_inst *inst, const struct isa_row *row,
                        unsigned dst, unsigned src1)
{
    const struct isa_opnd_desc *first = &isa_opnds[row->opnds];
    if (first->flags & ISA_OF_IN)
        return vector_in(inst, dst);
    bool fmamk = row->op == ISA_V_DUAL_FMAMK_F32;
    return fmamk ? vector_in(inst, src1) : -1;
}

static int second_source(const struct isa_inst *inst, const struct isa_row *row,
                         unsigned src1)
{
    return row->op == ISA_V_DUAL_FMAMK_F32 ? -1 : vector_in(inst, src1);
}

static bool same_bank(int a, int b, int banks)
{
    return a >= 0 && b >= 0 && a % banks == b % banks;
}

static bool check_banks(struct match *m, const char *at)
{
    const struct isa_inst *inst = m->inst;
    const struct isa_row *x = &isa_rows[inst->row], *y = &isa_rows[inst->row_y];
    int dst_x = vector_in(inst, ISA_FIELD_VDSTX);
    int dst_y = vector_in(inst, ISA_FIELD_VDSTY);
    if (same_bank(vector_in(inst, ISA_FIELD_SRCX0), vector_in(inst, ISA_FIELD_SRCY0),
                  4))
        return st_fail_at(m->s, at, ST_E_VOPD_BANK0);
    if (same_bank(second_source(inst, x, ISA_FIELD_VSRCX1),
                  second_source(inst, y, ISA_FIELD_VSRCY1), 4))
        return st_fail_at(m->s, at, ST_E_VOPD_BANK1);
    if (same_bank(third_source(inst, x, ISA_FIELD_VDSTX, ISA_FIELD_VSRCX1),
                  third_source(inst, y, ISA_FIELD_VDSTY, ISA_FIELD_VSRCY1), 2))
        return st_fail_at(m->s, at, ST_E_VOPD_BANK2);
    return !same_bank(dst_x, dst_y, 2) || st_fail_at(m->s, at, ST_E_VOPD_DST);
}

/* Match operands of one half in the row's order. */
static bool match_half(struct match *m, const struct isa_row *row, unsigned last)
{
    m->row = row;
    unsigned saved = m->s->n_opnds;
    bool ok = true;
    m->s->n_opnds = last;
    for (unsigned i = 0; ok && i < row->n_opnds; i++) {
        const struct isa_opnd_desc *desc = &isa_opnds[row->opnds + i];
        if (desc->flags & (ISA_OF_IMPLICIT | ISA_OF_NO_FIELD))
            continue;
        ok = st_match_operand(m, desc);
    }
    if (ok && m->next < last)
        ok = st_fail_at(m->s, m->s->text + m->s->opnd[m->next].at, ST_E_TOO_MANY);
    m->s->n_opnds = saved;
    return ok;
}

static bool parse_half(struct stmt *s)
{
    for (;;) {
        st_blanks(s);
        if (s->p >= s->end || st_peek(s) == ':')
            return true;
        if (!st_operand(s, NULL))
            return false;
        st_take(s, ',');
    }
}

static const struct isa_row *half_row(unsigned op, bool y)
{
    for (unsigned i = 0; i < 2; i++) {
        unsigned row = isa_op_rows[op][i];
        if (row != 0 && isa_rows[row - 1].enc == ISA_ENC_VOPD &&
            ((isa_rows[row - 1].flags & ISA_RF_VOPD_Y) != 0) == y)
            return &isa_rows[row - 1];
    }
    return NULL;
}

/* "::" and the second mnemonic */
static bool second_mnemonic(struct stmt *s, unsigned *op)
{
    if (!st_take(s, ':') || st_peek(s) != ':')
        return st_fail(s, ST_E_DUAL);
    s->p++;
    st_blanks(s);
    const char *name = s->p;
    size_t len = st_name(s, name);
    char lower[40];
    if (len == 0 || len >= sizeof lower)
        return st_fail(s, ST_E_DUAL);
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i]);
    *op = isa_op_find(lower, len);
    s->p += len;
    return *op != ISA_OP_NONE || st_fail_arg(s, name, ST_E_MNEMONIC, name, len);
}

bool st_dual(struct stmt *s, unsigned op_x, struct isa_inst *inst, struct match *m)
{
    unsigned op_y;
    const char *start = s->p;
    if (m->wave != ISA_WAVE32)
        return st_fail_at(s, s->text, ST_E_WAVE32);
    if (!parse_half(s))
        return false;
    unsigned first = s->n_opnds;
    if (!second_mnemonic(s, &op_y))
        return false;
    const struct isa_row *x = half_row(op_x, false), *y = half_row(op_y, true);
    if (x == NULL || y == NULL) {
        unsigned op = x == NULL ? op_x : op_y;
        size_t len;
        const char *name = isa_op_text(op, &len);
        return st_fail_arg(s, x == NULL ? start : s->p,
                           x == NULL ? ST_E_DUAL_X : ST_E_DUAL_Y, name, len);
    }
    const char *second = s->p;
    if (!parse_half(s))
        return false;
    if (s->p < s->end)
        return st_fail(s, ST_E_SYNTAX);

    memset(inst, 0, offsetof(struct isa_inst, opnd));
    inst->enc = ISA_ENC_VOPD;
    inst->op = x->op;
    inst->op_y = y->op;
    inst->row = (uint16_t)(x - isa_rows);
    inst->row_y = (uint16_t)(y - isa_rows);
    m->inst = inst;
    if (!match_half(m, x, first) || !match_half(m, y, s->n_opnds))
        return false;
    m->row = x;
    return check_banks(m, second) && st_check(m);
}
