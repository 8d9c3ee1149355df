/* memory.c: sizes that follow from the board's memory and the host's. Whatever tells a
 * client a size, in sysfs or by an ioctl, takes it from here.
 * SPDX-License-Identifier: MIT
 */
#include "board.h"

#define PAGE 4096ull

struct board_memory board_memory(uint64_t vram_bytes, uint64_t host_bytes)
{
    struct board_memory m = {
        .vram_bytes = vram_bytes,
        .bar_bytes = 256ull << 20,
        .gtt_bytes = host_bytes / 2 & ~(PAGE - 1), /* the kernel's limit for TTM */
    };
    while (m.bar_bytes < vram_bytes)
        m.bar_bytes *= 2;
    uint64_t tables = (vram_bytes + host_bytes) >> 14;
    m.reserved_bytes = tables > 8ull << 20 ? tables : 8ull << 20;
    if (m.reserved_bytes > vram_bytes / 2)
        m.reserved_bytes = vram_bytes / 2;
    return m;
}
