/* checked.c: dispatches under `rdna3 check`: checkers attached to the emulator, their
 * findings in a file that all processes share.
 *
 * Must not know what checkers look for. Checked dispatches run one after the other; for
 * one that may wait for somebody, those of other queues run beside it, unchecked.
 * SPDX-License-Identifier: MIT
 */
#include <sys/mman.h>
#include <time.h>

#include "checkers.h"
#include "cp.h"
#include "heap.h"

#define PATIENCE_NS 50000000 /* between looks at who runs */

static uint64_t image_at(void *ctx, uint64_t pc)
{
    return gpu_image(ctx, pc);
}

static bool read_at(void *ctx, uint64_t va, void *to, uint64_t bytes)
{
    return gpu_read(ctx, va, to, bytes);
}

void gpu_mailboxes(struct gpu *gpu, uint64_t va, uint64_t bytes)
{
    atomic_store(&gpu->checks.mailboxes, va);
    atomic_store(&gpu->checks.mailbox_bytes, bytes);
}

static bool mailbox_at(void *ctx, uint64_t va)
{
    struct gpu *gpu = ctx;
    return va - atomic_load(&gpu->checks.mailboxes) <
           atomic_load(&gpu->checks.mailbox_bytes);
}

uint64_t cp_checked_seed(const char *path)
{
    struct ck_table *table = ck_table_open(path);
    uint64_t seed = table ? table->seed : 0;
    if (table)
        munmap(table, sizeof *table);
    return seed;
}

/* Lock held. */
static rd_status attach(struct gpu *gpu, struct emu *emu)
{
    struct gpu_checks *c = &gpu->checks;
    if (c->ck)
        return RD_OK;
    struct ck_table *table = ck_table_open(c->path);
    if (!table)
        return RD_E_IO;
    struct ck_config config = {.classes = table->want_classes,
                               .keep_going = table->keep_going != 0,
                               .lanes = table->lanes != 0,
                               .watchdog = table->watchdog,
                               .hazard = table->hazard != 0,
                               .hazard_seed = table->hazard_seed,
                               .lds_passes = true,
                               .host_writes = true,
                               .heap = c->heap,
                               .image = image_at,
                               .read = read_at,
                               .mailbox = mailbox_at,
                               .ctx = gpu};
    return ck_create(emu, &config, table, &c->ck);
}

/* Lock taken; false: who has it may be waiting for us. */
static bool take_turn(struct gpu *gpu)
{
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PATIENCE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&gpu->checks.lock, &until) == 0)
            return true;
        const struct ck *ck = atomic_load(&gpu->checks.running);
        if (ck && ck_lingers(ck)) {
            ck_beside(ck);
            return false;
        }
    }
}

static rd_status run_beside(struct gpu_queue *q, const struct emu_dispatch *d,
                            struct emu_fault *fault, struct emu_stats *stats)
{
    struct vm *vm = vm_of(q->gpu, q->space);
    struct vm_beside beside;
    rd_status st = vm_emu_beside(vm, &beside);
    if (st != RD_OK)
        return st;
    gpu_log(q->gpu,
            "queue %u: a kernel runs unchecked, as that of another queue may wait "
            "for it",
            q->id);
    st = emu_run(beside.emu, d, fault, stats);
    vm_emu_leave(vm, &beside);
    return st;
}

rd_status cp_checked_run(struct gpu_queue *q, struct emu *emu,
                         const struct emu_dispatch *d, struct emu_fault *fault,
                         struct emu_stats *stats)
{
    struct gpu *gpu = q->gpu;
    if (!take_turn(gpu))
        return run_beside(q, d, fault, stats);
    rd_status st = attach(gpu, emu);
    if (st == RD_OK && gpu->checks.orders) {
        struct ck_before before;
        cp_order_begin(q, &before);
        ck_dispatch_before(gpu->checks.ck, &before);
    }
    if (st == RD_OK) {
        atomic_store(&gpu->checks.running, gpu->checks.ck);
        st = emu_run(emu, d, fault, stats);
        atomic_store(&gpu->checks.running, NULL);
    }
    if (st == RD_OK && gpu->checks.orders)
        cp_order_end(q);
    pthread_mutex_unlock(&gpu->checks.lock);
    return st;
}
