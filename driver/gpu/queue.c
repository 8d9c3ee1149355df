/* queue.c: queues, their worker threads, and the poller that watches doorbells.
 *
 * A worker handles packets of one queue; while idle it spins briefly, then waits until
 * somebody sees its doorbell change: workers between their packets and while they wait,
 * threads of the program in ioctls, and the poller. That one looks less often the
 * longer nothing has happened, since a nap may cost a virtual CPU 50 us: what comes
 * after a while is found later by a sixteenth of that while. Beside a board each engine
 * begins within microseconds of its doorbell; here its worker may have to wake first,
 * or find no CPU. So a worker that has been rung lets those begin that have been too
 * and rest still. Workers never hold a lock inside a packet, so a kernel that never
 * ends blocks nobody else. A queue is freed only after its worker has left it.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "chip.h"
#include "cp.h"

#define IDLE_NS        150000ull /* how long a worker without packets spins */
#define IDLE_SPINS     64u       /* between looks at the time and at other doorbells */
#define IDLE_YIELD     16u       /* such looks */
#define POLL_MIN_NS    5000ull   /* naps of the poller while nothing happens, */
#define POLL_MAX_NS    2000000ull
#define POLL_AWAKE_NS  200000ull /* while workers look themselves, */
#define POLL_RUN_NS    50000ull  /* while kernels run: their threads want the CPU */
#define POLL_LONG_NS   1000000ull
#define FIRST_PACKETS  16u /* that others wait for, */
#define DUE_YIELDS     64u
#define DUE_NAPS       200u
#define DUE_NAP_NS     20000
#define DESTROY_WAIT_S 2
#define PREEMPT_NAPS   20000u /* of 100 us: longer than any packet but a huge copy */

#define AQL_DOORBELL_EMPTY UINT64_MAX

/* Of a saved wave; the sizes of the areas follow from them (board.h). */
#define SAVED_HEADER_BYTES 40u
#define SAVED_ENTRY_BYTES  12u

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* ---- worker ---- */

/* Sleep until poked; the doorbell is compared once more after waiting is set, so a ring
 * between the last step and here is not lost. */
static void wait_for_poke(struct gpu_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->busy = false;
    pthread_cond_broadcast(&q->idle);
    q->waiting = true;
    atomic_fetch_sub(&q->gpu->awake, 1);
    while (!q->poked && !atomic_load(&q->stop))
        pthread_cond_wait(&q->wake, &q->lock);
    atomic_fetch_add(&q->gpu->awake, 1);
    q->poked = false;
    q->waiting = false;
    q->busy = true;
    pthread_mutex_unlock(&q->lock);
}

static void poke(struct gpu_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->poked = true;
    pthread_cond_signal(&q->wake);
    pthread_mutex_unlock(&q->lock);
}

/* Queue lock held. Turns follow the order in which rings are seen; of those seen at one
 * look the SDMA engine takes up its own, without firmware, before others do. */
static void note_turn(struct gpu_queue *q, uint64_t bell)
{
    if (q->turn_bell == bell)
        return;
    q->turn_bell = bell;
    q->turn = 2 * q->gpu->turns + (q->config.kind != GPU_QUEUE_SDMA);
}

/* Queue lock held: wake the workers that wait and whose doorbell has changed since they
 * have looked at it. but: who looks for itself later, or NULL. */
static bool look_at_bells(struct gpu *gpu, const struct gpu_queue *but)
{
    bool seen = false;
    gpu->turns++;
    for (unsigned i = 0, left = gpu->n_queues; left; i++) {
        struct gpu_queue *q = gpu->queues[i];
        if (!q)
            continue;
        left--;
        if (q == but)
            continue;
        uint64_t bell = cp_bell(q);
        note_turn(q, bell);
        if (!atomic_load(&q->waiting))
            continue;
        if (atomic_exchange(&q->seen, bell) == bell)
            continue;
        seen = true;
        poke(q);
    }
    return seen;
}

void gpu_look_at_bells(struct gpu *gpu)
{
    unsigned asleep = atomic_load_explicit(&gpu->n_queues, memory_order_relaxed) -
                      atomic_load_explicit(&gpu->awake, memory_order_relaxed);
    if (!asleep || gpu->host.board || pthread_mutex_trylock(&gpu->queue_lock) != 0)
        return;
    (void)look_at_bells(gpu, NULL);
    pthread_mutex_unlock(&gpu->queue_lock);
}

void cp_look_at_bells(struct gpu_queue *q)
{
    gpu_look_at_bells(q->gpu);
}

/* Queue lock held: is one due that has been rung before this one? */
static bool other_due(const struct gpu_queue *q, uint64_t turn)
{
    const struct gpu *gpu = q->gpu;
    for (unsigned i = 0, left = gpu->n_queues; left; i++) {
        const struct gpu_queue *o = gpu->queues[i];
        if (!o)
            continue;
        left--;
        if (o == q || !atomic_load(&o->active) || atomic_load(&o->halted))
            continue;
        enum cp_pace pace = atomic_load(&o->pace);
        if (pace == CP_STARTING && o->first_turn < turn)
            return true;
        if (pace == CP_RESTING && o->turn < turn &&
            o->turn_bell != atomic_load(&o->taken))
            return true;
    }
    return false;
}

/* The program may count on what it has rung before being under way. Only those wait
 * that were rung later, as far as anybody has seen. A board's driver rings by a call,
 * which wakes the worker. */
static void let_others_begin(struct gpu_queue *q, uint64_t bell, bool rested)
{
    const struct timespec nap = {0, DUE_NAP_NS};
    struct gpu *gpu = q->gpu;
    uint64_t turn = 0;
    bool due = !gpu->host.board && q->config.kind != GPU_QUEUE_FRAMES &&
               atomic_load_explicit(&gpu->n_queues, memory_order_relaxed) > 1;
    for (unsigned i = 0; due && i < DUE_YIELDS + DUE_NAPS; i++) {
        if (i > DUE_YIELDS)
            nanosleep(&nap, NULL);
        else if (i > 0)
            sched_yield();
        if (pthread_mutex_trylock(&gpu->queue_lock) != 0)
            continue;
        (void)look_at_bells(gpu, q);
        if (turn == 0) {
            gpu->turns++;
            note_turn(q, bell);
            turn = q->first_turn = q->turn;
        }
        if (rested)
            atomic_store(&q->pace, CP_STARTING);
        due = other_due(q, turn);
        pthread_mutex_unlock(&gpu->queue_lock);
    }
}

/* The worker is about to step; bell: what it has been rung for. */
static void take_up(struct gpu_queue *q, uint64_t bell)
{
    bool rested = atomic_load_explicit(&q->pace, memory_order_relaxed) == CP_RESTING;
    if (bell != atomic_load_explicit(&q->taken, memory_order_relaxed)) {
        q->first_packets = 0;
        let_others_begin(q, bell, rested);
        if (rested && atomic_load(&q->pace) == CP_RESTING)
            cp_going(q);
        atomic_store(&q->taken, bell);
    }
    if (atomic_load_explicit(&q->pace, memory_order_relaxed) == CP_RESTING)
        cp_going(q);
}

/* It has done a packet. */
static void count_first(struct gpu_queue *q)
{
    if (atomic_load_explicit(&q->pace, memory_order_relaxed) == CP_STARTING &&
        ++q->first_packets >= FIRST_PACKETS)
        cp_going(q);
}

/* Nothing to do until the queue is poked. */
static void leave(struct gpu_queue *q)
{
    if (!atomic_load(&q->gpu->running))
        gpu_spinners_release(q->gpu);
    cp_clock_leave(q);
    cp_give_way(q);
}

/* before: the doorbell as it was when the last step began. Who goes before others does
 * not spin. */
static void idle(struct gpu_queue *q, uint64_t before)
{
    uint64_t start = now_ns();
    bool spins = q->config.kind != GPU_QUEUE_FRAMES;
    for (unsigned i = 1; spins && cp_bell(q) == before; i++) {
        if (i % IDLE_SPINS == 0) {
            cp_look_at_bells(q);
            if (now_ns() - start > IDLE_NS)
                break;
            if (i / IDLE_SPINS % IDLE_YIELD == 0)
                sched_yield();
        }
        __builtin_ia32_pause();
    }
    uint64_t bell = cp_bell(q);
    if (bell != before || !atomic_load(&q->active))
        return;
    cp_going(q);
    cp_clock_enter(q);
    enum cp_result result = q->step(q);
    if (result != CP_PROGRESS)
        leave(q);
    if (result == CP_PROGRESS)
        cp_chip_moves(q);
    if (result != CP_IDLE)
        return;
    cp_chip_rests(q);
    atomic_store(&q->pace, CP_RESTING);
    atomic_store(&q->seen, bell);
    wait_for_poke(q);
}

static void queue_free(struct gpu_queue *q)
{
    pthread_mutex_destroy(&q->lock);
    pthread_mutex_destroy(&q->shown.lock);
    pthread_cond_destroy(&q->wake);
    pthread_cond_destroy(&q->idle);
    free(q->save.words);
    free(q->sh);
    free(q->wrap);
    free(q);
}

static void *worker(void *arg)
{
    struct gpu_queue *q = arg;
    struct timespec nap = {0, 20000};
    unsigned stalls = 0;
    /* Drivers give the scheduler 100 ms, and a busy host may take longer. */
    if (q->config.kind == GPU_QUEUE_FRAMES)
        gpu_thread_urgent(true);
    wait_for_poke(q);
    while (!atomic_load(&q->stop)) {
        if (!atomic_load(&q->active) || atomic_load(&q->halted)) {
            cp_give_way(q);
            wait_for_poke(q);
            continue;
        }
        uint64_t bell = cp_bell(q);
        take_up(q, bell);
        cp_clock_enter(q);
        uint64_t steps = cp_chip_steps(q);
        enum cp_result result = q->step(q);
        if (cp_host_fault(q))
            result = CP_HALT;
        if (result != CP_PROGRESS)
            leave(q);
        switch (result) {
        case CP_PROGRESS:
            stalls = 0;
            cp_chip_moves(q);
            count_first(q);
            cp_look_at_bells(q);
            break;
        case CP_IDLE:
            stalls = 0;
            cp_chip_rests(q);
            atomic_store(&q->pace, CP_RESTING);
            idle(q, bell);
            break;
        case CP_STALL:
            cp_going(q);
            cp_chip_rests(q);
            cp_chip_found_nothing(q, steps);
            if (++stalls > 200)
                nanosleep(&nap, NULL);
            else
                sched_yield();
            break;
        case CP_HALT:
            break;
        }
    }
    leave(q);
    atomic_fetch_sub(&q->gpu->awake, 1);
    pthread_mutex_lock(&q->lock);
    q->busy = false;
    pthread_cond_broadcast(&q->idle);
    pthread_mutex_unlock(&q->lock);
    if (atomic_exchange(&q->left_alone, true)) /* nobody waits any longer */
        queue_free(q);
    return NULL;
}

/* ---- poller ---- */

static uint64_t within(uint64_t ns, uint64_t least, uint64_t most)
{
    return ns < least ? least : ns > most ? most : ns;
}

static void *poller(void *arg)
{
    struct gpu *gpu = arg;
    uint64_t last = now_ns(), idle_at = last;
    uint32_t kicks = atomic_load(&gpu->kicks);
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
    for (;;) {
        uint32_t k = atomic_load(&gpu->kicks);
        uint64_t t = now_ns();
        pthread_mutex_lock(&gpu->queue_lock);
        bool seen = look_at_bells(gpu, NULL);
        pthread_mutex_unlock(&gpu->queue_lock);
        bool running = atomic_load(&gpu->running), awake = atomic_load(&gpu->awake);
        if (seen || awake || k != kicks)
            last = t;
        kicks = k;
        gpu_look_serve(gpu);
        if (running)
            gpu_spinners_look(gpu, t);
        else
            idle_at = t;
        uint64_t ns = running ? within((t - idle_at) / 16, POLL_RUN_NS, POLL_LONG_NS)
                      : awake ? POLL_AWAKE_NS
                              : within((t - last) / 16, POLL_MIN_NS, POLL_MAX_NS);
        struct timespec nap = {0, (long)ns};
        nanosleep(&nap, NULL);
    }
    return NULL;
}

/* From an ioctl, before which the program may have rung a doorbell. */
void gpu_kick(struct gpu *gpu)
{
    atomic_fetch_add_explicit(&gpu->kicks, 1, memory_order_relaxed);
    if (!gpu->poller_runs || pthread_mutex_trylock(&gpu->queue_lock) != 0)
        return;
    (void)look_at_bells(gpu, NULL);
    pthread_mutex_unlock(&gpu->queue_lock);
}

bool gpu_awake(struct gpu *gpu)
{
    return atomic_load_explicit(&gpu->awake, memory_order_relaxed) > 0;
}

/* ---- interface ---- */

static struct gpu_queue *queue_new(struct gpu *gpu,
                                   const struct gpu_queue_config *config)
{
    static enum cp_result (*const steps[])(struct gpu_queue *) = {
        [GPU_QUEUE_PM4] = cp_pm4_step,
        [GPU_QUEUE_AQL] = cp_aql_step,
        [GPU_QUEUE_SDMA] = cp_sdma_step,
        [GPU_QUEUE_FRAMES] = cp_frame_step,
    };
    struct gpu_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->gpu = gpu;
    q->id = config->id;
    q->doorbell = config->doorbell;
    q->config = *config;
    q->space = gpu->host.board ? config->space : VM_PROCESS;
    q->config.space = q->space;
    q->priority = config->priority;
    q->step = steps[config->kind];
    atomic_store(&q->waves_in, GPU_SPACES);
    if (config->compute)
        q->sh = regs_queue_state();
    for (uint32_t i = 0; config->compute && q->sh && i < GPU_COMPUTE_N; i++)
        if (gpu_compute_kept(i))
            reg_write(gpu, q->sh, GPU_COMPUTE_FIRST + i, config->compute[i]);
    if (config->cu_mask)
        gpu_queue_engine_mask(q, config->cu_mask);
    q->config.compute = q->config.cu_mask = NULL;
    q->busy = true;
    atomic_store(&q->active, config->active);
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_init(&q->shown.lock, NULL);
    pthread_cond_init(&q->wake, NULL);
    pthread_cond_init(&q->idle, NULL);
    return q;
}

/* Queue lock held. */
static rd_status start(struct gpu *gpu, struct gpu_queue *q)
{
    *q->doorbell = q->config.kind == GPU_QUEUE_AQL ? AQL_DOORBELL_EMPTY
                   : q->config.resumed             ? q->config.wptr_now
                                                   : q->rptr;
    q->poked = q->config.resumed; /* there may be work already */
    atomic_store(&q->seen, cp_bell(q));
    atomic_store(&q->taken, cp_bell(q));
    q->turn_bell = cp_bell(q);
    atomic_store(&q->pace, CP_RESTING);
    rd_status st = RD_OK;
    char name[16];
    gpu_hostfault_init(gpu);
    gpu_worker_name(q->id, name);
    if (!gpu->poller_runs && !gpu->host.board) {
        st = gpu_thread(&gpu->poller, poller, gpu, "rdna3 doorbell");
        gpu->poller_runs = st == RD_OK;
    }
    atomic_fetch_add(&gpu->awake, 1);
    if (st == RD_OK)
        st = gpu_thread(&q->thread, worker, q, name);
    if (st != RD_OK)
        atomic_fetch_sub(&gpu->awake, 1);
    if (st == RD_OK) {
        gpu->queues[q->id] = q;
        gpu->n_queues++;
    }
    return st;
}

rd_status gpu_queue_create(struct gpu *gpu, const struct gpu_queue_config *config,
                           struct gpu_queue **out)
{
    if (config->id >= GPU_MAX_QUEUES || gpu->queues[config->id])
        return RD_E_INVALID;
    struct gpu_queue *q = queue_new(gpu, config);
    if (!q)
        return RD_E_NOMEM;
    if (config->resumed)
        q->rptr = config->rptr_now;
    else if (config->kind != GPU_QUEUE_AQL)
        (void)!gpu_read(gpu, config->rptr, &q->rptr, sizeof(q->rptr));
    gpu->host.threads(gpu->host.ctx);
    *out = q;
    pthread_mutex_lock(&gpu->queue_lock);
    rd_status st = start(gpu, q);
    pthread_mutex_unlock(&gpu->queue_lock);
    if (st != RD_OK) {
        *out = NULL;
        queue_free(q);
    }
    return st;
}

void gpu_queue_compute(const struct gpu_queue *q, uint32_t out[GPU_COMPUTE_N])
{
    for (uint32_t i = 0; i < GPU_COMPUTE_N; i++)
        out[i] = q->sh && gpu_compute_kept(i)
                     ? reg_look(q->gpu, q->sh, GPU_COMPUTE_FIRST + i)
                     : 0;
}

/* The worker of frames goes before others by itself. */
static void lend(struct gpu_queue *q, bool urgent)
{
    if (q->config.kind != GPU_QUEUE_FRAMES)
        gpu_thread_lend(q->thread, urgent);
}

bool gpu_queue_destroy(struct gpu_queue *q)
{
    struct gpu *gpu = q->gpu;
    pthread_mutex_lock(&gpu->queue_lock);
    gpu->queues[q->id] = NULL;
    gpu->n_queues--;
    pthread_mutex_unlock(&gpu->queue_lock);
    atomic_store(&q->stop, true);
    gpu_priority_apply(q);
    lend(q, true);
    poke(q);
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += DESTROY_WAIT_S;
    pthread_t thread = q->thread; /* the queue may go with it */
    bool stopped = pthread_timedjoin_np(thread, NULL, &end) == 0;
    if (!stopped) { /* still inside a kernel: it keeps its queue until that ends */
        lend(q, false);
        pthread_detach(thread);
    }
    if (atomic_exchange(&q->left_alone, true))
        queue_free(q);
    return stopped;
}

/* Has the queue stopped, between packets or inside one? */
static bool stands_still(struct gpu_queue *q)
{
    bool simulated = q->gpu->clock.simulated;
    return atomic_load(&q->waiting) || atomic_load(&q->standing) ||
           atomic_load(&q->halted) ||
           (!simulated && atomic_load(&q->in_dispatch) &&
            !atomic_load(&q->watch.threads));
}

/* As the kernel does, return when the queue is off the hardware. A worker stops after
 * the packet it is in, or inside a kernel or a wait. */
static void preempt(struct gpu_queue *q)
{
    const struct timespec nap = {0, 100000};
    for (unsigned i = 0; i < PREEMPT_NAPS && !stands_still(q); i++)
        nanosleep(&nap, NULL);
    q->saved_waves = atomic_load(&q->in_dispatch) ? atomic_load(&q->watch.waves) : 0;
}

void gpu_queue_activate(struct gpu_queue *q, bool active)
{
    if (active)
        atomic_store(&q->saving, false);
    atomic_store(&q->active, active);
    gpu_priority_apply(q);
    if (!active)
        lend(q, true);
    poke(q);
    if (!active) {
        preempt(q);
        lend(q, false);
    }
}

void gpu_queue_set(struct gpu_queue *q, uint64_t ring, uint64_t ring_bytes,
                   uint32_t priority)
{
    pthread_mutex_lock(&q->lock);
    if (ring) {
        q->config.ring = ring;
        q->config.ring_bytes = ring_bytes;
    }
    q->config.priority = priority;
    pthread_mutex_unlock(&q->lock);
}

bool gpu_queue_halted(const struct gpu_queue *q)
{
    return atomic_load(&q->halted);
}

void gpu_queue_ring(struct gpu_queue *q, uint64_t value)
{
    __atomic_store_n(q->doorbell, value, __ATOMIC_RELEASE);
    poke(q);
}

uint64_t gpu_queue_rptr(const struct gpu_queue *q)
{
    return __atomic_load_n(&q->rptr, __ATOMIC_RELAXED);
}

bool gpu_queue_running(const struct gpu_queue *q)
{
    return atomic_load(&q->in_dispatch);
}

/* As large as its waves would fill it: the control stack has an entry for each, the
 * rest their registers and the LDS of their workgroups. The waves themselves stay
 * inside the emulator. */
void gpu_queue_saved(const struct gpu_queue *q, uint32_t *ctl_bytes,
                     uint32_t *wave_bytes)
{
    const struct emu_watch *w = &q->watch;
    uint32_t waves = q->saved_waves;
    *ctl_bytes = *wave_bytes = 0;
    if (!waves || cp_saved(q, ctl_bytes, wave_bytes)) /* else it may begin just now */
        return;
    uint32_t per_wave =
        w->vgprs * w->lanes * 4 + EMU_SAVED_SGPR_BYTES + EMU_SAVED_HWREG_BYTES;
    uint32_t groups = (waves + w->waves_per_group - 1) / w->waves_per_group;
    *ctl_bytes = SAVED_HEADER_BYTES + waves * SAVED_ENTRY_BYTES;
    *wave_bytes = waves * per_wave + groups * w->lds_bytes;
}
