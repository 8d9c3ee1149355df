/* kfd_event.c: /dev/kfd ioctls about events.
 *
 * The first event of a process may bring the buffer that serves as mailbox page.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"

/* Kernel: mmap offset type "events", in the top two bits. */
#define EVENT_PAGE_OFFSET (2ull << 62)
#define MAX_WAIT          65536u

static int set_event_page(struct abi_ctx *ctx, uint64_t handle)
{
    struct kmd_bo_info info;
    if (!abi_gpu((uint32_t)(handle >> 32)) ||
        kmd_bo_info(ctx->kmd, (uint32_t)handle, &info) != RD_OK)
        return -EINVAL;
    if (info.kind != KMD_GTT || kmd_bo_map(ctx->kmd, (uint32_t)handle) != RD_OK)
        return -EINVAL;
    rd_status st = kmd_event_page(ctx->kmd, info.va, info.bytes);
    return st == RD_E_EXISTS ? -EBUSY : abi_errno(st);
}

int abi_create_event(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_create_event_args *args = argp;
    enum kmd_event_kind kind = KMD_EVENT_OTHER;
    uint32_t id;
    (void)size;
    if (args->event_type > KFD_IOC_EVENT_MEMORY)
        return -EINVAL;
    if (args->event_page_offset) {
        int err = set_event_page(ctx, args->event_page_offset);
        if (err)
            return err;
    }
    bool slot = args->event_type == KFD_IOC_EVENT_SIGNAL ||
                args->event_type == KFD_IOC_EVENT_DEBUG_EVENT;
    if (slot)
        kind = KMD_EVENT_SIGNAL;
    else if (args->event_type == KFD_IOC_EVENT_MEMORY)
        kind = KMD_EVENT_MEMORY;
    else if (args->event_type == KFD_IOC_EVENT_HW_EXCEPTION)
        kind = KMD_EVENT_HW;
    rd_status st = kmd_event_create(ctx->kmd, kind, args->auto_reset != 0, &id);
    if (st != RD_OK)
        return abi_errno(st);
    args->event_id = id;
    args->event_page_offset = slot ? EVENT_PAGE_OFFSET : 0;
    args->event_slot_index = slot ? id : 0;
    args->event_trigger_data = slot ? id : 0;
    return 0;
}

int abi_destroy_event(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_destroy_event_args *args = argp;
    (void)size;
    return abi_errno(kmd_event_destroy(ctx->kmd, args->event_id));
}

int abi_set_event(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_set_event_args *args = argp;
    (void)size;
    return abi_errno(kmd_event_set(ctx->kmd, args->event_id));
}

int abi_reset_event(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_reset_event_args *args = argp;
    (void)size;
    return abi_errno(kmd_event_reset(ctx->kmd, args->event_id));
}

static void put_result(struct kfd_event_data *data, const struct kmd_wait *wait)
{
    if (!wait->activated)
        return;
    if (wait->kind == KMD_EVENT_SIGNAL && wait->age)
        data->signal_event_data.last_event_age = wait->age;
    if (wait->kind == KMD_EVENT_MEMORY)
        data->memory_exception_data = (struct kfd_hsa_memory_exception_data){
            .failure = {.NotPresent = wait->fault.not_present,
                        .ReadOnly = wait->fault.read_only,
                        .NoExecute = wait->fault.no_execute,
                        .imprecise = wait->fault.imprecise},
            .va = wait->fault.va,
            .gpu_id = BOARD_GPU_ID,
        };
    if (wait->kind == KMD_EVENT_HW)
        data->hw_exception_data = (struct kfd_hsa_hw_exception_data){
            .reset_cause = wait->reset_cause, .memory_lost = 1, .gpu_id = BOARD_GPU_ID};
}

/* The union's meaning is the event's type, which only the model knows: the age of a
 * signal event lies where a memory event has its failure bits. */
static int wait_all(struct abi_ctx *ctx, struct kfd_ioctl_wait_events_args *args,
                    struct kfd_event_data *data, struct kmd_wait *waits)
{
    uint32_t n = args->num_events;
    enum kmd_wait_result result = KMD_WAIT_TIMEOUT;
    if (!abi_get(data, args->events_ptr, n * sizeof(*data)))
        return -EFAULT;
    for (uint32_t i = 0; i < n; i++)
        waits[i] = (struct kmd_wait){.id = data[i].event_id,
                                     .age = data[i].signal_event_data.last_event_age};
    rd_status st = kmd_event_wait(ctx->kmd, waits, n, args->wait_for_all != 0,
                                  args->timeout, &result);
    if (st != RD_OK)
        return abi_errno(st);
    if (result == KMD_WAIT_DESTROYED) {
        args->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
        return -EIO;
    }
    args->wait_result = result == KMD_WAIT_DONE ? KFD_IOC_WAIT_RESULT_COMPLETE
                                                : KFD_IOC_WAIT_RESULT_TIMEOUT;
    if (result == KMD_WAIT_DONE) {
        for (uint32_t i = 0; i < n; i++)
            put_result(&data[i], &waits[i]);
        if (!abi_put(args->events_ptr, data, n * sizeof(*data)))
            return -EFAULT;
    }
    return 0;
}

int abi_wait_events(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_wait_events_args *args = argp;
    (void)size;
    if (args->num_events > MAX_WAIT)
        return -ENOMEM;
    size_t n = args->num_events ? args->num_events : 1;
    struct kfd_event_data *data = calloc(n, sizeof(*data));
    struct kmd_wait *waits = calloc(n, sizeof(*waits));
    int r = data && waits ? wait_all(ctx, args, data, waits) : -ENOMEM;
    if (r)
        args->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
    free(data);
    free(waits);
    return r;
}

int abi_smi_events(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_smi_events_args *args = argp;
    int fd;
    (void)size;
    if (!abi_gpu(args->gpuid))
        return -EINVAL;
    rd_status st = kmd_smi_open(ctx->kmd, &fd);
    if (st != RD_OK)
        return abi_errno(st);
    args->anon_fd = (uint32_t)fd;
    return 0;
}
