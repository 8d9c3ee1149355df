/* rest.c: may the model's time pass under `rdna3 exec --timing`? Not while a queue, or
 * a thread of the program, could still offer what comes at this moment (chip.c).
 *
 * A queue rests if it has nothing to do, its dispatch is offered, or it has looked and
 * found that what it waits for has not come; each thing that any queue does is a step,
 * and who has looked before the last step has to look again. Looks may be missed: the
 * waits are bounded. Must not know runs. Threads: workers call for their own queue, a
 * run's thread looks at all.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "chip.h"
#include "cp.h"

#define NAP_NS     20000         /* while queues are at work */
#define QUIET_NS   200000        /* between looks whether the program sleeps, */
#define QUIET      3u            /* so many in a row */
#define PROGRAM_NS 5000000ull    /* it is waited for so long at most, */
#define BUDGET_NS  3000000000ull /* and in all so long */
#define QUEUES_NS  200000000ull  /* queues at work are */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void nap(long ns)
{
    const struct timespec t = {0, ns};
    nanosleep(&t, NULL);
}

static struct gpu_chip *chip_of(struct gpu_queue *q)
{
    return q->gpu->clock.simulated ? &q->gpu->chip : NULL;
}

void cp_chip_moves(struct gpu_queue *q)
{
    q->moved = true;
    atomic_store_explicit(&q->looked, 0, memory_order_relaxed);
}

void cp_chip_rests(struct gpu_queue *q)
{
    struct gpu_chip *chip = chip_of(q);
    if (chip && q->moved)
        atomic_fetch_add(&chip->steps, 1);
    q->moved = false;
}

uint64_t cp_chip_steps(struct gpu_queue *q)
{
    struct gpu_chip *chip = chip_of(q);
    return chip ? atomic_load(&chip->steps) : 0;
}

void cp_chip_found_nothing(struct gpu_queue *q, uint64_t steps)
{
    atomic_store(&q->looked, steps);
}

static bool is_compute(const struct gpu_queue *q)
{
    return q->config.kind == GPU_QUEUE_AQL || q->config.kind == GPU_QUEUE_PM4;
}

/* It has nothing to do, or waits for what others, who have not moved since, are to do.
 */
static bool rests(const struct gpu_queue *q, uint64_t steps)
{
    return q->config.kind == GPU_QUEUE_FRAMES || !atomic_load(&q->active) ||
           atomic_load(&q->halted) || atomic_load(&q->offered) == CP_OFFERED ||
           (atomic_load(&q->offered) == CP_OFFERED_LOOKS &&
            cp_bell(q) == atomic_load(&q->glanced)) ||
           atomic_load(&q->looked) == steps ||
           (atomic_load(&q->pace) == CP_RESTING &&
            cp_bell(q) == atomic_load(&q->taken));
}

/* Do all? several: could any but one of them run kernels? Who has the lock may wait for
 * this thread. */
static bool all_rest(struct gpu *gpu, bool *several)
{
    bool all = true;
    unsigned compute = 0;
    *several = true;
    if (pthread_mutex_trylock(&gpu->queue_lock) != 0)
        return false;
    uint64_t steps = atomic_load(&gpu->chip.steps);
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++) {
        const struct gpu_queue *q = gpu->queues[i];
        compute += q && is_compute(q);
        all = all && (!q || rests(q, steps));
    }
    all = all && atomic_load(&gpu->chip.steps) == steps;
    pthread_mutex_unlock(&gpu->queue_lock);
    *several = compute > 1;
    return all;
}

void gpu_chip_settle(struct gpu *gpu, bool (*hurries)(void *ctx), void *ctx)
{
    uint64_t start = now_ns(), rested = 0; /* since when, or 0 */
    unsigned quiet = 0;
    bool several;
    while (now_ns() - start < QUEUES_NS && !hurries(ctx)) {
        gpu_look_at_bells(gpu);
        bool rest = all_rest(gpu, &several);
        uint64_t now = now_ns();
        if (!rest) {
            rested = quiet = 0;
            nap(NAP_NS);
            continue;
        }
        rested = rested ? rested : now;
        quiet = gpu_program_runs() ? 0 : quiet + 1;
        if (gpu->host.board || !several || quiet >= QUIET ||
            now - rested > PROGRAM_NS || gpu->chip.lingered_ns > BUDGET_NS)
            break;
        nap(QUIET_NS);
        gpu->chip.lingered_ns += now_ns() - now;
    }
}
