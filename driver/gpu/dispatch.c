/* dispatch.c: from a command processor to the emulator and back.
 *
 * Must not know packets. Every dispatch is counted, also those that --no-execute skips;
 * a fault becomes a page fault or a queue error, as the hardware would report it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <time.h>

#include "cp.h"

static void page_fault(struct gpu_queue *q, uint64_t va, unsigned perm)
{
    struct gpu_page_fault fault = {
        .va = va, .write = perm & GPU_WRITE, .exec = perm & GPU_EXEC};
    struct gpu_page_fault why;
    struct vm_span span;
    fault.present =
        vm_translate(q->gpu, q->space, va, 1, GPU_READ, NULL, &span, &why) == RD_OK;
    cp_page_fault(q, &fault);
}

static enum cp_result report(struct gpu_queue *q, const struct emu_fault *fault)
{
    char text[512];
    emu_fault_text(fault, text, sizeof(text));
    switch (fault->kind) {
    case EMU_FAULT_UNMAPPED:
    case EMU_FAULT_PERMISSION:
        gpu_log(q->gpu, "queue %u: %s", q->id, text);
        page_fault(q, fault->address, fault->write ? GPU_WRITE : GPU_READ);
        return CP_HALT;
    case EMU_FAULT_FETCH:
        gpu_log(q->gpu, "queue %u: %s", q->id, text);
        page_fault(q, fault->address ? fault->address : fault->pc, GPU_EXEC);
        return CP_HALT;
    case EMU_FAULT_HALTED:
        if (atomic_load(&q->excepted)) { /* by the trap handler, which has said so */
            atomic_store(&q->halted, true);
            return CP_HALT;
        }
        return cp_fail(
            q, fault->cause == EMU_FAULT_TRAP ? GPU_ERR_TRAP : GPU_ERR_PREEMPTION,
            text);
    case EMU_FAULT_TRAP:
        return cp_fail(q, GPU_ERR_TRAP, text);
    case EMU_FAULT_MISALIGNED:
    case EMU_FAULT_LDS_RANGE:
    case EMU_FAULT_SCRATCH_RANGE:
        return cp_fail(q, GPU_ERR_APERTURE, text);
    case EMU_FAULT_HANG:
        return cp_fail(q, GPU_ERR_PREEMPTION, text);
    default:
        return cp_fail(q, GPU_ERR_ILLEGAL_INST, text);
    }
}

/* A wave has sent an interrupt; in whatever thread runs it. From user code it is for
 * the host as it is; what the trap handler sends may say that the dispatch has failed.
 */
static void on_interrupt(void *ctx, const struct emu_interrupt *i)
{
    struct gpu_queue *q = ctx;
    const struct gpu_host *host = &q->gpu->host;
    char text[512];
    if (!i->privileged) {
        gpu_interrupt(q, GPU_IRQ_WAVE, i->data);
        return;
    }
    emu_fault_text(i->cause, text, sizeof(text));
    struct gpu_message m = {.data = i->data, .dispatch = q->dispatches, .text = text};
    if (host->message(host->ctx, q->config.owner, &m))
        atomic_store(&q->excepted, true);
}

/* A workgroup has left its LDS. The chip says nothing, and programs that work on it do
 * this, so the program is not told either; people are, once for each instruction. */
static void on_unreported(void *ctx, const struct emu_fault *what)
{
    struct gpu_queue *q = ctx;
    char text[512], name[200];
    uint64_t start;
    struct gpu_counters *c = q->gpu->counters;
    bool first = atomic_fetch_add(&c->lds_beyond, 1) == 0;
    if (atomic_exchange(&q->lds_pc, what->pc) == what->pc)
        return;
    emu_fault_text(what, text, sizeof(text));
    if (!gpu_symbol(q->gpu, what->pc, name, sizeof name, &start))
        snprintf(name, sizeof name, "kernel");
    if (first)
        snprintf(c->lds_first, sizeof c->lds_first, "%s: %.270s", name, text);
    gpu_log(q->gpu, "queue %u: as on the chip, reads give 0 and writes vanish: %s: %s",
            q->id, name, text);
}

/* The emulator's counts only grow; other queues may add to them meanwhile. */
static void add_new(_Atomic uint64_t *to, _Atomic uint64_t *known, uint64_t count)
{
    atomic_fetch_add(to, count - atomic_exchange(known, count));
}

static void add_executed(void *ctx, unsigned op, uint64_t count)
{
    struct gpu *gpu = ctx;
    if (op < GPU_OPCODES)
        add_new(&gpu->opcodes->executed[op], &gpu->counted.executed[op], count);
}

static void add_handled(void *ctx, unsigned op, uint64_t count)
{
    struct gpu *gpu = ctx;
    if (op < GPU_OPCODES)
        add_new(&gpu->opcodes->handled[op], &gpu->counted.handled[op], count);
}

static void count_opcodes(struct gpu *gpu, const struct emu *emu)
{
    if (!gpu->opcodes)
        return;
    pthread_mutex_lock(&gpu->opcode_lock);
    emu_count_each(emu, add_executed, gpu);
    emu_native_handled(emu, add_handled, gpu);
    pthread_mutex_unlock(&gpu->opcode_lock);
}

/* What native code the emulator of a VM has made since it was asked last. */
static void count_native(struct gpu *gpu, struct vm *vm, const struct emu *emu)
{
    struct gpu_counters *c = gpu->counters;
    struct emu_native_stats now;
    pthread_mutex_lock(&gpu->opcode_lock);
    const struct emu_native_stats known = vm->native;
    emu_native_stats(emu, &now);
    if (now.traces != known.traces) {
        double us = now.compile_us - known.compile_us;
        atomic_fetch_add(&c->native_blocks, now.blocks - known.blocks);
        atomic_fetch_add(&c->native_instructions,
                         now.instructions - known.instructions);
        atomic_fetch_add(&c->native_bytes, now.bytes - known.bytes);
        atomic_fetch_add(&c->native_ns, (uint64_t)(us * 1e3));
        vm->native = now;
    }
    pthread_mutex_unlock(&gpu->opcode_lock);
}

static enum cp_result outcome(struct gpu_queue *q, rd_status st,
                              const struct emu_fault *fault)
{
    if (cp_host_fault(q))
        return CP_HALT;
    if (st == RD_E_FAULT)
        return report(q, fault);
    if (st == RD_E_TIMEOUT) {
        if (cp_control(q) == EMU_CONTROL_CANCEL)
            return CP_HALT; /* the queue goes away, or its waves are killed */
        return cp_fail(q, GPU_ERR_PREEMPTION, "no wave can make progress");
    }
    if (st != RD_OK)
        return cp_fail(q, GPU_ERR_FORMAT, rd_status_text(st));
    return CP_PROGRESS;
}

/* Waves that have halted stay where they are until they are killed (which a driver
 * tries before it resets a ring), or their queue is taken away. */
static void stand(struct gpu_queue *q)
{
    const struct timespec nap = {0, 200000};
    cp_clock_leave(q);
    cp_give_way(q);
    while (!atomic_load(&q->stop) && !atomic_load(&q->killed))
        nanosleep(&nap, NULL);
    cp_clock_enter(q);
}

/* What waves read as REALTIME: a kernel that waits for a time ends at that time. The
 * checkers and the debugger run pieces again, which must read the same; what runs
 * instruction by instruction because memory is watched does not, and reads this. */
static uint64_t clock_now(void *ctx)
{
    struct gpu_queue *q = ctx;
    return gpu_clock(q->gpu);
}

enum cp_result cp_dispatch(struct gpu_queue *q, const struct emu_dispatch *what)
{
    struct emu_dispatch with_control = *what;
    const struct emu_dispatch *d = &with_control;
    struct emu_queue around = {.knows_doorbell = true,
                               .packet = (uint32_t)q->packet,
                               .realtime = cp_clock(q),
                               .interrupt = on_interrupt,
                               .unreported = on_unreported,
                               .ctx = q};
    if (!q->gpu->checks.path && !q->gpu->debugger && !q->gpu->clock.simulated)
        around.clock = clock_now;
    with_control.control = &q->control;
    with_control.queue = &around;
    with_control.watch = &q->watch;
    cp_traps(q, &around);
    const struct gpu_watches *watches = cp_watches(q, &with_control);
    atomic_store(&q->excepted, false);
    q->dispatches++;
    struct gpu_counters *done = q->gpu->counters;
    atomic_fetch_add(&done->dispatches, 1);
    if (q->gpu->no_execute) {
        atomic_fetch_add(&done->skipped, 1);
        return CP_PROGRESS;
    }
    struct emu *emu;
    struct vm *vm = vm_of(q->gpu, q->space);
    if (!vm || vm_emu(vm, &emu) != RD_OK)
        return cp_fail(q, GPU_ERR_UNSUPPORTED, "no emulator");
    struct emu_stats stats = {0};
    struct emu_fault fault = {0};
    cp_waves_begin(q);
    if (q->gpu->host.board)
        q->gpu->host.board->mirror(q->gpu->host.ctx, q->space);
    cp_going(q);
    cp_cores_begin(q, emu, &with_control);
    cp_compete(q);
    cp_pmc_begin(q, &with_control);
    atomic_store(&q->in_dispatch, true);
    atomic_fetch_add(&q->gpu->counters->running, 1);
    atomic_fetch_add(&q->gpu->running, 1);
    rd_status st = q->gpu->checks.path ? cp_checked_run(q, emu, d, &fault, &stats)
                   : q->gpu->debugger  ? cp_debugged_run(q, emu, d, &fault, &stats)
                   : watches ? cp_watched_run(q, emu, d, watches, &fault, &stats)
                   : q->gpu->clock.simulated ? cp_timed_run(q, emu, d, &fault, &stats)
                                             : emu_run(emu, d, &fault, &stats);
    cp_hold(q);
    atomic_fetch_sub(&q->gpu->running, 1);
    atomic_fetch_sub(&q->gpu->counters->running, 1);
    atomic_store(&q->in_dispatch, false);
    cp_cores_end(q, st, &fault);
    cp_pmc_end(q, d, &stats);
    atomic_fetch_add(&done->workgroups, stats.workgroups);
    atomic_fetch_add(&done->waves, stats.waves);
    atomic_fetch_add(&done->instructions, stats.instructions);
    count_opcodes(q->gpu, emu);
    count_native(q->gpu, vm, emu);
    enum cp_result result = outcome(q, st, &fault);
    if (st == RD_E_FAULT && result == CP_HALT && q->gpu->host.board)
        stand(q);
    if (!cp_waves_end(q) || atomic_load(&q->stop))
        return result;
    atomic_store(&q->halted, false);
    return CP_PROGRESS;
}

void cp_code_changed(struct gpu_queue *q)
{
    struct emu *emu;
    struct vm *vm = vm_of(q->gpu, q->space);
    if (!q->gpu->no_execute && vm && vm_emu(vm, &emu) == RD_OK)
        emu_code_changed(emu, 0, UINT64_MAX);
}
