/* smu.c: the system management unit: messages and their answers.
 *
 * Clocks stand, at the highest of their levels. Of its features there are those that
 * manage the shader's, the memory's and the security processor's clock, once a driver
 * has switched all on (Linux 7.2 looks at the last alone); those that it has tables for
 * are off, so nobody asks for these. Of its tables there is that of what it measures,
 * which is what board.h says of a board at rest. For the others that firmware has it
 * says that it wrote them, and leaves memory as it is: Linux begins with one (of
 * power), and gives the board up if that fails.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"
#include "words.h"

enum {
    SMU_RESPONSE = 0x1629a,
    SMU_ARGUMENT = 0x16292,
    DEBUG_ARGUMENT = 0x16275,
    DEBUG_RESPONSE = 0x16276,
};

enum message {
    MSG_TEST = 1,
    MSG_VERSION = 2,
    MSG_INTERFACE_VERSION = 3,
    MSG_FEATURES_ON = 6,
    MSG_FEATURES_OFF = 7,
    MSG_RUNNING_LOW = 0xc,
    MSG_RUNNING_HIGH = 0xd,
    MSG_DRAM_HIGH = 0xe,
    MSG_DRAM_LOW = 0xf,
    MSG_TABLE_TO_DRAM = 0x12,
    MSG_FREQUENCY = 0x1f,
    MSG_MODE1_RESET = 0x2f,
};
#define DEBUG_MODE1_RESET 2u
#define OK                1u
#define FAILED            0xffu
#define TABLE_METRICS     5u
#define TABLE_COUNT       13u /* of smu13_driver_if_v13_0_0.h */
#define TABLE_ID          0xffffu
#define METRICS_BYTES     160u /* of the table's, those that say anything */
#define FREQUENCY_COUNT   0xffu
#define ANY_BETWEEN       (1u << 31) /* the clock stands anywhere between two levels */
#define LINK_GENERATION   4u
#define LINK_WIDTH        16u
#define SMU_FW_VERSION    0x004e8700u
#define SMU_INTERFACE     0x3du

uint32_t smu_flags_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 1; /* interrupts of its firmware are on: it runs */
}

/* Of one level alone Linux would take no maximum, and tell its users of a clock of 0.
 */
static uint32_t level_of(unsigned clock, unsigned level)
{
    if (level == FREQUENCY_COUNT)
        return 2 | (clock == 0 ? ANY_BETWEEN : 0);
    if (clock == 0)
        return level ? BOARD_SCLK_MHZ : BOARD_SCLK_MIN_MHZ;
    return level ? BOARD_MCLK_MHZ : BOARD_MCLK_MIN_MHZ;
}

/* Offsets are those of smu13_driver_if_v13_0_0.h's SmuMetrics_t. */
static bool write_metrics(struct pci_board *b)
{
    uint8_t t[METRICS_BYTES] = {0};
    put32(t + 0, BOARD_SCLK_MHZ);
    put32(t + 8, BOARD_MCLK_MHZ);
    for (unsigned at = 52; at <= 56; at += 2) /* targets; before, behind deep sleep */
        put16(t + at, BOARD_SCLK_MHZ);
    put16(t + 62, BOARD_MCLK_MHZ);
    put16(t + 64, BOARD_MCLK_MHZ);
    put16(t + 84, BOARD_GFX_MILLIVOLTS);
    put16(t + 116, BOARD_WATTS);
    put16(t + 118, BOARD_WATTS);
    put16(t + 120, BOARD_EDGE_CELSIUS);
    for (unsigned at = 122; at <= 126; at += 2) /* the hottest place, of each die */
        put16(t + at, BOARD_HOTSPOT_CELSIUS);
    put16(t + 128, BOARD_MEMORY_CELSIUS);
    t[148] = LINK_GENERATION;
    t[149] = LINK_WIDTH;
    uint64_t to =
        (uint64_t)atomic_load(&b->smu_table[0]) << 32 | atomic_load(&b->smu_table[1]);
    return gmc_write(b, to, t, sizeof(t));
}

/* False: there is no such table, or no memory for it. */
static bool write_table(struct pci_board *b, uint32_t argument)
{
    if (argument != TABLE_METRICS)
        return (argument & TABLE_ID) < TABLE_COUNT;
    if (b->config.smu.major == 14) /* others, in another order: not known */
        return false;
    return write_metrics(b);
}

static uint32_t answer(struct pci_board *b, uint32_t message, uint32_t argument)
{
    switch (message) {
    case MSG_TEST:
        return argument + 1;
    case MSG_VERSION:
        return SMU_FW_VERSION;
    case MSG_INTERFACE_VERSION:
        return SMU_INTERFACE;
    case MSG_FREQUENCY: /* how many there are, or one of them */
        return level_of(argument >> 16, argument & FREQUENCY_COUNT);
    case MSG_FEATURES_ON:
    case MSG_FEATURES_OFF:
        atomic_store(&b->features, message == MSG_FEATURES_ON);
        return 0;
    case MSG_RUNNING_LOW:
        return atomic_load(&b->features) ? BOARD_SMU_FEATURES : 0;
    case MSG_DRAM_HIGH:
    case MSG_DRAM_LOW:
        atomic_store(&b->smu_table[message == MSG_DRAM_LOW], argument);
        return argument;
    case MSG_MODE1_RESET:
        board_reset(b);
        return 0;
    default:
        return 0;
    }
}

void smu_message_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    uint32_t argument = regs_get(b, SMU_ARGUMENT);
    bool ok = value != MSG_TABLE_TO_DRAM || write_table(b, argument);
    regs_set(b, SMU_ARGUMENT, answer(b, value, argument));
    regs_set(b, SMU_RESPONSE, ok ? OK : FAILED);
}

void smu_debug_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    if (value == DEBUG_MODE1_RESET)
        board_reset(b);
    regs_set(b, DEBUG_RESPONSE, OK);
}
