/* pair.c: two independent instructions in one (VOPD).
 *
 * One of the two writes an even register, the other an odd one; first sources lie in
 * different banks (register mod 4), second sources too; of scalars and literals there
 * are two at most. A partner may come from some way ahead if nothing in between minds.
 * Works on real registers; comes before waits are put in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 24

/* What both halves can do first, then what only the second can. */
static const struct half {
    const char *text, *name;
    unsigned sources;
    bool commutes, only_y;
} halves[] = {
    {"v_fmac_f32 %0, %1, %2", "v_dual_fmac_f32", 2, true, false},
    {"v_mul_f32 %0, %1, %2", "v_dual_mul_f32", 2, true, false},
    {"v_add_f32 %0, %1, %2", "v_dual_add_f32", 2, true, false},
    {"v_sub_f32 %0, %1, %2", "v_dual_sub_f32", 2, false, false},
    {"v_max_f32 %0, %1, %2", "v_dual_max_f32", 2, true, false},
    {"v_mov_b32 %0, %1", "v_dual_mov_b32", 1, false, false},
    {"v_add_nc_u32 %0, %1, %2", "v_dual_add_nc_u32", 2, true, true},
    {"v_lshlrev_b32 %0, %1, %2", "v_dual_lshlrev_b32", 2, false, true},
    {"v_and_b32 %0, %1, %2", "v_dual_and_b32", 2, true, true},
};

static const struct half *half_of(const struct mi *m)
{
    if (m->kind != MI_ALU || m->n_def != 1)
        return NULL;
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++)
        if (strcmp(m->text, halves[i].text) == 0)
            return &halves[i];
    return NULL;
}

static bool is_vgpr(const struct rdna3 *r, const struct mi_opnd *o)
{
    return o->kind == MI_REG && r->regs[o->reg].vector;
}

/* x * y + d into d: a shorter instruction, and one that pairs. */
static void shorten(struct rdna3 *r, struct mi *m)
{
    if (strcmp(m->text, "v_fma_f32 %0, %1, %2, %3") != 0 || !is_vgpr(r, &m->opnd[3]) ||
        mi_first(r, &m->opnd[3]) != mi_first(r, &m->opnd[0]))
        return;
    if (!is_vgpr(r, &m->opnd[2])) {
        struct mi_opnd t = m->opnd[1];
        m->opnd[1] = m->opnd[2];
        m->opnd[2] = t;
    }
    if (is_vgpr(r, &m->opnd[2])) /* the fourth operand stays, unseen: it is read */
        m->text = "v_fmac_f32 %0, %1, %2";
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

/* ---- pairs ---- */

static bool is_inline(const struct mi_opnd *o)
{
    static const uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000,
                                      0x40000000, 0xc0000000, 0x40800000, 0xc0800000};
    int32_t v = (int32_t)o->imm;
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if ((uint32_t)v == floats[i])
            return true;
    return v >= -16 && v <= 64;
}

static bool same_scalar(const struct rdna3 *r, const struct mi_opnd *a,
                        const struct mi_opnd *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == MI_IMM ? (int32_t)a->imm == (int32_t)b->imm
                             : mi_first(r, a) == mi_first(r, b);
}

/* Scalars that one of the first sources needs. */
static bool is_scalar(const struct rdna3 *r, const struct mi_opnd *o)
{
    return o->kind == MI_REG ? !r->regs[o->reg].vector : !is_inline(o);
}

static bool sources_fit(const struct rdna3 *r, const struct mi_opnd *x0,
                        const struct mi_opnd *y0)
{
    bool xv = is_vgpr(r, x0), yv = is_vgpr(r, y0);
    if (xv && yv)
        return mi_first(r, x0) % 4 != mi_first(r, y0) % 4;
    if (!xv && !yv && x0->kind == MI_IMM && y0->kind == MI_IMM && is_scalar(r, x0) &&
        is_scalar(r, y0))
        return same_scalar(r, x0, y0); /* one literal */
    return true;
}

static bool banks_fit(const struct rdna3 *r, const struct half *hx, const struct mi *x,
                      const struct half *hy, const struct mi *y)
{
    if (!sources_fit(r, &x->opnd[1], &y->opnd[1]))
        return false;
    if (hx->sources == 2 && !is_vgpr(r, &x->opnd[2]))
        return false;
    if (hy->sources == 2 && !is_vgpr(r, &y->opnd[2]))
        return false;
    return hx->sources == 1 || hy->sources == 1 ||
           mi_first(r, &x->opnd[2]) % 4 != mi_first(r, &y->opnd[2]) % 4;
}

static void swap_sources(struct mi *m)
{
    struct mi_opnd t = m->opnd[1];
    m->opnd[1] = m->opnd[2];
    m->opnd[2] = t;
}

/* Try the four orders of sources. */
static bool fit(const struct rdna3 *r, const struct half *hx, struct mi *x,
                const struct half *hy, struct mi *y)
{
    if (hx->only_y || mi_first(r, &x->opnd[0]) % 2 == mi_first(r, &y->opnd[0]) % 2)
        return false;
    for (unsigned way = 0; way < 4; way++) {
        if ((way & 1 && !hx->commutes) || (way & 2 && !hy->commutes))
            continue;
        struct mi a = *x, b = *y;
        if (way & 1)
            swap_sources(&a);
        if (way & 2)
            swap_sources(&b);
        if (banks_fit(r, hx, &a, hy, &b)) {
            *x = a;
            *y = b;
            return true;
        }
    }
    return false;
}

static bool join(struct rdna3 *r, const struct half *hx, const struct mi *x,
                 const struct half *hy, const struct mi *y, struct mi *out)
{
    char text[96];
    snprintf(text, sizeof text, "%s %%0, %%2%s :: %s %%1, %%4%s", hx->name,
             hx->sources == 2 ? ", %3" : "", hy->name, hy->sources == 2 ? ", %5" : "");
    const char *kept = cc_arena_copy(&r->arena, text, strlen(text) + 1);
    if (!kept)
        return false;
    *out = (struct mi){.kind = MI_ALU,
                       .n_def = 2,
                       .text = kept,
                       .opnd = {x->opnd[0], y->opnd[0], x->opnd[1], x->opnd[2],
                                y->opnd[1], y->opnd[2], x->opnd[3], y->opnd[3]}};
    return true;
}

struct pairing {
    struct rdna3 *r;
    bool *gone;
    uint32_t *need; /* the last load that has to be complete, + 1 */
};

static bool pair_at(struct pairing *p, uint32_t i, uint32_t j, uint32_t waited)
{
    struct rdna3 *r = p->r;
    struct mi a = r->code[i], b = r->code[j], both;
    const struct half *ha = half_of(&a), *hb = half_of(&b);
    if (!hb || p->need[j] > waited || reads_result(r, &b, &a) ||
        writes(r, &a, &b.opnd[0]))
        return false;
    for (uint32_t k = i + 1; k < j; k++)
        if (!p->gone[k] && !may_pass(r, &b, &r->code[k]))
            return false;
    bool ok = fit(r, ha, &a, hb, &b)   ? join(r, ha, &a, hb, &b, &both)
              : fit(r, hb, &b, ha, &a) ? join(r, hb, &b, ha, &a, &both)
                                       : false;
    if (ok) {
        r->code[i] = both;
        p->gone[j] = true;
    }
    return ok;
}

/* For every instruction, which loads it waits for. */
static void find_needs(struct pairing *p)
{
    struct rdna3 *r = p->r;
    uint32_t last[2][512] = {{0}};
    for (uint32_t i = 0; i < r->n_code; i++) {
        const struct mi *m = &r->code[i];
        bool load = m->kind == MI_VLOAD || m->kind == MI_SLOAD ||
                    (m->kind == MI_LDS && m->n_def);
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
    for (uint32_t i = 0; i < r->n_code; i++)
        shorten(r, &r->code[i]);
    find_needs(&p);
    for (uint32_t i = 0; i < r->n_code; i++) {
        if (p.gone[i])
            continue;
        waited = p.need[i] > waited ? p.need[i] : waited;
        if (half_of(&r->code[i]) && !strchr(r->code[i].text, ':'))
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
