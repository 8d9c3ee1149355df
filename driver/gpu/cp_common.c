/* cp_common.c: what all command processors do: memory, waiting, signals, errors.
 *
 * Must not know packets. An error is reported once and halts the queue; what the
 * process does about it is its business.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aql.h"
#include "chip.h"
#include "cp.h"

#define SPINS        2000u
#define NAP_MIN_NS   5000
#define NAP_MAX_NS   500000
#define NAP_TIMED_NS 100000 /* the timing model waits for those who wait */

bool cp_interrupt(struct gpu_queue *q, uint32_t event_id)
{
    if (q->config.kind != GPU_QUEUE_AQL) {
        unsigned last = cp_enter_space(q, q->config.space);
        bool ok = cp_write(q, q->config.rptr, &q->behind, sizeof(q->behind));
        (void)cp_enter_space(q, last);
        if (!ok)
            return false;
    }
    gpu_interrupt(q, q->config.kind == GPU_QUEUE_SDMA ? GPU_IRQ_DMA : GPU_IRQ_EOP,
                  event_id);
    return true;
}

bool cp_compare(unsigned function, uint64_t value, uint64_t ref)
{
    switch (function) {
    case 1:
        return value < ref;
    case 2:
        return value <= ref;
    case 3:
        return value == ref;
    case 4:
        return value != ref;
    case 5:
        return value >= ref;
    case 6:
        return value > ref;
    default:
        return true;
    }
}

uint64_t cp_clock(struct gpu_queue *q)
{
    return q->gpu->clock.simulated ? q->time : gpu_clock(q->gpu);
}

void cp_spend(struct gpu_queue *q, uint64_t ticks)
{
    if (!q->gpu->clock.simulated)
        return;
    q->time += ticks;
    gpu_clock_reach(&q->gpu->clock, q->time);
}

void cp_spend_unseen(struct gpu_queue *q, uint64_t ticks)
{
    if (q->gpu->clock.simulated)
        q->time += ticks;
}

void cp_clock_enter(struct gpu_queue *q)
{
    if (!q->gpu->clock.simulated || q->at_work)
        return;
    uint64_t now = gpu_clock_enter(&q->gpu->clock);
    q->time = now > q->time ? now : q->time;
    q->at_work = true;
}

void cp_clock_leave(struct gpu_queue *q)
{
    if (q->at_work)
        gpu_clock_leave(&q->gpu->clock);
    q->at_work = false;
}

/* A suspended queue does not go on, whatever it waits for. */
static bool may_go_on(struct gpu_queue *q)
{
    bool active = atomic_load_explicit(&q->active, memory_order_relaxed);
    if (active == atomic_load_explicit(&q->standing, memory_order_relaxed))
        atomic_store(&q->standing, !active);
    return active;
}

void cp_hold(struct gpu_queue *q)
{
    const struct timespec nap = {0, NAP_MAX_NS};
    while (!may_go_on(q) && !atomic_load(&q->stop))
        nanosleep(&nap, NULL);
    atomic_store(&q->standing, false);
}

static bool poll_until(struct gpu_queue *q, bool (*ready)(void *ctx), void *ctx)
{
    struct timespec nap = {0, NAP_MIN_NS};
    for (unsigned i = 0;; i++) {
        if (atomic_load_explicit(&q->stop, memory_order_relaxed) ||
            atomic_load_explicit(&q->halted, memory_order_relaxed))
            return false;
        uint64_t steps = cp_chip_steps(q);
        if (may_go_on(q) && ready(ctx))
            return true;
        cp_chip_found_nothing(q, steps);
        if (i < SPINS) {
            if (i % 64 == 63) {
                cp_look_at_bells(
                    q); /* it may be another queue's work that it waits for */
                sched_yield();
            }
            __builtin_ia32_pause();
            continue;
        }
        cp_look_at_bells(q);
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < (steps ? NAP_TIMED_NS : NAP_MAX_NS))
            nap.tv_nsec += nap.tv_nsec / 4;
    }
}

bool cp_wait(struct gpu_queue *q, bool (*ready)(void *ctx), void *ctx)
{
    if (may_go_on(q) && ready(ctx))
        return true;
    cp_going(q);
    cp_clock_leave(q); /* what it waits for takes its own time */
    cp_give_way(q);    /* and may be of lower priority */
    cp_chip_moves(q);
    cp_chip_rests(q);
    bool ok = poll_until(q, ready, ctx);
    atomic_store(&q->standing, false);
    cp_chip_moves(q);
    cp_clock_enter(q);
    return ok;
}

struct memory_wait {
    struct gpu_queue *q;
    const struct cp_condition *c;
};

/* Looked up each time: the memory may move, or go, meanwhile. */
static bool memory_ready(void *ctx)
{
    const struct memory_wait *w = ctx;
    uint64_t value;
    return cp_load(w->q, w->c->va, w->c->wide, &value) &&
           cp_compare(w->c->function, value & w->c->mask, w->c->ref);
}

bool cp_wait_memory(struct gpu_queue *q, const struct cp_condition *c)
{
    struct memory_wait w = {q, c};
    return cp_wait(q, memory_ready, &w);
}

static bool notify(struct gpu_queue *q, uint64_t mailbox, uint32_t event_id)
{
    uint64_t id = event_id;
    if (!mailbox)
        return true;
    if (!cp_write(q, mailbox, &id, 8))
        return false;
    gpu_interrupt(q, GPU_IRQ_EOP, event_id);
    return true;
}

bool cp_signal_store(struct gpu_queue *q, uint64_t va, int64_t value)
{
    struct amd_signal *s = cp_at(q, va, sizeof(*s), GPU_READ | GPU_WRITE);
    if (!s)
        return false;
    uint64_t mailbox = s->mailbox;
    uint32_t event_id = s->event_id;
    __atomic_store_n(&s->value, value, __ATOMIC_RELEASE);
    return notify(q, mailbox, event_id);
}

bool cp_signal_complete(struct gpu_queue *q, uint64_t va, uint64_t start, uint64_t end)
{
    if (!va)
        return true;
    struct amd_signal *s = cp_at(q, va, sizeof(*s), GPU_READ | GPU_WRITE);
    if (!s)
        return false;
    s->start = start;
    s->end = end;
    /* Read before the decrement: the waiter may reuse the signal after it. */
    uint64_t mailbox = s->mailbox;
    uint32_t event_id = s->event_id;
    int64_t value = __atomic_load_n(&s->value, __ATOMIC_RELAXED);
    cp_order_write(q, va + AMD_SIGNAL_VALUE, value, value - 1);
    __atomic_fetch_sub(&s->value, 1, __ATOMIC_ACQ_REL);
    return notify(q, mailbox, event_id);
}

struct error_code {
    const char *text;
    uint32_t inactive; /* value of queue_inactive_signal */
};

static const struct error_code error_codes[] = {
    [GPU_ERR_DIM] = {"invalid dispatch dimensions", 2},
    [GPU_ERR_GROUP_SIZE] = {"invalid group segment size", 4},
    [GPU_ERR_CODE] = {"invalid kernel object", 8},
    [GPU_ERR_FORMAT] = {"invalid packet", 32},
    [GPU_ERR_UNSUPPORTED] = {"unsupported packet", 256},
    [GPU_ERR_WG_SIZE] = {"invalid workgroup size", 64},
    [GPU_ERR_REGISTERS] = {"too many registers", 128},
    [GPU_ERR_VENDOR] = {"unsupported vendor packet", 256},
    [GPU_ERR_ILLEGAL_INST] = {"illegal instruction", 0x40000000},
    [GPU_ERR_TRAP] = {"trap", 0x80000000},
    [GPU_ERR_APERTURE] = {"aperture violation", 0x20000000},
    [GPU_ERR_PREEMPTION] = {"no progress", 0x10000000},
};

static void halt(struct gpu_queue *q)
{
    atomic_store(&q->halted, true);
    atomic_fetch_add(&q->gpu->counters->faults, 1);
}

/* Also in threads of waves, and where things have gone wrong: quietly. */
void gpu_queue_inactive(struct gpu_queue *q, enum gpu_error error)
{
    uint64_t at = q->config.rptr - AMD_QUEUE_RPTR + AMD_QUEUE_INACTIVE_SIGNAL, signal;
    struct amd_signal s;
    int64_t value = error_codes[error].inactive;
    unsigned space = q->config.space;
    if (q->config.kind != GPU_QUEUE_AQL || !vm_read(q->gpu, space, at, &signal, 8) ||
        !signal || !vm_read(q->gpu, space, signal, &s, sizeof(s)) ||
        !vm_write(q->gpu, space, signal + AMD_SIGNAL_VALUE, &value, sizeof(value)))
        return;
    uint64_t id = s.event_id;
    if (s.mailbox && vm_write(q->gpu, space, s.mailbox, &id, sizeof(id)))
        gpu_interrupt(q, GPU_IRQ_EOP, s.event_id);
}

enum cp_result cp_fail(struct gpu_queue *q, enum gpu_error error, const char *detail)
{
    const struct gpu_host *host = &q->gpu->host;
    halt(q);
    gpu_log(q->gpu, "queue %u: %s%s%s", q->id, error_codes[error].text,
            detail ? ": " : "", detail ? detail : "");
    host->error(host->ctx, q->config.owner, error);
    return CP_HALT;
}

void cp_page_fault(struct gpu_queue *q, const struct gpu_page_fault *fault)
{
    const struct gpu_host *host = &q->gpu->host;
    bool present = fault->present;
    struct gpu_page_fault told = *fault;
    char near[128];
    halt(q);
    if (q->gpu->host.board)
        snprintf(near, sizeof(near), "address space %u", q->space);
    else
        vm_nearest(&q->gpu->vm, fault->va, near, sizeof(near));
    gpu_log(q->gpu, "queue %u: page fault at 0x%" PRIx64 " (%s%s%s); %s", q->id,
            fault->va, present ? "" : "not mapped",
            present && fault->write ? "read only" : "",
            present && fault->exec ? "not executable" : "", near);
    told.space = q->space;
    host->page_fault(host->ctx, q->config.owner, &told);
}

bool cp_host_fault(struct gpu_queue *q)
{
    uint64_t va = atomic_load_explicit(&q->host_fault, memory_order_relaxed);
    if (!va)
        return false;
    struct gpu_page_fault fault = {.va = va & ~CP_HOST_FAULT_WRITE,
                                   .write = va & CP_HOST_FAULT_WRITE};
    if (!atomic_load(&q->halted))
        cp_page_fault(q, &fault);
    return true;
}
