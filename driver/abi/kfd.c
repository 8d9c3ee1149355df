/* kfd.c: table of the /dev/kfd ioctls, and those about the process and the device.
 *
 * Knows ioctl structs; nothing here knows rings or packets. Numbers without a handler
 * are refused with the error the kernel gives.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <stdatomic.h>
#include <string.h>

#include "ctx.h"
#include "ipc.h"

#define LDS_BASE       0x1000000000000ull
#define SCRATCH_BASE   0x2000000000000ull
#define APERTURE_LIMIT 0xffffffffull
#define GPUVM_BASE     0x200000ull
#define GPUVM_LIMIT    0x7fffffffffffull

static int get_version(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_version_args *args = argp;
    (void)ctx, (void)size;
    args->major_version = KFD_IOCTL_MAJOR_VERSION;
    args->minor_version = KFD_IOCTL_MINOR_VERSION;
    return 0;
}

static int set_memory_policy(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_set_memory_policy_args *args = argp;
    (void)ctx, (void)size;
    if (args->default_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT ||
        args->alternate_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT)
        return -EINVAL;
    return abi_gpu(args->gpu_id) ? 0 : -EINVAL;
}

/* An unknown GPU is no error: its clock reads 0. */
static int get_clock_counters(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_clock_counters_args *args = argp;
    struct kmd_clocks now;
    (void)size;
    kmd_clocks(ctx->kmd, &now);
    args->gpu_clock_counter = abi_gpu(args->gpu_id) ? now.gpu : 0;
    args->cpu_clock_counter = now.cpu_ns;
    args->system_clock_counter = now.system_ns;
    args->system_clock_freq = 1000000000;
    return 0;
}

void abi_fill_apertures(struct kfd_process_device_apertures *a)
{
    *a = (struct kfd_process_device_apertures){
        .lds_base = LDS_BASE,
        .lds_limit = LDS_BASE + APERTURE_LIMIT,
        .scratch_base = SCRATCH_BASE,
        .scratch_limit = SCRATCH_BASE + APERTURE_LIMIT,
        .gpuvm_base = GPUVM_BASE,
        .gpuvm_limit = GPUVM_LIMIT,
        .gpu_id = BOARD_GPU_ID,
    };
}

static int get_apertures(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_process_apertures_args *args = argp;
    (void)ctx, (void)size;
    abi_fill_apertures(&args->process_apertures[0]);
    args->num_of_nodes = 1;
    return 0;
}

/* The kernel allocates room for as many as are asked for, and therefore refuses more
 * than there are nodes: the CPU's counts, though it has no apertures. */
static int get_apertures_new(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_process_apertures_new_args *args = argp;
    (void)ctx, (void)size;
    if (args->num_of_nodes > BOARD_NODES)
        return -EINVAL;
    if (args->num_of_nodes) {
        struct kfd_process_device_apertures a;
        abi_fill_apertures(&a);
        if (!abi_put(args->kfd_process_device_apertures_ptr, &a, sizeof(a)))
            return -EFAULT;
    }
    args->num_of_nodes = 1;
    return 0;
}

static int set_scratch_backing(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_set_scratch_backing_va_args *args = argp;
    (void)ctx, (void)size;
    return abi_gpu(args->gpu_id) ? 0 : -EINVAL;
}

/* gfx11 has no tile tables; the arrays are filled with zeros up to their sizes. */
static int get_tile_config(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_tile_config_args *args = argp;
    static const uint32_t zeros[64];
    (void)ctx, (void)size;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    args->gb_addr_config = BOARD_GB_ADDR_CONFIG;
    args->num_banks = 0;
    args->num_ranks = 0;
    if (args->num_tile_configs > 32)
        args->num_tile_configs = 32;
    if (args->num_macro_tile_configs > 16)
        args->num_macro_tile_configs = 16;
    if (!abi_put(args->tile_config_ptr, zeros, args->num_tile_configs * 4ul) ||
        !abi_put(args->macro_tile_config_ptr, zeros,
                 args->num_macro_tile_configs * 4ul))
        return -EFAULT;
    return 0;
}

static int set_trap_handler(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_set_trap_handler_args *args = argp;
    (void)size;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    kmd_trap_handler(ctx->kmd, args->tba_addr, args->tma_addr);
    return 0;
}

static int acquire_vm(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_acquire_vm_args *args = argp;
    (void)size;
    enum abi_file kind = abi_file_of(ctx, (int)args->drm_fd);
    if (kind == ABI_NONE)
        return -EINVAL;
    if (!abi_gpu(args->gpu_id) || (kind != ABI_RENDER && kind != ABI_CARD))
        return -EINVAL;
    kmd_process_begins(ctx->kmd);
    return 0;
}

/* No retry faults on this hardware: only "off" can be set, and only without queues. */
static int set_xnack_mode(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_set_xnack_mode_args *args = argp;
    (void)size;
    if (args->xnack_enabled < 0) {
        args->xnack_enabled = 0;
        return 0;
    }
    if (kmd_queue_count(ctx->kmd))
        return -EBUSY;
    return args->xnack_enabled ? -EPERM : 0;
}

#define CALL(nr, type, name, fn) [nr] = {name, sizeof(struct type), fn, 0, false}
#define REFUSED(nr, name, err)   [nr] = {name, 0, NULL, err, false}

const struct abi_call abi_kfd_calls[] = {
    CALL(0x01, kfd_ioctl_get_version_args, "GET_VERSION", get_version),
    CALL(0x02, kfd_ioctl_create_queue_args, "CREATE_QUEUE", abi_create_queue),
    CALL(0x03, kfd_ioctl_destroy_queue_args, "DESTROY_QUEUE", abi_destroy_queue),
    CALL(0x04, kfd_ioctl_set_memory_policy_args, "SET_MEMORY_POLICY",
         set_memory_policy),
    CALL(0x05, kfd_ioctl_get_clock_counters_args, "GET_CLOCK_COUNTERS",
         get_clock_counters),
    CALL(0x06, kfd_ioctl_get_process_apertures_args, "GET_PROCESS_APERTURES",
         get_apertures),
    CALL(0x07, kfd_ioctl_update_queue_args, "UPDATE_QUEUE", abi_update_queue),
    CALL(0x08, kfd_ioctl_create_event_args, "CREATE_EVENT", abi_create_event),
    CALL(0x09, kfd_ioctl_destroy_event_args, "DESTROY_EVENT", abi_destroy_event),
    CALL(0x0a, kfd_ioctl_set_event_args, "SET_EVENT", abi_set_event),
    CALL(0x0b, kfd_ioctl_reset_event_args, "RESET_EVENT", abi_reset_event),
    [0x0c] = {"WAIT_EVENTS", sizeof(struct kfd_ioctl_wait_events_args), abi_wait_events,
              0, true},
    REFUSED(0x0d, "DBG_REGISTER_DEPRECATED", EPERM),
    REFUSED(0x0e, "DBG_UNREGISTER_DEPRECATED", EPERM),
    REFUSED(0x0f, "DBG_ADDRESS_WATCH_DEPRECATED", EPERM),
    REFUSED(0x10, "DBG_WAVE_CONTROL_DEPRECATED", EPERM),
    CALL(0x11, kfd_ioctl_set_scratch_backing_va_args, "SET_SCRATCH_BACKING_VA",
         set_scratch_backing),
    CALL(0x12, kfd_ioctl_get_tile_config_args, "GET_TILE_CONFIG", get_tile_config),
    CALL(0x13, kfd_ioctl_set_trap_handler_args, "SET_TRAP_HANDLER", set_trap_handler),
    CALL(0x14, kfd_ioctl_get_process_apertures_new_args, "GET_PROCESS_APERTURES_NEW",
         get_apertures_new),
    CALL(0x15, kfd_ioctl_acquire_vm_args, "ACQUIRE_VM", acquire_vm),
    CALL(0x16, kfd_ioctl_alloc_memory_of_gpu_args, "ALLOC_MEMORY_OF_GPU",
         abi_alloc_memory),
    CALL(0x17, kfd_ioctl_free_memory_of_gpu_args, "FREE_MEMORY_OF_GPU",
         abi_free_memory),
    CALL(0x18, kfd_ioctl_map_memory_to_gpu_args, "MAP_MEMORY_TO_GPU", abi_map_memory),
    CALL(0x19, kfd_ioctl_unmap_memory_from_gpu_args, "UNMAP_MEMORY_FROM_GPU",
         abi_unmap_memory),
    CALL(0x1a, kfd_ioctl_set_cu_mask_args, "SET_CU_MASK", abi_set_cu_mask),
    CALL(0x1b, kfd_ioctl_get_queue_wave_state_args, "GET_QUEUE_WAVE_STATE",
         abi_queue_wave_state),
    CALL(0x1c, kfd_ioctl_get_dmabuf_info_args, "GET_DMABUF_INFO", abi_dmabuf_info),
    CALL(0x1d, kfd_ioctl_import_dmabuf_args, "IMPORT_DMABUF", abi_dmabuf_import),
    CALL(0x1e, kfd_ioctl_alloc_queue_gws_args, "ALLOC_QUEUE_GWS", abi_queue_gws),
    CALL(0x1f, kfd_ioctl_smi_events_args, "SMI_EVENTS", abi_smi_events),
    CALL(0x20, kfd_ioctl_svm_args, "SVM", abi_svm),
    CALL(0x21, kfd_ioctl_set_xnack_mode_args, "SET_XNACK_MODE", set_xnack_mode),
    REFUSED(0x22, "CRIU_OP", EACCES), /* as without CAP_CHECKPOINT_RESTORE */
    CALL(0x23, kfd_ioctl_get_available_memory_args, "AVAILABLE_MEMORY",
         abi_available_memory),
    CALL(0x24, kfd_ioctl_export_dmabuf_args, "EXPORT_DMABUF", abi_dmabuf_export),
    [0x25] = {"RUNTIME_ENABLE", sizeof(struct kfd_ioctl_runtime_enable_args),
              abi_runtime_enable, 0, true},
    CALL(0x26, kfd_ioctl_dbg_trap_args, "DBG_TRAP", abi_debug_trap),
    /* Of AMD's own module; libhsakmt asks any. */
    CALL(0x80, abi_ipc_import_args, "IPC_IMPORT_HANDLE", abi_ipc_import),
    CALL(0x81, abi_ipc_export_args, "IPC_EXPORT_HANDLE", abi_ipc_export),
    REFUSED(0x85, "PC_SAMPLE", EOPNOTSUPP), /* as on a board that cannot */
};
const unsigned abi_kfd_count = sizeof(abi_kfd_calls) / sizeof(abi_kfd_calls[0]);
