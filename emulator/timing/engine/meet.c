/* meet.c: instructions as waves come to them: what is known of each, met once; whether
 * the next turn of a wave is its WGP's own.
 *
 * Must not know what an issue does. Invariant: an instruction is described once in each
 * part, before the first wave of it issues it.
 * SPDX-License-Identifier: MIT
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* Does it nothing when it is executed? Caches are only here. */
static bool is_idle(const struct tm_inst *i)
{
    return i->drops_l0 || i->drops_gl1 ||
           (i->cls == TM_IMM && (i->special == TM_DELAY || i->special == TM_WAITCNT ||
                                 i->special == TM_CLAUSE || i->special == TM_NOP ||
                                 i->special == TM_DEPCTR));
}

/* May it be executed when something else of its wave is? The wave is at it. Whoever
 * decides about time looks at EXEC only. */
static bool can_be_postponed(const struct tm_engine *t, const struct tm_wave *w,
                             const struct tm_inst *i)
{
    bool plain =
        (i->cls == TM_VALU || i->cls == TM_SALU) && !i->special && !i->writes_exec;
    return (plain || is_idle(i)) && !i->alone && emu_wave_may_wait(t->stepper, w->wave);
}

/* Its place, or the one that it would have. */
static struct tm_met_at *place_of(const struct tm_inst_table *x, uint32_t offset)
{
    size_t k = offset / 4 * UINT32_C(2654435761);
    while (x->at[k & (x->places - 1)].inst &&
           x->at[k & (x->places - 1)].inst->offset != offset)
        k++;
    return &x->at[k & (x->places - 1)];
}

/* Of several at an offset the one with the lowest number is kept. */
static void put(struct tm_inst_table *x, struct tm_met_at met)
{
    struct tm_met_at *at = place_of(x, met.inst->offset);
    if (!at->inst || met.number < at->number)
        *at = met;
}

static bool has_place(struct tm_inst_table *x)
{
    if (2 * (x->n_met + 1) <= x->places)
        return true;
    struct tm_inst_table bigger = {.places = x->places ? 2 * x->places : 256};
    bigger.at = calloc(bigger.places, sizeof *bigger.at);
    if (!bigger.at)
        return false;
    for (size_t k = 0; k < x->places; k++)
        if (x->at[k].inst)
            put(&bigger, x->at[k]);
    free(x->at);
    x->at = bigger.at;
    x->places = bigger.places;
    return true;
}

/* One that was not met before; the wave is at it. */
static struct tm_inst *meet(struct tm_engine *t, const struct tm_wave *w,
                            const struct emu_inst *inst)
{
    uint32_t number = numbers_find(&t->all->insts.numbers, inst);
    if (!number)
        number = numbers_give(&t->all->insts.numbers, inst);
    if (number > t->insts.cap) {
        size_t cap = t->insts.cap ? 2 * t->insts.cap : 256;
        cap = number > cap ? number : cap;
        struct tm_inst **bigger = realloc(t->insts.inst, cap * sizeof(*bigger));
        if (!bigger)
            return NULL;
        memset(bigger + t->insts.cap, 0, (cap - t->insts.cap) * sizeof(*bigger));
        t->insts.inst = bigger;
        t->insts.cap = cap;
    }
    bool place = number && has_place(&t->insts);
    struct tm_inst *i = place ? aligned_alloc(64, sizeof *i) : NULL;
    if (!i)
        return NULL;
    tm_inst_describe(inst, tm_canon_code(&t->chip.mem->canon, inst->pc),
                     t->launch.lanes == 64, i);
    tm_inst_costs(&t->chip.b, i);
    tm_lds_costs(&t->chip.b, i);
    tm_inst_bound(i, t->all->pools.vgprs);
    i->postponed = can_be_postponed(t, w, i);
    i->idle = i->postponed && is_idle(i);
    i->load_postponed = /* launches that share the chip may have LDS of other sizes */
        !t->all->several && i->cls == TM_LDS && t->launch.lanes == 32 &&
        emu_wave_may_load_later(t->stepper, w->wave, &i->lds_vgpr, &i->lds_limit);
    tm_inst_sort(i, t->chip.b.lanes);
    t->all->talks |= i->talks;
    t->insts.n_met++;
    put(&t->insts, (struct tm_met_at){i, number});
    return t->insts.inst[number - 1] = i;
}

struct tm_inst *tm_met(const struct tm_engine *t, const struct emu_inst *inst)
{
    uint32_t number = numbers_find(&t->all->insts.numbers, inst);
    return number && number <= t->insts.cap ? t->insts.inst[number - 1] : NULL;
}

struct tm_inst *tm_come_across(struct tm_engine *t, const struct tm_wave *w,
                               const struct emu_inst *inst, struct tm_inst *before)
{
    if (before && before->after && before->after->inst == inst)
        return before->after;
    struct tm_inst *i = tm_met(t, inst);
    if (!i)
        i = meet(t, w, inst);
    if (before)
        before->after = i;
    return i;
}

/* ---- what a turn will look at ---- */

static struct tm_inst *met_at(const struct tm_engine *t, uint32_t offset)
{
    return t->insts.places ? place_of(&t->insts, offset)->inst : NULL;
}

/* What has been met where a wave goes on. That no wave has come from one to the other
 * yet does not say that none has been there: loops are entered by their first
 * instruction, and from a barrier waves go on that know nothing of it. */
static void find_next(const struct tm_engine *t, struct tm_inst *i)
{
    if (i->sought == t->insts.n_met)
        return;
    i->sought = t->insts.n_met;
    if (!i->follows) {
        i->follows = met_at(t, i->offset + i->bytes);
        tm_fetch_forget(i);
    }
    if (i->cls == TM_BRANCH && !i->lands)
        i->lands = met_at(t, i->target);
}

static struct tm_inst *find_behind(const struct tm_engine *t, struct tm_inst *i)
{
    find_next(t, i);
    return i->follows;
}

/* The same, through what takes no time. */
static void find_ways(const struct tm_engine *t, struct tm_inst *i)
{
    find_next(t, i);
    struct tm_inst *n = i->follows;
    while (n && n->special == TM_DELAY)
        n = find_behind(t, n);
    n = i->lands;
    while (n && n->special == TM_DELAY)
        n = find_behind(t, n);
}

/* What a wave will look at that waits for nobody any more; NULL: not met yet. */
static struct tm_inst *to_come(const struct tm_engine *t, const struct tm_wave *w)
{
    struct tm_inst *i = w->behind ? w->last->follows : NULL;
    const struct emu_inst *inst =
        !i && w->began && !w->unmet && !w->owed ? emu_wave_next(w->wave) : NULL;
    if (inst)
        i = tm_met(t, inst);
    for (unsigned n = 0; i && i->special == TM_DELAY; n++)
        i = n < TM_DELAYS ? find_behind(t, i) : NULL;
    return i;
}

bool tm_takes_all(struct tm_engine *t, const struct tm_wave *w)
{
    if (!w || t->all->talks || w->ended)
        return true;
    if (w->sleeps)
        return false;
    struct tm_inst *i = w->next ? w->next : to_come(t, w);
    if (!i || i->alone)
        return true;
    find_ways(t, i);
    return !tm_fetch_is_near(&w->simd->in->fetch, &w->fetch, i);
}

/* Is an operation open that a wait for a counter's limit is for? more: operations that
 * it counts besides by then */
static bool looks_at(const struct tm_fifo *f, unsigned limit, unsigned more)
{
    for (unsigned k = 0; k + limit < f->n + more && k < f->n; k++)
        if (fifo_at(f, f->first + k)->open)
            return true;
    return false;
}

/* The same for the instruction, as a wave comes to it; NULL: not known, which. */
static bool looks(const struct tm_engine *t, const struct tm_wave *w,
                  const struct tm_inst *i, unsigned more)
{
    const struct tm_fifo *vm = &w->counter[TM_VM], *vs = &w->counter[TM_VS];
    unsigned most = (unsigned)PARAM(&t->chip.b, counter_most) - 1;
    if (!i)
        return looks_at(vm, 0, more) || looks_at(vs, 0, more);
    if (i->cls == TM_VMEM && (vm->n + more >= most || vs->n + more >= most))
        return true;
    return (i->waits & 1u && looks_at(vm, i->wait[0], more)) ||
           (i->waits & 2u && looks_at(vs, i->wait[1], more));
}

static const struct tm_inst *behind_delays(const struct tm_inst *i)
{
    while (i && i->special == TM_DELAY)
        i = i->follows;
    return i;
}

bool tm_awaits_some(const struct tm_engine *t, const struct tm_wave *w)
{
    const struct tm_inst *i = w->next;
    if (w->sleeps)
        return false;
    if (!i || looks(t, w, i, 0))
        return looks(t, w, NULL, 0);
    if (i->special == TM_BARRIER)
        return false; /* it looks in a later turn */
    unsigned more = i->cls == TM_VMEM;
    if (i->cls != TM_BRANCH)
        return looks(t, w, behind_delays(i->follows), more);
    bool known = i->after && i->after->offset == i->target;
    return looks(t, w, behind_delays(i->follows), more) ||
           looks(t, w, known ? behind_delays(i->after) : NULL, more);
}
