/* topology.c: the KFD topology in sysfs: one CPU node and one gfx1100 node.
 *
 * Knows names and values only, nothing of files or processes. Every count in a node's
 * properties equals the number of folders emitted for it.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "sysfs.h"

#define TOPOLOGY     "/sys/devices/virtual/kfd/kfd/topology"
#define SIMD_ID_BASE 2147487744u

enum cache_type { CACHE_DATA = 1 | 8, CACHE_INST = 2 | 8 }; /* 8: GPU cache */

struct cache_kind {
    unsigned level, size_kib, line_bytes;
    enum cache_type type;
    unsigned cus; /* compute units that share one */
};

static const struct cache_kind cache_kinds[] = {
    {1, 32, 128, CACHE_DATA, 1},                /* vector L0 */
    {1, 16, 64, CACHE_DATA, 2},                 /* scalar, per WGP */
    {1, 32, 64, CACHE_INST, 2},                 /* instruction, per WGP */
    {1, 256, 128, CACHE_DATA, BOARD_CU_PER_SA}, /* GL1, per shader array */
    {2, 6144, 128, CACHE_DATA, BOARD_CUS},      /* GL2 */
    {3, 98304, 64, CACHE_DATA, BOARD_CUS},      /* Infinity cache */
};
#define N_CACHE_KINDS (sizeof(cache_kinds) / sizeof(cache_kinds[0]))

rd_status sysfs_text(const struct sysfs_out *out, const char *path, const char *fmt,
                     ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(text))
        return RD_E_RANGE;
    return out->file(out->ctx, path, text, (size_t)n);
}

static unsigned caches_count(void)
{
    unsigned n = 0;
    for (size_t k = 0; k < N_CACHE_KINDS; k++)
        n += BOARD_CUS / cache_kinds[k].cus;
    return n;
}

/* "0,0,1,1,..." : which compute units share the cache. */
static void sibling_map(char *text, unsigned first, unsigned count)
{
    for (unsigned cu = 0; cu < BOARD_CUS; cu++) {
        *text++ = cu >= first && cu < first + count ? '1' : '0';
        *text++ = ',';
    }
    text[-1] = '\0';
}

static rd_status emit_caches(const struct sysfs_out *out)
{
    unsigned index = 0;
    for (size_t k = 0; k < N_CACHE_KINDS; k++) {
        const struct cache_kind *c = &cache_kinds[k];
        for (unsigned cu = 0; cu < BOARD_CUS; cu += c->cus) {
            char path[128];
            char map[2 * BOARD_CUS + 1];
            snprintf(path, sizeof(path), TOPOLOGY "/nodes/1/caches/%u/properties",
                     index++);
            sibling_map(map, cu, c->cus);
            rd_status st = sysfs_text(
                out, path,
                "processor_id_low %u\nlevel %u\nsize %u\ncache_line_size %u\n"
                "cache_lines_per_tag 1\nassociation 0\nlatency 0\ntype %d\n"
                "sibling_map %s\n",
                SIMD_ID_BASE + cu, c->level, c->size_kib, c->line_bytes, (int)c->type,
                map);
            if (st != RD_OK)
                return st;
        }
    }
    return RD_OK;
}

static rd_status emit_link(const struct sysfs_out *out, unsigned from, unsigned to)
{
    char path[128];
    snprintf(path, sizeof(path), TOPOLOGY "/nodes/%u/io_links/0/properties", from);
    return sysfs_text(out, path,
                      "type 2\nversion_major 0\nversion_minor 0\nnode_from %u\n"
                      "node_to %u\nweight 20\nmin_latency 0\nmax_latency 0\n"
                      "min_bandwidth 312\nmax_bandwidth 31504\n"
                      "recommended_transfer_size 0\n"
                      "recommended_sdma_engine_id_mask 0\nflags 1\n",
                      from, to);
}

static rd_status emit_bank(const struct sysfs_out *out, unsigned node, unsigned heap,
                           uint64_t bytes, unsigned width, unsigned mhz)
{
    char path[128];
    snprintf(path, sizeof(path), TOPOLOGY "/nodes/%u/mem_banks/0/properties", node);
    return sysfs_text(out, path,
                      "heap_type %u\nsize_in_bytes %" PRIu64 "\nflags 0\nwidth %u\n"
                      "mem_clk_max %u\n",
                      heap, bytes, width, mhz);
}

static rd_status emit_cpu_node(const struct sysfs_host *host,
                               const struct sysfs_out *out)
{
    rd_status st = sysfs_text(out, TOPOLOGY "/nodes/0/gpu_id", "0\n");
    if (st == RD_OK)
        st = sysfs_text(out, TOPOLOGY "/nodes/0/name", "\n");
    if (st == RD_OK)
        st = sysfs_text(
            out, TOPOLOGY "/nodes/0/properties",
            "cpu_cores_count %u\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\n"
            "io_links_count 1\np2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base 0\n"
            "max_waves_per_simd 0\nlds_size_in_kb 0\ngds_size_in_kb 0\nnum_gws 0\n"
            "wave_front_size 0\narray_count 0\nsimd_arrays_per_engine 0\n"
            "cu_per_simd_array 0\nsimd_per_cu 0\nmax_slots_scratch_cu 0\n"
            "gfx_target_version 0\nvendor_id 0\ndevice_id 0\nlocation_id 0\ndomain 0\n"
            "drm_render_minor 0\nhive_id 0\nnum_sdma_engines 0\n"
            "num_sdma_xgmi_engines 0\nnum_sdma_queues_per_engine 0\nnum_cp_queues 0\n"
            "max_engine_clk_ccompute 3400\n",
            host->cpus);
    if (st == RD_OK)
        st = emit_bank(out, 0, 0, host->memory_bytes, 64, 3200);
    if (st == RD_OK)
        st = emit_link(out, 0, 1);
    return st;
}

static rd_status emit_gpu_node(const struct sysfs_host *host,
                               const struct sysfs_out *out)
{
    rd_status st = sysfs_text(out, TOPOLOGY "/nodes/1/gpu_id", "%u\n", BOARD_GPU_ID);
    if (st == RD_OK)
        st = sysfs_text(out, TOPOLOGY "/nodes/1/name", "ip discovery\n");
    if (st == RD_OK)
        st = sysfs_text(
            out, TOPOLOGY "/nodes/1/properties",
            "cpu_cores_count 0\nsimd_count %u\nmem_banks_count 1\ncaches_count %u\n"
            "io_links_count 1\np2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base %u\n"
            "max_waves_per_simd 16\nlds_size_in_kb 64\ngds_size_in_kb 0\nnum_gws 64\n"
            "wave_front_size 32\narray_count %u\nsimd_arrays_per_engine %u\n"
            "cu_per_simd_array %u\nsimd_per_cu 2\nmax_slots_scratch_cu 32\n"
            "gfx_target_version 110000\nvendor_id %u\ndevice_id %u\nlocation_id %u\n"
            "domain 0\ndrm_render_minor %u\nhive_id 0\nnum_sdma_engines 2\n"
            "num_sdma_xgmi_engines 0\nnum_sdma_queues_per_engine 6\nnum_cp_queues 8\n"
            "max_engine_clk_fcompute %u\nlocal_mem_size 0\nfw_version %u\n"
            "capability %u\ndebug_prop %u\nsdma_fw_version 20\n"
            "unique_id %llu\nnum_xcc 1\nmax_engine_clk_ccompute 3400\n",
            BOARD_CUS * 2, caches_count(), SIMD_ID_BASE, BOARD_SE * BOARD_SA_PER_SE,
            BOARD_SA_PER_SE, BOARD_CU_PER_SA, BOARD_VENDOR, BOARD_DEVICE,
            BOARD_LOCATION_ID, BOARD_RENDER_MINOR, BOARD_SCLK_MHZ, BOARD_FW_VERSION,
            BOARD_CAPABILITY, BOARD_DEBUG_PROP, BOARD_UNIQUE_ID);
    if (st == RD_OK)
        st = emit_bank(out, 1, 1, host->board.vram_bytes, 384, BOARD_MCLK_MHZ);
    if (st == RD_OK)
        st = emit_link(out, 1, 0);
    if (st == RD_OK)
        st = emit_caches(out);
    return st;
}

rd_status sysfs_emit_topology(const struct sysfs_host *host,
                              const struct sysfs_out *out)
{
    rd_status st = sysfs_text(out, TOPOLOGY "/generation_id", "2\n");
    if (st == RD_OK)
        st = sysfs_text(out, TOPOLOGY "/system_properties",
                        "platform_oem 35498446626881\nplatform_id 71791775140929\n"
                        "platform_rev 2\n");
    if (st == RD_OK)
        st = emit_cpu_node(host, out);
    if (st == RD_OK)
        st = emit_gpu_node(host, out);
    return st;
}
