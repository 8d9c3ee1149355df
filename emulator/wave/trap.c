/* trap.c: trap handlers: entry, return, halts, interrupts (manual 3.4.9, 5.1).
 *
 * A wave enters the handler by s_trap, or instead of a fault that hardware turns into
 * an exception: illegal instructions and bad LDS, scratch or alignment. Unmapped
 * addresses remain faults of the dispatch: the driver reports them as page faults.
 * Inside, the wave is privileged: TTMPs are registers, STATUS can be written, and a
 * fault is final.
 *
 * TTMPs as the hardware fills them, at launch and at entry:
 *   ttmp0   PC[31:0]                       ttmp6   index of the dispatch packet [24:0]
 *   ttmp1   HT[24], trap id[23:16],        ttmp8-10  workgroup x, y, z
 *           PC[47:32]                      ttmp11  no scratch[6], wave in group[5:0]
 * A second-level handler also finds what the kernel driver's first level leaves:
 *   ttmp12  STATUS at entry                ttmp14, 15  TMA
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "trap.h"

#include "control.h"

#define TTMP(n)    (ISA_SEL_TTMP0 + (n))
#define PACKET     0x1ffffffu
#define NO_SCRATCH (1u << 6)
#define PC_HI      0xffffu
/* In the address where a wave is saved. */
#define SAVED_FIRST (UINT64_C(1) << 58)
/* TRAPSTS: the watch points 0 to 3, of a bit each */
#define TRAPSTS_WATCH(hit) (((hit) & 1u) << 7 | ((hit) & 0xeu) << 11)

void trap_init(struct wave *w)
{
    const struct emu_queue *q = w->group->queue;
    const struct workgroup *g = w->group;
    w->status_bits = STATUS_VALID | (g->n_waves > 1 ? STATUS_IN_WG : 0) |
                     (g->scratch_bytes ? STATUS_SCRATCH_EN : 0);
    if (q->context && q->context->halted && q->context->halted(q->context->ctx)) {
        w->status_bits |= STATUS_HALT;
        w->group->halted |= wave_bit(w);
    }
    if (!q->tba)
        return;
    w->status_bits |= STATUS_TRAP_EN;
    w->sgpr[TTMP(6)] = q->packet & PACKET;
    memcpy(&w->sgpr[TTMP(8)], g->id, sizeof g->id);
    w->sgpr[TTMP(11)] = (g->scratch_bytes ? 0 : NO_SCRATCH) | (w->index & 63u);
}

bool trap_place(struct wave *w, uint64_t *where)
{
    struct workgroup *g = w->group;
    const struct emu_context *c = g->queue->context;
    uint32_t left = g->live & ~g->asked;
    const struct emu_saved_wave s = {.group = g->number,
                                     .wave = w->index,
                                     .first = !(left & (left - 1)),
                                     .last = !g->asked,
                                     .wave64 = w->wave64,
                                     .vgprs = g->n_vgprs,
                                     .lds_bytes = (g->lds_bytes + 511) & ~511u};
    *where = 0;
    if (!c || !c->place)
        return true;
    w->saved_at = c->place(c->ctx, &s);
    if (!w->saved_at)
        return false;
    w->saved_at |= s.first ? SAVED_FIRST : 0;
    g->asked |= wave_bit(w);
    *where = w->saved_at;
    return true;
}

const struct uop *trap_enter(struct wave *w, const struct uop *u, uint64_t pc,
                             unsigned id)
{
    const struct emu_queue *q = w->group->queue;
    w->status_bits |= STATUS_PRIV;
    w->sgpr[TTMP(0)] = (uint32_t)pc;
    w->sgpr[TTMP(1)] = (uint32_t)(pc >> 32 & PC_HI) | (id & 0xffu) << 16;
    if (q->second_level) {
        w->sgpr[TTMP(12)] = wave_status(w);
        w->sgpr[TTMP(14)] = (uint32_t)q->tma;
        w->sgpr[TTMP(15)] = (uint32_t)(q->tma >> 32);
    }
    const struct uop *handler = wave_goto(w, q->tba);
    if (!handler)
        return wave_fault_at(w, u, EMU_FAULT_FETCH, -1, q->tba, 4, false);
    return handler;
}

const struct uop *trap_take(struct wave *w, const struct uop *u, unsigned id)
{
    struct workgroup *g = w->group;
    uint64_t pc = program_pc(w->program, u);
    if (wave_has_handler(w)) {
        wave_describe(w, u, EMU_FAULT_TRAP, &g->cause);
        g->cause.trap_id = id;
    }
    return trap_enter(w, u, pc, id);
}

/* Exceptions that hardware raises for a kind of fault; 0: none. */
static uint32_t exception_of(const struct wave *w, enum emu_fault_kind kind)
{
    const struct emu_context *c = w->group->queue->context;
    switch (kind) {
    case EMU_FAULT_UNMAPPED:
    case EMU_FAULT_PERMISSION:
    case EMU_FAULT_FETCH:
        return c && c->page_fault ? TRAPSTS_MEM_VIOL : 0;
    case EMU_FAULT_ILLEGAL:
        return TRAPSTS_ILLEGAL_INST;
    case EMU_FAULT_MISALIGNED:
    case EMU_FAULT_LDS_RANGE:
    case EMU_FAULT_SCRATCH_RANGE:
        return TRAPSTS_MEM_VIOL;
    default:
        return 0;
    }
}

const struct uop *trap_fault(struct wave *w)
{
    struct workgroup *g = w->group;
    uint32_t exception = exception_of(w, g->fault.kind);
    if (!exception || !wave_has_handler(w) || g->fault.wave != w->index)
        return NULL;
    const struct emu_context *c = g->queue->context;
    bool page = g->fault.kind == EMU_FAULT_UNMAPPED ||
                g->fault.kind == EMU_FAULT_PERMISSION ||
                g->fault.kind == EMU_FAULT_FETCH;
    uint64_t pc = g->fault.kind == EMU_FAULT_FETCH ? g->fault.address : g->fault.pc;
    if (page)
        c->page_fault(c->ctx, &g->fault);
    g->cause = g->fault;
    g->fault.kind = EMU_FAULT_NONE;
    w->trapsts_bits |= exception;
    w->stop = STOP_NONE;
    return trap_enter(w, w->next, pc, 0);
}

void trap_watch(struct wave *w, uint32_t hit)
{
    struct emu_fault *cause = &w->group->cause;
    w->trapsts_bits |= TRAPSTS_WATCH(hit);
    if (w->stop != STOP_NONE || !(w->mode_bits & MODE_WATCH_EN) || !wave_has_handler(w))
        return;
    wave_describe(w, w->next, EMU_FAULT_TRAP, cause);
    snprintf(cause->detail, sizeof cause->detail, "watched address");
    const struct uop *handler =
        trap_enter(w, w->next, program_pc(w->program, w->next), 0);
    if (handler)
        w->next = handler;
}

/* Does the wave stand still? */
static bool stands(const struct wave *w)
{
    uint32_t s = w->status_bits;
    return s & STATUS_FATAL_HALT || (s & (STATUS_HALT | STATUS_PRIV)) == STATUS_HALT;
}

const struct uop *trap_return(struct wave *w, const struct uop *u, uint64_t pc)
{
    w->status_bits &= ~STATUS_PRIV;
    const struct uop *next = wave_goto(w, pc);
    if (!next)
        return wave_fault_at(w, u, EMU_FAULT_FETCH, -1, pc, 4, false);
    if (w->trapsts_bits & TRAPSTS_SAVECTX && w->group->queue->context &&
        wave_has_handler(w))
        return trap_enter(w, u, pc, 0);
    if (w->mode_bits & MODE_DEBUG_EN)
        w->turn = 0; /* the next turn is of one instruction */
    return stands(w) ? wave_stop(w, STOP_HALT, next) : next;
}

const struct uop *trap_halt(struct wave *w, const struct uop *u, const struct uop *next,
                            uint32_t bit, bool set)
{
    if (set && !(w->status_bits & STATUS_TRAP_EN))
        return wave_fault(w, u, EMU_FAULT_HANG,
                          "the wave halts, and nobody is attached to resume it");
    w->status_bits = (w->status_bits & ~bit) | (set ? bit : 0);
    return stands(w) ? wave_stop(w, STOP_HALT, next) : next;
}

void trap_interrupt(struct wave *w)
{
    const struct emu_queue *q = w->group->queue;
    const struct workgroup *g = w->group;
    struct emu_interrupt i = {.data = w->sgpr[ISA_SEL_M0] & 0xffffffu,
                              .privileged = wave_privileged(w),
                              .workgroup = {g->id[0], g->id[1], g->id[2]},
                              .wave = w->index};
    if (i.privileged)
        i.cause = &g->cause;
    if (q->interrupt)
        q->interrupt(q->ctx, &i);
}

void trap_report_halt(struct workgroup *g)
{
    struct emu_fault *f = &g->fault;
    char detail[sizeof f->detail];
    *f = g->cause;
    if (f->kind == EMU_FAULT_NONE) { /* a halt without a trap */
        f->lane = -1;
        for (unsigned i = 0; i < g->n_waves && f->kind == EMU_FAULT_NONE; i++)
            if (g->halted >> i & 1u)
                wave_describe(g->waves[i], g->waves[i]->next, EMU_FAULT_HALTED, f);
        return;
    }
    if (f->kind == EMU_FAULT_TRAP)
        snprintf(detail, sizeof detail, "after trap %u%s%.100s", f->trap_id,
                 *f->detail ? ": " : "", f->detail);
    else
        snprintf(detail, sizeof detail, "after %s%s%.100s", emu_fault_name(f->kind),
                 *f->detail ? ": " : "", f->detail);
    memcpy(f->detail, detail, sizeof detail);
    f->cause = f->kind;
    f->kind = EMU_FAULT_HALTED;
}
