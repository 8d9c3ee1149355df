/* kfd_debug.c: /dev/kfd's debugging ioctl, of a process for itself: sessions, suspended
 * queues, snapshots, raised exceptions.
 *
 * The device lives inside its process, so another process cannot be debugged: that is
 * refused as if it were not traced. Watch points, launch modes and overrides do not
 * exist here and are refused as by a board without them. Must not know how a queue
 * stops. Source: comments of kfd_ioctl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctx.h"

#define MAX_QUEUES 1024u
/* KFD_DBG_QUEUE_*_MASK, which the header shifts into the sign bit */
#define QUEUE_ERROR   (1u << KFD_DBG_QUEUE_ERROR_BIT)
#define QUEUE_INVALID (1u << KFD_DBG_QUEUE_INVALID_BIT)

int abi_runtime_enable(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_runtime_enable_args *args = argp;
    bool enable = args->mode_mask & KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK;
    (void)size;
    if (enable && ctx->runtime_enabled)
        return -EBUSY;
    if (enable && kmd_queue_count(ctx->kmd))
        return -EEXIST;
    ctx->runtime_enabled = enable;
    ctx->r_debug = enable ? args->r_debug : 0;
    ctx->ttmp_setup =
        enable && args->mode_mask & KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK;
    kmd_runtime_enable(ctx->kmd, enable);
    return 0;
}

static struct kfd_runtime_info runtime_info(const struct abi_ctx *ctx)
{
    return (struct kfd_runtime_info){
        .r_debug = ctx->r_debug,
        .runtime_state = ctx->runtime_enabled ? DEBUG_RUNTIME_STATE_ENABLED
                                              : DEBUG_RUNTIME_STATE_DISABLED,
        .ttmp_setup = ctx->ttmp_setup};
}

static int enable(struct abi_ctx *ctx, struct kfd_ioctl_dbg_trap_enable_args *a)
{
    struct kfd_runtime_info info = runtime_info(ctx);
    if (ctx->debugged)
        return -EINVAL;
    int fd = fcntl((int)a->dbg_fd, F_DUPFD_CLOEXEC, 700);
    if (fd < 0)
        return -EBADF;
    size_t n = a->rinfo_size < sizeof(info) ? a->rinfo_size : sizeof(info);
    if (!abi_put(a->rinfo_ptr, &info, n)) {
        close(fd);
        return -EFAULT;
    }
    a->rinfo_size = sizeof(info);
    ctx->debugged = true;
    kmd_debug(ctx->kmd, fd, a->exception_mask);
    return 0;
}

/* Returns how many were changed; marks the others in the client's array. */
static int each_queue(struct abi_ctx *ctx, uint64_t array, uint32_t count, bool suspend)
{
    int changed = 0;
    if (count > MAX_QUEUES)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id;
        if (!abi_get(&id, array + 4ull * i, 4))
            return -EFAULT;
        id &= ~(QUEUE_ERROR | QUEUE_INVALID);
        if (kmd_queue_suspend(ctx->kmd, id, suspend) == RD_OK)
            changed++;
        else
            id |= QUEUE_INVALID;
        if (!abi_put(array + 4ull * i, &id, 4))
            return -EFAULT;
    }
    return changed;
}

static uint32_t queue_type(enum kmd_queue_kind kind)
{
    return kind == KMD_QUEUE_PM4   ? KFD_IOC_QUEUE_TYPE_COMPUTE
           : kind == KMD_QUEUE_AQL ? KFD_IOC_QUEUE_TYPE_COMPUTE_AQL
                                   : KFD_IOC_QUEUE_TYPE_SDMA;
}

static int queue_snapshot(struct abi_ctx *ctx,
                          struct kfd_ioctl_dbg_trap_queue_snapshot_args *a)
{
    struct kmd_queue_state *list = calloc(MAX_QUEUES, sizeof(*list));
    struct kfd_queue_snapshot_entry e;
    if (!list)
        return -ENOMEM;
    unsigned n = kmd_queue_list(ctx->kmd, list, MAX_QUEUES);
    size_t bytes = a->entry_size < sizeof(e) ? a->entry_size : sizeof(e);
    int r = 0;
    for (unsigned i = 0; i < n && i < a->num_queues && !r; i++) {
        const struct kmd_queue_config *c = &list[i].config;
        e = (struct kfd_queue_snapshot_entry){.exception_status = list[i].exceptions,
                                              .ring_base_address = c->ring,
                                              .write_pointer_address = c->wptr,
                                              .read_pointer_address = c->rptr,
                                              .ctx_save_restore_address = c->cwsr,
                                              .queue_id = list[i].id,
                                              .gpu_id = BOARD_GPU_ID,
                                              .ring_size = (uint32_t)c->ring_bytes,
                                              .queue_type = queue_type(c->kind),
                                              .ctx_save_restore_area_size =
                                                  (uint32_t)c->cwsr_bytes};
        kmd_queue_clear(ctx->kmd, list[i].id, a->exception_mask);
        if (!abi_put(a->snapshot_buf_ptr + (uint64_t)i * a->entry_size, &e, bytes))
            r = -EFAULT;
    }
    free(list);
    a->num_queues = n;
    a->entry_size = sizeof(e);
    return r;
}

static int device_snapshot(struct abi_ctx *ctx,
                           struct kfd_ioctl_dbg_trap_device_snapshot_args *a)
{
    struct kfd_process_device_apertures ap;
    abi_fill_apertures(&ap);
    struct kfd_dbg_device_info_entry e = {.lds_base = ap.lds_base,
                                          .lds_limit = ap.lds_limit,
                                          .scratch_base = ap.scratch_base,
                                          .scratch_limit = ap.scratch_limit,
                                          .gpuvm_base = ap.gpuvm_base,
                                          .gpuvm_limit = ap.gpuvm_limit,
                                          .gpu_id = BOARD_GPU_ID,
                                          .location_id = BOARD_LOCATION_ID,
                                          .vendor_id = BOARD_VENDOR,
                                          .device_id = BOARD_DEVICE,
                                          .revision_id = BOARD_REVISION,
                                          .subsystem_vendor_id = BOARD_SUBSYS_VENDOR,
                                          .subsystem_device_id = BOARD_SUBSYS_DEVICE,
                                          .fw_version = BOARD_FW_VERSION,
                                          .gfx_target_version = 110000,
                                          .simd_count = 2 * BOARD_CUS,
                                          .max_waves_per_simd = BOARD_WAVES_PER_CU / 2,
                                          .array_count = BOARD_SE * BOARD_SA_PER_SE,
                                          .simd_arrays_per_engine = BOARD_SA_PER_SE,
                                          .num_xcc = 1,
                                          .capability = BOARD_CAPABILITY,
                                          .debug_prop = BOARD_DEBUG_PROP};
    size_t bytes = a->entry_size < sizeof(e) ? a->entry_size : sizeof(e);
    (void)ctx;
    if (a->num_devices && !abi_put(a->snapshot_buf_ptr, &e, bytes))
        return -EFAULT;
    a->num_devices = 1;
    a->entry_size = sizeof(e);
    return 0;
}

static int query_event(struct abi_ctx *ctx,
                       struct kfd_ioctl_dbg_trap_query_debug_event_args *a)
{
    struct kmd_queue_state state;
    uint64_t clear = a->exception_mask;
    if (!kmd_queue_raised(ctx->kmd, &state))
        return -EAGAIN;
    kmd_queue_clear(ctx->kmd, state.id, clear);
    a->exception_mask = state.exceptions;
    a->gpu_id = BOARD_GPU_ID;
    a->queue_id = state.id;
    return 0;
}

static int query_info(struct abi_ctx *ctx,
                      struct kfd_ioctl_dbg_trap_query_exception_info_args *a)
{
    struct kfd_runtime_info info = runtime_info(ctx);
    if (!KFD_DBG_EC_IS_VALID(a->exception_code))
        return -EINVAL;
    if (a->exception_code != EC_PROCESS_RUNTIME) {
        a->info_size = 0;
        return 0;
    }
    size_t n = a->info_size < sizeof(info) ? a->info_size : sizeof(info);
    a->info_size = sizeof(info);
    return abi_put(a->info_ptr, &info, n) ? 0 : -EFAULT;
}

static int send_event(struct abi_ctx *ctx,
                      const struct kfd_ioctl_dbg_trap_send_runtime_event_args *a)
{
    if (a->exception_mask & KFD_EC_MASK_DEVICE && !abi_gpu(a->gpu_id))
        return -ENODEV;
    kmd_queue_tell(ctx->kmd, a->queue_id, a->exception_mask & KFD_EC_MASK_QUEUE);
    return 0;
}

static int hardware_op(struct abi_ctx *ctx, struct kfd_ioctl_dbg_trap_args *args)
{
    if (!ctx->runtime_enabled)
        return -EACCES;
    switch (args->op) {
    case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
        return each_queue(ctx, args->suspend_queues.queue_array_ptr,
                          args->suspend_queues.num_queues, true);
    case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
        return each_queue(ctx, args->resume_queues.queue_array_ptr,
                          args->resume_queues.num_queues, false);
    case KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE:
        args->launch_override.support_request_mask = 0;
        return args->launch_override.enable_mask ? -EACCES : 0;
    case KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE:
        return args->launch_mode.launch_mode ? -EINVAL : 0;
    case KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH:
        return abi_gpu(args->set_node_address_watch.gpu_id) ? -ENOMEM : -ENODEV;
    default: /* clear a watch point that was never set */
        return abi_gpu(args->clear_node_address_watch.gpu_id) ? -EINVAL : -ENODEV;
    }
}

/* Memory operations are precise here whether asked for or not. */
static int set_flags(struct abi_ctx *ctx, uint32_t *flags)
{
    uint32_t before = ctx->debug_flags;
    bool known = !(*flags & ~(uint32_t)KFD_DBG_TRAP_FLAG_SINGLE_MEM_OP);
    if (known)
        ctx->debug_flags = *flags;
    *flags = before;
    return known ? 0 : -EACCES;
}

static int session_op(struct abi_ctx *ctx, struct kfd_ioctl_dbg_trap_args *args)
{
    if (!ctx->debugged)
        return -EINVAL;
    switch (args->op) {
    case KFD_IOC_DBG_TRAP_DISABLE:
        ctx->debugged = false;
        kmd_debug(ctx->kmd, -1, 0);
        return 0;
    case KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT:
        return send_event(ctx, &args->send_runtime_event);
    case KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED:
        kmd_debug_mask(ctx->kmd, args->set_exceptions_enabled.exception_mask);
        return 0;
    case KFD_IOC_DBG_TRAP_SET_FLAGS:
        return set_flags(ctx, &args->set_flags.flags);
    case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
        return query_event(ctx, &args->query_debug_event);
    case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
        return query_info(ctx, &args->query_exception_info);
    case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
        return queue_snapshot(ctx, &args->queue_snapshot);
    case KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT:
        return device_snapshot(ctx, &args->device_snapshot);
    default:
        return hardware_op(ctx, args);
    }
}

int abi_debug_trap(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_dbg_trap_args *args = argp;
    (void)size;
    if (args->op > KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT)
        return -EINVAL;
    if ((pid_t)args->pid != getpid()) {
        if ((int32_t)args->pid <= 0 ||
            (kill((pid_t)args->pid, 0) != 0 && errno == ESRCH))
            return -ESRCH;
        return args->op == KFD_IOC_DBG_TRAP_DISABLE ? -EINVAL : -EPERM;
    }
    return args->op == KFD_IOC_DBG_TRAP_ENABLE ? enable(ctx, &args->enable)
                                               : session_op(ctx, args);
}
