/* query.c: questions about a timeline in memory.
 *
 * Must not know files. Invariant: what it adds up over a wave's whole life is the
 * wave's duration. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "timeline.h"

const struct tl_inst *tl_inst(const struct timeline *tl, const struct tl_wave *w,
                              uint32_t id)
{
    const struct tl_dispatch *d = &tl->dispatch[w->dispatch];
    return id < d->n_insts && d->inst[id].text ? &d->inst[id] : NULL;
}

bool tl_branch_target(const struct tl_inst *inst, uint32_t *target)
{
    if (inst->cls != TM_BRANCH || inst->bytes != 4 || inst->enc != ISA_ENC_SOPP ||
        !(isa_facts(inst->op)->flow & ISA_FLOW_BRANCH))
        return false;
    int16_t words = (int16_t)(inst->code[0] | inst->code[1] << 8);
    *target = inst->offset + 4 + 4 * (uint32_t)words;
    return true;
}

/* Number of segments that begin at or before a time after the start. */
static uint32_t begun(const struct tl_wave *w, uint32_t at)
{
    uint32_t low = 0, high = w->n_segs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->seg[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct tl_seg *tl_at(const struct tl_wave *w, int64_t t)
{
    if (t < w->start || t >= w->end || !w->n_segs)
        return NULL;
    return &w->seg[begun(w, (uint32_t)(t - w->start)) - 1];
}

int64_t tl_seg_end(const struct tl_wave *w, const struct tl_seg *s)
{
    return s + 1 < w->seg + w->n_segs ? s[1].at : w->end - w->start;
}

uint32_t tl_seg_inst(const struct tl_seg *s)
{
    return s->why == TM_S_BARRIER && s->from != TL_NONE ? s->from : s->inst;
}

void tl_account(const struct timeline *tl, const struct tl_wave *w, int64_t from,
                int64_t to, struct tl_account *account)
{
    if (from < w->start)
        from = w->start;
    if (to > w->end)
        to = w->end;
    if (from >= to || !w->n_segs)
        return;
    (void)tl;
    from -= w->start;
    to -= w->start;
    const struct tl_seg *s = &w->seg[begun(w, (uint32_t)from) - 1];
    while (s > w->seg && s[-1].at == from) /* free steps */
        s--;
    for (; s < w->seg + w->n_segs && s->at < to; s++) {
        int64_t begin = s->at > from ? s->at : from, end = tl_seg_end(w, s);
        if (end > to)
            end = to;
        if (s->inst == TL_NONE)
            continue;
        struct tl_account *a = &account[tl_seg_inst(s)];
        a->times += s->why == TM_S_NONE;
        a->cycles += (uint64_t)(end - begin);
        a->stall[s->why] += (uint64_t)(end - begin);
    }
}

static const struct tl_inst *sort_insts;

static int by_offset(const void *a, const void *b)
{
    const struct tl_inst *x = &sort_insts[*(const uint32_t *)a],
                         *y = &sort_insts[*(const uint32_t *)b];
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

rd_status tl_sort(struct tl_dispatch *d)
{
    uint32_t *order = realloc(d->order, (d->n_insts + 1u) * sizeof *order);
    if (!order)
        return RD_E_NOMEM;
    d->order = order;
    d->n_order = 0;
    for (uint32_t i = 0; i < d->n_insts; i++)
        if (d->inst[i].text)
            order[d->n_order++] = i;
    sort_insts = d->inst;
    qsort(order, d->n_order, sizeof *order, by_offset);
    return RD_OK;
}
