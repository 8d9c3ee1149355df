/* fault.c: news from the GPU: interrupts, queues that have stopped, page faults.
 *
 * The GPU reports what happened; here it becomes an exception code of the kernel's
 * interface, and goes to the debugger, to the runtime, or back to the queue's firmware,
 * in that order. Called in the GPU's threads, so without locks around. Source:
 * exception codes and their use in kfd_ioctl.h. SPDX-License-Identifier: MIT
 */

#include <stdio.h>

#include "internal.h"

enum exception {
    EC_WAVE_TRAP = 2,
    EC_WAVE_ILLEGAL = 4,
    EC_WAVE_APERTURE = 6,
    EC_DIM = 16,
    EC_GROUP_SIZE = 17,
    EC_CODE = 18,
    EC_FORMAT = 20,
    EC_WG_SIZE = 21,
    EC_REGISTERS = 22,
    EC_VENDOR = 23,
    EC_PREEMPTION = 30,
};

static const uint8_t codes[GPU_ERRORS] = {
    [GPU_ERR_DIM] = EC_DIM,
    [GPU_ERR_GROUP_SIZE] = EC_GROUP_SIZE,
    [GPU_ERR_CODE] = EC_CODE,
    [GPU_ERR_FORMAT] = EC_FORMAT,
    [GPU_ERR_UNSUPPORTED] = EC_FORMAT,
    [GPU_ERR_WG_SIZE] = EC_WG_SIZE,
    [GPU_ERR_REGISTERS] = EC_REGISTERS,
    [GPU_ERR_VENDOR] = EC_VENDOR,
    [GPU_ERR_ILLEGAL_INST] = EC_WAVE_ILLEGAL,
    [GPU_ERR_TRAP] = EC_WAVE_TRAP,
    [GPU_ERR_APERTURE] = EC_WAVE_APERTURE,
    [GPU_ERR_PREEMPTION] = EC_PREEMPTION,
};

/* Where the driver's trap handler puts exception codes in its message; below them is
 * the doorbell. */
#define MESSAGE_EXCEPTIONS 10

/* Offsets in the header of the context save area. */
#define CWSR_ERROR_REASON   24u
#define CWSR_ERROR_EVENT_ID 32u

bool kmd_tell_runtime(struct kmd_queue *q, uint64_t exceptions)
{
    struct kmd *kmd = q->kmd;
    uint64_t cwsr = q->config.cwsr, reason_va;
    uint32_t event_id;
    if (!atomic_load(&kmd->proc->runtime.enabled) || !cwsr ||
        !gpu_read(kmd->gpu, cwsr + CWSR_ERROR_REASON, &reason_va, sizeof(reason_va)) ||
        !gpu_read(kmd->gpu, cwsr + CWSR_ERROR_EVENT_ID, &event_id, sizeof(event_id)))
        return false;
    if (!reason_va || !event_id ||
        !gpu_write(kmd->gpu, reason_va, &exceptions, sizeof(exceptions)))
        return false;
    kmd_event_interrupt(kmd, event_id);
    return true;
}

/* A queue that hangs and has no signal of its own: the kernel driver would end in
 * resetting the GPU, of which it tells everybody. */
static void report(struct kmd_queue *q, uint64_t exceptions, enum gpu_error error)
{
    if (kmd_debugged(q, exceptions) || kmd_tell_runtime(q, exceptions))
        return;
    if (q->config.kind != KMD_QUEUE_AQL && error == GPU_ERR_PREEMPTION)
        kmd_event_hang(q->kmd);
    else
        gpu_queue_inactive(q->gpu, error);
}

static void on_error(void *ctx, void *owner, enum gpu_error error)
{
    (void)ctx;
    report(owner, KMD_EXCEPTION(codes[error]), error);
}

/* A dispatch reports the first exception of its waves: the rest mostly fail alike. */
static bool on_message(void *ctx, void *owner, const struct gpu_message *message)
{
    struct kmd *kmd = ctx;
    struct kmd_queue *q = owner;
    uint64_t exceptions = message->data >> MESSAGE_EXCEPTIONS;
    enum gpu_error error = GPU_ERR_TRAP;
    if (!exceptions)
        return false;
    if (atomic_exchange(&q->reported, message->dispatch) == message->dispatch)
        return true;
    atomic_fetch_add(&kmd->proc->gpu.faults, 1);
    kmd_say(kmd, "queue %u: exception: %s", q->id, message->text);
    for (unsigned i = 0; i < GPU_ERRORS; i++)
        if (exceptions & KMD_EXCEPTION(codes[i]))
            error = (enum gpu_error)i;
    report(q, exceptions, error);
    return true;
}

static void on_page_fault(void *ctx, void *owner, const struct gpu_page_fault *f)
{
    struct kmd *kmd = ctx;
    struct kmd_memory_fault fault = {
        .va = f->va & ~4095ull,
        .not_present = !f->present,
        .read_only = f->present && f->write,
        .no_execute = f->present && f->exec,
    };
    (void)owner;
    pthread_mutex_lock(&kmd->fault_lock);
    kmd->fault = fault;
    kmd->fault_write = f->write;
    kmd->faulted = true;
    pthread_mutex_unlock(&kmd->fault_lock);
    if (!kmd_session_memory(kmd, &fault))
        kmd_event_memory_fault(kmd, &fault);
    kmd_smi_event(kmd, KMD_SMI_VMFAULT, "%x:%s\n", (unsigned)kmd->proc->pid,
                  kmd->proc->comm);
}

bool kmd_last_fault(struct kmd *kmd, struct kmd_memory_fault *fault, bool *write)
{
    pthread_mutex_lock(&kmd->fault_lock);
    bool any = kmd->faulted;
    *fault = kmd->fault;
    *write = kmd->fault_write;
    pthread_mutex_unlock(&kmd->fault_lock);
    return any;
}

static void on_interrupt(void *ctx, uint32_t data)
{
    kmd_event_interrupt(ctx, data);
}

static void on_unmodelled(void *ctx, uint32_t reg, enum gpu_reg_use use)
{
    static const char *const verbs[GPU_REG_USES] = {"read", "written", "waited for"};
    const struct kmd *kmd = ctx;
    char name[80], text[120];
    if (!kmd->config.note)
        return;
    gpu_register_text(reg, name, sizeof(name));
    (void)snprintf(text, sizeof(text), "register %s %s: nobody models it", name,
                   verbs[use]);
    kmd->config.note(text);
}

static void on_log(void *ctx, const char *text)
{
    kmd_say(ctx, "%s", text);
}

static void on_threads(void *ctx)
{
    const struct kmd *kmd = ctx;
    if (kmd->config.threads)
        kmd->config.threads();
}

static bool file_at(void *ctx, uint64_t host, struct gpu_file *out)
{
    return kmd_bo_file(ctx, host, out);
}

struct gpu_host kmd_gpu_host(struct kmd *kmd)
{
    return (struct gpu_host){.ctx = kmd,
                             .interrupt = on_interrupt,
                             .error = on_error,
                             .page_fault = on_page_fault,
                             .message = on_message,
                             .watches = kmd_session_watches,
                             .unmodelled = on_unmodelled,
                             .log = on_log,
                             .threads = on_threads,
                             .file = file_at};
}
