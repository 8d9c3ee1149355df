/* spill.c: values that do not fit into registers go to scratch memory.
 *
 * A victim is stored after each write and loaded before each use, in registers that
 * live for one instruction. Who lives longest and is touched least goes first. Works on
 * virtual registers, when an allocation has failed; knows the place that failed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rdna3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const loads[] = {"scratch_load_b32 %0, off, off offset:%1",
                                    "scratch_load_b64 %0, off, off offset:%1",
                                    "scratch_load_b96 %0, off, off offset:%1",
                                    "scratch_load_b128 %0, off, off offset:%1"};
static const char *const stores[] = {"scratch_store_b32 off, %0, off offset:%1",
                                     "scratch_store_b64 off, %0, off offset:%1",
                                     "scratch_store_b96 off, %0, off offset:%1",
                                     "scratch_store_b128 off, %0, off offset:%1"};

#define MAX_SCRATCH 4080 /* what an instruction's offset reaches */

struct spill {
    struct rdna3 *r;
    uint32_t victim;
    int64_t at; /* in scratch, bytes */
    struct mi *out;
    uint32_t n, cap;
};

static void append(struct spill *s, const struct mi *m)
{
    if (!cc_room(&s->out, &s->cap, s->n + 1, sizeof *s->out)) {
        rdna3_fail(s->r, RD_E_NOMEM, 0, "out of memory");
        return;
    }
    s->out[s->n++] = *m;
}

/* Four dwords at a time. */
static void move(struct spill *s, uint32_t reg, bool load)
{
    unsigned width = s->r->regs[reg].width;
    for (unsigned i = 0; i < width; i += 4) {
        unsigned n = width - i < 4 ? width - i : 4;
        const char *text = load ? loads[n - 1] : stores[n - 1];
        struct mi m = {.n_def = load, .form = rdna3_form_of(s->r, text)};
        m.opnd[0] = (struct mi_opnd){
            .kind = MI_REG, .sub = (uint8_t)i, .width = (uint8_t)n, .reg = reg};
        m.opnd[1] = mi_imm(s->at + 4 * (int64_t)i);
        append(s, &m);
    }
}

/* The instruction with the victim in a register of its own. */
static void rewrite(struct spill *s, struct mi m)
{
    struct rdna3 *r = s->r;
    bool used = false, written = false, whole = false;
    for (unsigned j = 0; j < MI_OPNDS; j++) {
        const struct mi_opnd *o = &m.opnd[j];
        if (o->kind != MI_REG || o->reg != s->victim)
            continue;
        if (j < m.n_def) {
            written = true;
            whole = whole || (o->width ? o->width : 1) == r->regs[s->victim].width;
        } else {
            used = true;
        }
    }
    if (!used && !written) {
        append(s, &m);
        return;
    }
    uint32_t reg = rdna3_reg(r, true, r->regs[s->victim].width);
    r->regs[reg].brief = true;
    for (unsigned j = 0; j < MI_OPNDS; j++)
        if (m.opnd[j].kind == MI_REG && m.opnd[j].reg == s->victim)
            m.opnd[j].reg = reg;
    if (used || !whole)
        move(s, reg, true);
    append(s, &m);
    if (written)
        move(s, reg, false);
}

/* Of what is alive where registers ran out. */
static uint32_t choose(const struct rdna3 *r)
{
    uint32_t best = UINT32_MAX, *touched = calloc(r->n_regs + 1ull, sizeof *touched);
    double most = 0;
    for (uint32_t i = 0; touched && i < r->n_code; i++)
        for (unsigned j = 0; j < MI_OPNDS; j++)
            if (r->code[i].opnd[j].kind == MI_REG)
                touched[r->code[i].opnd[j].reg]++;
    for (uint32_t i = 0; touched && i < r->n_regs; i++) {
        const struct vreg *v = &r->regs[i];
        if (!v->used || !v->vector || v->brief || v->fixed || v->begin > r->failed_at ||
            v->end < r->failed_at)
            continue;
        double gain = (double)(v->end - v->begin) * v->width / (touched[i] + 1);
        if (gain > most) {
            most = gain;
            best = i;
        }
    }
    free(touched);
    return best;
}

bool rdna3_spill(struct rdna3 *r)
{
    struct spill s = {
        .r = r, .victim = choose(r), .at = (r->scratch_bytes + 15) & ~15u};
    if (s.victim == UINT32_MAX)
        return false;
    unsigned bytes = 4u * r->regs[s.victim].width;
    if (s.at + bytes > MAX_SCRATCH)
        return false;
    r->scratch_bytes = (unsigned)s.at + bytes;
    for (uint32_t i = 0; i < r->n_code; i++)
        rewrite(&s, r->code[i]);
    if (!s.out)
        return false;
    free(r->code);
    r->code = s.out;
    r->n_code = s.n;
    r->cap_code = s.cap;
    return r->status == RD_OK;
}
