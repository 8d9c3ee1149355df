/* blocks.c: the blocks of the chip, their versions and where their registers are.
 *
 * Source: hardware ids and versions of the amdgpu kernel driver's public headers; bases
 * of graphics, hubs, processors and bus interface as drivers were seen to use them.
 * Those of the others (sensors, clocks, fabric) are not checked against a board's
 * table. SPDX-License-Identifier: MIT
 */
#include "board.h"

#define BOTH  (BOARD_IP_SYSFS | BOARD_IP_CHIP)
#define CHIP  BOARD_IP_CHIP
#define SYSFS BOARD_IP_SYSFS

// clang-format off
static const struct board_ip blocks[] = {
    {"MP1", 1, 0, 13, 0, 0, {0x16000, 0xdc0000, 0xe00000, 0xe40000, 0x243fc00}, BOTH},
    {"THM", 3, 0, 13, 0, 0, {0x16600}, CHIP},
    {"SMUIO", 4, 0, 13, 0, 6, {0x16800, 0x16a00}, CHIP},
    {"FUSE", 5, 0, 13, 0, 0, {0x17400}, CHIP},
    {"CLKA", 6, 0, 13, 0, 0, {0x16c00}, CHIP},
    {"GC", 11, 0, 11, 0, 0, {0x1260, 0xa000, 0x1c000, 0x2402c00}, BOTH},
    {"MMHUB", 34, 0, 3, 0, 0, {0x1a000, 0x2408800}, BOTH},
    {"ATHUB", 35, 0, 3, 0, 0, {0xc00, 0x2408c00}, CHIP},
    {"OSSSYS", 40, 0, 6, 0, 0, {0x10a0, 0x240a000}, BOTH},
    {"HDP", 41, 0, 6, 0, 0, {0xf20, 0x240a400}, BOTH},
    {"SDMA0", 42, 0, 6, 0, 0, {0x1260, 0xa000, 0x1c000, 0x2402c00}, BOTH},
    {"SDMA1", 42, 1, 6, 0, 0, {0x1260, 0xa000, 0x1c000, 0x2402c00}, CHIP},
    {"SDMA1", 43, 0, 6, 0, 0, {0x1260, 0xa000, 0x1c000, 0x2402c00}, SYSFS},
    {"DF", 46, 0, 4, 3, 0, {0x7000, 0x240b800}, CHIP},
    {"LSDMA", 91, 0, 6, 0, 0, {0x11400}, CHIP},
    {"NBIF", 108, 0, 4, 3, 0, {0x0, 0x14, 0xd20, 0x10400, 0x241b000, 0x4040000}, BOTH},
    {"UMC", 150, 0, 8, 10, 0, {0x14000, 0x2425800}, BOTH},
    {"MP0", 255, 0, 13, 0, 0, {0x16000, 0xdc0000, 0xe00000, 0xe40000, 0x243fc00}, BOTH},
    {"VCN", 12, 0, 4, 0, 0, {0x7800, 0x7e00, 0x2403000}, BOTH | BOARD_IP_FUSED},
    {"DMU", 271, 0, 3, 2, 0, {0x12, 0xc0, 0x34c0, 0x9000, 0x2403c00}, SYSFS},
};
// clang-format on

const struct board_ip *board_ip_blocks(size_t *count)
{
    *count = sizeof(blocks) / sizeof(blocks[0]);
    return blocks;
}

unsigned board_ip_bases(const struct board_ip *ip)
{
    unsigned n = 1;
    while (n < BOARD_IP_BASES && ip->base[n])
        n++;
    return n;
}
