/* topology.c: finds gfx1100 boards in the kernel's topology in sysfs.
 *
 * Must not know ioctls. Reads "name value" lines and nothing else.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define NODES "/sys/devices/virtual/kfd/kfd/topology/nodes"

#define GFX1100   110000u
#define MAX_NODES 256u

struct property {
    const char *name;
    uint64_t value;
};

static bool read_properties(const char *path, struct property *list, size_t count)
{
    char name[64];
    uint64_t value;
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    while (fscanf(f, "%63s %" SCNu64, name, &value) == 2)
        for (size_t i = 0; i < count; i++)
            if (strcmp(list[i].name, name) == 0)
                list[i].value = value;
    return fclose(f) == 0;
}

static void read_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (fgets(text, (int)size, f))
        text[strcspn(text, "\n")] = '\0';
    (void)fclose(f);
}

static uint64_t vram_bytes(const char *root, unsigned node)
{
    uint64_t total = 0;
    for (unsigned bank = 0;; bank++) {
        char path[512];
        struct property p[] = {{"size_in_bytes", 0}, {"heap_type", 0}};
        snprintf(path, sizeof(path), "%s" NODES "/%u/mem_banks/%u/properties", root,
                 node, bank);
        if (!read_properties(path, p, 2))
            return total;
        if (p[1].value == 1 || p[1].value == 2) /* public and private frame buffer */
            total += p[0].value;
    }
}

enum {
    P_VERSION,
    P_SIMDS,
    P_SIMDS_PER_CU,
    P_ARRAYS,
    P_ARRAYS_PER_SE,
    P_WAVES,
    P_MINOR
};

static bool take(struct rt_device *dev, const char *root, unsigned node,
                 const struct property *p)
{
    char path[512], id[32] = "";
    if (!p[P_SIMDS_PER_CU].value || !p[P_ARRAYS_PER_SE].value)
        return false;
    dev->node = node;
    dev->simds_per_cu = (uint32_t)p[P_SIMDS_PER_CU].value;
    dev->arrays = (uint32_t)p[P_ARRAYS].value;
    dev->waves_per_simd = (uint32_t)p[P_WAVES].value;
    dev->info.gfx_version = (uint32_t)p[P_VERSION].value;
    dev->info.compute_units = (uint32_t)p[P_SIMDS].value / dev->simds_per_cu;
    dev->info.shader_engines = (uint32_t)(p[P_ARRAYS].value / p[P_ARRAYS_PER_SE].value);
    dev->info.waves_per_cu = dev->waves_per_simd * dev->simds_per_cu;
    dev->info.vram_bytes = vram_bytes(root, node);
    snprintf(path, sizeof(path), "%s" NODES "/%u/name", root, node);
    read_line(path, dev->info.name, sizeof(dev->info.name));
    snprintf(path, sizeof(path), "%s" NODES "/%u/gpu_id", root, node);
    read_line(path, id, sizeof(id));
    dev->info.gpu_id = (uint32_t)strtoul(id, NULL, 10);
    return dev->info.gpu_id && dev->info.shader_engines && dev->info.compute_units;
}

rd_status rt_topology(struct rt_device *dev, const struct rt_config *config,
                      unsigned *render_minor, struct rt_error *err)
{
    const char *root = config->root ? config->root : "";
    unsigned boards = 0, others = 0;
    for (unsigned node = 0; node < MAX_NODES; node++) {
        char path[512];
        struct property p[] = {
            [P_VERSION] = {"gfx_target_version", 0},
            [P_SIMDS] = {"simd_count", 0},
            [P_SIMDS_PER_CU] = {"simd_per_cu", 0},
            [P_ARRAYS] = {"array_count", 0},
            [P_ARRAYS_PER_SE] = {"simd_arrays_per_engine", 0},
            [P_WAVES] = {"max_waves_per_simd", 0},
            [P_MINOR] = {"drm_render_minor", 0},
        };
        snprintf(path, sizeof(path), "%s" NODES "/%u/properties", root, node);
        if (!read_properties(path, p, sizeof(p) / sizeof(p[0])))
            break;
        others += p[P_VERSION].value && p[P_VERSION].value != GFX1100;
        if (p[P_VERSION].value != GFX1100 || boards++ != config->index)
            continue;
        *render_minor = (unsigned)p[P_MINOR].value;
        if (take(dev, root, node, p))
            return RD_OK;
        return rt_fail(err, RD_E_FORMAT, "%s: counts or gpu_id are missing", path);
    }
    return rt_fail(err, RD_E_NOT_FOUND,
                   "no gfx1100 number %u in " NODES " (%u boards of it, %u others)",
                   config->index, boards, others);
}
