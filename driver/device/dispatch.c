/* dispatch.c: from a command processor to the emulator and back.
 *
 * Must not know packets. Every dispatch is counted, also those that --no-execute skips;
 * a fault becomes a page fault or a queue error, as the hardware would report it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "cp.h"

static enum cp_result report(struct gdev_queue *q, const struct emu_fault *fault)
{
    char text[512];
    emu_fault_text(fault, text, sizeof(text));
    switch (fault->kind) {
    case EMU_FAULT_UNMAPPED:
    case EMU_FAULT_PERMISSION:
        fprintf(stderr, "rdna3: queue %u: %s\n", q->id, text);
        cp_page_fault(q, fault->address, fault->write ? GDEV_WRITE : GDEV_READ);
        return CP_HALT;
    case EMU_FAULT_FETCH:
        fprintf(stderr, "rdna3: queue %u: %s\n", q->id, text);
        cp_page_fault(q, fault->pc, GDEV_EXEC);
        return CP_HALT;
    case EMU_FAULT_TRAP:
        return cp_fail(q, CP_ERR_TRAP, text);
    case EMU_FAULT_MISALIGNED:
    case EMU_FAULT_LDS_RANGE:
    case EMU_FAULT_SCRATCH_RANGE:
        return cp_fail(q, CP_ERR_APERTURE, text);
    case EMU_FAULT_HANG:
        return cp_fail(q, CP_ERR_PREEMPTION, text);
    default:
        return cp_fail(q, CP_ERR_ILLEGAL_INST, text);
    }
}

enum cp_result cp_dispatch(struct gdev_queue *q, const struct emu_dispatch *what)
{
    struct emu_dispatch with_control = *what;
    const struct emu_dispatch *d = &with_control;
    with_control.control = &q->control;
    struct gshared_proc *proc = q->dev->proc;
    atomic_fetch_add(&proc->dispatches, 1);
    if (q->dev->no_execute) {
        atomic_fetch_add(&proc->skipped, 1);
        return CP_PROGRESS;
    }
    struct emu *emu;
    if (dev_vm_emu(&q->dev->vm, &emu) != RD_OK)
        return cp_fail(q, CP_ERR_UNSUPPORTED, "no emulator");
    struct emu_stats stats = {0};
    struct emu_fault fault = {0};
    rd_status st = q->dev->clock.simulated ? cp_timed_run(q, emu, d, &fault, &stats)
                                           : emu_run(emu, d, &fault, &stats);
    atomic_fetch_add(&proc->workgroups, stats.workgroups);
    atomic_fetch_add(&proc->waves, stats.waves);
    atomic_fetch_add(&proc->instructions, stats.instructions);
    if (cp_host_fault(q))
        return CP_HALT;
    if (st == RD_E_FAULT)
        return report(q, &fault);
    if (st == RD_E_TIMEOUT) {
        if (q->control == EMU_CONTROL_CANCEL)
            return CP_HALT; /* the queue goes away */
        return cp_fail(q, CP_ERR_PREEMPTION, "no wave can make progress");
    }
    if (st != RD_OK)
        return cp_fail(q, CP_ERR_FORMAT, rd_status_text(st));
    return CP_PROGRESS;
}

void cp_code_changed(struct gdev_queue *q)
{
    struct emu *emu;
    if (!q->dev->no_execute && dev_vm_emu(&q->dev->vm, &emu) == RD_OK)
        emu_code_changed(emu, 0, UINT64_MAX);
}
