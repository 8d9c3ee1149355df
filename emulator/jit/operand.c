/* operand.c: the sources of a vector instruction by recipe: in host registers, in the
 * rows in memory, or broadcast from SGPRs and constants; with modifiers.
 * SPDX-License-Identifier: MIT
 */
#include "vector.h"

/* A pair of halves where OP_SEL wants them, and their signs, into t. */
static void choose_halves(struct emit *e, const struct uop *u, unsigned i, unsigned t,
                          unsigned from)
{
    static const uint8_t order[] = {C_LOW_LOW, C_HIGH_LOW, 0, C_HIGH_HIGH};
    static const uint8_t flips[] = {C_ZERO, C_SIGN16, C_SIGN, C_SIGNS16};
    unsigned halves = (u->op_sel >> i & 1u) | (u->pk.op_sel_hi >> i & 1u) << 1;
    unsigned flip = 0;
    if (u->s[i].mods & SM_NEG)
        flip = (u->pk.neg >> i & 1u) | (u->pk.neg_hi >> i & 1u) << 1;
    if (order[halves]) {
        x86_vec(e->x, X86_PSHUFB, t, from, const_rm(order[halves]), 0, 0);
        from = t;
    }
    if (flip || from != t)
        x86_vec(e->x, X86_PXOR, t, from, const_rm(flips[flip]), 0, 0);
}

/* V_FMA_MIX: a half, then as f32, or an f32. */
static void choose_format(struct emit *e, const struct uop *u, unsigned i, unsigned t,
                          unsigned from)
{
    if (u->pk.op_sel_hi >> i & 1u) {
        operand_widen(e, t, from, u->op_sel >> i & 1u, 0);
        from = t;
    }
    if (u->pk.neg_hi >> i & 1u) {
        x86_vec(e->x, X86_PAND, t, from, const_rm(C_NOT_SIGN), 0, 0);
        from = t;
    }
    if (u->pk.neg >> i & 1u || from != t)
        x86_vec(e->x, X86_PXOR, t, from,
                const_rm(u->pk.neg >> i & 1u ? C_SIGN : C_ZERO), 0, 0);
}

void operand_widen(struct emit *e, unsigned to, unsigned from, bool upper, unsigned k)
{
    unsigned t = k ? temp_reg(e, TEMP_A) : to;
    if (e->x->evex) {
        if (upper)
            x86_vec(e->x, X86_PSRLD_I, t, 0, rm_reg(from), 0, 16);
        x86_vec(e->x, X86_PMOVDW, upper ? t : from, 0, rm_reg(t), 0, 0);
    } else {
        x86_vec(e->x, X86_PSHUFB, t, from, const_rm(upper ? C_HIGHS : C_LOWS), 0, 0);
        x86_vec(e->x, X86_PERMQ, t, 0, rm_reg(t), 0, 0x08);
    }
    x86_vec(e->x, X86_CVTPH2PS, to, 0, rm_reg(t), k, 0);
}

void operand_mods(struct emit *e, const struct uop *u, unsigned i, unsigned mods,
                  struct x86_rm from)
{
    unsigned t = temp_reg(e, TEMP_S0 + i);
    if (from.kind != RM_REG) {
        x86_vec(e->x, from.kind == RM_BCAST ? X86_BROADCASTSS : X86_MOVUPS, t, 0,
                from.kind == RM_BCAST ? rm_mem(from.mem.base, from.mem.disp) : from, 0,
                0);
        from = rm_reg(t);
    }
    if (mods & SM_PK) {
        choose_halves(e, u, i, t, from.reg);
        return;
    }
    if (mods & SM_MIX) {
        choose_format(e, u, i, t, from.reg);
        return;
    }
    if (mods & SM_HI16) {
        x86_vec(e->x, X86_PSRLD_I, t, 0, from, 0, 16);
        from = rm_reg(t);
    }
    if (mods & SM_ABS) {
        x86_vec(e->x, X86_PAND, t, from.reg, const_rm(mods_magnitude(mods)), 0, 0);
        from = rm_reg(t);
    }
    if (mods & SM_NEG)
        x86_vec(e->x, X86_PXOR, t, from.reg, const_rm(mods_sign(mods)), 0, 0);
}

static void find_row(struct emit *e, const struct usrc *s, struct source *to)
{
    *to = (struct source){.row = s->row, .mods = s->mods, .entry = NO_ENTRY};
    if (s->prep == PREP_MASK)
        return;
    if (s->base == SRC_VGPR) {
        /* what finds no place is read from memory, rather than drive out another row */
        bool load = (e->x->evex || e->run.on) && rows_room(e);
        to->entry = load ? rows_load(e, s->row) : rows_find(e, s->row);
        return;
    }
    to->at = s->prep == PREP_SGPR ? AT_WAVE : AT_CONST;
    to->disp = to->at == AT_WAVE ? sgpr_mem(s->sel).disp : s->row * ROW_BYTES;
}

void operand_find(struct emit *e, struct job *j, unsigned i)
{
    const struct uop *u = j->u;
    find_row(e, &u->s[i], &j->s[i]);
    if (u->s[i].mods & SM_MIX &&
        !((u->pk.op_sel_hi | u->pk.neg | u->pk.neg_hi) >> i & 1u))
        j->s[i].mods = 0; /* an f32 as it is */
    if (j->r->flags & RECIPE_FLOAT)
        j->s[i].mods = 0; /* they are about the upper row */
    if (recipe_wide(j->r, i)) {
        struct usrc high = j->u->s[i];
        high.row++;
        high.sel++;
        bool first = i == 0 || !recipe_wide(j->r, 0);
        find_row(e, &high, first ? &j->high : i == 1 ? &j->high1 : &j->high2);
    }
}

/* Forms that broadcast no dword from memory: shifts by a constant, and those whose
 * elements are of other sizes. */
static bool takes_no_broadcast(unsigned form)
{
    return (form >= X86_PSLLD_I && form <= X86_PSRLQ_I) ||
           (form >= X86_PADDW && form <= X86_PSHUFB) || form == X86_PMULUDQ ||
           form == X86_PMULDQ;
}

/* Has the source to be in a register: as the first operand of a step, or where nothing
 * can be broadcast? */
static bool wants_register(const struct recipe *r, unsigned i)
{
    for (unsigned k = 0; k < r->n; k++) {
        const struct step *s = &r->step[k];
        if (s->a == OP_S0 + i || (s->form == STEP_FMA && i == 2) ||
            (s->b == OP_S0 + i && takes_no_broadcast(s->form)))
            return true;
    }
    return false;
}

static bool is_read(const struct recipe *r, unsigned i)
{
    for (unsigned k = 0; k < r->n; k++)
        if (r->step[k].a == OP_S0 + i || r->step[k].b == OP_S0 + i ||
            (r->step[k].form == STEP_FMA && i == 2))
            return true;
    return false;
}

/* Sources that are the same in all lanes and cannot stay in memory are broadcast once.
 */
void operand_spread(struct emit *e, struct job *j, unsigned i)
{
    struct source *s = &j->s[i];
    if (!is_read(j->r, i) || (s->at != AT_WAVE && s->at != AT_CONST) ||
        j->r->flags & RECIPE_AGAIN)
        return;
    if (e->x->evex && !s->mods && !wants_register(j->r, i))
        return;
    unsigned t = temp_reg(e, TEMP_S0 + i), base = s->at == AT_WAVE ? W : CONSTS;
    x86_vec(e->x, X86_BROADCASTSS, t, 0, rm_mem(base, s->disp), 0, 0);
    if (s->mods)
        operand_mods(e, j->u, i, s->mods, rm_reg(t));
    s->at = AT_TEMP;
    s->mods = 0;
}

/* With AVX2, in the third source's temporary, which recipes with pairs leave free; of a
 * second pair in T0, at each use. */
void operand_spread_high(struct emit *e, struct source *s)
{
    if (e->x->evex || (s->at != AT_WAVE && s->at != AT_CONST))
        return;
    x86_vec(e->x, X86_BROADCASTSS, temp_reg(e, TEMP_S2), 0,
            rm_mem(s->at == AT_WAVE ? W : CONSTS, s->disp), 0, 0);
    s->at = AT_TEMP;
}

static struct x86_rm high_rm(const struct emit *e, const struct source *s,
                             unsigned part)
{
    if (s->at == AT_TEMP)
        return rm_reg(temp_reg(e, TEMP_S2));
    if (s->at == AT_ROW)
        return s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                    : rm_reg(row_reg(e, s->entry, part));
    return (struct x86_rm){.kind = RM_BCAST,
                           .mem = mem_at(s->at == AT_WAVE ? W : CONSTS, s->disp)};
}

static struct x86_rm high1_rm(struct emit *e, const struct source *s, unsigned part)
{
    struct x86_rm rm = high_rm(e, s, part);
    if (rm.kind != RM_BCAST || e->x->evex)
        return rm;
    x86_vec(e->x, X86_BROADCASTSS, temp_reg(e, TEMP_A), 0,
            rm_mem(rm.mem.base, rm.mem.disp), 0, 0);
    return rm_reg(temp_reg(e, TEMP_A));
}

/* Source i of one part as a last operand. */
static struct x86_rm source_rm(struct emit *e, struct job *j, unsigned i, unsigned part)
{
    struct source *s = &j->s[i];
    struct x86_rm rm = {.kind = RM_BCAST};
    if (s->at == AT_TEMP)
        return rm_reg(temp_reg(e, TEMP_S0 + i));
    if (s->at == AT_ROW)
        rm = s->entry == NO_ENTRY ? row_mem(e, s->row, part)
                                  : rm_reg(row_reg(e, s->entry, part));
    else
        rm.mem = mem_at(s->at == AT_WAVE ? W : CONSTS, s->disp);
    if (!s->mods)
        return rm;
    operand_mods(e, j->u, i, s->mods, rm);
    return rm_reg(temp_reg(e, TEMP_S0 + i));
}

struct x86_rm operand_rm(struct emit *e, struct job *j, unsigned o, unsigned part)
{
    switch (o) {
    case OP_S0:
    case OP_S1:
    case OP_S2:
        return source_rm(e, j, o - OP_S0, part);
    case OP_H:
        return high_rm(e, &j->high, part);
    case OP_H1:
        return high1_rm(e, &j->high1, part);
    case OP_H2: /* with AVX-512 alone */
        return high_rm(e, &j->high2, part);
    case OP_T2:
        return rm_reg(temp_reg(e, TEMP_X));
    case OP_T0:
        return rm_reg(temp_reg(e, TEMP_A));
    case OP_T1:
        return rm_reg(temp_reg(e, TEMP_B));
    case OP_D:
        return rm_reg(row_reg(e, j->d, part));
    case K(BELOW_0):
        part += e->run.quarter;
        return rm_mem(FIXED, (int32_t)(64u * C_BELOW_0 + part * e->part_bytes));
    default:
        return const_rm(o - OP_CONST);
    }
}

/* ... as a register. */
unsigned operand_reg(struct emit *e, struct job *j, unsigned o, unsigned part)
{
    struct x86_rm rm = operand_rm(e, j, o, part);
    if (rm.kind == RM_REG)
        return rm.reg;
    unsigned t = temp_reg(e, TEMP_X);
    if (o == OP_H || o == OP_H1)
        t = temp_reg(e, o == OP_H ? TEMP_S2 : TEMP_A);
    else if (o >= OP_S0 && o <= OP_S2)
        t = temp_reg(e, TEMP_S0 + (o - OP_S0));
    if (rm.kind == RM_BCAST)
        x86_vec(e->x, X86_BROADCASTSS, t, 0, rm_mem(rm.mem.base, rm.mem.disp), 0, 0);
    else
        x86_vec(e->x, X86_MOVUPS, t, 0, rm, 0, 0);
    return t;
}
