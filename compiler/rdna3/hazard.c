/* hazard.c: what gfx11 wants between instructions beyond waiting for memory.
 *
 * Three things, while code is being printed, in order: a vector instruction that reads
 * the result of a transcendental one soon after waits by s_waitcnt_depctr (the hardware
 * does not); a product of matrices that reads the result of the one before it as a
 * factor has an instruction in between; s_delay_alu tells the scheduler which earlier
 * instruction the next one waits for, so that other waves go first. Works on real
 * registers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hazard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_salu(const struct mi *m)
{
    return m->form->kind == MI_ALU && !mi_is_valu(m->form);
}

/* Results of the transcendental unit; 64-bit ones pass through it too. */
static bool is_trans(const struct mi *m)
{
    const struct isa_facts *f = m->form->facts;
    return mi_is_valu(m->form) &&
           (f->pipe == ISA_PIPE_TRANS ||
            (f->pipe == ISA_PIPE_DOUBLE &&
             (f->excp == ISA_EXCP_RCP || f->excp == ISA_EXCP_RSQ ||
              f->excp == ISA_EXCP_SQRT)));
}

static bool is_wmma(const struct mi *m)
{
    return m->form->facts->pipe == ISA_PIPE_WMMA ||
           m->form->facts->pipe == ISA_PIPE_WMMA4;
}

static struct rdna3_span span_of(const struct rdna3 *r, const struct mi_opnd *o)
{
    struct rdna3_span s = {false, 0, 0};
    if (o->kind == MI_REG)
        s = (struct rdna3_span){r->regs[o->reg].vector, mi_first(r, o), mi_last(r, o)};
    return s;
}

static bool meets(const struct rdna3 *r, const struct mi *m, unsigned from, unsigned to,
                  struct rdna3_span s)
{
    for (unsigned j = from; j < to; j++) {
        struct rdna3_span x = span_of(r, &m->opnd[j]);
        if (x.vector == s.vector && x.first < s.end && s.first < x.end)
            return true;
    }
    return false;
}

/* ---- transcendental results ---- */

#define TRANS_VALUS 5 /* vector instructions in between that make it safe: more */
#define TRANS_TRANS 1

static bool waits_for_trans(const struct rdna3_hazards *h, const struct mi *m)
{
    for (unsigned i = 0; i < h->n_trans; i++)
        if (meets(h->r, m, m->n_def, MI_OPNDS, h->trans[i].reg))
            return true;
    return false;
}

static void age_trans(struct rdna3_hazards *h, const struct mi *m)
{
    unsigned n = 0;
    for (unsigned i = 0; i < h->n_trans; i++) {
        struct rdna3_recent *t = &h->trans[i];
        t->valus++;
        t->trans += is_trans(m);
        if (t->valus <= TRANS_VALUS && t->trans <= TRANS_TRANS)
            h->trans[n++] = *t;
    }
    h->n_trans = n;
    if (is_trans(m) && n < sizeof h->trans / sizeof h->trans[0])
        h->trans[h->n_trans++] =
            (struct rdna3_recent){.reg = span_of(h->r, &m->opnd[0])};
}

/* ---- delays ---- */

/* What the instruction waits for: the name that s_delay_alu has for it, or NULL. */
static const char *delay_of(const struct rdna3_hazards *h, const struct mi *m)
{
    static const char *const valu[] = {"VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3",
                                       "VALU_DEP_4"};
    static const char *const trans[] = {"TRANS32_DEP_1", "TRANS32_DEP_2",
                                        "TRANS32_DEP_3"};
    for (unsigned i = 0; i < h->n_last_trans; i++)
        if (meets(h->r, m, m->n_def, MI_OPNDS, h->last_trans[i]))
            return trans[i];
    for (unsigned i = 0; i < h->n_last_valu; i++)
        for (unsigned j = 0; j < 2; j++)
            if (meets(h->r, m, m->n_def, MI_OPNDS, h->last_valu[i][j]))
                return valu[i];
    return h->salu_before && meets(h->r, m, m->n_def, MI_OPNDS, h->last_salu)
               ? "SALU_CYCLE_1"
               : NULL;
}

static void remember(struct rdna3_hazards *h, const struct mi *m)
{
    if (is_trans(m)) {
        memmove(h->last_trans + 1, h->last_trans, 2 * sizeof h->last_trans[0]);
        h->last_trans[0] = span_of(h->r, &m->opnd[0]);
        h->n_last_trans += h->n_last_trans < 3;
        return;
    }
    memmove(h->last_valu + 1, h->last_valu, 3 * sizeof h->last_valu[0]);
    for (unsigned j = 0; j < 2; j++)
        h->last_valu[0][j] =
            j < m->n_def ? span_of(h->r, &m->opnd[j]) : (struct rdna3_span){0};
    h->n_last_valu += h->n_last_valu < 4;
}

/* Written once; a second delay joins the first if that is near enough. */
static void write_delay(struct rdna3_hazards *h, const char *what)
{
    static const char *const skips[] = {"SAME",   "NEXT",   "SKIP_1",
                                        "SKIP_2", "SKIP_3", "SKIP_4"};
    struct cc_text *t = h->t;
    char more[80];
    if (h->delay_end && h->since_delay > 0 && h->since_delay < 6) {
        int n = snprintf(more, sizeof more, " | instskip(%s) | instid1(%s)",
                         skips[h->since_delay], what);
        size_t tail = t->len - h->delay_end, at = h->delay_end;
        cc_out(t, "%s", more); /* room for it */
        if (t->failed)
            return;
        memmove(t->data + at + n, t->data + at, tail);
        memcpy(t->data + at, more, (size_t)n);
        h->delay_end = 0;
        return;
    }
    cc_out(t, "\ts_delay_alu instid0(%s)", what);
    h->delay_end = t->len;
    h->since_delay = 0;
    cc_out(t, "\n");
}

/* ---- both ---- */

void rdna3_hazard_before(struct rdna3_hazards *h, const struct mi *m)
{
    if (m->form->kind == MI_LABEL || m->form->kind == MI_BRANCH ||
        m->form->kind == MI_END) {
        if (m->form->kind == MI_BRANCH && h->n_trans)
            cc_out(h->t, "\ts_waitcnt_depctr 0xfff\n"); /* wherever it goes */
        struct rdna3_hazards none = {.r = h->r, .t = h->t};
        *h = none;
        return;
    }
    if (!mi_is_valu(m->form))
        return;
    if (waits_for_trans(h, m)) {
        cc_out(h->t, "\ts_waitcnt_depctr 0xfff\n");
        h->n_trans = h->n_last_trans = h->n_last_valu = 0;
        h->delay_end = 0;
    }
    if (is_wmma(m) && h->wmma_before && meets(h->r, m, 1, 3, h->last_wmma)) {
        cc_out(h->t, "\tv_nop\n");
        h->delay_end = 0;
    }
    const char *what = delay_of(h, m);
    if (what)
        write_delay(h, what);
}

void rdna3_hazard_after(struct rdna3_hazards *h, const struct mi *m)
{
    h->since_delay++;
    h->salu_before = is_salu(m) && m->n_def > 0;
    if (h->salu_before)
        h->last_salu = span_of(h->r, &m->opnd[0]);
    if (!mi_is_valu(m->form))
        return;
    age_trans(h, m);
    remember(h, m);
    h->wmma_before = is_wmma(m);
    if (h->wmma_before)
        h->last_wmma = span_of(h->r, &m->opnd[0]);
}

void rdna3_hazard_wait(struct rdna3_hazards *h)
{
    h->delay_end = 0;
}
