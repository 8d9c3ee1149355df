/* watched.c: dispatches while a debugger watches memory: instruction by instruction, in
 * the order of emu_run with one thread, so that a wave traps right behind an access.
 *
 * The chip compares lines of 128 bytes. Whoever sets watch points does so while
 * dispatches run: one that began without any does not see them. Must not know who
 * watches. SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "cp.h"
#include "step.h"

/* COMPUTE_PGM_RSRC2: enabled exceptions, those of MODE.EXCP_EN from bit 0 and from 7 */
#define RSRC2_EXCP_LOW  24
#define RSRC2_EXCP_HIGH 13
#define RSRC1_DEBUG     (1u << 22) /* MODE.DEBUG_EN */
#define RSRC2_EXCP      (0x7fu << RSRC2_EXCP_LOW | 3u << RSRC2_EXCP_HIGH)

const struct gpu_watches *cp_watches(struct gpu_queue *q, struct emu_dispatch *d)
{
    const struct gpu_watches *w = q->traps.watches;
    if (!w)
        return NULL;
    uint32_t more = atomic_load(&w->exceptions);
    if (atomic_load(&w->instead))
        d->rsrc2 &= ~RSRC2_EXCP;
    d->rsrc2 |= (more & 0x7fu) << RSRC2_EXCP_LOW | (more >> 7 & 3u) << RSRC2_EXCP_HIGH;
    if (atomic_load(&w->stepped))
        d->rsrc1 |= RSRC1_DEBUG;
    return atomic_load(&w->set) ? w : NULL;
}

static bool concerns(enum gpu_watch_mode mode, const struct emu_access *a)
{
    bool atomic = a->read && a->write;
    switch (mode) {
    case GPU_WATCH_READ:
        return !a->write;
    case GPU_WATCH_NONREAD:
        return a->write;
    case GPU_WATCH_ATOMIC:
        return atomic;
    case GPU_WATCH_ALL:
        return true;
    }
    return false;
}

/* Does a lane touch a line whose address is the watched one in what is compared? */
static bool meets(const struct emu_access *a, uint64_t address, uint64_t mask)
{
    uint64_t compared =
        (mask & GPU_WATCH_MASK) | ~(uint64_t)(GPU_WATCH_MASK | (GPU_WATCH_LINE - 1));
    for (uint64_t m = a->lanes; m; m &= m - 1) {
        uint64_t first = a->address[__builtin_ctzll(m)], last = first + a->bytes - 1;
        for (uint64_t line = first / GPU_WATCH_LINE; line <= last / GPU_WATCH_LINE;
             line++)
            if (!((line * GPU_WATCH_LINE ^ address) & compared))
                return true;
    }
    return false;
}

/* The watch points that an instruction's accesses meet. */
static uint32_t hits(const struct gpu_watches *w, const struct emu_event *e)
{
    uint32_t hit = 0;
    for (uint32_t set = atomic_load(&w->set); set; set &= set - 1) {
        unsigned i = (unsigned)__builtin_ctz(set);
        enum gpu_watch_mode mode = atomic_load(&w->at[i].mode);
        uint64_t address = atomic_load(&w->at[i].address);
        uint64_t mask = atomic_load(&w->at[i].mask);
        for (uint32_t k = 0; k < e->n_accesses; k++) {
            const struct emu_access *a = &e->access[k];
            if (a->space == EMU_SPACE_GLOBAL && !a->scalar && concerns(mode, a) &&
                meets(a, address, mask))
                hit |= 1u << i;
        }
    }
    return hit;
}

static bool stands_still(int order)
{
    return order == EMU_CONTROL_PAUSE || order == EMU_CONTROL_SAVE;
}

/* Stand still while the queue is suspended. False: it goes away. */
static bool go_on(struct gpu_queue *q, struct emu_stepper *s)
{
    const struct timespec nap = {0, 200000};
    int order = cp_control(q);
    bool stored = order == EMU_CONTROL_SAVE && q->context.store;
    unsigned waves = 0;
    if (!stands_still(order))
        return order != EMU_CONTROL_CANCEL;
    for (unsigned i = 0; i < emu_order_groups(s); i++)
        waves += emu_group_live(emu_order_group(s, i));
    atomic_store(&q->watch.waves, waves);
    if (stored)
        emu_order_store(s);
    while (stands_still(cp_control(q))) {
        atomic_store(&q->standing, true);
        nanosleep(&nap, NULL);
    }
    if (stored)
        emu_order_load(s);
    atomic_store(&q->watch.waves, 0);
    atomic_store(&q->standing, false);
    return cp_control(q) != EMU_CONTROL_CANCEL;
}

/* What emu_run tells of a dispatch that it begins. */
static void watch_begin(struct gpu_queue *q, const struct emu_launch *launch,
                        const struct emu_dispatch *d)
{
    q->watch.waves_per_group = launch->waves_per_group;
    q->watch.vgprs = launch->vgprs;
    q->watch.lanes = launch->lanes;
    q->watch.lds_bytes = d->lds_bytes;
    atomic_store(&q->watch.waves, 0);
    atomic_store(&q->watch.threads, 1);
}

rd_status cp_watched_run(struct gpu_queue *q, struct emu *emu,
                         const struct emu_dispatch *d,
                         const struct gpu_watches *watches, struct emu_fault *fault,
                         struct emu_stats *stats)
{
    const struct timespec nap = {0, 200000};
    struct emu_stepper *s;
    struct emu_wave *wave;
    const struct emu_event *e;
    rd_status st = emu_stepper_create(emu, d, &s, fault);
    if (st != RD_OK)
        return st;
    watch_begin(q, emu_stepper_launch(s), d);
    for (;;) {
        if (!go_on(q, s)) {
            st = RD_E_TIMEOUT;
            break;
        }
        st = emu_order_next(s, &wave);
        if (st == RD_OK && !wave && emu_order_groups(s)) { /* all are halted */
            nanosleep(&nap, NULL);
            continue;
        }
        if (st != RD_OK || !wave)
            break;
        st = emu_order_step(s, &e);
        if (st != RD_OK)
            break;
        uint32_t hit = e && e->n_accesses ? hits(watches, e) : 0;
        if (hit)
            emu_order_watch(s, wave, hit);
    }
    atomic_store(&q->watch.threads, 0);
    if (st == RD_E_FAULT)
        *fault = *emu_stepper_fault(s);
    emu_stepper_destroy(s, stats);
    return st;
}
