/* alloc.c: registers for values.
 *
 * A value lives from its first to its last instruction, and through the whole of every
 * loop that it enters from outside or that carries it around. Linear scan over those
 * intervals gives physical registers; wide values get neighbours, SGPR pairs begin at
 * an even number. Knows instructions only by their operands.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdlib.h>
#include <string.h>

#define MAX_VGPRS 256
#define MAX_SGPRS 106
#define VCC_LO    106

/* Drop instructions whose result nobody reads. */
void rdna3_drop_dead(struct rdna3 *r)
{
    uint32_t *uses = calloc(r->n_regs + 1ull, sizeof *uses), kept = 0;
    bool *dead = calloc(r->n_code + 1ull, sizeof *dead);
    for (uint32_t i = 0; uses && i < r->n_code; i++)
        for (unsigned j = r->code[i].n_def; j < MI_OPNDS; j++)
            if (r->code[i].opnd[j].kind == MI_REG)
                uses[r->code[i].opnd[j].reg]++;
    for (uint32_t i = r->n_code; dead && uses && i-- > 0;) {
        const struct mi *m = &r->code[i];
        bool live = m->form->kind != MI_ALU || m->n_def == 0 || rdna3_is_edge(m);
        for (unsigned j = 0; j < m->n_def && !live; j++)
            live = uses[m->opnd[j].reg];
        dead[i] = !live;
        for (unsigned j = m->n_def; j < MI_OPNDS && !live; j++)
            if (m->opnd[j].kind == MI_REG)
                uses[m->opnd[j].reg]--;
    }
    for (uint32_t i = 0; dead && uses && i < r->n_code; i++)
        if (!dead[i])
            r->code[kept++] = r->code[i];
    if (dead && uses)
        r->n_code = kept;
    else
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
    free(uses);
    free(dead);
}

/* Backward branches make loops. */
static void find_loops(struct rdna3 *r)
{
    uint32_t *label = calloc(r->n_labels + 1ull, sizeof *label);
    r->loops = calloc(r->n_labels + 1ull, sizeof *r->loops);
    if (!label || !r->loops) {
        free(label);
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < r->n_code; i++)
        if (r->code[i].form->kind == MI_LABEL)
            label[r->code[i].label] = i + 1;
        else if (r->code[i].form->kind == MI_BRANCH && label[r->code[i].label])
            r->loops[r->n_loops++] = (struct mi_loop){label[r->code[i].label] - 1, i};
    free(label);
}

static void find_intervals(struct rdna3 *r)
{
    for (uint32_t i = 0; i < r->n_code; i++)
        for (unsigned j = 0; j < MI_OPNDS; j++) {
            const struct mi_opnd *o = &r->code[i].opnd[j];
            if (o->kind != MI_REG)
                continue;
            struct vreg *v = &r->regs[o->reg];
            if (!v->used)
                v->begin = v->fixed ? 0 : i;
            v->used = true;
            v->end = i;
        }
}

/* Values written inside a loop and wholly dead outside need no extension if every pass
 * writes them before it reads them; registers that are partly or conditionally written
 * are taken as carried. */
static void extend_over_loops(struct rdna3 *r)
{
    uint8_t *read_first = calloc(r->n_regs + 1ull, 1),
            *seen = calloc(r->n_regs + 1ull, 1);
    for (uint32_t l = 0; l < r->n_loops && read_first && seen; l++) {
        struct mi_loop loop = r->loops[l];
        memset(read_first, 0, r->n_regs);
        memset(seen, 0, r->n_regs);
        for (uint32_t i = loop.begin; i <= loop.end; i++) {
            const struct mi *m = &r->code[i];
            for (unsigned pass = 0; pass < 2; pass++)
                for (unsigned j = pass ? 0 : m->n_def; j < (pass ? m->n_def : MI_OPNDS);
                     j++)
                    if (m->opnd[j].kind == MI_REG && !seen[m->opnd[j].reg]) {
                        seen[m->opnd[j].reg] = 1;
                        read_first[m->opnd[j].reg] = !pass;
                    }
        }
        for (uint32_t v = 0; v < r->n_regs; v++) {
            struct vreg *x = &r->regs[v];
            if (!seen[v])
                continue;
            bool outside = x->begin < loop.begin;
            if (!outside && !read_first[v])
                continue;
            x->begin = x->begin < loop.begin ? x->begin : loop.begin;
            x->end = x->end > loop.end ? x->end : loop.end;
        }
    }
    if (!read_first || !seen)
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
    free(read_first);
    free(seen);
}

struct scan {
    struct rdna3 *r;
    uint32_t free_at[2][MAX_VGPRS + 1]; /* [vector][register]: taken until here */
};

static bool fits(const struct scan *s, const struct vreg *v, unsigned at,
                 unsigned limit)
{
    if (at + v->width > limit)
        return false;
    for (unsigned i = 0; i < v->width; i++)
        if (s->free_at[v->vector][at + i] > v->begin)
            return false;
    return true;
}

static void occupy(struct scan *s, struct vreg *v, unsigned at)
{
    struct rdna3 *r = s->r;
    v->phys = (int)at;
    for (unsigned i = 0; i < v->width; i++)
        s->free_at[v->vector][at + i] = v->end;
    unsigned top = at + v->width, *most = v->vector ? &r->vgprs : &r->sgprs;
    if (at != VCC_LO && top > *most)
        *most = top;
}

static void place(struct scan *s, struct vreg *v)
{
    unsigned limit = v->vector ? MAX_VGPRS : MAX_SGPRS;
    unsigned step = v->vector ? 1 : v->width > 2 ? 4 : v->width;
    if (v->mask && s->free_at[0][VCC_LO] <= v->begin) { /* shorter encodings */
        occupy(s, v, VCC_LO);
        return;
    }
    for (unsigned at = 0; at < limit; at += step)
        if (fits(s, v, at, limit)) {
            occupy(s, v, at);
            return;
        }
    s->r->failed_at = v->begin;
    s->r->failed_vector = v->vector;
    rdna3_fail(s->r, RD_E_RANGE, 0, "the kernel needs more than %u %s", limit,
               v->vector ? "VGPRs" : "SGPRs");
}

static int by_begin(const void *pa, const void *pb)
{
    const struct vreg *a = *(struct vreg *const *)pa, *b = *(struct vreg *const *)pb;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a < b ? -1 : a > b;
}

void rdna3_allocate(struct rdna3 *r)
{
    struct scan s = {.r = r};
    uint32_t n = 0;
    find_loops(r);
    find_intervals(r);
    extend_over_loops(r);
    struct vreg **order = calloc(r->n_regs + 1ull, sizeof(struct vreg *));
    if (!order || r->status != RD_OK) {
        rdna3_fail(r, RD_E_NOMEM, 0, "out of memory");
        free(order);
        return;
    }
    for (uint32_t i = 0; i < r->n_regs; i++) {
        struct vreg *v = &r->regs[i];
        if (v->used && v->fixed)
            occupy(&s, v, (unsigned)v->phys);
        else if (v->used)
            order[n++] = v;
    }
    qsort(order, n, sizeof(struct vreg *), by_begin);
    for (uint32_t i = 0; i < n && r->status == RD_OK; i++) {
        if (order[i]->begin == order[i]->end)
            order[i]->end++; /* written, never read: still takes a register */
        place(&s, order[i]);
    }
    free(order);
    if (r->sgprs < 6)
        r->sgprs = 6; /* the launch writes that many */
}
