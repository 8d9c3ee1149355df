/* observe.c: watched execution: one event per instruction for observers and steppers.
 *
 * The loop here stands beside the plain one of sched.c; which of them runs is chosen
 * once per slice, so that nobody pays for observers that are not there. Invariants:
 *  - watching changes nothing: same order of waves, same values in every register;
 *  - observers are called under the emulator's observe lock, with the host's float
 * mode. SPDX-License-Identifier: MIT
 */
#include "execute.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"

/* Operands of one instruction: up to EMU_MAX_REGS runs, but at most this much. */
#define VALUE_DWORDS (64u * 256u)

/* ---- observers
 * ------------------------------------------------------------------------
 */

rd_status emu_add_observer(struct emu *emu, const struct emu_observer *observer)
{
    if (emu->n_observers == EMU_MAX_OBSERVERS)
        return RD_E_RANGE;
    glance_forget(emu);
    if (!emu->observers) {
        emu->observers = calloc(EMU_MAX_OBSERVERS, sizeof *emu->observers);
        if (!emu->observers)
            return RD_E_NOMEM;
    }
    emu->observers[emu->n_observers++] = *observer;
    return RD_OK;
}

void emu_remove_observer(struct emu *emu, const void *ctx)
{
    unsigned n = 0;
    glance_forget(emu);
    for (unsigned i = 0; i < emu->n_observers; i++)
        if (emu->observers[i].ctx != ctx)
            emu->observers[n++] = emu->observers[i];
    emu->n_observers = n;
}

/* ---- dispatches and waves ----------------------------------------------------------
 */

rd_status observation_want(struct observation *ob, unsigned want)
{
    ob->want |= want;
    if ((ob->want & EMU_WANT_VALUES) && !ob->in) {
        ob->in = calloc(2ul * VALUE_DWORDS, sizeof *ob->in);
        if (!ob->in)
            return RD_E_NOMEM;
        ob->out = ob->in + VALUE_DWORDS;
    }
    return RD_OK;
}

static void observation_free(struct observation *ob)
{
    free(ob->in);
    free(ob->unseen);
    free(ob);
}

rd_status observation_begin(struct emu *emu, const struct emu_launch *launch,
                            bool stepper, struct observation **out)
{
    *out = NULL;
    if (!emu->n_observers && !stepper)
        return RD_OK;
    struct observation *ob = calloc(1, sizeof *ob);
    if (!ob)
        return RD_E_NOMEM;
    ob->emu = emu;
    ob->n_observers = emu->n_observers;
    unsigned want = stepper ? EMU_WANT_ACCESS : 0;
    for (unsigned i = 0; i < ob->n_observers; i++) {
        ob->observer[i] = emu->observers[i];
        want |= ob->observer[i].want;
        ob->admits |= ob->observer[i].admit != NULL;
        ob->forgives |= ob->observer[i].forgive;
        ob->prepares |= ob->observer[i].before != NULL;
    }
    rd_status st = observation_want(ob, want);
    if (st != RD_OK) {
        observation_free(ob);
        return st;
    }
    pthread_mutex_lock(&emu->observe_lock);
    ob->launch = *launch;
    ob->launch.number = emu->n_launches++;
    ob->glance = stepper ? NULL : glance_of(emu);
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].dispatch_begin)
            ob->observer[i].dispatch_begin(ob->observer[i].ctx, &ob->launch);
    pthread_mutex_unlock(&emu->observe_lock);
    *out = ob;
    return RD_OK;
}

void observation_end(struct observation *ob, rd_status status)
{
    if (!ob)
        return;
    pthread_mutex_lock(&ob->emu->observe_lock);
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].dispatch_end)
            ob->observer[i].dispatch_end(ob->observer[i].ctx, &ob->launch, status);
    pthread_mutex_unlock(&ob->emu->observe_lock);
    observation_free(ob);
}

bool observation_cancelled(const struct observation *ob)
{
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].control && *ob->observer[i].control == EMU_CONTROL_CANCEL)
            return true;
    return false;
}

/* The smallest free slot, taken; UINT32_MAX if out of memory. Lock held. */
static uint32_t take_slot(struct emu *emu)
{
    for (size_t i = 0; i < emu->n_slot_words; i++)
        if (~emu->slots[i]) {
            unsigned bit = (unsigned)__builtin_ctzll(~emu->slots[i]);
            emu->slots[i] |= UINT64_C(1) << bit;
            return (uint32_t)(64 * i + bit);
        }
    size_t n = emu->n_slot_words ? 2 * emu->n_slot_words : 16;
    uint64_t *bigger = realloc(emu->slots, n * sizeof *bigger);
    if (!bigger)
        return UINT32_MAX;
    memset(bigger + emu->n_slot_words, 0, (n - emu->n_slot_words) * sizeof *bigger);
    bigger[emu->n_slot_words] = 1;
    uint32_t slot = (uint32_t)(64 * emu->n_slot_words);
    emu->slots = bigger;
    emu->n_slot_words = n;
    return slot;
}

static struct emu_wave_info identity(const struct wave *w)
{
    const struct workgroup *g = w->group;
    return (struct emu_wave_info){.group = g->number,
                                  .workgroup = {g->id[0], g->id[1], g->id[2]},
                                  .wave = w->index,
                                  .n_waves = g->n_waves,
                                  .lanes = w->wave64 ? 64 : 32};
}

void observe_identify(struct wave *w)
{
    if (!w->observation)
        w->info = identity(w);
}

static rd_status wave_new(struct observation *ob, struct wave *w, uint32_t place)
{
    w->observation = ob;
    w->info = identity(w);
    w->info.dispatch = ob->launch.number;
    w->info.slot = take_slot(ob->emu);
    w->info.place = place;
    if (w->info.slot == UINT32_MAX)
        return RD_E_NOMEM;
    w->holds_slot = true;
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].wave_begin)
            ob->observer[i].wave_begin(ob->observer[i].ctx, &w->info);
    return ob->glance ? glance_begin(ob, w) : RD_OK;
}

rd_status observe_group_new(struct observation *ob, struct workgroup *g,
                            const uint32_t *place)
{
    rd_status st = RD_OK;
    pthread_mutex_lock(&ob->emu->observe_lock);
    for (unsigned i = 0; i < g->n_waves && st == RD_OK; i++)
        st = wave_new(ob, g->waves[i], place ? place[i] : 0);
    pthread_mutex_unlock(&ob->emu->observe_lock);
    return st;
}

/* Lock held. */
static void wave_gone(struct wave *w)
{
    if (!w->holds_slot)
        return;
    w->holds_slot = false;
    w->emu->slots[w->info.slot / 64] &= ~(UINT64_C(1) << w->info.slot % 64);
}

/* Waves of a stepper that watches alone take their steps without the lock. */
static void wave_ended(struct wave *w)
{
    bool locked = !observation_alone(w->observation);
    if (!locked)
        pthread_mutex_lock(&w->emu->observe_lock);
    wave_gone(w);
    if (!locked)
        pthread_mutex_unlock(&w->emu->observe_lock);
}

void observe_group_gone(struct workgroup *g)
{
    pthread_mutex_t *lock = &g->waves[0]->emu->observe_lock;
    pthread_mutex_lock(lock);
    for (unsigned i = 0; i < g->n_waves; i++)
        wave_gone(g->waves[i]);
    pthread_mutex_unlock(lock);
}

/* ---- values ------------------------------------------------------------------------
 */

static uint32_t *copy_reg(const struct wave *w, const struct emu_reg *r, uint32_t *to)
{
    if (r->sel == ISA_SEL_SCC) {
        *to = w->scc;
        return to + 1;
    }
    if (!emu_reg_is_vgpr(r)) {
        for (unsigned i = 0; i < r->dwords; i++)
            *to++ = r->sel + i < SGPR_SLOTS ? w->sgpr[r->sel + i] : 0;
        return to;
    }
    for (unsigned i = 0; i < r->dwords; i++)
        for (unsigned h = 0; h < w->halves; h++, to += ROW_DWORDS)
            memcpy(to, w->vgpr[h] + (r->sel - ISA_SEL_VGPR0 + i) * ROW_DWORDS,
                   ROW_DWORDS * sizeof *to);
    return to;
}

static void copy_values(const struct wave *w, const struct emu_inst *inst,
                        unsigned direction, uint32_t *to)
{
    const uint32_t *end = to + VALUE_DWORDS;
    for (unsigned i = 0; i < inst->n_regs; i++) {
        const struct emu_reg *r = &inst->reg[i];
        if (!(r->flags & direction))
            continue;
        rd_assert(to + emu_reg_values(r, w->info.lanes) <= end, "operand buffer");
        to = copy_reg(w, r, to);
    }
    (void)end;
}

/* ---- one step
 * ------------------------------------------------------------------------ */

/* Faults that a tolerant wave goes on behind: hardware without a trap handler drops
 * what they are about, an opcode that does not exist or has no meaning outside
 * graphics, lanes with a bad LDS address. */
static bool is_shrugged_off(enum emu_fault_kind kind)
{
    return kind == EMU_FAULT_ILLEGAL || kind == EMU_FAULT_UNSUPPORTED ||
           kind == EMU_FAULT_MISALIGNED || kind == EMU_FAULT_LDS_RANGE ||
           kind == EMU_FAULT_REGISTER;
}

/* Those that an observer may forgive. */
static bool is_forgivable(enum emu_fault_kind kind)
{
    return kind == EMU_FAULT_UNMAPPED || kind == EMU_FAULT_PERMISSION ||
           kind == EMU_FAULT_MISALIGNED || kind == EMU_FAULT_LDS_RANGE ||
           kind == EMU_FAULT_SCRATCH_RANGE;
}

/* Where the wave goes on after the fault that stopped it, or NULL. */
static const struct uop *shrug_off(struct wave *w, const struct emu_inst *inst)
{
    struct observation *ob = w->observation;
    struct emu_fault *fault = &w->group->fault;
    if (w->stop != STOP_FAULT)
        return NULL;
    bool forgiven = ob->forgives && is_forgivable(fault->kind);
    if (!forgiven && !(w->tolerant && is_shrugged_off(fault->kind)))
        return NULL;
    const struct uop *next = program_at(w->program, inst->pc + inst->bytes);
    if (!next)
        return NULL;
    if (forgiven) {
        ob->passed_over = *fault;
        ob->event.fault = &ob->passed_over;
    }
    fault->kind = EMU_FAULT_NONE;
    *fault->detail = '\0';
    w->stop = STOP_NONE;
    return next;
}

bool observe_opens_barrier(const struct wave *w)
{
    const struct workgroup *g = w->group;
    bool last = (g->waiting | wave_bit(w)) == g->live;
    return last && (w->stop == STOP_BARRIER || (w->stop == STOP_END && g->waiting));
}

static void finish_event(struct wave *w, const struct uop *u, struct emu_event *e)
{
    const struct emu_inst *inst = e->inst;
    const struct uop *next = u ? u : w->next;
    e->next_pc = program_pc(w->program, next);
    if (u && e->fault)
        e->flags = EMU_EV_PASSED_OVER;
    else if (!u && w->stop == STOP_FAULT)
        e->flags = EMU_EV_FAULT;
    else if (!u && w->stop == STOP_END)
        e->flags = EMU_EV_ENDED;
    else if (e->next_pc != inst->pc + inst->bytes)
        e->flags = EMU_EV_TAKEN;
    if (e->flags & EMU_EV_FAULT)
        e->fault = &w->group->fault;
    if (!u && observe_opens_barrier(w))
        e->flags |= EMU_EV_BARRIER_DONE;
    e->flags |= w->observation->followed;
}

/* Does each lane of b go on where it stops in a? */
static bool continues(const struct emu_access *a, const struct emu_access *b)
{
    if (a->lanes != b->lanes || a->space != b->space || a->read != b->read ||
        a->write != b->write || a->bytes + b->bytes > 64)
        return false;
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctzll(m);
        if (b->address[l] != a->address[l] + a->bytes)
            return false;
    }
    return true;
}

void observe_join(struct observation *ob)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ob->n_accesses; i++) {
        struct emu_access *a = &ob->access[i];
        if (n && continues(&ob->access[n - 1], a)) {
            ob->access[n - 1].bytes = (uint16_t)(ob->access[n - 1].bytes + a->bytes);
            continue;
        }
        if (n != i)
            ob->access[n] = *a;
        n++;
    }
    ob->n_accesses = n;
}

/* ---- lanes that observers keep from running an instruction ---- */

/* Those that all of them let run it; accesses of the others are dropped. */
static uint64_t admitted(struct observation *ob)
{
    uint64_t lanes = ~UINT64_C(0);
    ob->event.n_accesses = ob->n_accesses;
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].admit)
            lanes &= ob->observer[i].admit(ob->observer[i].ctx, &ob->event);
    unsigned n = 0;
    for (unsigned i = 0; i < ob->n_accesses; i++) {
        struct emu_access *a = &ob->access[i];
        a->lanes &= lanes;
        if (a->lanes && n != i)
            ob->access[n] = *a;
        n += a->lanes != 0;
    }
    ob->n_accesses = n;
    return lanes;
}

/* The instruction on these lanes alone. */
static const struct uop *execute_lanes(struct wave *w, const struct uop *u,
                                       uint64_t lanes)
{
    uint32_t lo = w->sgpr[ISA_SEL_EXEC_LO], hi = w->sgpr[ISA_SEL_EXEC_HI];
    if (!w->observation->n_accesses)
        return uop_next(u);
    w->sgpr[ISA_SEL_EXEC_LO] = lo & (uint32_t)lanes;
    w->sgpr[ISA_SEL_EXEC_HI] = hi & (uint32_t)(lanes >> 32);
    u = observe_execute(w, u);
    w->sgpr[ISA_SEL_EXEC_LO] = lo;
    w->sgpr[ISA_SEL_EXEC_HI] = hi;
    return u;
}

static void report(struct observation *ob)
{
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].step)
            ob->observer[i].step(ob->observer[i].ctx, &ob->event);
}

static void prepare(struct observation *ob)
{
    ob->event.n_accesses = ob->n_accesses;
    for (unsigned i = 0; i < ob->n_observers; i++)
        if (ob->observer[i].before)
            ob->observer[i].before(ob->observer[i].ctx, &ob->event);
}

const struct uop *observe_finish(struct wave *w, const struct uop *at,
                                 const struct uop *u, const struct inst_info *info,
                                 const struct emu_event **event)
{
    struct observation *ob = w->observation;
    struct emu_event *e = &ob->event;
    if (!u)
        u = shrug_off(w, &info->inst);
    ob->trapped = false;
    if (!u && w->stop == STOP_FAULT) {
        u = trap_fault(w);
        ob->trapped = u != NULL;
    }
    *event = NULL;
    if (!u && w->next == at && w->stop != STOP_END && w->stop != STOP_FAULT)
        return u; /* to be run again */
    if (ob->noted)
        observe_join(ob);
    e->n_accesses = ob->n_accesses;
    finish_event(w, u, e);
    if (ob->want & EMU_WANT_VALUES)
        copy_values(w, e->inst, ISA_OF_OUT, ob->out);
    report(ob);
    if (e->flags & (EMU_EV_ENDED | EMU_EV_FAULT))
        wave_ended(w);
    *event = e;
    return u;
}

const struct uop *observe_step(struct wave *w, const struct uop *u,
                               const struct inst_info *info, uint64_t index,
                               const struct emu_event **event)
{
    struct observation *ob = w->observation;
    struct emu_event *e = &ob->event;
    const struct uop *at = u;
    *e = (struct emu_event){.wave = &w->info,
                            .inst = &info->inst,
                            .index = index,
                            .time = w->clock,
                            .exec = wave_exec64(w),
                            .access = ob->access,
                            .in = ob->in,
                            .out = ob->out};
    if (info->relative) {
        inst_resolve(&info->inst, w->sgpr[ISA_SEL_M0], &ob->resolved);
        e->inst = &ob->resolved;
    }
    ob->n_accesses = 0;
    ob->noted = false;
    if (ob->want & EMU_WANT_ACCESS && u->flags & UF_MEM) {
        ob->n_accesses = w->emu->level->accesses(w, u, ob->access);
        w->emu->level->leave(); /* observers would wait for its registers */
    }
    if (ob->want & EMU_WANT_VALUES)
        copy_values(w, e->inst, ISA_OF_IN, ob->in);
    if (ob->prepares)
        prepare(ob);
    uint64_t lanes = ob->admits && ob->n_accesses ? admitted(ob) : ~UINT64_C(0);
    u = lanes == ~UINT64_C(0) ? observe_execute(w, u) : execute_lanes(w, u, lanes);
    return observe_finish(w, at, u, info, event);
}

const struct uop *observe_block(struct wave *w, const struct uop *u, bool *stay)
{
    const struct emu_event *event;
    unsigned n = u->run, left = n;
    struct program *p = w->program;
    const struct block *block = program_block(p, u);
    w->n_insts += n;
    for (; left; left--) {
        const struct inst_info *info =
            block ? block->inst[n - left] : program_inst(p, u);
        if (w->counts)
            w->counts->op[u->isa_op]++;
        u = observe_step(w, u, info, w->n_insts - left, &event);
        *stay = u && !w->observation->trapped;
        if (!*stay)
            break;
    }
    w->n_insts -= left ? left - 1 : 0;
    return u;
}

bool observe_turn(const struct observation *ob, const struct wave *w)
{
    bool all = false;
    for (unsigned i = 0; i < ob->n_observers; i++) {
        const struct emu_glance *g = glance_by(&ob->observer[i]);
        if (g && g->turn)
            all |= g->turn(ob->observer[i].ctx, &w->info);
    }
    return all;
}

void observe_run(struct wave *w)
{
    const struct uop *u = w->next;
    pthread_mutex_lock(&w->emu->observe_lock);
    w->stop = STOP_NONE;
    bool stay = true;
    if (w->observation->glance) {
        u = glance_run(w);
    } else {
        (void)observe_turn(w->observation, w);
        while (stay && w->turn > 0) {
            w->turn -= u->turn;
            u = observe_block(w, u, &stay);
        }
    }
    pthread_mutex_unlock(&w->emu->observe_lock);
    if (u)
        w->group->running->next = u;
}

/* ---- accesses that only a handler knows --------------------------------------------
 */

void observe_note(struct wave *w, unsigned lane, unsigned space, uint64_t address,
                  unsigned bytes, bool read, bool write)
{
    struct observation *ob = w->observation;
    uint64_t bit = UINT64_C(1) << lane;
    if (!(ob->want & EMU_WANT_ACCESS))
        return;
    ob->noted = true;
    for (unsigned i = 0; i < ob->n_accesses; i++) {
        struct emu_access *a = &ob->access[i];
        if (a->space == space && a->bytes == bytes && a->read == read &&
            a->write == write && !(a->lanes & bit)) {
            a->lanes |= bit;
            a->address[lane] = address;
            return;
        }
    }
    if (ob->n_accesses == OBSERVE_ACCESSES)
        return;
    struct emu_access *a = &ob->access[ob->n_accesses++];
    a->lanes = bit;
    a->bytes = (uint16_t)bytes;
    a->space = (uint8_t)space;
    a->read = read;
    a->write = write;
    a->scalar = ob->event.inst->isa.enc == ISA_ENC_SMEM;
    a->address[lane] = address;
}
