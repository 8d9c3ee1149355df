/* pair.c: two independent instructions in one (VOPD).
 *
 * One of the two writes an even register, the other an odd one; first sources lie in
 * different banks (register mod 4), second sources too; third ones are one even, one
 * odd. Of scalars, VCC and literals there are two at most, of literals one. Which
 * operations have halves is in the fact sheet. A partner may come from some way ahead
 * if nothing in between minds. Works on real registers; comes before waits are put in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 24

static bool is_vgpr(const struct rdna3 *r, const struct mi_opnd *o)
{
    return o->kind == MI_REG && r->regs[o->reg].vector;
}

static void swap_sources(struct mi *m)
{
    struct mi_opnd t = m->opnd[1];
    m->opnd[1] = m->opnd[2];
    m->opnd[2] = t;
}

/* x * y + z as what is shorter or pairs: the sum in place, or a factor or what is added
 * in the instruction itself. */
static void shorten(struct rdna3 *r, struct mi *m)
{
    if (!mi_is(m, ISA_V_FMA_F32))
        return;
    const struct mi_opnd *z = &m->opnd[3];
    bool in_place = is_vgpr(r, z) && mi_first(r, z) == mi_first(r, &m->opnd[0]);
    if ((in_place || z->kind == MI_IMM) && !is_vgpr(r, &m->opnd[2]))
        swap_sources(m);
    if (!in_place && is_vgpr(r, z) && m->opnd[1].kind == MI_IMM)
        swap_sources(m);
    if (in_place && is_vgpr(r, &m->opnd[2])) /* z stays, unseen: it is read */
        m->form = rdna3_plain(r, ISA_V_FMAC_F32, 2);
    else if (z->kind == MI_IMM && is_vgpr(r, &m->opnd[2]) && !mi_is_literal(m->opnd[1]))
        m->form = rdna3_plain(r, ISA_V_FMAAK_F32, 3);
    else if (is_vgpr(r, z) && m->opnd[2].kind == MI_IMM && !mi_is_literal(m->opnd[1]))
        m->form = rdna3_plain(r, ISA_V_FMAMK_F32, 3);
}

/* A move to itself, left over from joining values. */
static bool is_idle(const struct rdna3 *r, const struct mi *m)
{
    return mi_is(m, ISA_V_MOV_B32) && is_vgpr(r, &m->opnd[1]) &&
           mi_first(r, &m->opnd[0]) == mi_first(r, &m->opnd[1]);
}

/* ---- what keeps two instructions in order ---- */

static bool clash(const struct rdna3 *r, const struct mi_opnd *a,
                  const struct mi_opnd *b)
{
    return a->kind == MI_REG && b->kind == MI_REG &&
           r->regs[a->reg].vector == r->regs[b->reg].vector &&
           mi_first(r, a) < mi_last(r, b) && mi_first(r, b) < mi_last(r, a);
}

static bool reads(const struct rdna3 *r, const struct mi *m, const struct mi_opnd *o)
{
    for (unsigned j = m->n_def; j < MI_OPNDS; j++)
        if (clash(r, &m->opnd[j], o))
            return true;
    return false;
}

static bool writes(const struct rdna3 *r, const struct mi *m, const struct mi_opnd *o)
{
    for (unsigned j = 0; j < m->n_def; j++)
        if (clash(r, &m->opnd[j], o))
            return true;
    return false;
}

static bool reads_result(const struct rdna3 *r, const struct mi *m, const struct mi *of)
{
    for (unsigned j = m->n_def; j < MI_OPNDS; j++)
        if (m->opnd[j].kind == MI_REG && writes(r, of, &m->opnd[j]))
            return true;
    return false;
}

/* May the second pass the first? */
static bool may_pass(const struct rdna3 *r, const struct mi *second,
                     const struct mi *first)
{
    return !reads_result(r, second, first) && !reads(r, first, &second->opnd[0]) &&
           !writes(r, first, &second->opnd[0]);
}

/* ---- halves ---- */

/* An instruction as half of a pair. */
struct half {
    struct mi m;
    unsigned dual; /* its v_dual_ op */
    unsigned sources;
};

static bool as_half(const struct rdna3 *r, const struct mi *m, unsigned op,
                    struct half *h)
{
    h->m = *m;
    h->dual = isa_facts(op)->dual;
    h->sources = m->form->n - 1u;
    if (op == ISA_V_CNDMASK_B32) { /* its mask is not in the text: it is VCC */
        h->sources = 2;
        if (!mi_is_scalar(r, m->opnd[3]) || mi_first(r, &m->opnd[3]) != ISA_SEL_VCC_LO)
            return false;
    }
    return h->dual != ISA_OP_NONE;
}

/* In one order of sources or both: how many. */
static unsigned halves_of(const struct rdna3 *r, const struct mi *m, struct half h[2])
{
    const struct mi_form *f = m->form;
    if (!f->plain || m->n_def != 1 || f->facts->vopd == 0)
        return 0;
    unsigned n = as_half(r, m, f->op, &h[0]);
    if (n && f->facts->swapped != ISA_OP_NONE &&
        as_half(r, m, f->facts->swapped, &h[1])) {
        swap_sources(&h[1].m);
        n = 2;
    }
    return n;
}

/* The second factor is in the instruction: the third source is where the second one of
 * others is. */
static bool has_middle_constant(const struct half *h)
{
    return h->dual == ISA_V_DUAL_FMAMK_F32;
}

/* What must be a VGPR is one. */
static bool is_encodable(const struct rdna3 *r, const struct half *h)
{
    if (h->sources >= 2 && !has_middle_constant(h) && !is_vgpr(r, &h->m.opnd[2]))
        return false;
    return h->sources < 3 || has_middle_constant(h) || h->m.opnd[3].kind == MI_IMM;
}

static bool same_bank(const struct rdna3 *r, const struct mi_opnd *a,
                      const struct mi_opnd *b, unsigned banks)
{
    return is_vgpr(r, a) && is_vgpr(r, b) &&
           mi_first(r, a) % banks == mi_first(r, b) % banks;
}

/* Constants and scalar registers that are read, each once. */
struct scalars {
    const struct mi_opnd *o[6];
    unsigned n, literals;
};

static void add_scalar(const struct rdna3 *r, struct scalars *s,
                       const struct mi_opnd *o, bool literal)
{
    if (!literal && !mi_is_scalar(r, *o))
        return;
    for (unsigned i = 0; i < s->n; i++)
        if (s->o[i]->kind == o->kind &&
            (literal ? (int32_t)s->o[i]->imm == (int32_t)o->imm
                     : mi_first(r, s->o[i]) == mi_first(r, o)))
            return;
    s->o[s->n++] = o;
    s->literals += literal;
}

/* Two at most, of literals one. */
static bool scalars_fit(const struct rdna3 *r, const struct half *x,
                        const struct half *y)
{
    struct scalars s = {.n = 0};
    for (unsigned i = 0; i < 2; i++) {
        const struct half *h = i ? y : x;
        const struct mi_opnd *constant = &h->m.opnd[has_middle_constant(h) ? 2 : 3];
        add_scalar(r, &s, &h->m.opnd[1], mi_is_literal(h->m.opnd[1]));
        add_scalar(r, &s, constant, constant->kind == MI_IMM); /* or VCC */
    }
    return s.n <= 2 && s.literals <= 1;
}

static bool fit(const struct rdna3 *r, const struct half *x, const struct half *y)
{
    const struct mi_opnd *a = x->m.opnd, *b = y->m.opnd;
    return isa_facts(x->dual)->vopd & ISA_VOPD_X &&
           isa_facts(y->dual)->vopd & ISA_VOPD_Y && is_encodable(r, x) &&
           is_encodable(r, y) && !same_bank(r, &a[0], &b[0], 2) &&
           !same_bank(r, &a[1], &b[1], 4) && !same_bank(r, &a[2], &b[2], 4) &&
           !same_bank(r, &a[3], &b[3], 2) && scalars_fit(r, x, y);
}

/* ---- pairs ---- */

/* "v_dual_add_f32 %0, %2, %3": one half's part of the text. */
static int print_half(const struct half *h, bool y, char *text, size_t size)
{
    static const unsigned places[2][4] = {{0, 2, 3, 6}, {1, 4, 5, 7}};
    int n = snprintf(text, size, "%s", isa_op_name(h->dual));
    for (unsigned i = 0; i <= h->sources; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%%%u", i ? ", " : " ",
                      places[y][i]);
    return n;
}

static struct mi join(struct rdna3 *r, const struct half *x, const struct half *y)
{
    const struct mi_opnd *a = x->m.opnd, *b = y->m.opnd;
    char text[160];
    int n = print_half(x, false, text, sizeof text);
    n += snprintf(text + n, sizeof text - (size_t)n, " :: ");
    print_half(y, true, text + n, sizeof text - (size_t)n);
    return (struct mi){.n_def = 2,
                       .form = rdna3_form_of(r, text),
                       .opnd = {a[0], b[0], a[1], a[2], b[1], b[2], a[3], b[3]}};
}

/* One instruction for both, whichever comes first in it and in any order of sources. */
static bool try_join(struct rdna3 *r, const struct mi *m, const struct mi *n,
                     struct mi *both)
{
    struct half a[2], b[2];
    unsigned n_a = halves_of(r, m, a), n_b = halves_of(r, n, b);
    for (unsigned way = 0; way < 8; way++) {
        bool swap = way & 4;
        unsigned i = way & 1, j = way >> 1 & 1;
        if (i >= (swap ? n_b : n_a) || j >= (swap ? n_a : n_b))
            continue;
        const struct half *x = swap ? &b[i] : &a[i], *y = swap ? &a[j] : &b[j];
        if (fit(r, x, y)) {
            *both = join(r, x, y);
            return true;
        }
    }
    return false;
}

struct pairing {
    struct rdna3 *r;
    bool *gone;
    uint32_t *need; /* the last load that has to be complete, + 1 */
};

static bool pair_at(struct pairing *p, uint32_t i, uint32_t j, uint32_t waited)
{
    struct rdna3 *r = p->r;
    const struct mi *a = &r->code[i], *b = &r->code[j];
    struct mi both;
    if (b->form->facts->vopd == 0 || p->need[j] > waited || reads_result(r, b, a) ||
        writes(r, a, &b->opnd[0]))
        return false;
    for (uint32_t k = i + 1; k < j; k++)
        if (!p->gone[k] && !may_pass(r, b, &r->code[k]))
            return false;
    if (!try_join(r, a, b, &both))
        return false;
    r->code[i] = both;
    p->gone[j] = true;
    return true;
}

/* For every instruction, which loads it waits for. */
static void find_needs(struct pairing *p)
{
    struct rdna3 *r = p->r;
    uint32_t last[2][512] = {{0}};
    for (uint32_t i = 0; i < r->n_code; i++) {
        const struct mi *m = &r->code[i];
        bool load = m->form->kind == MI_VLOAD || m->form->kind == MI_SLOAD ||
                    (m->form->kind == MI_LDS && m->n_def);
        for (unsigned j = 0; j < MI_OPNDS; j++) {
            const struct mi_opnd *o = &m->opnd[j];
            if (o->kind != MI_REG)
                continue;
            for (unsigned k = mi_first(r, o); k < mi_last(r, o) && k < 512; k++) {
                uint32_t *l = &last[r->regs[o->reg].vector][k];
                p->need[i] = *l > p->need[i] ? *l : p->need[i];
                if (j < m->n_def)
                    *l = load ? i + 1 : 0;
            }
        }
    }
}

void rdna3_pair(struct rdna3 *r)
{
    struct pairing p = {.r = r,
                        .gone = calloc(r->n_code + 1ull, 1),
                        .need = calloc(r->n_code + 1ull, sizeof *p.need)};
    uint32_t waited = 0, n = 0;
    if (!p.gone || !p.need) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        free(p.gone);
        free(p.need);
        return;
    }
    for (uint32_t i = 0; i < r->n_code; i++) {
        shorten(r, &r->code[i]);
        p.gone[i] = is_idle(r, &r->code[i]);
    }
    find_needs(&p);
    for (uint32_t i = 0; i < r->n_code; i++) {
        if (p.gone[i])
            continue;
        waited = p.need[i] > waited ? p.need[i] : waited;
        if (r->code[i].form->plain && r->code[i].form->facts->vopd)
            for (uint32_t j = i + 1; j < r->n_code && j < i + AHEAD; j++) {
                if (rdna3_is_edge(&r->code[j]))
                    break;
                if (!p.gone[j] && pair_at(&p, i, j, waited))
                    break;
            }
    }
    for (uint32_t i = 0; i < r->n_code; i++)
        if (!p.gone[i])
            r->code[n++] = r->code[i];
    r->n_code = n;
    free(p.gone);
    free(p.need);
}
