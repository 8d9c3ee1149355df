/* drm.c: the render node ioctls that libdrm_amdgpu and ROCr issue.
 *
 * Buffers are in drm_gem.c, submissions in drm_cs.c.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

static int put_string(__u64 to, __u64 *len, const char *text)
{
    uint64_t room = *len;
    *len = strlen(text);
    if (room > *len)
        room = *len;
    return room && to && !abi_put(to, text, room) ? -EFAULT : 0;
}

static int version(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_version *v = argp;
    (void)ctx, (void)size;
    v->version_major = DRM_MAJOR;
    v->version_minor = DRM_MINOR;
    v->version_patchlevel = 0;
    int err = put_string(v->name, &v->name_len, "amdgpu");
    if (!err)
        err = put_string(v->date, &v->date_len, "20150101");
    if (!err)
        err = put_string(v->desc, &v->desc_len, "AMD GPU");
    return err;
}

static int get_unique(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_unique *u = argp;
    (void)ctx, (void)size;
    return put_string(u->unique, &u->unique_len, "pci:" BOARD_PCI_SLOT);
}

/* There are none any more: the kernel leaves the struct as it is. */
static int get_stats(struct abi_ctx *ctx, void *argp, size_t size)
{
    (void)ctx, (void)argp, (void)size;
    return 0;
}

static int get_cap(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_get_cap *cap = argp;
    (void)ctx, (void)size;
    switch (cap->capability) {
    case 0x5: /* PRIME: import and export */
        cap->value = 3;
        return 0;
    case 0x1:  /* buffers for pictures that the CPU draws */
    case 0x6:  /* monotonic timestamps */
    case 0x13: /* synchronisation objects */
    case 0x14: /* and their timelines */
        cap->value = 1;
        return 0;
    default:
        return -EINVAL;
    }
}

static void device_info(struct drm_amdgpu_info_device *d)
{
    *d = (struct drm_amdgpu_info_device){
        .device_id = BOARD_DEVICE,
        .external_rev = 1,
        .pci_rev = BOARD_REVISION,
        .family = AMDGPU_FAMILY_GC_11_0_0,
        .num_shader_engines = BOARD_SE,
        .num_shader_arrays_per_engine = BOARD_SA_PER_SE,
        .gpu_counter_freq = BOARD_CLOCK_HZ / 1000,
        .max_engine_clock = BOARD_SCLK_MHZ * 1000ull,
        .max_memory_clock = BOARD_MCLK_MHZ * 1000ull,
        .cu_active_number = BOARD_CUS,
        .enabled_rb_pipes_mask = 0xffffff,
        .num_rb_pipes = 24,
        .num_hw_gfx_contexts = 8,
        .pcie_gen = 4,
        .virtual_address_offset = 0x200000,
        .virtual_address_max = 0x800000000000ull,
        .virtual_address_alignment = 4096,
        .pte_fragment_size = 0x200000,
        .gart_page_size = 4096,
        .vram_type = AMDGPU_VRAM_TYPE_GDDR6,
        .vram_bit_width = 384,
        .wave_front_size = 32,
        .num_shader_visible_vgprs = 256,
        .num_cu_per_sh = BOARD_CU_PER_SA,
        .num_tcc_blocks = 24,
        .pcie_num_lanes = 16,
        .high_va_offset = 0xffff800000000000ull,
        .high_va_max = 0xffffffffffe00000ull,
        .tcp_cache_size = 32,
        .num_sqc_per_wgp = 1,
        .sqc_data_cache_size = 16,
        .sqc_inst_cache_size = 32,
        .gl1c_cache_size = 256,
        .gl2c_cache_size = 6144,
        .mall_size = 96ull << 20,
    };
    /* Engines beyond the fourth are in columns 2 and 3 of the first two rows. */
    for (unsigned se = 0; se < BOARD_SE; se++)
        for (unsigned sa = 0; sa < BOARD_SA_PER_SE; sa++)
            d->cu_bitmap[se % 4][sa + 2 * (se / 4)] = (1u << BOARD_CU_PER_SA) - 1;
}

static int reply(const struct drm_amdgpu_info *info, const void *data, size_t bytes)
{
    size_t n = info->return_size < bytes ? info->return_size : bytes;
    return abi_put(info->return_pointer, data, n) ? 0 : -EFAULT;
}

static int info_memory(struct abi_ctx *ctx, const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_memory_info m = {0};
    struct kmd_memory have;
    kmd_memory(ctx->kmd, &have);
    m.vram.total_heap_size = have.vram_bytes;
    m.vram.usable_heap_size = have.vram_bytes - have.vram_reserved;
    m.vram.heap_usage = have.vram_used;
    m.vram.max_allocation = m.vram.usable_heap_size * 3 / 4;
    m.cpu_accessible_vram = m.vram;
    m.gtt.total_heap_size = have.gtt_bytes;
    m.gtt.usable_heap_size = have.gtt_bytes;
    m.gtt.heap_usage = have.gtt_used;
    m.gtt.max_allocation = have.gtt_bytes * 3 / 4;
    return reply(info, &m, sizeof(m));
}

/* Sizes, or use, by the queries that tell one heap at a time. */
static int info_heap(struct abi_ctx *ctx, const struct drm_amdgpu_info *info)
{
    struct kmd_memory have;
    kmd_memory(ctx->kmd, &have);
    if (info->query == AMDGPU_INFO_VRAM_GTT) {
        uint64_t vram = have.vram_bytes - have.vram_reserved;
        struct drm_amdgpu_info_vram_gtt v = {vram, vram, have.gtt_bytes};
        return reply(info, &v, sizeof(v));
    }
    uint64_t used =
        info->query == AMDGPU_INFO_GTT_USAGE ? have.gtt_used : have.vram_used;
    return reply(info, &used, sizeof(used));
}

/* Registers that the kernel reads for clients (soc21_allowed_read_registers): those
 * about what is busy, by dword offset, and how tiles lie. */
#define REG_GB_ADDR_CONFIG 0x263eu
#define REG_GRBM_STATUS    0x2004u
/* of it: texture addresser, wave launcher, command processor, any */
#define GRBM_BUSY     (1u << 14 | 1u << 22 | 1u << 29 | 1u << 31)
#define MAX_REGISTERS 128u

static bool readable(uint32_t reg)
{
    static const struct {
        uint32_t first, count;
    } list[] = {{0x2002, 1},          /* GRBM_STATUS2 */
                {REG_GRBM_STATUS, 3}, /* and of shader engines 0 and 1, */
                {0x200e, 2},          /* of 2 and 3 */
                {0x1285, 1},          /* SDMA0_STATUS_REG */
                {0x1885, 1},          /* SDMA1_STATUS_REG */
                {0x2084, 6}, /* of compute and of fetching packets: CP_CPC_, CP_CPF_ */
                {0x219c, 3}, /* CP_STALLED_STAT */
                {0x21a0, 1}, /* CP_STAT */
                {REG_GB_ADDR_CONFIG, 1}};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (reg - list[i].first < list[i].count)
            return true;
    return false;
}

/* What is not modelled is idle. */
static uint32_t value_of(struct abi_ctx *ctx, uint32_t reg)
{
    if (reg == REG_GRBM_STATUS)
        return kmd_busy(ctx->kmd) ? GRBM_BUSY : 0;
    return reg == REG_GB_ADDR_CONFIG ? kmd_register(ctx->kmd, reg) : 0;
}

static int info_registers(struct abi_ctx *ctx, const struct drm_amdgpu_info *info)
{
    uint32_t values[MAX_REGISTERS];
    uint32_t n = info->read_mmr_reg.count, first = info->read_mmr_reg.dword_offset;
    if (n > MAX_REGISTERS)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        if (!readable(first + i))
            return -EFAULT; /* the kernel's word for a register not on its list */
        values[i] = value_of(ctx, first + i);
    }
    return reply(info, values, n * sizeof(values[0]));
}

/* Clocks, in MHz; what would need a chip to measure is refused. */
static int info_sensor(const struct drm_amdgpu_info *info)
{
    uint32_t sclk = BOARD_SCLK_MHZ, mclk = BOARD_MCLK_MHZ;
    switch (info->sensor_info.type) {
    case AMDGPU_INFO_SENSOR_GFX_SCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_SCLK:
    case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK:
        return reply(info, &sclk, sizeof(sclk));
    case AMDGPU_INFO_SENSOR_GFX_MCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK:
    case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_MCLK:
        return reply(info, &mclk, sizeof(mclk));
    default:
        return -EINVAL;
    }
}

/* Memory never moves and is never lost here, and nothing corrects its errors. */
static int info_count(const struct drm_amdgpu_info *info)
{
    uint64_t none = 0;
    uint32_t ibs[AMDGPU_HW_IP_NUM] = {ABI_MAX_IBS, ABI_MAX_IBS, ABI_MAX_IBS};
    switch (info->query) {
    case AMDGPU_INFO_NUM_BYTES_MOVED:
    case AMDGPU_INFO_NUM_EVICTIONS:
    case AMDGPU_INFO_NUM_VRAM_CPU_PAGE_FAULTS:
    case AMDGPU_INFO_RAS_ENABLED_FEATURES:
        return reply(info, &none, sizeof(none));
    case AMDGPU_INFO_VRAM_LOST_COUNTER:
        return reply(info, &none, sizeof(uint32_t));
    case AMDGPU_INFO_MAX_IBS:
        return reply(info, ibs, sizeof(ibs));
    default:
        return -EINVAL;
    }
}

static int info(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_amdgpu_info *args = argp;
    (void)size;
    if (!args->return_size || !args->return_pointer)
        return -EINVAL;
    switch (args->query) {
    case AMDGPU_INFO_ACCEL_WORKING: {
        uint32_t yes = 1;
        return reply(args, &yes, sizeof(yes));
    }
    case AMDGPU_INFO_HW_IP_COUNT: {
        uint32_t type = args->query_hw_ip.type;
        uint32_t n = type == AMDGPU_HW_IP_DMA       ? 2
                     : type <= AMDGPU_HW_IP_COMPUTE ? 1
                                                    : 0;
        return reply(args, &n, sizeof(n));
    }
    case AMDGPU_INFO_HW_IP_INFO: {
        struct drm_amdgpu_info_hw_ip ip = {.ib_start_alignment = 256,
                                           .ib_size_alignment = 4};
        if (args->query_hw_ip.type <= AMDGPU_HW_IP_DMA) {
            ip.hw_ip_version_major =
                args->query_hw_ip.type == AMDGPU_HW_IP_DMA ? 6 : 11;
            ip.available_rings = args->query_hw_ip.type == AMDGPU_HW_IP_GFX ? 1
                                 : args->query_hw_ip.type == AMDGPU_HW_IP_DMA
                                     ? (1u << KMD_DMA_RINGS) - 1
                                     : (1u << KMD_COMPUTE_RINGS) - 1;
            ip.ip_discovery_version = ip.hw_ip_version_major << 16;
        }
        return reply(args, &ip, sizeof(ip));
    }
    case AMDGPU_INFO_TIMESTAMP: {
        uint64_t now = kmd_clock(ctx->kmd);
        return reply(args, &now, sizeof(now));
    }
    case AMDGPU_INFO_FW_VERSION: {
        struct drm_amdgpu_info_firmware fw = {.ver = 550, .feature = 29};
        return reply(args, &fw, sizeof(fw));
    }
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_VIS_VRAM_USAGE:
    case AMDGPU_INFO_GTT_USAGE:
    case AMDGPU_INFO_VRAM_GTT:
        return info_heap(ctx, args);
    case AMDGPU_INFO_READ_MMR_REG:
        return info_registers(ctx, args);
    case AMDGPU_INFO_DEV_INFO: {
        struct drm_amdgpu_info_device d;
        device_info(&d);
        return reply(args, &d, sizeof(d));
    }
    case AMDGPU_INFO_MEMORY:
        return info_memory(ctx, args);
    case AMDGPU_INFO_SENSOR:
        return info_sensor(args);
    default:
        return info_count(args);
    }
}

#define CORE(nr, type, name, fn) [nr] = {name, sizeof(struct type), fn, 0, false}
#define GPU(nr, type, name, fn)                                                        \
    [DRM_COMMAND_BASE + (nr)] = {name, sizeof(type), fn, 0, false}
#define GPU_SLEEPS(nr, type, name, fn)                                                 \
    [DRM_COMMAND_BASE + (nr)] = {name, sizeof(type), fn, 0, true}

#define CORE_SLEEPS(nr, type, name, fn) [nr] = {name, sizeof(struct type), fn, 0, true}

const struct abi_call abi_drm_calls[] = {
    CORE(DRM_NR_SYNCOBJ_CREATE, drm_syncobj_create, "SYNCOBJ_CREATE", abi_sync_create),
    CORE(DRM_NR_SYNCOBJ_DESTROY, drm_syncobj_destroy, "SYNCOBJ_DESTROY",
         abi_sync_destroy),
    CORE(DRM_NR_SYNCOBJ_HANDLE_TO_FD, drm_syncobj_handle, "SYNCOBJ_HANDLE_TO_FD",
         abi_sync_to_fd),
    CORE(DRM_NR_SYNCOBJ_FD_TO_HANDLE, drm_syncobj_handle, "SYNCOBJ_FD_TO_HANDLE",
         abi_sync_from_fd),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_WAIT, drm_syncobj_wait, "SYNCOBJ_WAIT", abi_sync_wait),
    CORE(DRM_NR_SYNCOBJ_RESET, drm_syncobj_array, "SYNCOBJ_RESET", abi_sync_reset),
    CORE(DRM_NR_SYNCOBJ_SIGNAL, drm_syncobj_array, "SYNCOBJ_SIGNAL", abi_sync_signal),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_TIMELINE_WAIT, drm_syncobj_timeline_wait,
                "SYNCOBJ_TIMELINE_WAIT", abi_sync_timeline_wait),
    CORE(DRM_NR_SYNCOBJ_QUERY, drm_syncobj_timeline_array, "SYNCOBJ_QUERY",
         abi_sync_query),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_TRANSFER, drm_syncobj_transfer, "SYNCOBJ_TRANSFER",
                abi_sync_transfer),
    CORE(DRM_NR_SYNCOBJ_TIMELINE_SIGNAL, drm_syncobj_timeline_array,
         "SYNCOBJ_TIMELINE_SIGNAL", abi_sync_timeline_signal),
    CORE(DRM_NR_SYNCOBJ_EVENTFD, drm_syncobj_eventfd, "SYNCOBJ_EVENTFD",
         abi_sync_eventfd),
    GPU(DRM_AMDGPU_FENCE_TO_HANDLE, union drm_amdgpu_fence_to_handle, "FENCE_TO_HANDLE",
        abi_fence_to_handle),
    CORE(DRM_NR_VERSION, drm_version, "VERSION", version),
    CORE(DRM_NR_GET_UNIQUE, drm_unique, "GET_UNIQUE", get_unique),
    CORE(DRM_NR_GET_CLIENT, drm_client, "GET_CLIENT", abi_get_client),
    CORE(DRM_NR_GET_MAGIC, drm_auth, "GET_MAGIC", abi_get_magic),
    CORE(DRM_NR_AUTH_MAGIC, drm_auth, "AUTH_MAGIC", abi_auth_magic),
    CORE(DRM_NR_SET_VERSION, drm_set_version, "SET_VERSION", abi_set_version),
    [DRM_NR_SET_MASTER] = {"SET_MASTER", 0, abi_set_master, 0, false},
    [DRM_NR_DROP_MASTER] = {"DROP_MASTER", 0, abi_drop_master, 0, false},
    CORE(DRM_NR_GET_STATS, drm_stats, "GET_STATS", get_stats),
    CORE(DRM_NR_CREATE_DUMB, drm_mode_create_dumb, "CREATE_DUMB", abi_dumb_create),
    CORE(DRM_NR_MAP_DUMB, drm_mode_map_dumb, "MAP_DUMB", abi_dumb_map),
    CORE(DRM_NR_DESTROY_DUMB, drm_mode_destroy_dumb, "DESTROY_DUMB", abi_dumb_destroy),
    CORE(DRM_NR_GEM_FLINK, drm_gem_flink, "GEM_FLINK", abi_gem_flink),
    CORE(DRM_NR_GEM_OPEN, drm_gem_open, "GEM_OPEN", abi_gem_open),
    CORE(DRM_NR_GET_CAP, drm_get_cap, "GET_CAP", get_cap),
    CORE(DRM_NR_GEM_CLOSE, drm_gem_close, "GEM_CLOSE", abi_gem_close),
    CORE(DRM_NR_PRIME_HANDLE_TO_FD, drm_prime_handle, "PRIME_HANDLE_TO_FD",
         abi_prime_to_fd),
    CORE(DRM_NR_PRIME_FD_TO_HANDLE, drm_prime_handle, "PRIME_FD_TO_HANDLE",
         abi_prime_from_fd),
    GPU(DRM_AMDGPU_GEM_CREATE, union drm_amdgpu_gem_create, "GEM_CREATE",
        abi_gem_create),
    GPU(DRM_AMDGPU_GEM_MMAP, union drm_amdgpu_gem_mmap, "GEM_MMAP", abi_gem_mmap),
    GPU(DRM_AMDGPU_CTX, union drm_amdgpu_ctx, "CTX", abi_drm_ctx),
    GPU(DRM_AMDGPU_BO_LIST, union drm_amdgpu_bo_list, "BO_LIST", abi_drm_bo_list),
    GPU_SLEEPS(DRM_AMDGPU_CS, union drm_amdgpu_cs, "CS", abi_drm_cs),
    GPU_SLEEPS(DRM_AMDGPU_GEM_WAIT_IDLE, union drm_amdgpu_gem_wait_idle,
               "GEM_WAIT_IDLE", abi_drm_wait_idle),
    GPU_SLEEPS(DRM_AMDGPU_WAIT_CS, union drm_amdgpu_wait_cs, "WAIT_CS",
               abi_drm_wait_cs),
    GPU_SLEEPS(DRM_AMDGPU_WAIT_FENCES, union drm_amdgpu_wait_fences, "WAIT_FENCES",
               abi_drm_wait_fences),
    GPU(DRM_AMDGPU_INFO, struct drm_amdgpu_info, "INFO", info),
    GPU(DRM_AMDGPU_GEM_METADATA, struct drm_amdgpu_gem_metadata, "GEM_METADATA",
        abi_gem_metadata),
    GPU(DRM_AMDGPU_GEM_VA, struct drm_amdgpu_gem_va, "GEM_VA", abi_gem_va),
    GPU(DRM_AMDGPU_GEM_USERPTR, struct drm_amdgpu_gem_userptr, "GEM_USERPTR",
        abi_gem_userptr),
    GPU(DRM_AMDGPU_SCHED, union drm_amdgpu_sched, "SCHED", abi_drm_sched),
    GPU(DRM_AMDGPU_VM, union drm_amdgpu_vm, "VM", abi_drm_vm),
    GPU(DRM_AMDGPU_GEM_OP, struct drm_amdgpu_gem_op, "GEM_OP", abi_gem_op),
};
const unsigned abi_drm_count = sizeof(abi_drm_calls) / sizeof(abi_drm_calls[0]);
