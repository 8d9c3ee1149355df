/* observe.c: observers and steps for users of the library.
 *
 * Invariant: what an event of ours points to is valid as long as the emulator's.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "inspect.h"
#include "internal.h"
#include "isa.h"
#include "step.h"

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(RDNA3_KIND_ILLEGAL, EMU_KIND_ILLEGAL);
SAME(RDNA3_KIND_MEMORY, EMU_KIND_MEMORY);
SAME(RDNA3_KIND_END, EMU_KIND_END);
SAME(RDNA3_SPACE_GDS, EMU_SPACE_GDS);
SAME(RDNA3_EVENT_TAKEN, EMU_EV_TAKEN);
SAME(RDNA3_EVENT_ENDED, EMU_EV_ENDED);
SAME(RDNA3_EVENT_FAULT, EMU_EV_FAULT);
SAME(RDNA3_SCC, ISA_SEL_SCC);
SAME(RDNA3_EXEC_HI, ISA_SEL_EXEC_HI);
SAME(RDNA3_M0, ISA_SEL_M0);

/* A wave of ours is the emulator's under another name. */
static const struct rdna3_wave *as_wave(const struct emu_wave_info *wave)
{
    return (const struct rdna3_wave *)wave;
}

static const struct emu_wave_info *as_info(const struct rdna3_wave *wave)
{
    return (const struct emu_wave_info *)wave;
}

static void convert(const struct emu_event *from, struct rdna3_event *to)
{
    unsigned known = EMU_EV_TAKEN | EMU_EV_ENDED | EMU_EV_FAULT;
    to->wave = as_wave(from->wave);
    to->inst = &from->inst->isa;
    to->mnemonic = from->inst->kind == EMU_KIND_ILLEGAL
                       ? "(illegal)"
                       : isa_op_name(from->inst->isa.op);
    to->pc = from->inst->pc;
    to->next_pc = from->next_pc;
    to->index = from->index;
    to->exec = from->exec;
    to->time = from->time;
    to->kind = from->inst->kind;
    to->flags = from->flags & known;
    to->n_accesses =
        from->n_accesses < RDNA3_MAX_ACCESSES ? from->n_accesses : RDNA3_MAX_ACCESSES;
    for (unsigned i = 0; i < to->n_accesses; i++) {
        const struct emu_access *a = &from->access[i];
        to->access[i] = (struct rdna3_access){.lanes = a->lanes,
                                              .bytes = a->bytes,
                                              .space = a->space,
                                              .read = a->read,
                                              .write = a->write,
                                              .scalar = a->scalar,
                                              .address = a->address};
    }
}

/* ---- observers ----------------------------------------------------------------------
 */

struct rdna3_watch {
    struct rdna3_observer own;
    struct emu *emu;
};

static void on_wave(void *ctx, const struct emu_wave_info *wave)
{
    struct rdna3_watch *w = ctx;
    w->own.wave_begin(w->own.ctx, as_wave(wave));
}

static void on_step(void *ctx, const struct emu_event *event)
{
    struct rdna3_watch *w = ctx;
    struct rdna3_event told;
    convert(event, &told);
    w->own.step(w->own.ctx, &told);
}

static void on_end(void *ctx, const struct emu_launch *launch, rd_status status)
{
    struct rdna3_watch *w = ctx;
    (void)launch;
    w->own.dispatch_end(w->own.ctx, status);
}

int rdna3_observe(struct rdna3_device *device, const struct rdna3_observer *observer,
                  struct rdna3_watch **out)
{
    if (!observer || !HAS(observer, dispatch_end))
        return RDNA3_E_INVALID;
    struct rdna3_watch *w = calloc(1, sizeof *w);
    if (!w)
        return RDNA3_E_NOMEM;
    *w = (struct rdna3_watch){.own = *observer, .emu = la_emu(device->la)};
    struct emu_observer o = {.ctx = w,
                             .want = observer->accesses ? EMU_WANT_ACCESS : 0,
                             .wave_begin = observer->wave_begin ? on_wave : NULL,
                             .step = observer->step ? on_step : NULL,
                             .dispatch_end = observer->dispatch_end ? on_end : NULL};
    rd_status st = emu_add_observer(w->emu, &o);
    if (st != RD_OK) {
        free(w);
        return st;
    }
    *out = w;
    return RDNA3_OK;
}

void rdna3_unobserve(struct rdna3_watch *watch)
{
    if (!watch)
        return;
    emu_remove_observer(watch->emu, watch);
    free(watch);
}

void rdna3_wave_look(const struct rdna3_wave *wave, struct rdna3_wave_info *out)
{
    const struct emu_wave_info *w = as_info(wave);
    *out = (struct rdna3_wave_info){.dispatch = w->dispatch,
                                    .group = w->group,
                                    .index = w->wave,
                                    .lanes = w->lanes,
                                    .slot = w->slot};
    memcpy(out->workgroup, w->workgroup, sizeof out->workgroup);
}

uint32_t rdna3_wave_vgpr(const struct rdna3_wave *wave, unsigned vgpr, unsigned lane)
{
    struct emu_wave_view view;
    emu_wave_look(as_info(wave), &view);
    if (vgpr >= view.vgprs || lane >= as_info(wave)->lanes)
        return 0;
    return emu_wave_vgpr(as_info(wave), vgpr, lane);
}

uint32_t rdna3_wave_scalar(const struct rdna3_wave *wave, unsigned number)
{
    return emu_wave_special(as_info(wave), number);
}

void rdna3_event_text(const struct rdna3_event *event, char *text, size_t size)
{
    char line[ISA_MAX_TEXT];
    if (event->kind == EMU_KIND_ILLEGAL)
        strcpy(line, "(illegal)");
    else
        (void)isa_print(event->inst, event->wave ? as_info(event->wave)->lanes : 32, 0,
                        line);
    if (size)
        (void)snprintf(text, size, "%s", line);
}

/* ---- stepping -----------------------------------------------------------------------
 */

struct rdna3_steps {
    struct rdna3_kernel *kernel;
    struct la_mark mark;
    struct emu_dispatch dispatch;
    struct emu_stepper *stepper;
};

int rdna3_steps_begin(struct rdna3_kernel *kernel, const struct rdna3_launch *launch,
                      struct rdna3_steps **out, struct rdna3_error *err)
{
    struct la *la = kernel->device->la;
    struct emu_fault why = {0};
    struct rdna3_steps *s = calloc(1, sizeof *s);
    if (!s)
        return rdna3_fail(err, RDNA3_E_NOMEM, "out of memory");
    s->kernel = kernel;
    s->mark = la_mark(la);
    int status = rdna3_prepare(kernel, launch, &s->dispatch, err);
    if (status == RDNA3_OK) {
        status = emu_stepper_create(la_emu(la), &s->dispatch, &s->stepper, &why);
        if (status != RDNA3_OK)
            (void)rdna3_fail(err, status, "%s", rd_status_text(status));
    }
    if (status != RDNA3_OK) {
        la_rewind(la, s->mark);
        free(s);
        return status;
    }
    *out = s;
    return RDNA3_OK;
}

int rdna3_step(struct rdna3_steps *steps, struct rdna3_event *event,
               struct rdna3_fault *fault)
{
    const struct emu_event *told = NULL;
    rd_status st = emu_order_step(steps->stepper, &told);
    if (st == RD_E_FAULT && fault)
        rdna3_tell_fault(steps->kernel, emu_stepper_fault(steps->stepper), fault);
    if (st != RD_OK)
        return st;
    *event = (struct rdna3_event){0};
    if (told)
        convert(told, event);
    return RDNA3_OK;
}

void rdna3_steps_end(struct rdna3_steps *steps)
{
    if (!steps)
        return;
    emu_stepper_destroy(steps->stepper, NULL);
    la_rewind(steps->kernel->device->la, steps->mark);
    free(steps);
}
