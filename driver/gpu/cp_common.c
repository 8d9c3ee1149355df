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

#include "cp.h"

#define SPINS      2000u
#define NAP_MIN_NS 5000
#define NAP_MAX_NS 500000

/* Offsets in the header of the context save area. */
#define CWSR_ERROR_REASON   24u
#define CWSR_ERROR_EVENT_ID 32u
#define CWSR_HEADER_BYTES   40u

/* queue_inactive_signal from the read index of an AQL queue: amd_queue + 0xc0. */
#define AQL_RPTR_OFFSET     0x80u
#define AQL_INACTIVE_SIGNAL 0xc0u

void *cp_at(struct gdev_queue *q, uint64_t va, uint64_t bytes, unsigned perm)
{
    if (gdev_vm_check(q->dev, va, bytes, perm))
        return (void *)(uintptr_t)va;
    cp_page_fault(q, va, perm);
    return NULL;
}

bool cp_read(struct gdev_queue *q, uint64_t va, void *to, uint64_t bytes)
{
    const void *p = cp_at(q, va, bytes, GDEV_READ);
    if (p)
        memcpy(to, p, bytes);
    return p != NULL;
}

bool cp_write(struct gdev_queue *q, uint64_t va, const void *from, uint64_t bytes)
{
    void *p = cp_at(q, va, bytes, GDEV_WRITE);
    if (!p)
        return false;
    if (bytes == 8 && va % 8 == 0) {
        uint64_t v;
        memcpy(&v, from, 8);
        __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
    } else if (bytes == 4 && va % 4 == 0) {
        uint32_t v;
        memcpy(&v, from, 4);
        __atomic_store_n((uint32_t *)p, v, __ATOMIC_RELEASE);
    } else {
        memcpy(p, from, bytes);
    }
    return true;
}

bool cp_interrupt(struct gdev_queue *q, uint32_t event_id)
{
    if (q->config.kind != GDEV_QUEUE_AQL &&
        !cp_write(q, q->config.rptr, &q->behind, sizeof(q->behind)))
        return false;
    gdev_interrupt(q->dev, event_id);
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

uint64_t cp_clock(struct gdev_queue *q)
{
    return q->dev->clock.simulated ? q->time : gdev_clock(q->dev);
}

void cp_spend(struct gdev_queue *q, uint64_t ticks)
{
    if (!q->dev->clock.simulated)
        return;
    q->time += ticks;
    dev_clock_reach(&q->dev->clock, q->time);
}

void cp_clock_enter(struct gdev_queue *q)
{
    if (!q->dev->clock.simulated || q->at_work)
        return;
    uint64_t now = dev_clock_enter(&q->dev->clock);
    q->time = now > q->time ? now : q->time;
    q->at_work = true;
}

void cp_clock_leave(struct gdev_queue *q)
{
    if (q->at_work)
        dev_clock_leave(&q->dev->clock);
    q->at_work = false;
}

/* A suspended queue does not go on, whatever it waits for. */
static bool may_go_on(struct gdev_queue *q)
{
    bool active = atomic_load_explicit(&q->active, memory_order_relaxed);
    if (active == atomic_load_explicit(&q->standing, memory_order_relaxed))
        atomic_store(&q->standing, !active);
    return active;
}

void cp_hold(struct gdev_queue *q)
{
    const struct timespec nap = {0, NAP_MAX_NS};
    while (!may_go_on(q) && !atomic_load(&q->stop))
        nanosleep(&nap, NULL);
    atomic_store(&q->standing, false);
}

static bool poll_until(struct gdev_queue *q, bool (*ready)(void *ctx), void *ctx)
{
    struct timespec nap = {0, NAP_MIN_NS};
    for (unsigned i = 0;; i++) {
        if (may_go_on(q) && ready(ctx))
            return true;
        if (atomic_load_explicit(&q->stop, memory_order_relaxed) ||
            atomic_load_explicit(&q->halted, memory_order_relaxed))
            return false;
        if (i < SPINS) {
            if (i % 64 == 63)
                sched_yield();
            __builtin_ia32_pause();
            continue;
        }
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < NAP_MAX_NS)
            nap.tv_nsec += nap.tv_nsec / 4;
    }
}

bool cp_wait(struct gdev_queue *q, bool (*ready)(void *ctx), void *ctx)
{
    if (may_go_on(q) && ready(ctx))
        return true;
    cp_clock_leave(q); /* what it waits for takes its own time */
    cp_give_way(q);    /* and may be of lower priority */
    bool ok = poll_until(q, ready, ctx);
    atomic_store(&q->standing, false);
    cp_clock_enter(q);
    return ok;
}

static bool notify(struct gdev_queue *q, uint64_t mailbox, uint32_t event_id)
{
    uint64_t id = event_id;
    if (!mailbox)
        return true;
    if (!cp_write(q, mailbox, &id, 8))
        return false;
    gdev_interrupt(q->dev, event_id);
    return true;
}

bool cp_signal_store(struct gdev_queue *q, uint64_t va, int64_t value)
{
    struct amd_signal *s = cp_at(q, va, sizeof(*s), GDEV_READ | GDEV_WRITE);
    if (!s)
        return false;
    uint64_t mailbox = s->mailbox;
    uint32_t event_id = s->event_id;
    __atomic_store_n(&s->value, value, __ATOMIC_RELEASE);
    return notify(q, mailbox, event_id);
}

bool cp_signal_complete(struct gdev_queue *q, uint64_t va, uint64_t start, uint64_t end)
{
    if (!va)
        return true;
    struct amd_signal *s = cp_at(q, va, sizeof(*s), GDEV_READ | GDEV_WRITE);
    if (!s)
        return false;
    s->start = start;
    s->end = end;
    /* Read before the decrement: the waiter may reuse the signal after it. */
    uint64_t mailbox = s->mailbox;
    uint32_t event_id = s->event_id;
    __atomic_fetch_sub(&s->value, 1, __ATOMIC_ACQ_REL);
    return notify(q, mailbox, event_id);
}

struct error_code {
    const char *text;
    uint32_t inactive; /* value of queue_inactive_signal */
    unsigned ec;       /* exception code of the kernel's interface */
};

static const struct error_code error_codes[] = {
    [CP_ERR_DIM] = {"invalid dispatch dimensions", 2, 16},
    [CP_ERR_GROUP_SIZE] = {"invalid group segment size", 4, 17},
    [CP_ERR_CODE] = {"invalid kernel object", 8, 18},
    [CP_ERR_FORMAT] = {"invalid packet", 32, 20},
    [CP_ERR_UNSUPPORTED] = {"unsupported packet", 256, 20},
    [CP_ERR_WG_SIZE] = {"invalid workgroup size", 64, 21},
    [CP_ERR_REGISTERS] = {"too many registers", 128, 22},
    [CP_ERR_VENDOR] = {"unsupported vendor packet", 256, 23},
    [CP_ERR_ILLEGAL_INST] = {"illegal instruction", 0x40000000, 4},
    [CP_ERR_TRAP] = {"trap", 0x80000000, 2},
    [CP_ERR_APERTURE] = {"aperture violation", 0x20000000, 6},
    [CP_ERR_PREEMPTION] = {"no progress", 0x10000000, 30},
};

static void halt(struct gdev_queue *q)
{
    atomic_store(&q->halted, true);
    atomic_fetch_add(&q->dev->proc->faults, 1);
}

/* The kernel's way: the reason where the save area says, then its event. */
bool cp_tell_runtime(struct gdev_queue *q, uint64_t exceptions)
{
    uint64_t reason_va;
    uint32_t event_id;
    if (!atomic_load(&q->dev->runtime_enabled) || !q->config.cwsr ||
        !gdev_vm_check(q->dev, q->config.cwsr, CWSR_HEADER_BYTES, GDEV_READ))
        return false;
    const uint8_t *header = (const uint8_t *)(uintptr_t)q->config.cwsr;
    memcpy(&reason_va, header + CWSR_ERROR_REASON, 8);
    memcpy(&event_id, header + CWSR_ERROR_EVENT_ID, 4);
    if (!reason_va || !event_id || !gdev_vm_check(q->dev, reason_va, 8, GDEV_WRITE))
        return false;
    __atomic_store_n((uint64_t *)(uintptr_t)reason_va, exceptions, __ATOMIC_RELEASE);
    gdev_interrupt(q->dev, event_id);
    return true;
}

/* The firmware's way without a runtime: a value in the AQL queue's own signal. */
static void report_to_queue(struct gdev_queue *q, uint32_t value)
{
    uint64_t at = q->config.rptr - AQL_RPTR_OFFSET + AQL_INACTIVE_SIGNAL, signal;
    if (q->config.kind != GDEV_QUEUE_AQL || !gdev_vm_check(q->dev, at, 8, GDEV_READ))
        return;
    memcpy(&signal, (const void *)(uintptr_t)at, 8);
    if (signal && gdev_vm_check(q->dev, signal, sizeof(struct amd_signal), GDEV_WRITE))
        (void)!cp_signal_store(q, signal, value);
}

enum cp_result cp_fail(struct gdev_queue *q, enum cp_error error, const char *detail)
{
    const struct error_code *code = &error_codes[error];
    halt(q);
    fprintf(stderr, "rdna3: queue %u: %s%s%s\n", q->id, code->text, detail ? ": " : "",
            detail ? detail : "");
    uint64_t exceptions = 1ull << (code->ec - 1);
    if (!cp_debugged(q, exceptions) && !cp_tell_runtime(q, exceptions))
        report_to_queue(q, code->inactive);
    return CP_HALT;
}

void cp_exception(struct gdev_queue *q, uint64_t exceptions, const char *detail)
{
    uint32_t inactive = error_codes[CP_ERR_TRAP].inactive;
    atomic_fetch_add(&q->dev->proc->faults, 1);
    fprintf(stderr, "rdna3: queue %u: exception: %s\n", q->id, detail);
    for (unsigned i = 0; i < sizeof(error_codes) / sizeof(error_codes[0]); i++)
        if (exceptions >> (error_codes[i].ec - 1) & 1)
            inactive = error_codes[i].inactive;
    if (!cp_debugged(q, exceptions) && !cp_tell_runtime(q, exceptions))
        report_to_queue(q, inactive);
}

static void page_fault(struct gdev_queue *q, uint64_t va, unsigned perm, bool present)
{
    struct gdev_memory_fault fault = {
        .va = va & ~4095ull,
        .not_present = !present,
        .read_only = present && (perm & GDEV_WRITE),
        .no_execute = present && (perm & GDEV_EXEC),
    };
    char near[128];
    halt(q);
    dev_vm_nearest(&q->dev->vm, va, near, sizeof(near));
    fprintf(stderr, "rdna3: queue %u: page fault at 0x%" PRIx64 " (%s%s%s); %s\n",
            q->id, va, fault.not_present ? "not mapped" : "",
            fault.read_only ? "read only" : "",
            fault.no_execute ? "not executable" : "", near);
    gdev_event_memory_fault(q->dev, &fault);
    gdev_smi_event(q->dev, GDEV_SMI_VMFAULT, "%x:%s\n", (unsigned)q->dev->proc->pid,
                   q->dev->proc->comm);
}

void cp_page_fault(struct gdev_queue *q, uint64_t va, unsigned perm)
{
    page_fault(q, va, perm, gdev_vm_check(q->dev, va, 1, GDEV_READ));
}

bool cp_host_fault(struct gdev_queue *q)
{
    uint64_t va = atomic_load_explicit(&q->host_fault, memory_order_relaxed);
    if (!va)
        return false;
    if (!atomic_load(&q->halted))
        page_fault(q, va & ~CP_HOST_FAULT_WRITE,
                   va & CP_HOST_FAULT_WRITE ? GDEV_WRITE : GDEV_READ, false);
    return true;
}
