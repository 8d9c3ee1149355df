/* timed.c: how long things take under `rdna3 exec --timing`: a dispatch runs through
 * the timing model, a copy takes what the link or the memory needs at least.
 *
 * Must not know packets. Every run of the model meets cold caches, but what those
 * before it on its queue have left is there: directories of pages and translations of
 * pages of code. A dispatch shares the chip with others (chip.c) unless it is observed:
 * recorded, traced or counted, it runs here, in its queue's thread, as if it had the
 * chip to itself. The model is asked now and then whether to go on, so a queue can be
 * suspended or destroyed inside a kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "chip.h"
#include "cp.h"
#include "look.h"
#include "timing.h"

#define CODE_PAGE ((uint64_t)2 << 20) /* reach of a translation */

struct progress {
    struct gpu_queue *q;
    struct tm_engine *engine;
    uint64_t start; /* of it, later by the time for which it stood still */
};

uint64_t cp_ticks(const struct gpu *gpu, uint64_t cycles)
{
    double seconds = (double)cycles / (gpu->sclk_mhz * 1e6);
    return (uint64_t)ceil(seconds * (double)BOARD_CLOCK_HZ);
}

void cp_timed_count(const struct gpu_queue *q, const struct emu_dispatch *d,
                    uint64_t ticks)
{
    struct gpu *gpu = q->gpu;
    char name[1024];
    atomic_fetch_add(&gpu->counters->model_ticks, ticks);
    if (!gpu->kernels)
        return;
    if (!gpu_kernel_name(gpu, d->entry, name, sizeof name))
        snprintf(name, sizeof name, "(without a name)");
    gpu_count_kernel(gpu->kernels, name, ticks);
}

/* Has it been told to stand still? Waves that are to be seen are shown first; while
 * there are none it goes on, until there are. */
static bool has_to_stand(const struct progress *p)
{
    struct gpu_queue *q = p->q;
    int control = cp_control(q);
    bool show = control == EMU_CONTROL_SHOW && p->engine && q->shown.emu;
    return control == EMU_CONTROL_PAUSE ||
           (show && tm_show(p->engine, &q->shown.inspector) > 0);
}

static void stand(const struct gpu_queue *q, int order)
{
    const struct timespec nap = {0, 200000};
    while (cp_control(q) == order)
        nanosleep(&nap, NULL);
}

/* Called by the model in the queue's thread. */
static bool go_on(void *ctx, uint64_t cycles)
{
    struct progress *p = ctx;
    gpu_clock_reach(&p->q->gpu->clock, p->start + cp_ticks(p->q->gpu, cycles));
    while (has_to_stand(p)) {
        int order = cp_control(p->q);
        uint64_t paused = gpu_clock(p->q->gpu);
        atomic_store(&p->q->standing, true);
        atomic_store(&p->q->watch.threads, 0);
        stand(p->q, order);
        atomic_store(&p->q->watch.threads, 1);
        p->start += gpu_clock(p->q->gpu) - paused;
    }
    atomic_store(&p->q->standing, false);
    return cp_control(p->q) != EMU_CONTROL_CANCEL;
}

/* Has the queue run code of that page before? Now it has. */
static bool has_run(struct gpu_queue *q, uint64_t entry)
{
    uint64_t page = entry / CODE_PAGE + 1, last = page;
    for (unsigned i = 0; i < CP_CODE_PAGES; i++) {
        uint64_t here = q->code_page[i];
        q->code_page[i] = last;
        if (here == page)
            return true;
        last = here;
    }
    return false;
}

struct tm_launch cp_timed_warm(struct gpu_queue *q, const struct emu_dispatch *d)
{
    struct tm_launch warm = {.warm_kernarg = q->code_page[0] != 0};
    warm.warm_code = has_run(q, d->entry);
    return warm;
}

/* By itself, so that it can be observed. */
static rd_status run_alone(struct gpu_queue *q, struct emu *emu,
                           const struct emu_dispatch *d, const struct tm_launch *warm,
                           struct emu_fault *fault, struct emu_stats *stats)
{
    struct gpu *gpu = q->gpu;
    struct progress p = {.q = q, .start = q->time};
    size_t n;
    struct tm_range *ranges = vm_ranges(vm_of(gpu, q->space), &n);
    struct tm_config config = {.sclk_mhz = gpu->sclk_mhz,
                               .ranges = ranges,
                               .n_ranges = n,
                               .poll = go_on,
                               .poll_ctx = &p};
    config.have_cu_mask = cp_cu_mask(q, config.cu_mask);
    config.warm_kernarg = warm->warm_kernarg;
    config.warm_code = warm->warm_code;
    struct tm_engine *t = NULL;
    rd_status st = ranges ? tm_create(&config, &t) : RD_E_NOMEM;
    p.engine = t;
    atomic_store(&q->watch.threads, 1);
    atomic_store(&q->offered, CP_OFFERED); /* others need not wait for it */
    (void)go_on(&p, 0); /* make way before it begins; a cancelled run ends soon */
    struct cp_trace trace;
    bool traced =
        st == RD_OK &&
        cp_trace_begin(q, d, config.have_cu_mask ? config.cu_mask : NULL, t, &trace);
    bool recorded = st == RD_OK && cp_record_begin(q, d, traced ? NULL : t);
    if (st == RD_OK)
        st = tm_run(t, emu, d, fault, stats);
    atomic_store(&q->watch.threads, 0);
    if (recorded)
        cp_record_end();
    if (traced)
        cp_trace_end(q, &trace);
    if (t) {
        uint64_t ticks = cp_ticks(gpu, tm_span_cycles(t));
        cp_pmc_timed(q, d, t);
        cp_timed_count(q, d, ticks);
        cp_spend(q, p.start - q->time + ticks);
    }
    tm_destroy(t);
    free(ranges);
    cp_chip_moves(q);
    atomic_store(&q->offered, CP_AT_WORK);
    return st;
}

rd_status cp_timed_run(struct gpu_queue *q, struct emu *emu,
                       const struct emu_dispatch *d, struct emu_fault *fault,
                       struct emu_stats *stats)
{
    if (!q->gpu->timeline && !q->pmc.facts && !cp_trace_wanted(q))
        return cp_chip_run(q, emu, d, fault, stats);
    struct tm_launch warm = cp_timed_warm(q, d);
    return run_alone(q, emu, d, &warm, fault, stats);
}

/* The rates are upper bounds: the PCIe link's as the topology states it, and half of
 * the memory's for a copy inside it, which reads and writes. */
uint64_t cp_copy_ticks(struct gpu_queue *q, uint64_t dst, uint64_t src, uint64_t bytes)
{
    struct gpu *gpu = q->gpu;
    if (!gpu->clock.simulated)
        return 0;
    bool local = gpu_vm_check(gpu, dst, 1, GPU_LOCAL) &&
                 (!src || gpu_vm_check(gpu, src, 1, GPU_LOCAL));
    double rate =
        local ? BOARD_MEMORY_BYTES_PER_S / (src ? 2 : 1) : BOARD_LINK_BYTES_PER_S;
    return (uint64_t)ceil((double)bytes / rate * (double)BOARD_CLOCK_HZ);
}
