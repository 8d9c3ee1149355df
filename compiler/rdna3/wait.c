/* wait.c: instructions with registers as text, and the waits between them.
 *
 * Keeps the accesses to memory that are under way, in order, with the registers that
 * they fill or read. A register that is touched waits for its load: vmcnt counts vector
 * loads, lgkmcnt LDS and scalar loads (those come back in any order, so all of them).
 * At labels and before branches nothing is under way.
 * SPDX-License-Identifier: MIT
 */
#include "hazard.h"

#include <stdio.h>
#include <string.h>

#define MAX_PENDING 62

struct pending {
    bool vector, any_order;
    unsigned first, end; /* registers being filled; none if equal */
};

struct wait {
    struct rdna3 *r;
    struct cc_text *t;
    struct pending vm[MAX_PENDING + 1], lgkm[MAX_PENDING + 1];
    unsigned n_vm, n_lgkm, n_store;
};

/* How many may stay under way so that this instruction's registers are there. */
static unsigned allowed(const struct wait *w, const struct pending *list, unsigned n,
                        const struct mi *m)
{
    const struct rdna3 *r = w->r;
    unsigned keep = n;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < MI_OPNDS; j++) {
            const struct mi_opnd *o = &m->opnd[j];
            if (o->kind != MI_REG || r->regs[o->reg].vector != list[i].vector ||
                mi_first(r, o) >= list[i].end || mi_last(r, o) <= list[i].first)
                continue;
            unsigned after = n - 1 - i;
            keep = after < keep ? after : keep;
        }
    return keep;
}

static void retire(struct pending *list, unsigned *n, unsigned keep)
{
    memmove(list, list + (*n - keep), keep * sizeof *list);
    *n = keep;
}

/* Wait until no more than these are under way. */
static void wait_for(struct wait *w, unsigned vm, unsigned lgkm)
{
    bool any = false;
    for (unsigned i = 0; i < w->n_lgkm; i++)
        any = any || w->lgkm[i].any_order;
    if (lgkm < w->n_lgkm && any)
        lgkm = 0;
    if (vm >= w->n_vm && lgkm >= w->n_lgkm)
        return;
    cc_out(w->t, "\ts_waitcnt");
    if (vm < w->n_vm) {
        cc_out(w->t, " vmcnt(%u)", vm);
        retire(w->vm, &w->n_vm, vm);
    }
    if (lgkm < w->n_lgkm) {
        cc_out(w->t, " lgkmcnt(%u)", lgkm);
        retire(w->lgkm, &w->n_lgkm, lgkm);
    }
    cc_out(w->t, "\n");
}

static void wait_stores(struct wait *w)
{
    if (w->n_store)
        cc_out(w->t, "\ts_waitcnt_vscnt null, 0x0\n");
    w->n_store = 0;
}

static void begin(struct wait *w, const struct mi *m)
{
    struct pending p = {.any_order = m->form->kind == MI_SLOAD};
    if (m->n_def) {
        p.vector = w->r->regs[m->opnd[0].reg].vector;
        p.first = mi_first(w->r, &m->opnd[0]);
        p.end = mi_last(w->r, &m->opnd[0]);
    }
    switch (m->form->kind) {
    case MI_VLOAD:
        if (w->n_vm == MAX_PENDING)
            wait_for(w, MAX_PENDING / 2, w->n_lgkm);
        w->vm[w->n_vm++] = p;
        break;
    case MI_SLOAD:
    case MI_LDS:
        if (w->n_lgkm == MAX_PENDING)
            wait_for(w, w->n_vm, 0);
        w->lgkm[w->n_lgkm++] = p;
        break;
    case MI_VSTORE:
        w->n_store++;
        break;
    default:
        break;
    }
}

/* ---- text ---- */

static void print_reg(struct wait *w, const struct mi_opnd *o)
{
    const struct vreg *v = &w->r->regs[o->reg];
    unsigned at = (unsigned)v->phys + o->sub;
    char bank = v->vector ? 'v' : 's';
    if (!v->vector && at == 106)
        cc_out(w->t, "vcc_lo");
    else if (o->width <= 1)
        cc_out(w->t, "%c%u", bank, at);
    else
        cc_out(w->t, "%c[%u:%u]", bank, at, at + o->width - 1);
}

static void print_opnd(struct wait *w, const struct mi_opnd *o)
{
    int32_t v = (int32_t)o->imm;
    if (o->kind == MI_REG)
        print_reg(w, o);
    else if (o->kind == MI_EXEC)
        cc_out(w->t, "exec_lo");
    else if (v >= -4096 && v <= 65535)
        cc_out(w->t, "%d", v);
    else
        cc_out(w->t, "0x%x", (unsigned)v);
}

static void print_inst(struct wait *w, const struct mi *m)
{
    cc_out(w->t, "\t");
    for (const char *c = m->form->text; *c; c++) {
        if (*c == '%' && c[1] >= '0' && c[1] < '0' + MI_OPNDS)
            print_opnd(w, &m->opnd[*++c - '0']);
        else
            cc_out(w->t, "%c", *c);
    }
    if (m->form->kind == MI_BRANCH)
        cc_out(w->t, " .L%s_%u", w->r->p->name, m->label);
    cc_out(w->t, "\n");
}

void rdna3_print_code(struct rdna3 *r, struct cc_text *t)
{
    struct wait w = {.r = r, .t = t};
    struct rdna3_hazards h = {.r = r, .t = t};
    for (uint32_t i = 0; i < r->n_code; i++) {
        const struct mi *m = &r->code[i];
        unsigned vm = allowed(&w, w.vm, w.n_vm, m);
        unsigned lgkm = allowed(&w, w.lgkm, w.n_lgkm, m);
        if (m->form->kind == MI_LABEL || m->form->kind == MI_BRANCH)
            vm = lgkm = 0;
        if (m->form->kind == MI_BARRIER)
            lgkm = 0;
        size_t before = t->len;
        wait_for(&w, vm, lgkm);
        if (m->form->kind == MI_BARRIER)
            wait_stores(&w);
        if (t->len != before)
            rdna3_hazard_wait(&h);
        rdna3_hazard_before(&h, m);
        if (m->form->kind == MI_LABEL) {
            cc_out(t, ".L%s_%u:\n", r->p->name, m->label);
            continue;
        }
        /* registers are free while stores finish; scratch is not */
        if (m->form->kind == MI_END && r->scratch_bytes == 0)
            cc_out(t, "\ts_nop 0\n\ts_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n");
        begin(&w, m);
        print_inst(&w, m);
        rdna3_hazard_after(&h, m);
    }
}
