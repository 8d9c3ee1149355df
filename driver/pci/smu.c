/* smu.c: the system management unit: messages and their answers.
 *
 * Clocks stand: there is one level of each. Of its features there are those that
 * manage the shader's and the memory's clock, once a driver has switched all on; those
 * that it has tables for are off, so nobody asks for these.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

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
#define FREQUENCY_COUNT   0xffu
#define FEATURE_GFX_CLOCK (1u << 1)
#define FEATURE_MEM_CLOCK (1u << 3)
#define SMU_FW_VERSION    0x004e8700u
#define SMU_INTERFACE     0x3du

uint32_t smu_flags_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return 1; /* interrupts of its firmware are on: it runs */
}

static uint32_t mhz_of(unsigned clock)
{
    return clock == 0 ? BOARD_SCLK_MHZ : BOARD_MCLK_MHZ;
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
    case MSG_FREQUENCY: /* how many there are, or the only one */
        return (argument & FREQUENCY_COUNT) == FREQUENCY_COUNT ? 1
                                                               : mhz_of(argument >> 16);
    case MSG_FEATURES_ON:
    case MSG_FEATURES_OFF:
        atomic_store(&b->features, message == MSG_FEATURES_ON);
        return 0;
    case MSG_RUNNING_LOW:
        return atomic_load(&b->features) ? FEATURE_GFX_CLOCK | FEATURE_MEM_CLOCK : 0;
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
    uint32_t result = answer(b, value, regs_get(b, SMU_ARGUMENT));
    regs_set(b, SMU_ARGUMENT, result);
    regs_set(b, SMU_RESPONSE, OK);
}

void smu_debug_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    if (value == DEBUG_MODE1_RESET)
        board_reset(b);
    regs_set(b, DEBUG_RESPONSE, OK);
}
