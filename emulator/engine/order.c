/* order.c: the order of emu_run with one thread, one instruction at a time.
 *
 * The same decisions as in sched.c, which knows their reasons, with all that they
 * depend on in struct order and the waves: so that a snapshot holds it, and a debugger
 * sees what a run did. A test compares. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "control.h"
#include "stepper.h"
#include "trap.h"

static rd_status queue_add(struct order *o, struct resident *r)
{
    if (o->n == o->room) {
        unsigned room = o->room ? 2 * o->room : 16;
        struct resident **bigger = realloc(o->queue, room * sizeof(*bigger));
        if (!bigger)
            return RD_E_NOMEM;
        o->queue = bigger;
        o->room = room;
    }
    o->queue[o->n++] = r;
    return RD_OK;
}

static struct resident *queue_take(struct order *o)
{
    struct resident *r = o->queue[0];
    o->n--;
    for (unsigned i = 0; i < o->n; i++)
        o->queue[i] = o->queue[i + 1];
    return r;
}

/* The next workgroup, if there is one and room for it. */
static rd_status start_next(struct emu_stepper *s)
{
    struct order *o = &s->order;
    struct emu_group *group;
    if (!s->dp.max_resident)
        s->dp.max_resident = dispatch_resident_limit(&s->dp, 1);
    if (o->started >= s->dp.n_groups || o->n >= s->dp.max_resident)
        return RD_OK;
    rd_status st = emu_group_start(s, o->started, NULL, &group);
    if (st != RD_OK)
        return st;
    o->started++;
    struct resident *r = (struct resident *)group;
    for (unsigned i = 0; i < r->group.n_waves; i++)
        r->waves[i].timed = false;
    return queue_add(o, r);
}

/* A wave of the group that can run; NULL: its turn is over. */
static struct wave *next_wave(struct order *o)
{
    struct workgroup *g = &o->group->group;
    if (o->done >= GROUP_BUDGET || group_stands(g))
        return NULL;
    struct wave *w = turn_find(g);
    w->turn = TURN;
    return w;
}

rd_status emu_order_next(struct emu_stepper *s, struct emu_wave **out)
{
    struct order *o = &s->order;
    rd_status st = RD_OK;
    unsigned standing = 0; /* workgroups that were asked in vain */
    while (!o->wave && st == RD_OK && (!standing || standing <= o->n)) {
        if (!o->group) {
            if (!o->n)
                st = start_next(s);
            if (st != RD_OK || !o->n)
                break;
            o->group = queue_take(o);
            o->done = 0;
        }
        o->wave = next_wave(o);
        o->left = 0;
        if (o->wave)
            break;
        struct resident *r = o->group;
        o->group = NULL;
        standing = group_stands(&r->group) ? standing + 1 : 0;
        st = queue_add(o, r);
        if (resident_wants_others(r) && st == RD_OK)
            st = start_next(s);
    }
    *out = (struct emu_wave *)o->wave;
    return st;
}

/* The wave's turn after an instruction. */
static void account(struct emu_stepper *s, struct wave *w, bool stopped)
{
    struct order *o = &s->order;
    o->done++;
    o->left--;
    if (w->stop == STOP_GWS)
        o->done += GROUP_BUDGET / 64;
    if (stopped || (!o->left && w->turn <= 0))
        o->wave = NULL;
    if (!w->group->live) {
        emu_group_end(s, (struct emu_group *)o->group);
        o->group = NULL;
    }
}

/* MODE.DEBUG_EN: into the handler behind each instruction. */
static void single_step(struct order *o, struct wave *w)
{
    const struct uop *handler =
        trap_enter(w, w->next, program_pc(w->program, w->next), 0);
    if (handler)
        w->next = handler;
    o->left = 1;
    w->turn = 0;
}

rd_status emu_order_step(struct emu_stepper *s, const struct emu_event **event)
{
    struct order *o = &s->order;
    struct emu_wave *next;
    *event = NULL;
    rd_status st = emu_order_next(s, &next);
    if (st != RD_OK)
        return st;
    if (!next)
        return RD_E_NOT_FOUND;
    struct wave *w = (struct wave *)next;
    bool single = w->mode_bits & MODE_DEBUG_EN && wave_has_handler(w);
    if (w->stop == STOP_FAULT)
        return RD_E_FAULT;
    if (!o->left) {
        w->turn -= w->next->turn;
        o->left = w->next->run;
    }
    w->n_insts++; /* before: what reads the clock sees it so (wave_clock) */
    st = stepper_execute(s, w, w->n_insts - 1, event);
    w->n_insts -= !*event;
    if (st == RD_OK && single && *event && w->stop == STOP_NONE && wave_has_handler(w))
        single_step(o, w);
    if (st == RD_OK)
        account(s, w, w->stop != STOP_NONE || w->observation->trapped);
    return st;
}

void emu_order_store(struct emu_stepper *s)
{
    for (unsigned i = 0; i < emu_order_groups(s); i++)
        context_store(&((struct resident *)emu_order_group(s, i))->group);
}

void emu_order_load(struct emu_stepper *s)
{
    for (unsigned i = 0; i < emu_order_groups(s); i++) {
        struct workgroup *g = &((struct resident *)emu_order_group(s, i))->group;
        context_load(g);
        if (g->fault.kind == EMU_FAULT_NONE)
            continue;
        s->dp.fault = g->fault; /* it has been sent to where nothing is */
        g->waves[g->fault.wave]->stop = STOP_FAULT;
    }
    s->order.wave = NULL; /* it may stand now */
    s->order.left = 0;
}

void emu_order_watch(struct emu_stepper *s, struct emu_wave *wave, uint32_t hit)
{
    trap_watch((struct wave *)wave, hit);
    s->order.left = 0; /* the next instruction may be the handler's first */
}

unsigned emu_order_groups(const struct emu_stepper *s)
{
    const struct order *o = &s->order;
    return o->n + (o->group != NULL);
}

struct emu_group *emu_order_group(const struct emu_stepper *s, unsigned index)
{
    const struct order *o = &s->order;
    if (o->group && index == 0)
        return (struct emu_group *)o->group;
    return (struct emu_group *)o->queue[index - (o->group != NULL)];
}
