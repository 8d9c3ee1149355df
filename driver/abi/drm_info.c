/* drm_info.c: what clients of the render node ask about the board (INFO).
 *
 * Answers and error numbers are Linux' for this chip (amdgpu_info_ioctl); sizes come
 * from board/. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

static void device_info(struct drm_amdgpu_info_device *d)
{
    *d = (struct drm_amdgpu_info_device){
        .device_id = BOARD_DEVICE,
        .external_rev = 1,
        .pci_rev = BOARD_REVISION,
        .ids_flags = AMDGPU_IDS_FLAGS_CONFORMANT_TRUNC_COORD,
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

/* Clocks, in MHz, per cent, thousandths of degrees, watts and millivolts; the second
 * supply is of chips with a processor. */
static int info_sensor(struct abi_ctx *ctx, const struct drm_amdgpu_info *info)
{
    uint32_t sclk = BOARD_SCLK_MHZ, mclk = BOARD_MCLK_MHZ;
    uint32_t load = kmd_busy(ctx->kmd) ? 100 : 0;
    uint32_t temperature = BOARD_EDGE_CELSIUS * 1000, watts = BOARD_WATTS;
    uint32_t millivolts = BOARD_GFX_MILLIVOLTS;
    switch (info->sensor_info.type) {
    case AMDGPU_INFO_SENSOR_GFX_SCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_SCLK:
    case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_SCLK:
        return reply(info, &sclk, sizeof(sclk));
    case AMDGPU_INFO_SENSOR_GFX_MCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK:
    case AMDGPU_INFO_SENSOR_PEAK_PSTATE_GFX_MCLK:
        return reply(info, &mclk, sizeof(mclk));
    case AMDGPU_INFO_SENSOR_GPU_LOAD:
        return reply(info, &load, sizeof(load));
    case AMDGPU_INFO_SENSOR_GPU_TEMP:
        return reply(info, &temperature, sizeof(temperature));
    case AMDGPU_INFO_SENSOR_GPU_AVG_POWER:
        return reply(info, &watts, sizeof(watts));
    case AMDGPU_INFO_SENSOR_VDDGFX:
        return reply(info, &millivolts, sizeof(millivolts));
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

/* Of blocks of a kind: how many, or what they are; nothing of kinds that are not there,
 * such as those for video. */
static int info_blocks(const struct drm_amdgpu_info *info)
{
    static const uint32_t rings[] = {1, KMD_COMPUTE_RINGS, KMD_DMA_RINGS};
    uint32_t type = info->query_hw_ip.type;
    bool there = type <= AMDGPU_HW_IP_DMA, dma = type == AMDGPU_HW_IP_DMA;
    if (type >= AMDGPU_HW_IP_NUM)
        return -EINVAL;
    if (info->query == AMDGPU_INFO_HW_IP_COUNT) {
        uint32_t n = dma ? 2 : there;
        return reply(info, &n, sizeof(n));
    }
    struct drm_amdgpu_info_hw_ip ip = {.ib_start_alignment = 256,
                                       .ib_size_alignment = 4};
    if (info->query_hw_ip.ip_instance >= AMDGPU_HW_IP_INSTANCE_MAX_COUNT)
        return -EINVAL;
    if (there) {
        ip.hw_ip_version_major = dma ? 6 : 11;
        ip.available_rings = (1u << rings[type]) - 1;
        ip.ip_discovery_version = ip.hw_ip_version_major << 16;
    }
    return reply(info, &ip, sizeof(ip));
}

/* One version for all firmware of processors that the board has; 0 of what is none of
 * its. */
static int info_firmware(const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_info_firmware fw = {.ver = BOARD_FW_VERSION, .feature = 29};
    const struct drm_amdgpu_query_fw *q = &info->query_fw;
    if (q->ip_instance)
        return -EINVAL;
    switch (q->fw_type) {
    case AMDGPU_INFO_FW_VCE:
    case AMDGPU_INFO_FW_UVD:
    case AMDGPU_INFO_FW_GMC:
    case AMDGPU_INFO_FW_GFX_CE:
    case AMDGPU_INFO_FW_GFX_RLC_RESTORE_LIST_CNTL:
    case AMDGPU_INFO_FW_GFX_RLC_RESTORE_LIST_GPM_MEM:
    case AMDGPU_INFO_FW_GFX_RLC_RESTORE_LIST_SRM_MEM:
    case AMDGPU_INFO_FW_VCN:
    case AMDGPU_INFO_FW_DMCU:
    case AMDGPU_INFO_FW_DMCUB:
    case AMDGPU_INFO_FW_CAP:
    case AMDGPU_INFO_FW_VPE:
        fw = (struct drm_amdgpu_info_firmware){0};
        break;
    case AMDGPU_INFO_FW_GFX_ME:
    case AMDGPU_INFO_FW_GFX_PFP:
    case AMDGPU_INFO_FW_GFX_RLC:
    case AMDGPU_INFO_FW_SMC:
    case AMDGPU_INFO_FW_SOS:
    case AMDGPU_INFO_FW_ASD:
    case AMDGPU_INFO_FW_TOC:
    case AMDGPU_INFO_FW_GFX_RLCP:
    case AMDGPU_INFO_FW_GFX_RLCV:
    case AMDGPU_INFO_FW_MES_KIQ:
    case AMDGPU_INFO_FW_MES:
    case AMDGPU_INFO_FW_IMU:
        break;
    case AMDGPU_INFO_FW_GFX_MEC:
    case AMDGPU_INFO_FW_SDMA: /* of two each */
        if (q->index > 1)
            return -EINVAL;
        break;
    case AMDGPU_INFO_FW_TA:
        if (q->index > 7)
            return -EINVAL;
        break;
    default:
        return -EINVAL;
    }
    return reply(info, &fw, sizeof(fw));
}

/* The ROM: its size, its bytes from an offset on, what it says of itself. */
static int info_vbios(const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_info_vbios about = {.vbios_pn = BOARD_ROM_PART};
    uint32_t size = BOARD_ROM_BYTES, offset = info->vbios_info.offset;
    switch (info->vbios_info.type) {
    case AMDGPU_INFO_VBIOS_SIZE:
        return reply(info, &size, sizeof(size));
    case AMDGPU_INFO_VBIOS_INFO:
        return reply(info, &about, sizeof(about));
    case AMDGPU_INFO_VBIOS_IMAGE:
        break;
    default:
        return -EINVAL;
    }
    if (offset >= size)
        return -EINVAL;
    uint8_t *rom = calloc(1, size);
    if (!rom)
        return -ENOMEM;
    board_rom(rom);
    int r = reply(info, rom + offset, size - offset);
    free(rom);
    return r;
}

/* GCVM_L2_PROTECTION_FAULT_STATUS */
#define FAULT_WHY      4u        /* of four bits: valid, read, write, execute */
#define FAULT_MAPPING  (1u << 8) /* nothing is there */
#define FAULT_CLIENT   (8u << 9) /* the texture cache */
#define FAULT_WRITE    (1u << 18)
#define FAULT_VMID(id) ((id) << 20)
#define PROCESS_VMID   8u /* the first of KFD's */

/* The last page fault of the process; zeros if there was none. */
static int info_fault(struct abi_ctx *ctx, const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_info_gpuvm_fault out = {0};
    struct kmd_memory_fault f;
    bool write;
    if (kmd_last_fault(ctx->kmd, &f, &write)) {
        uint32_t why = f.not_present ? 1 : f.read_only ? 4 : f.no_execute ? 8 : 2;
        out.addr = f.va;
        out.status = why << FAULT_WHY | (f.not_present ? FAULT_MAPPING : 0) |
                     (write ? FAULT_WRITE : 0) | FAULT_CLIENT |
                     FAULT_VMID(PROCESS_VMID);
        out.vmhub = AMDGPU_VMHUB_TYPE_GFX;
    }
    return reply(info, &out, sizeof(out));
}

/* What little there is of global data share, and of video nothing: as Linux answers for
 * this chip, with engines for video as little as there are blocks for it. */
static int info_rest(const struct drm_amdgpu_info *info)
{
    struct drm_amdgpu_info_gds gds = {.compute_partition_size = ABI_GDS_BYTES,
                                      .gds_total_size = ABI_GDS_BYTES,
                                      .gws_per_compute_partition = ABI_GWS,
                                      .oa_per_compute_partition = ABI_OA};
    struct drm_amdgpu_info_vce_clock_table clocks = {.num_valid_entries = 0};
    struct drm_amdgpu_info_video_caps caps = {0};
    switch (info->query) {
    case AMDGPU_INFO_GDS_CONFIG:
        return reply(info, &gds, sizeof(gds));
    case AMDGPU_INFO_VCE_CLOCK_TABLE:
        return reply(info, &clocks, sizeof(clocks));
    case AMDGPU_INFO_VIDEO_CAPS:
        return info->video_cap.type > AMDGPU_INFO_VIDEO_CAPS_ENCODE
                   ? -EINVAL
                   : reply(info, &caps, sizeof(caps));
    default: /* handles of video engines, of which new ones have no end */
        return info->query_hw_ip.type == AMDGPU_HW_IP_UVD ? -ENODATA : -EINVAL;
    }
}

int abi_drm_info(struct abi_ctx *ctx, void *argp, size_t size)
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
    case AMDGPU_INFO_HW_IP_COUNT:
    case AMDGPU_INFO_HW_IP_INFO:
        return info_blocks(args);
    case AMDGPU_INFO_TIMESTAMP: {
        uint64_t now = kmd_clock(ctx->kmd);
        return reply(args, &now, sizeof(now));
    }
    case AMDGPU_INFO_FW_VERSION:
        return info_firmware(args);
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
        return info_sensor(ctx, args);
    case AMDGPU_INFO_VBIOS:
        return info_vbios(args);
    case AMDGPU_INFO_GPUVM_FAULT:
        return info_fault(ctx, args);
    case AMDGPU_INFO_GDS_CONFIG:
    case AMDGPU_INFO_VCE_CLOCK_TABLE:
    case AMDGPU_INFO_VIDEO_CAPS:
    case AMDGPU_INFO_NUM_HANDLES:
        return info_rest(args);
    default:
        return info_count(args);
    }
}
