/* pci.c: the PCI device, its DRM nodes, IP discovery and the amdgpu module in sysfs.
 *
 * Knows names and values only. Links are relative, so that the tree may live anywhere.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "sysfs.h"
#include "words.h"

#define PCI     SYSFS_PCI
#define PCI_REL SYSFS_PCI_REL

#define DEBUG "/sys/kernel/debug"

#define DOORBELL_BAR_BYTES (256ull << 20)
#define MMIO_BAR_BYTES     (1ull << 20)
#define DOORBELL_BAR       0x8000000000ull
#define MMIO_BAR           0xfcb00000ull

struct text_file {
    const char *path, *text;
};

struct link_file {
    const char *path, *target;
};

static const struct text_file texts[] = {
    {PCI "/vendor", "0x1002\n"},
    {PCI "/device", "0x744c\n"},
    {PCI "/subsystem_vendor", "0x1002\n"},
    {PCI "/subsystem_device", "0x0e3b\n"},
    {PCI "/revision", "0xc8\n"},
    {PCI "/class", "0x030000\n"},
    {PCI "/irq", "0\n"},
    {PCI "/enable", "1\n"},
    {PCI "/boot_vga", "0\n"},
    {PCI "/numa_node", "-1\n"},
    {PCI "/local_cpulist", "0\n"},
    {PCI "/current_link_speed", "16.0 GT/s PCIe\n"},
    {PCI "/max_link_speed", "16.0 GT/s PCIe\n"},
    {PCI "/current_link_width", "16\n"},
    {PCI "/max_link_width", "16\n"},
    {PCI "/product_name", "\n"},
    {PCI "/unique_id", "a1ff30d6c5a7e73f\n"},
    {PCI "/vbios_version", BOARD_ROM_PART "\n"},
    {PCI "/gpu_busy_percent", "0\n"},
    {PCI "/gfx_reset_mask", "soft queue full\n"},
    {PCI "/compute_reset_mask", "soft queue full\n"},
    {PCI "/sdma_reset_mask", "soft queue full\n"},
    {PCI "/mem_busy_percent", "0\n"},
    {PCI "/power_dpm_force_performance_level", "profile_standard\n"},
    {PCI "/pp_dpm_sclk", "0: 500Mhz *\n1: 2482Mhz \n"},
    {PCI "/pp_dpm_mclk", "0: 96Mhz *\n1: 1249Mhz \n"},
    {PCI "/modalias", "pci:v00001002d0000744Csv00001002sd00000E3Bbc03sc00i00\n"},
    {PCI "/uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\n"
                    "PCI_SUBSYS_ID=1002:0E3B\nPCI_SLOT_NAME=" BOARD_PCI_SLOT "\n"
                    "MODALIAS=pci:v00001002d0000744Csv00001002sd00000E3Bbc03sc00i00\n"},
    {PCI "/drm/renderD128/dev", "226:128\n"},
    {PCI "/drm/renderD128/uevent",
     "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n"},
    {PCI "/drm/card0/dev", "226:0\n"},
    {PCI "/drm/card0/uevent",
     "MAJOR=226\nMINOR=0\nDEVNAME=dri/card0\nDEVTYPE=drm_minor\n"},
    {"/sys/class/drm/version", "drm 1.1.0 20060810\n"},
    {"/sys/devices/virtual/kfd/kfd/dev", "511:0\n"},
    {"/sys/devices/virtual/kfd/kfd/uevent", "MAJOR=511\nMINOR=0\nDEVNAME=kfd\n"},
    {"/sys/bus/pci/drivers/amdgpu/uevent", ""},
    {"/sys/module/amdgpu/initstate", "live\n"},
    {"/sys/module/amdgpu/version", "6.8.5\n"},
    {"/sys/module/amdgpu/refcnt", "1\n"},
    {"/sys/module/amdgpu/coresize", "15073280\n"},
    {"/sys/module/amdgpu/parameters/emu_mode", "1\n"},
    {"/sys/module/amdgpu/parameters/cwsr_enable", "1\n"},
    /* debugfs: what needs no state of the chip */
    {DEBUG "/dri/0/name", "amdgpu dev=" BOARD_PCI_SLOT " unique=" BOARD_PCI_SLOT "\n"},
    {DEBUG "/dri/0/amdgpu_gpu_recover", "0\n"},
    {DEBUG "/dri/0/amdgpu_evict_vram", "0\n"},
    {DEBUG "/dri/0/amdgpu_evict_gtt", "0\n"},
    {DEBUG "/sync/sw_sync", ""},
    {DEBUG "/tracing/events/amdgpu/amdgpu_bo_move/enable", "0\n"},
};

static const struct link_file links[] = {
    {PCI "/subsystem", "../../../../../../bus/pci"},
    {PCI "/driver", "../../../../../../bus/pci/drivers/amdgpu"},
    {PCI "/drm/renderD128/device", "../../../" BOARD_PCI_SLOT},
    {PCI "/drm/renderD128/subsystem", "../../../../../../../../class/drm"},
    {PCI "/drm/card0/device", "../../../" BOARD_PCI_SLOT},
    {PCI "/drm/card0/subsystem", "../../../../../../../../class/drm"},
    {"/sys/bus/pci/devices/" BOARD_PCI_SLOT, "../../../" PCI_REL},
    {"/sys/bus/pci/drivers/amdgpu/" BOARD_PCI_SLOT, "../../../../" PCI_REL},
    {"/sys/class/drm/renderD128", "../../" PCI_REL "/drm/renderD128"},
    {"/sys/class/drm/card0", "../../" PCI_REL "/drm/card0"},
    {"/sys/class/kfd/kfd", "../../devices/virtual/kfd/kfd"},
    {"/sys/devices/virtual/kfd/kfd/subsystem", "../../../../class/kfd"},
    {"/sys/dev/char/226:128", "../../" PCI_REL "/drm/renderD128"},
    {"/sys/dev/char/226:0", "../../" PCI_REL "/drm/card0"},
    {"/sys/dev/char/511:0", "../../devices/virtual/kfd/kfd"},
    {DEBUG "/dri/128", "0"},
    {DEBUG "/dri/" BOARD_PCI_SLOT, "0"},
};

static const struct sysfs_control controls[] = {
    {PCI "/remove", SYSFS_REMOVE},
    {PCI "/rescan", SYSFS_RESCAN},
    {PCI "/reset", SYSFS_RESET},
    {"/sys/bus/pci/rescan", SYSFS_RESCAN},
    {"/sys/bus/pci/drivers/amdgpu/unbind", SYSFS_UNBIND},
    {"/sys/bus/pci/drivers/amdgpu/bind", SYSFS_BIND},
};

const struct sysfs_control *sysfs_controls(size_t *count)
{
    *count = sizeof(controls) / sizeof(controls[0]);
    return controls;
}

/* The nodes, what the driver shows, the device itself. */
static const char *const departing[] = {
    "/dev/dri/renderD128",
    "/dev/dri/card0",
    "/sys/class/drm/renderD128",
    "/sys/class/drm/card0",
    "/sys/dev/char/226:128",
    "/sys/dev/char/226:0",
    "/sys/bus/pci/drivers/amdgpu/" BOARD_PCI_SLOT,
    "/sys/devices/virtual/kfd/kfd/topology/nodes/1",
    DEBUG "/dri/128",
    DEBUG "/dri/" BOARD_PCI_SLOT,
    DEBUG "/dri/0",
    PCI "/driver",
    PCI "/drm",
    PCI "/hwmon",
    "/sys/bus/pci/devices/" BOARD_PCI_SLOT,
    PCI,
};

const char *const *sysfs_departing(size_t *count, size_t *driver)
{
    *count = sizeof(departing) / sizeof(departing[0]);
    *driver = *count - 2;
    return departing;
}

static rd_status emit_bases(const struct sysfs_out *out, const struct board_ip *ip)
{
    char path[256], text[128] = "";
    size_t at = 0;
    unsigned n = board_ip_bases(ip);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "0x%08X\n", ip->base[i]);
    snprintf(path, sizeof(path), PCI "/ip_discovery/die/0/%u/0/base_addr", ip->hw_id);
    rd_status st = sysfs_text(out, path, "%s", text);
    snprintf(path, sizeof(path), PCI "/ip_discovery/die/0/%u/0/num_base_addresses",
             ip->hw_id);
    if (st == RD_OK)
        st = sysfs_text(out, path, "%u\n", n);
    snprintf(path, sizeof(path), PCI "/ip_discovery/die/0/%u/0/harvest", ip->hw_id);
    return st == RD_OK ? sysfs_text(out, path, "0x0\n") : st;
}

static rd_status emit_ip_block(const struct sysfs_out *out, const struct board_ip *ip)
{
    const struct {
        const char *name;
        unsigned value;
    } fields[] = {{"major", ip->major},
                  {"minor", ip->minor},
                  {"revision", ip->revision},
                  {"hw_id", ip->hw_id},
                  {"num_instance", 0}};
    char path[256];
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        snprintf(path, sizeof(path), PCI "/ip_discovery/die/0/%u/0/%s", ip->hw_id,
                 fields[i].name);
        rd_status st = sysfs_text(out, path, "%u\n", fields[i].value);
        if (st != RD_OK)
            return st;
    }
    rd_status st = emit_bases(out, ip);
    if (st != RD_OK)
        return st;
    char target[16];
    snprintf(path, sizeof(path), PCI "/ip_discovery/die/0/%s", ip->name);
    snprintf(target, sizeof(target), "%u", ip->hw_id);
    return out->link(out->ctx, path, target);
}

/* Where the window of the VRAM lies: aligned to its size, below the doorbells if it
 * fits there. */
static uint64_t vram_bar(uint64_t bytes)
{
    return bytes <= DOORBELL_BAR / 2 ? DOORBELL_BAR - bytes : 2 * bytes;
}

/* Type 0 header with power management and PCI Express capabilities. */
static void fill_config(uint64_t vram_bar, uint8_t c[256])
{
    memset(c, 0, 256);
    put16(c + 0x00, BOARD_VENDOR);
    put16(c + 0x02, BOARD_DEVICE);
    put16(c + 0x04, 0x0407); /* I/O, memory, bus master, INTx off */
    put16(c + 0x06, 0x0010); /* has capabilities */
    c[0x08] = BOARD_REVISION;
    c[0x0b] = 0x03; /* display, VGA */
    c[0x0c] = 0x10; /* cache line, dwords */
    put32(c + 0x10, (uint32_t)vram_bar | 0xc);
    put32(c + 0x14, (uint32_t)(vram_bar >> 32));
    put32(c + 0x18, (uint32_t)DOORBELL_BAR | 0xc);
    put32(c + 0x1c, (uint32_t)(DOORBELL_BAR >> 32));
    put32(c + 0x20, 0xf001); /* I/O ports */
    put32(c + 0x24, MMIO_BAR);
    put16(c + 0x2c, BOARD_SUBSYS_VENDOR);
    put16(c + 0x2e, BOARD_SUBSYS_DEVICE);
    c[0x34] = 0x50;
    c[0x3d] = 1;
    c[0x50] = 0x01; /* power management, version 3 */
    c[0x51] = 0x64;
    put16(c + 0x52, 0x7603);
    c[0x64] = 0x10; /* PCI Express legacy endpoint, version 2 */
    put16(c + 0x66, 0x0012);
    put32(c + 0x68, 0x10008fa1);
    put16(c + 0x6c, 0x2930);
    put32(c + 0x70, 0x00400d04); /* 16 GT/s x16 */
    put16(c + 0x76, 0x1104);
}

static rd_status emit_bars(const struct sysfs_host *host, const struct sysfs_out *out)
{
    uint8_t config[256];
    uint64_t window = host->board.bar_bytes, at = vram_bar(window);
    fill_config(at, config);
    rd_status st = out->file(out->ctx, PCI "/config", config, sizeof(config));
    const struct {
        uint64_t start, bytes, flags;
    } bars[] = {{at, window, 0x14220c},
                {0, 0, 0},
                {DOORBELL_BAR, DOORBELL_BAR_BYTES, 0x14220c},
                {0, 0, 0},
                {0xf000, 0x100, 0x40101},
                {MMIO_BAR, MMIO_BAR_BYTES, 0x40200},
                {0xfcc00000, 0x20000, 0x46200}};
    char text[1024];
    size_t used = 0;
    for (size_t i = 0; i < 13; i++) {
        uint64_t start = 0, end = 0, flags = 0;
        if (i < sizeof(bars) / sizeof(bars[0]) && bars[i].bytes) {
            start = bars[i].start;
            end = start + bars[i].bytes - 1;
            flags = bars[i].flags;
        }
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "0x%016" PRIx64 " 0x%016" PRIx64 " 0x%016" PRIx64 "\n",
                                 start, end, flags);
    }
    if (st == RD_OK)
        st = out->file(out->ctx, PCI "/resource", text, used);
    if (st == RD_OK)
        st = out->sparse(out->ctx, PCI "/resource0", window);
    if (st == RD_OK)
        st = out->sparse(out->ctx, PCI "/resource2", DOORBELL_BAR_BYTES);
    if (st == RD_OK)
        st = out->sparse(out->ctx, PCI "/resource5", MMIO_BAR_BYTES);
    const struct {
        const char *path;
        uint64_t bytes;
    } sizes[] = {{PCI "/mem_info_vram_total", host->board.vram_bytes},
                 {PCI "/mem_info_vis_vram_total", host->board.vram_bytes},
                 {PCI "/mem_info_vram_used", 0},
                 {PCI "/mem_info_vis_vram_used", 0},
                 {PCI "/mem_info_gtt_total", host->board.gtt_bytes},
                 {PCI "/mem_info_gtt_used", 0}};
    for (size_t i = 0; st == RD_OK && i < sizeof(sizes) / sizeof(sizes[0]); i++)
        st = sysfs_text(out, sizes[i].path, "%" PRIu64 "\n", sizes[i].bytes);
    return st;
}

rd_status sysfs_emit_pci(const struct sysfs_host *host, const struct sysfs_out *out)
{
    rd_status st = RD_OK;
    for (size_t i = 0; st == RD_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
        st = out->file(out->ctx, texts[i].path, texts[i].text, strlen(texts[i].text));
    for (size_t i = 0; st == RD_OK && i < sizeof(links) / sizeof(links[0]); i++)
        st = out->link(out->ctx, links[i].path, links[i].target);
    for (size_t i = 0; st == RD_OK && i < sizeof(controls) / sizeof(controls[0]); i++)
        st = out->file(out->ctx, controls[i].path, "", 0);
    if (st == RD_OK)
        st = out->folder(out->ctx, SYSFS_PROCESSES);
    size_t blocks;
    const struct board_ip *ip = board_ip_blocks(&blocks);
    for (size_t i = 0; st == RD_OK && i < blocks; i++)
        if (ip[i].shown & BOARD_IP_SYSFS)
            st = emit_ip_block(out, &ip[i]);
    if (st == RD_OK)
        st = emit_bars(host, out);
    return st;
}

rd_status sysfs_emit(const struct sysfs_host *host, const struct sysfs_out *out)
{
    rd_status st = sysfs_emit_topology(host, out);
    if (st == RD_OK)
        st = sysfs_emit_pci(host, out);
    if (st == RD_OK)
        st = sysfs_emit_sensors(out);
    if (st == RD_OK)
        st = sysfs_emit_firmware(out);
    return st;
}
