/* peep.c: chosen instructions made fewer, before they get registers.
 *
 * A result that is only copied is computed where the copy goes; two instructions of
 * which the second alone uses the first become one where the hardware has it. Works on
 * virtual registers within straight stretches: between labels, branches, barriers and
 * changes of EXEC.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peep {
    struct rdna3 *r;
    uint32_t *defs, *uses, *def_at, *use_at; /* of virtual registers */
    uint32_t *stretch;                       /* of instructions */
    bool *gone;
};

bool rdna3_is_edge(const struct mi *m)
{
    bool exec = m->form->facts->state & (ISA_STATE_EXEC_IN | ISA_STATE_EXEC_OUT);
    for (unsigned i = 0; i < m->form->n; i++)
        exec = exec || m->opnd[i].kind == MI_EXEC;
    return m->form->kind >= MI_LABEL || exec;
}

static void count(struct peep *p)
{
    struct rdna3 *r = p->r;
    uint32_t stretch = 0;
    memset(p->defs, 0, r->n_regs * sizeof *p->defs);
    memset(p->uses, 0, r->n_regs * sizeof *p->uses);
    for (uint32_t i = 0; i < r->n_code; i++) {
        const struct mi *m = &r->code[i];
        stretch += rdna3_is_edge(m);
        p->stretch[i] = stretch;
        stretch += rdna3_is_edge(m);
        for (unsigned j = 0; j < MI_OPNDS && !p->gone[i]; j++) {
            if (m->opnd[j].kind != MI_REG)
                continue;
            uint32_t v = m->opnd[j].reg;
            if (j < m->n_def) {
                p->defs[v]++;
                p->def_at[v] = i;
            } else {
                p->uses[v]++;
                p->use_at[v] = i;
            }
        }
    }
}

/* One VGPR, written once, read once, in one stretch. */
static bool is_passing(const struct peep *p, const struct mi_opnd *o)
{
    if (o->kind != MI_REG)
        return false;
    const struct vreg *v = &p->r->regs[o->reg];
    return v->vector && v->width == 1 && v->phys < 0 && p->defs[o->reg] == 1 &&
           p->uses[o->reg] == 1 &&
           p->stretch[p->def_at[o->reg]] == p->stretch[p->use_at[o->reg]];
}

static bool overlaps(const struct mi_opnd *a, const struct mi_opnd *b)
{
    unsigned wa = a->width ? a->width : 1, wb = b->width ? b->width : 1;
    return a->kind == MI_REG && b->kind == MI_REG && a->reg == b->reg &&
           a->sub < b->sub + wb && b->sub < a->sub + wa;
}

/* Is a register read or written between two instructions? */
static bool touched(const struct peep *p, uint32_t after, uint32_t before,
                    const struct mi_opnd *o, bool only_writes)
{
    for (uint32_t i = after + 1; i < before; i++) {
        const struct mi *m = &p->r->code[i];
        unsigned n = only_writes ? m->n_def : MI_OPNDS;
        for (unsigned j = 0; j < n && !p->gone[i]; j++)
            if (overlaps(&m->opnd[j], o))
                return true;
    }
    return false;
}

/* x = ...; d = x  becomes  d = ... */
static void join_copy(struct peep *p, uint32_t at)
{
    struct mi *m = &p->r->code[at];
    if (!mi_is(m, ISA_V_MOV_B32) || !is_passing(p, &m->opnd[1]) ||
        !p->r->regs[m->opnd[0].reg].vector)
        return;
    uint32_t def = p->def_at[m->opnd[1].reg];
    struct mi *d = &p->r->code[def];
    if (d->n_def != 1 || d->opnd[0].reg != m->opnd[1].reg ||
        touched(p, def, at, &m->opnd[0], false))
        return;
    /* a load fills its register late: its own address may not be in it */
    for (unsigned j = 1; j < MI_OPNDS && d->form->kind != MI_ALU; j++)
        if (overlaps(&d->opnd[j], &m->opnd[0]))
            return;
    d->opnd[0] = m->opnd[0];
    d->opnd[0].width = 1;
    p->gone[at] = true;
}

/* ---- two in one ---- */

struct fold {
    enum isa_op first, second, both;
    bool reversed;  /* both has the sources of the first the other way round */
    unsigned place; /* operand of the second that the first becomes: 1, 2 or both */
};

static const struct fold folds[] = {
    {ISA_V_MAX_F32, ISA_V_MAX_F32, ISA_V_MAX3_F32, false, 3},
    {ISA_V_ADD_NC_U32, ISA_V_ADD_NC_U32, ISA_V_ADD3_U32, false, 3},
    {ISA_V_AND_B32, ISA_V_OR_B32, ISA_V_AND_OR_B32, false, 3},
    {ISA_V_OR_B32, ISA_V_OR_B32, ISA_V_OR3_B32, false, 3},
    {ISA_V_XOR_B32, ISA_V_XOR_B32, ISA_V_XOR3_B32, false, 3},
    {ISA_V_LSHLREV_B32, ISA_V_ADD_NC_U32, ISA_V_LSHL_ADD_U32, true, 3},
    {ISA_V_LSHLREV_B32, ISA_V_OR_B32, ISA_V_LSHL_OR_B32, true, 3},
    {ISA_V_MUL_U32_U24, ISA_V_ADD_NC_U32, ISA_V_MAD_U32_U24, false, 3},
    {ISA_V_ADD_NC_U32, ISA_V_LSHLREV_B32, ISA_V_ADD_LSHL_U32, false, 2},
};

/* Scalars, literals among them, that an instruction would read: at most two, of
 * literals one. */
static bool readable(const struct rdna3 *r, const struct mi_opnd *o, unsigned n)
{
    unsigned scalars = 0, literals = 0;
    for (unsigned i = 0; i < n; i++) {
        bool counts = mi_is_literal(o[i]) || mi_is_scalar(r, o[i]);
        for (unsigned j = 0; j < i && counts; j++)
            if (o[j].kind == o[i].kind && o[j].reg == o[i].reg &&
                o[j].sub == o[i].sub && o[j].imm == o[i].imm)
                counts = false;
        scalars += counts;
        literals += counts && o[i].kind == MI_IMM;
    }
    return scalars <= 2 && literals <= 1;
}

static bool moved_operands_stay(const struct peep *p, uint32_t first, uint32_t second)
{
    const struct mi *m = &p->r->code[first];
    for (unsigned j = 1; j < MI_OPNDS; j++)
        if (m->opnd[j].kind == MI_REG && touched(p, first, second, &m->opnd[j], true))
            return false;
    return true;
}

static bool fold_with(struct peep *p, uint32_t at, unsigned place, const struct fold *f)
{
    struct rdna3 *r = p->r;
    struct mi *m = &r->code[at];
    if (!(f->place & place) || !mi_is(m, f->second) || !is_passing(p, &m->opnd[place]))
        return false;
    uint32_t def = p->def_at[m->opnd[place].reg];
    const struct mi *d = &r->code[def];
    struct mi_opnd s[3] = {d->opnd[1 + f->reversed], d->opnd[2 - f->reversed],
                           m->opnd[3 - place]};
    if (p->gone[def] || !mi_is(d, f->first) || !readable(r, s, 3) ||
        !moved_operands_stay(p, def, at))
        return false;
    m->form = rdna3_plain(r, f->both, 3);
    memcpy(m->opnd + 1, s, sizeof s);
    p->gone[def] = true;
    for (unsigned j = 0; j < 2; j++)
        if (s[j].kind == MI_REG && p->uses[s[j].reg] == 1)
            p->use_at[s[j].reg] = at;
    return true;
}

/* What the operation is with DPP and the sources in the other order if need be;
 * ISA_OP_NONE if it cannot have DPP. */
static unsigned with_dpp(const struct mi *m, bool swap)
{
    const struct mi_form *f = m->form;
    unsigned op = swap ? f->facts->swapped : f->op;
    if (op == ISA_OP_NONE || !f->plain || f->n != 3 || m->n_def != 1)
        return ISA_OP_NONE;
    for (unsigned i = 0; i < isa_row_count(); i++) {
        const struct isa_row *row = isa_row(i);
        if (row->op == op && row->enc == ISA_ENC_VOP2)
            return row->variants >> ISA_VAR_DPP16 & 1 ? op : ISA_OP_NONE;
    }
    return ISA_OP_NONE;
}

/* A move between lanes as the first source of what uses it. */
static bool fold_dpp(struct peep *p, uint32_t at, unsigned place)
{
    struct rdna3 *r = p->r;
    struct mi *m = &r->code[at];
    struct mi_opnd other = m->opnd[3 - place];
    char text[128];
    if (!is_passing(p, &m->opnd[place]) || !mi_is_vector(r, other))
        return false;
    uint32_t def = p->def_at[m->opnd[place].reg];
    const struct mi *d = &r->code[def];
    if (p->gone[def] || d->form->op != ISA_V_MOV_B32 || !d->form->dpp)
        return false;
    unsigned op = with_dpp(m, place == 2);
    if (op == ISA_OP_NONE || !moved_operands_stay(p, def, at))
        return false;
    snprintf(text, sizeof text, "%s_dpp %%0, %%1, %%2%s", isa_op_name(op),
             strstr(d->form->text, "%1") + 2);
    m->form = rdna3_form_of(r, text);
    m->opnd[1] = d->opnd[1];
    m->opnd[2] = other;
    p->gone[def] = true;
    return true;
}

/* d = max(d, a); d = max(d, b)  becomes  d = max3(d, a, b) */
static bool fold_chain(struct peep *p, uint32_t at)
{
    struct rdna3 *r = p->r;
    struct mi *m = &r->code[at];
    const struct mi_opnd *d = &m->opnd[0];
    if (!mi_is(m, ISA_V_MAX_F32) || m->opnd[1].kind != MI_REG ||
        m->opnd[1].reg != d->reg || m->opnd[1].sub != d->sub)
        return false;
    for (uint32_t i = at; i-- > 0 && p->stretch[i] == p->stretch[at];) {
        const struct mi *x = &r->code[i];
        bool touches = false;
        for (unsigned j = 0; j < MI_OPNDS && !p->gone[i]; j++)
            touches = touches || overlaps(&x->opnd[j], d);
        if (!touches)
            continue;
        struct mi_opnd s[3] = {m->opnd[1], x->opnd[2], m->opnd[2]};
        if (!mi_is(x, ISA_V_MAX_F32) || x->opnd[0].reg != d->reg ||
            x->opnd[0].sub != d->sub || x->opnd[1].kind != MI_REG ||
            x->opnd[1].reg != d->reg || x->opnd[1].sub != d->sub ||
            overlaps(&x->opnd[2], d) || overlaps(&m->opnd[2], d) ||
            !readable(r, s, 3) ||
            (s[1].kind == MI_REG && touched(p, i, at, &s[1], true)))
            return false;
        m->form = rdna3_plain(r, ISA_V_MAX3_F32, 3);
        memcpy(m->opnd + 1, s, sizeof s);
        p->gone[i] = true;
        return true;
    }
    return false;
}

static void fold(struct peep *p, uint32_t at)
{
    if (fold_chain(p, at))
        return;
    for (unsigned place = 2; place >= 1; place--) {
        if (fold_dpp(p, at, place))
            return;
        for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++)
            if (fold_with(p, at, place, &folds[i]))
                return;
    }
}

static void compact(struct peep *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->r->n_code; i++)
        if (!p->gone[i])
            p->r->code[n++] = p->r->code[i];
    p->r->n_code = n;
    memset(p->gone, 0, n * sizeof *p->gone);
}

void rdna3_peep(struct rdna3 *r)
{
    size_t regs = r->n_regs + 1ull, code = r->n_code + 1ull;
    uint32_t *all = calloc(4 * regs + code, sizeof *all);
    struct peep p = {.r = r, .gone = calloc(code, sizeof *p.gone)};
    if (!all || !p.gone) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        free(all);
        free(p.gone);
        return;
    }
    p.defs = all;
    p.uses = all + regs;
    p.def_at = all + 2 * regs;
    p.use_at = all + 3 * regs;
    p.stretch = all + 4 * regs;
    count(&p);
    for (uint32_t i = 0; i < r->n_code; i++)
        if (!rdna3_is_edge(&r->code[i]) && !p.gone[i])
            fold(&p, i);
    compact(&p);
    count(&p);
    for (uint32_t i = 0; i < r->n_code; i++)
        join_copy(&p, i);
    compact(&p);
    free(all);
    free(p.gone);
}
