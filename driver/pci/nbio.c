/* nbio.c: the bus interface, and registers that just answer.
 *
 * Index and data registers reach VRAM and registers beyond the window. Memory is
 * coherent here, so flushes of the host data path are done at once.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum {
    MM_INDEX = 0x0,
    MM_DATA = 0x1,
    MM_INDEX_HI = 0x6,
    RSMU_INDEX = 0x14,
    RSMU_DATA = 0x15,
    HDP_FLUSH_DONE = 0xe27,
    GOLDEN_TSC_UPPER = 0x16a2d,
    FB_LOCATION_BASE = 0x1a8ec,
};

/* One that leads to another: two of them could lead in circles. */
static bool is_port(uint32_t reg)
{
    return reg == MM_DATA || reg == RSMU_DATA;
}

/* The word of VRAM that is selected; NULL: none. */
static uint8_t *selected(struct pci_board *b)
{
    uint32_t index = regs_get(b, MM_INDEX);
    uint64_t at = (uint64_t)regs_get(b, MM_INDEX_HI) << 31 | (index & 0x7ffffffcu);
    return index >> 31 && at < b->config.vram_bytes ? b->vram + at : NULL;
}

uint32_t mm_data_read(struct pci_board *b, uint32_t reg)
{
    (void)reg;
    const uint8_t *p = selected(b);
    uint32_t value = UINT32_MAX, index = regs_get(b, MM_INDEX);
    if (p)
        memcpy(&value, p, sizeof(value));
    else if (!(index >> 31) && !is_port(index / 4))
        value = regs_read(b, index / 4);
    return value;
}

void mm_data_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    (void)reg;
    uint8_t *p = selected(b);
    uint32_t index = regs_get(b, MM_INDEX);
    if (p)
        memcpy(p, &value, sizeof(value));
    else if (!(index >> 31) && !is_port(index / 4))
        regs_write(b, index / 4, value);
}

uint32_t rsmu_data_read(struct pci_board *b, uint32_t reg)
{
    (void)reg;
    uint32_t other = regs_get(b, RSMU_INDEX) / 4;
    return is_port(other) ? 0 : regs_read(b, other);
}

void rsmu_data_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    (void)reg;
    uint32_t other = regs_get(b, RSMU_INDEX) / 4;
    if (!is_port(other))
        regs_write(b, other, value);
}

uint32_t memsize_read(struct pci_board *b, uint32_t reg)
{
    (void)reg;
    return (uint32_t)(b->config.vram_bytes >> 20);
}

uint32_t fb_location_read(struct pci_board *b, uint32_t reg)
{
    uint64_t at =
        reg == FB_LOCATION_BASE ? FB_BASE : FB_BASE + b->config.vram_bytes - 1;
    return (uint32_t)(at >> 24);
}

uint32_t golden_read(struct pci_board *b, uint32_t reg)
{
    uint64_t now = gpu_clock(b->gpu);
    return (uint32_t)(reg == GOLDEN_TSC_UPPER ? now >> 32 : now);
}

/* Also who else waits sees the flush as done. */
void hdp_request_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    regs_set(b, HDP_FLUSH_DONE, regs_get(b, HDP_FLUSH_DONE) | value);
}

void hdp_flush_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    (void)b, (void)reg, (void)value;
}

uint32_t zero_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 0;
}

void drop_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    (void)b, (void)reg, (void)value;
}

/* ---- run-list controller ---- */

/* The command is done at once. */
void safe_mode_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value & ~1u);
}

uint32_t bootload_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 0x80000000u; /* complete */
}

uint32_t sdma_status_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 1; /* idle */
}

/* ---- registers of each VMID ---- */

#define SH_MEM_FIRST  0xa9e3u
#define GRBM_GFX_CNTL 0xa900u

static unsigned vmid_now(struct pci_board *b)
{
    return regs_get(b, GRBM_GFX_CNTL) >> 4 & 15;
}

uint32_t sh_mem_read(struct pci_board *b, uint32_t reg)
{
    return atomic_load(&b->sh_mem[vmid_now(b)][reg - SH_MEM_FIRST]);
}

void sh_mem_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    atomic_store(&b->sh_mem[vmid_now(b)][reg - SH_MEM_FIRST], value);
}
