/* kfd_debug.c: /dev/kfd's debugging ioctl: sessions of a process for itself or for one
 * that it traces, suspended queues, snapshots, raised exceptions.
 *
 * The device lives inside its process: of another one there is what processes share,
 * its runtime and what it has raised, not its queues. What asks for those is refused.
 * Watch points, launch overrides and launch modes work on others too. Must not know how
 * a queue stops. Source: comments of kfd_ioctl.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx.h"

/* KFD_DBG_QUEUE_*_MASK, which the header shifts into the sign bit */
#define QUEUE_ERROR   (1u << KFD_DBG_QUEUE_ERROR_BIT)
#define QUEUE_INVALID (1u << KFD_DBG_QUEUE_INVALID_BIT)

int abi_runtime_enable(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_runtime_enable_args *args = argp;
    bool enable = args->mode_mask & KFD_RUNTIME_ENABLE_MODE_ENABLE_MASK;
    struct kmd_runtime now, set = {.enabled = enable};
    (void)size;
    (void)kmd_runtime_of(ctx->kmd, getpid(), &now);
    if (enable && now.enabled)
        return -EBUSY;
    if (enable && kmd_queue_count(ctx->kmd))
        return -EEXIST;
    if (enable) {
        set.r_debug = args->r_debug;
        set.ttmp_setup = args->mode_mask & KFD_RUNTIME_ENABLE_MODE_TTMP_SAVE_MASK;
    }
    kmd_runtime_set(ctx->kmd, &set);
    kmd_session_hold(ctx->kmd);
    return 0;
}

static struct kfd_runtime_info runtime_info(struct abi_ctx *ctx, int32_t pid)
{
    struct kmd_runtime r;
    (void)kmd_runtime_of(ctx->kmd, pid, &r);
    return (struct kfd_runtime_info){.r_debug = r.r_debug,
                                     .runtime_state =
                                         r.enabled ? DEBUG_RUNTIME_STATE_ENABLED
                                                   : DEBUG_RUNTIME_STATE_DISABLED,
                                     .ttmp_setup = r.ttmp_setup};
}

static int enable(struct abi_ctx *ctx, int32_t pid,
                  struct kfd_ioctl_dbg_trap_enable_args *a)
{
    struct kfd_runtime_info info = runtime_info(ctx, pid);
    bool mine;
    if (kmd_session(ctx->kmd, pid, &mine))
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
    return abi_errno(kmd_session_begin(ctx->kmd, pid, fd, a->exception_mask));
}

/* Returns how many were changed; marks the others in the client's array. */
static int each_queue(struct abi_ctx *ctx, uint64_t array, uint32_t count, bool suspend)
{
    int changed = 0;
    if (count > BOARD_QUEUES)
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
    struct kmd_queue_state *list = calloc(BOARD_QUEUES, sizeof(*list));
    struct kfd_queue_snapshot_entry e;
    if (!list)
        return -ENOMEM;
    unsigned n = kmd_queue_list(ctx->kmd, list, BOARD_QUEUES);
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

static int device_snapshot(struct abi_ctx *ctx, int32_t pid,
                           struct kfd_ioctl_dbg_trap_device_snapshot_args *a)
{
    struct kfd_process_device_apertures ap;
    abi_fill_apertures(&ap);
    uint64_t raised =
        kmd_session_clear(ctx->kmd, pid, KMD_SOURCE_DEVICE, 0, a->exception_mask);
    struct kfd_dbg_device_info_entry e = {.exception_status = raised,
                                          .lds_base = ap.lds_base,
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
    if (a->num_devices && !abi_put(a->snapshot_buf_ptr, &e, bytes))
        return -EFAULT;
    a->num_devices = 1;
    a->entry_size = sizeof(e);
    return 0;
}

static int query_event(struct abi_ctx *ctx, int32_t pid,
                       struct kfd_ioctl_dbg_trap_query_debug_event_args *a)
{
    uint64_t raised = 0;
    uint32_t queue = 0;
    enum kmd_source source =
        kmd_session_query(ctx->kmd, pid, a->exception_mask, &raised, &queue);
    if (source == KMD_SOURCE_NONE)
        return -EAGAIN;
    a->exception_mask = raised;
    a->gpu_id = source == KMD_SOURCE_PROCESS ? 0 : BOARD_GPU_ID;
    a->queue_id = queue;
    return 0;
}

/* The size that there is goes out, as much as there is room for to the client. */
static int give(uint64_t to, uint32_t *size, const void *info, uint32_t bytes)
{
    uint32_t n = *size < bytes ? *size : bytes;
    *size = bytes;
    return n == 0 || abi_put(to, info, n) ? 0 : -EFAULT;
}

static int give_fault(struct abi_ctx *ctx, int32_t pid,
                      struct kfd_ioctl_dbg_trap_query_exception_info_args *a)
{
    struct kmd_memory_fault f;
    (void)kmd_session_fault(ctx->kmd, pid, &f);
    struct kfd_hsa_memory_exception_data data = {
        .failure = {.NotPresent = f.not_present,
                    .ReadOnly = f.read_only,
                    .NoExecute = f.no_execute,
                    .imprecise = f.imprecise},
        .va = f.va,
        .gpu_id = BOARD_GPU_ID};
    return give(a->info_ptr, &a->info_size, &data, sizeof(data));
}

/* An exception that has been raised, of the source that the client names. */
static int query_info(struct abi_ctx *ctx, int32_t pid,
                      struct kfd_ioctl_dbg_trap_query_exception_info_args *a)
{
    uint32_t code = a->exception_code;
    if (!KFD_DBG_EC_IS_VALID(code))
        return -EINVAL;
    enum kmd_source source = KFD_DBG_EC_TYPE_IS_QUEUE(code)    ? KMD_SOURCE_QUEUE
                             : KFD_DBG_EC_TYPE_IS_DEVICE(code) ? KMD_SOURCE_DEVICE
                                                               : KMD_SOURCE_PROCESS;
    if (source == KMD_SOURCE_DEVICE && !abi_gpu(a->source_id))
        return -ENODEV;
    uint64_t raised = kmd_session_clear(ctx->kmd, pid, source, a->source_id, 0);
    int r = 0;
    if (source != KMD_SOURCE_PROCESS && !(raised & KFD_EC_MASK(code)))
        return -ENODATA;
    if (code == EC_DEVICE_MEMORY_VIOLATION) {
        r = give_fault(ctx, pid, a);
    } else if (code == EC_PROCESS_RUNTIME) {
        struct kfd_runtime_info info = runtime_info(ctx, pid);
        r = give(a->info_ptr, &a->info_size, &info, sizeof(info));
    } else {
        a->info_size = 0;
    }
    if (!r && a->clear_exception)
        (void)kmd_session_clear(ctx->kmd, pid, source, a->source_id, KFD_EC_MASK(code));
    return r;
}

static int send_event(struct abi_ctx *ctx, int32_t pid,
                      const struct kfd_ioctl_dbg_trap_send_runtime_event_args *a)
{
    uint64_t queue = a->exception_mask & KFD_EC_MASK_QUEUE;
    if (a->exception_mask & KFD_EC_MASK_DEVICE && !abi_gpu(a->gpu_id))
        return -ENODEV;
    if (a->exception_mask & KFD_EC_MASK(EC_PROCESS_RUNTIME))
        kmd_session_release(ctx->kmd, pid);
    if (queue && pid != getpid())
        return -EOPNOTSUPP;
    kmd_queue_tell(ctx->kmd, a->queue_id, queue);
    return 0;
}

/* Exceptions that waves can be launched with, as the interface and the chip number
 * them. */
#define LAUNCH_MASKS                                                                   \
    (KFD_DBG_TRAP_MASK_FP_INVALID | KFD_DBG_TRAP_MASK_FP_INPUT_DENORMAL |              \
     KFD_DBG_TRAP_MASK_FP_DIVIDE_BY_ZERO | KFD_DBG_TRAP_MASK_FP_OVERFLOW |             \
     KFD_DBG_TRAP_MASK_FP_UNDERFLOW | KFD_DBG_TRAP_MASK_FP_INEXACT |                   \
     KFD_DBG_TRAP_MASK_INT_DIVIDE_BY_ZERO | KFD_DBG_TRAP_MASK_DBG_ADDRESS_WATCH |      \
     KFD_DBG_TRAP_MASK_DBG_MEMORY_VIOLATION)

static int launch_override(struct abi_ctx *ctx, int32_t pid,
                           struct kfd_ioctl_dbg_trap_set_wave_launch_override_args *a)
{
    uint32_t which = a->support_request_mask;
    if (a->override_mode > KFD_DBG_TRAP_OVERRIDE_REPLACE)
        return -EINVAL;
    a->support_request_mask &= LAUNCH_MASKS;
    if (a->enable_mask & ~a->support_request_mask)
        return -EACCES;
    a->enable_mask =
        kmd_session_launch(ctx->kmd, pid, a->enable_mask, which & LAUNCH_MASKS,
                           a->override_mode == KFD_DBG_TRAP_OVERRIDE_REPLACE);
    return 0;
}

/* Of the numbers up to the last one has no name. */
static int launch_mode(struct abi_ctx *ctx, int32_t pid, uint32_t mode)
{
    if (mode != KFD_DBG_TRAP_WAVE_LAUNCH_MODE_NORMAL &&
        mode != KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT &&
        mode != KFD_DBG_TRAP_WAVE_LAUNCH_MODE_DEBUG)
        return -EINVAL;
    kmd_session_launch_mode(ctx->kmd, pid, mode == KFD_DBG_TRAP_WAVE_LAUNCH_MODE_HALT,
                            mode == KFD_DBG_TRAP_WAVE_LAUNCH_MODE_DEBUG);
    return 0;
}

static int watch(struct abi_ctx *ctx, int32_t pid,
                 struct kfd_ioctl_dbg_trap_set_node_address_watch_args *a)
{
    const struct kmd_watch w = {
        .address = a->address, .mask = a->mask, .mode = a->mode};
    if (!abi_gpu(a->gpu_id))
        return -ENODEV;
    if (w.mode > KFD_DBG_TRAP_ADDRESS_WATCH_MODE_ALL)
        return -EINVAL;
    return abi_errno(kmd_session_watch(ctx->kmd, pid, &w, &a->id));
}

static int unwatch(struct abi_ctx *ctx, int32_t pid,
                   const struct kfd_ioctl_dbg_trap_clear_node_address_watch_args *a)
{
    if (!abi_gpu(a->gpu_id))
        return -ENODEV;
    return kmd_session_unwatch(ctx->kmd, pid, a->id) == RD_OK ? 0 : -EINVAL;
}

static int hardware_op(struct abi_ctx *ctx, int32_t pid,
                       struct kfd_ioctl_dbg_trap_args *args)
{
    struct kmd_runtime runtime;
    (void)kmd_runtime_of(ctx->kmd, pid, &runtime);
    if (!runtime.enabled)
        return -EACCES;
    switch (args->op) {
    case KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE:
        return launch_override(ctx, pid, &args->launch_override);
    case KFD_IOC_DBG_TRAP_SET_NODE_ADDRESS_WATCH:
        return watch(ctx, pid, &args->set_node_address_watch);
    case KFD_IOC_DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH:
        return unwatch(ctx, pid, &args->clear_node_address_watch);
    case KFD_IOC_DBG_TRAP_SET_WAVE_LAUNCH_MODE:
        return launch_mode(ctx, pid, args->launch_mode.launch_mode);
    default: /* queues, which are reached in their own process only */
        break;
    }
    if (pid != getpid())
        return -EOPNOTSUPP;
    return args->op == KFD_IOC_DBG_TRAP_SUSPEND_QUEUES
               ? each_queue(ctx, args->suspend_queues.queue_array_ptr,
                            args->suspend_queues.num_queues, true)
               : each_queue(ctx, args->resume_queues.queue_array_ptr,
                            args->resume_queues.num_queues, false);
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
    int32_t pid = (int32_t)args->pid;
    switch (args->op) {
    case KFD_IOC_DBG_TRAP_DISABLE:
        kmd_session_end(ctx->kmd, pid);
        if (pid == getpid())
            kmd_queues_resume(ctx->kmd);
        return 0;
    case KFD_IOC_DBG_TRAP_SEND_RUNTIME_EVENT:
        return send_event(ctx, pid, &args->send_runtime_event);
    case KFD_IOC_DBG_TRAP_SET_EXCEPTIONS_ENABLED:
        kmd_session_mask(ctx->kmd, pid, args->set_exceptions_enabled.exception_mask);
        return 0;
    case KFD_IOC_DBG_TRAP_QUERY_DEBUG_EVENT:
        return query_event(ctx, pid, &args->query_debug_event);
    case KFD_IOC_DBG_TRAP_QUERY_EXCEPTION_INFO:
        return query_info(ctx, pid, &args->query_exception_info);
    case KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT:
        return device_snapshot(ctx, pid, &args->device_snapshot);
    case KFD_IOC_DBG_TRAP_SET_FLAGS:
        return pid == getpid() ? set_flags(ctx, &args->set_flags.flags) : -EOPNOTSUPP;
    case KFD_IOC_DBG_TRAP_GET_QUEUE_SNAPSHOT:
        return pid == getpid() ? queue_snapshot(ctx, &args->queue_snapshot)
                               : -EOPNOTSUPP;
    default:
        return hardware_op(ctx, pid, args);
    }
}

/* Does this thread trace the process? */
static bool traced(int32_t pid)
{
    char path[64], line[128];
    long tracer = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && !tracer && fgets(line, sizeof(line), f))
        if (strncmp(line, "TracerPid:", 10) == 0)
            tracer = strtol(line + 10, NULL, 10);
    if (f)
        fclose(f);
    return tracer && tracer == syscall(SYS_gettid);
}

int abi_debug_trap(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_dbg_trap_args *args = argp;
    int32_t pid = (int32_t)args->pid;
    bool other = pid != getpid(), mine;
    struct kmd_runtime runtime;
    (void)size;
    if (args->op > KFD_IOC_DBG_TRAP_GET_DEVICE_SNAPSHOT)
        return -EINVAL;
    if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH))
        return -ESRCH;
    bool attached = other && traced(pid), session = kmd_session(ctx->kmd, pid, &mine);
    /* A process that is traced may be debugged before it opens the device. */
    if (!session && !kmd_runtime_of(ctx->kmd, pid, &runtime) &&
        !(attached && args->op == KFD_IOC_DBG_TRAP_ENABLE))
        return -ESRCH;
    if (other && !attached && args->op != KFD_IOC_DBG_TRAP_DISABLE)
        return -EPERM;
    if (args->op == KFD_IOC_DBG_TRAP_ENABLE)
        return enable(ctx, pid, &args->enable);
    return session && mine ? session_op(ctx, args) : -EINVAL;
}
