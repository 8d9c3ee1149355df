/* stepper.c: the functional engine under somebody else's schedule.
 *
 * Does what sched.c does for a dispatch, one step at a time: it keeps barriers and
 * ends, and leaves every choice of order to the caller. Knows no cycles: the clock is
 * handed through to the wave. SPDX-License-Identifier: MIT
 */
#include "stepper.h"

#include <stdlib.h>

#include "context.h"

/* The opaque names stand for the engine's own structures. */
static struct resident *resident_of(struct emu_group *g)
{
    return (struct resident *)g;
}

static const struct workgroup *group_of(const struct emu_group *g)
{
    return &((const struct resident *)g)->group;
}

static struct wave *wave_of(struct emu_wave *w)
{
    return (struct wave *)w;
}

static const struct wave *const_wave_of(const struct emu_wave *w)
{
    return (const struct wave *)w;
}

rd_status emu_stepper_create(struct emu *emu, const struct emu_dispatch *dispatch,
                             struct emu_stepper **out, struct emu_fault *fault)
{
    struct emu_stepper *s = calloc(1, sizeof *s);
    if (!s)
        return RD_E_NOMEM;
    s->copy = *dispatch;
    s->copy.control = NULL;
    s->dp.emu = emu;
    s->dp.d = &s->copy;
    rd_status st = dispatch_prepare(&s->dp);
    if (st == RD_E_FAULT && fault)
        *fault = s->dp.fault;
    if (st == RD_OK) {
        st = dispatch_observe(&s->dp, true);
        if (st == RD_OK)
            s->alone = observation_alone(s->dp.observation);
        if (st == RD_OK && dispatch_counts(&s->dp)) {
            s->counts = calloc(1, sizeof *s->counts);
            st = s->counts ? RD_OK : RD_E_NOMEM;
        }
        if (st != RD_OK) {
            observation_end(s->dp.observation, st);
            dispatch_finish(&s->dp);
        }
    }
    if (st != RD_OK) {
        free(s);
        return st;
    }
    *out = s;
    return RD_OK;
}

void emu_stepper_sclk(struct emu_stepper *s, double mhz)
{
    s->dp.sclk_mhz = mhz;
}

void emu_stepper_rest(struct emu_stepper *s, struct emu_stats *stats)
{
    struct dispatch *dp = &s->dp;
    while (s->live)
        emu_group_end(s, (struct emu_group *)s->live);
    while (s->idle) {
        struct resident *r = s->idle;
        s->idle = r->next;
        resident_destroy(dp, r);
    }
    dispatch_count(dp, s->counts);
    s->counts = NULL;
    if (stats && !s->rests)
        dispatch_add_stats(dp, stats);
    if (!s->rests) {
        s->launch = dp->observation->launch;
        observation_end(dp->observation,
                        dp->fault.kind == EMU_FAULT_NONE ? RD_OK : RD_E_FAULT);
        dp->observation = NULL;
    }
    s->rests = true;
}

void emu_stepper_destroy(struct emu_stepper *s, struct emu_stats *stats)
{
    if (!s)
        return;
    struct dispatch *dp = &s->dp;
    emu_stepper_rest(s, stats);
    dispatch_finish(dp);
    for (unsigned i = 0; i < s->n_parts; i++)
        free(s->part[i]);
    free(s->part);
    free(s->order.queue);
    free(s);
}

const struct emu_launch *emu_stepper_launch(const struct emu_stepper *s)
{
    return s->rests ? &s->launch : &s->dp.observation->launch;
}

const struct emu_fault *emu_stepper_fault(const struct emu_stepper *s)
{
    return &s->dp.fault;
}

rd_status emu_stepper_want(struct emu_stepper *s, unsigned want)
{
    rd_status st = observation_want(s->dp.observation, want);
    s->alone = observation_alone(s->dp.observation);
    return st;
}

void emu_stepper_tolerate(struct emu_stepper *s)
{
    s->tolerant = true;
}

/* ---- workgroups
 * ---------------------------------------------------------------------- */

unsigned emu_stepper_group_waves(const struct emu_stepper *s, uint64_t number)
{
    const struct emu_dispatch *d = s->dp.d;
    uint32_t items = 1;
    uint64_t rest = number;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t start = rest % d->groups[i] * d->block[i];
        uint64_t n = d->block[i];
        rest /= d->groups[i];
        if (d->items[i] && start + n > d->items[i])
            n = d->items[i] - start;
        items *= (uint32_t)n;
    }
    unsigned width = d->wave64 ? 64 : 32;
    return (items + width - 1) / width;
}

rd_status emu_group_start(struct emu_stepper *s, uint64_t number, const uint32_t *place,
                          struct emu_group **out)
{
    struct resident *r = s->idle;
    rd_status st = RD_OK;
    if (number >= s->dp.n_groups)
        return RD_E_RANGE;
    if (r)
        s->idle = r->next;
    else
        st = resident_create(&s->dp, &r);
    if (st != RD_OK)
        return st;
    resident_launch(&s->dp, r, number);
    for (unsigned i = 0; i < r->group.n_waves; i++) {
        wave_fill(&r->waves[i]);
        r->waves[i].timed = true;
        r->waves[i].tolerant = s->tolerant;
        r->waves[i].counts = s->counts;
    }
    r->next = s->live;
    s->live = r;
    st = observe_group_new(s->dp.observation, &r->group, place);
    if (st == RD_OK)
        *out = (struct emu_group *)r;
    return st;
}

bool emu_stepper_is_alone(const struct emu_stepper *s)
{
    return s->alone;
}

rd_status emu_stepper_divide(struct emu_stepper *s, unsigned parts)
{
    if (!s->alone || s->counts)
        return RD_E_BUSY;
    struct observation **part = calloc(parts, sizeof(*part));
    bool all = part != NULL;
    for (unsigned i = 0; i < parts && all; i++)
        all = (part[i] = observation_copy(s->dp.observation)) != NULL;
    if (all) {
        s->part = part;
        s->n_parts = parts;
        return RD_OK;
    }
    for (unsigned i = 0; i < parts && part; i++)
        free(part[i]);
    free(part);
    return RD_E_NOMEM;
}

void emu_group_part(struct emu_stepper *s, struct emu_group *group, unsigned part)
{
    struct resident *r = resident_of(group);
    for (unsigned i = 0; i < r->group.n_waves; i++)
        r->waves[i].observation = s->part[part];
}

void emu_stepper_blame(struct emu_stepper *s, const struct emu_wave *wave)
{
    s->dp.fault = const_wave_of(wave)->group->fault;
}

void emu_group_end(struct emu_stepper *s, struct emu_group *group)
{
    struct resident *r = resident_of(group), **link = &s->live;
    struct emu_stats *stats = &s->dp.stats;
    while (*link && *link != r)
        link = &(*link)->next;
    rd_assert(*link, "a workgroup of another stepper");
    if (!*link)
        return;
    *link = r->next;
    stats->workgroups++;
    stats->waves += r->group.n_waves;
    for (unsigned i = 0; i < r->group.n_waves; i++)
        stats->instructions += r->waves[i].n_insts;
    observe_group_gone(&r->group);
    r->next = s->idle;
    s->idle = r;
}

unsigned emu_group_waves(const struct emu_group *group)
{
    return group_of(group)->n_waves;
}

unsigned emu_group_live(const struct emu_group *group)
{
    return (unsigned)__builtin_popcount(group_of(group)->live);
}

unsigned emu_group_waiting(const struct emu_group *group)
{
    return (unsigned)__builtin_popcount(group_of(group)->waiting);
}

struct emu_wave *emu_group_wave(struct emu_group *group, unsigned index)
{
    return (struct emu_wave *)resident_of(group)->group.waves[index];
}

/* ---- waves --------------------------------------------------------------------------
 */

const struct emu_wave_info *emu_wave_info(const struct emu_wave *wave)
{
    return &const_wave_of(wave)->info;
}

static bool ended(const struct wave *w)
{
    return !(w->group->live & wave_bit(w));
}

enum emu_wave_state emu_wave_state(const struct emu_wave *wave)
{
    const struct wave *w = const_wave_of(wave);
    return ended(w)                          ? EMU_WAVE_ENDED
           : w->stop == STOP_FAULT           ? EMU_WAVE_FAULTED
           : w->group->waiting & wave_bit(w) ? EMU_WAVE_BARRIER
                                             : EMU_WAVE_READY;
}

const struct emu_inst *emu_wave_next(struct emu_wave *wave)
{
    struct wave *w = wave_of(wave);
    if (ended(w) || w->stop == STOP_FAULT)
        return NULL;
    return &program_inst(w->program, w->next)->inst;
}

void emu_wave_prefetch(const struct emu_wave *wave)
{
    const struct wave *w = const_wave_of(wave);
    __builtin_prefetch(w);
    __builtin_prefetch(&w->sgpr[ISA_SEL_EXEC_LO]);
    __builtin_prefetch(&w->next);
    __builtin_prefetch(&w->group);
    __builtin_prefetch(&w->clock);
}

const void *emu_wave_rows(const struct emu_wave *wave)
{
    return const_wave_of(wave)->vgpr[0];
}

const uint32_t *emu_wave_exec_low(const struct emu_wave *wave)
{
    return &const_wave_of(wave)->sgpr[ISA_SEL_EXEC_LO];
}

uint64_t emu_wave_exec(const struct emu_wave *wave)
{
    return wave_exec64(const_wave_of(wave));
}

uint64_t emu_wave_executed(const struct emu_wave *wave)
{
    return const_wave_of(wave)->n_insts;
}

/* Count what the step did to its workgroup; keep the first fault. */
static rd_status settle(struct emu_stepper *s, struct wave *w)
{
    struct dispatch *dp = &s->dp;
    const struct emu_context *c = w->group->queue->context;
    bool stays = s->order.started && c && c->stays;
    if (w->stop == STOP_HALT && !stays) { /* nobody resumes it */
        trap_report_halt(w->group);
        w->stop = STOP_FAULT;
    }
    wave_stopped(w->group, w);
    if (w->stop != STOP_FAULT)
        return RD_OK;
    if (!s->n_parts && dp->fault.kind == EMU_FAULT_NONE) /* else emu_stepper_blame */
        dp->fault = w->group->fault;
    return RD_E_FAULT;
}

static const struct uop *observe(struct wave *w, const struct uop *u, uint64_t index,
                                 const struct emu_event **event)
{
    pthread_mutex_lock(&w->emu->observe_lock);
    u = observe_step(w, u, program_inst(w->program, u), index, event);
    pthread_mutex_unlock(&w->emu->observe_lock);
    return u;
}

/* May it be executed later, but for what it accesses? */
static bool may_be_postponed(const struct emu_stepper *s, const struct wave *w)
{
    const struct uop *u = w->next;
    const struct emu_queue *queue = s->dp.d->queue;
    return s->alone && !w->counts && !(queue && queue->tba) && u->run > 1 &&
           !(u->flags & (UF_ENDS | UF_ALONE)) && !program_inst(w->program, u)->relative;
}

bool emu_wave_may_wait(const struct emu_stepper *s, const struct emu_wave *wave)
{
    const struct wave *w = const_wave_of(wave);
    return may_be_postponed(s, w) && !(w->next->flags & (UF_MEM | UF_MAY_FAULT));
}

bool emu_wave_may_load_later(const struct emu_stepper *s, const struct emu_wave *wave,
                             uint8_t *vgpr, uint32_t *limit)
{
    const struct wave *w = const_wave_of(wave);
    const struct uop *u = w->next;
    if (u->fn != w->emu->level->ds_load || !may_be_postponed(s, w))
        return false;
    const struct umem *m = &u->mem;
    uint32_t far = m->elems == 2 && m->off1 > m->off0 ? m->off1 : m->off0;
    uint32_t reach = far + m->bytes - 1u, lds = w->group->lds_bytes;
    *vgpr = (uint8_t)m->addr;
    *limit = lds > reach ? lds - reach : 0;
    return true;
}

void emu_wave_catch_up(struct emu_wave *wave, unsigned n)
{
    struct wave *w = wave_of(wave);
    w->next = observe_many(w, w->next, n);
    rd_assert(w->next != NULL, "what was postponed cannot fault");
    w->n_insts += n;
}

void emu_wave_pass(struct emu_wave *wave, unsigned n)
{
    struct wave *w = wave_of(wave);
    w->n_insts += n;
    for (; n; n--)
        w->next = uop_next(w->next);
}

rd_status stepper_execute(struct emu_stepper *s, struct wave *w, uint64_t index,
                          const struct emu_event **event)
{
    const struct uop *u = w->next;
    w->stop = STOP_NONE;
    if (w->counts)
        w->counts->op[u->isa_op]++;
    u = s->alone ? observe_alone(w, u, index, event) : observe(w, u, index, event);
    if (u)
        w->next = u;
    return u ? RD_OK : settle(s, w);
}

rd_status emu_wave_step(struct emu_stepper *s, struct emu_wave *wave, uint64_t clock,
                        const struct emu_event **event)
{
    struct wave *w = wave_of(wave);
    const struct workgroup *g = w->group;
    const struct emu_event *e;
    uint32_t bit = wave_bit(w);
    if (!(g->live & bit))
        return RD_E_INVALID;
    if (w->stop == STOP_FAULT)
        return RD_E_FAULT;
    if (g->waiting & bit)
        return RD_E_BUSY;
    w->clock = clock;
    if (s->alone && !w->counts) {
        w->stop = STOP_NONE;
        const struct uop *u = observe_alone(w, w->next, w->n_insts, &e);
        if (u)
            w->next = u;
        else if (settle(s, w) != RD_OK)
            return RD_E_FAULT;
    } else if (stepper_execute(s, w, w->n_insts, &e) != RD_OK) {
        return RD_E_FAULT;
    }
    if (!e)
        return RD_E_BUSY; /* global wave sync: to be tried again */
    w->n_insts++;
    *event = e;
    return RD_OK;
}
