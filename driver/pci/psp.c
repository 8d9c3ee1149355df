/* psp.c: the security processor: its boot loader, then commands in a ring in memory.
 *
 * Firmware is taken as it comes: what it would do is modelled elsewhere, so of its
 * bytes only the version is looked at that the scheduler's would give of itself.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum {
    C2PMSG_67 = 0x16083,
    C2PMSG_69 = 0x16085,
    C2PMSG_70 = 0x16086,
    C2PMSG_71 = 0x16087,
};

#define READY         0x80000000u
#define BOOT_LOAD_SOS 0x20000u
#define SOS_VERSION   0x00310019u
#define RING_DESTROY  0x30000u
#define FRAME_DWORDS  16u
#define RING_MAX      0x100000u

/* Of a command buffer. */
enum { COMMAND_ID = 8, STATUS = 864, SESSION = 868, TMR_SIZE = 880 };
enum { IMAGE = 28, IMAGE_BYTES = 36, IMAGE_TYPE = 40 }; /* of a load */
enum {
    COMMAND_LOAD_TA = 1,
    COMMAND_LOAD_ASD = 4,
    COMMAND_LOAD_FIRMWARE = 6,
    COMMAND_LOAD_TOC = 0x20,
};
enum { TYPE_MES = 33, TYPE_MES_KIQ = 81 };
#define TMR_BYTES 0x4c0000u /* what firmware wants kept for itself */

void psp_reset(struct pci_board *b)
{
    b->sos_alive = b->sos_seen = false;
    atomic_store(&b->mes_version[0], 0);
    atomic_store(&b->mes_version[1], 0);
}

/* Its version. Drivers look at it after they have asked for the load, and then wait
 * until it is another: the first look finds it as it was. */
uint32_t psp_alive_read(struct pci_board *b, uint32_t reg)
{
    (void)reg;
    bool seen = b->sos_seen;
    b->sos_seen = b->sos_alive;
    return b->sos_alive && seen ? SOS_VERSION : 0;
}

uint32_t psp_ready_read(struct pci_board *b, uint32_t reg)
{
    (void)b, (void)reg;
    return READY;
}

void psp_boot_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    if (value == BOOT_LOAD_SOS)
        b->sos_alive = true;
}

void psp_mailbox_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    regs_set(b, reg, value);
    if (value == RING_DESTROY) {
        regs_set(b, C2PMSG_71, 0);
        regs_set(b, C2PMSG_67, 0);
    }
}

/* An image begins with a header of the security processor's own. */
static void load_firmware(struct pci_board *b, uint64_t buffer)
{
    enum { HEADER_BYTES = 100, MAGIC_AT = 16, VERSION_AT = 96 };
    static const char magic[] = {'$', 'P', 'S', '1'};
    uint8_t header[HEADER_BYTES];
    uint32_t at[2], bytes, type, version;
    if (!gmc_read(b, buffer + IMAGE, at, sizeof(at)) ||
        !gmc_read(b, buffer + IMAGE_BYTES, &bytes, sizeof(bytes)) ||
        !gmc_read(b, buffer + IMAGE_TYPE, &type, sizeof(type)) ||
        (type != TYPE_MES && type != TYPE_MES_KIQ) || bytes < sizeof(header) ||
        !gmc_read(b, at[0] | (uint64_t)at[1] << 32, header, sizeof(header)) ||
        memcmp(header + MAGIC_AT, magic, sizeof(magic)) != 0)
        return;
    memcpy(&version, header + VERSION_AT, sizeof(version));
    atomic_store(&b->mes_version[type == TYPE_MES_KIQ], version);
}

/* Answer the command; its fence follows. */
static bool run_command(struct pci_board *b, uint64_t buffer)
{
    static uint32_t sessions;
    uint32_t id, zero = 0, session = 0, tmr = TMR_BYTES;
    if (!gmc_read(b, buffer + COMMAND_ID, &id, sizeof(id)) ||
        !gmc_write(b, buffer + STATUS, &zero, sizeof(zero)))
        return false;
    if (id == COMMAND_LOAD_FIRMWARE)
        load_firmware(b, buffer);
    if (id == COMMAND_LOAD_TA || id == COMMAND_LOAD_ASD) {
        session = ++sessions;
        return gmc_write(b, buffer + SESSION, &session, sizeof(session));
    }
    return id != COMMAND_LOAD_TOC || gmc_write(b, buffer + TMR_SIZE, &tmr, sizeof(tmr));
}

/* The write pointer, in dwords: frames up to it are run. */
void psp_ring_write(struct pci_board *b, uint32_t reg, uint32_t value)
{
    uint32_t at = regs_get(b, reg), bytes = regs_get(b, C2PMSG_71);
    uint64_t ring = regs_pair(b, C2PMSG_69, C2PMSG_70);
    uint32_t dwords = bytes / 4, frame[FRAME_DWORDS];
    regs_set(b, reg, value);
    if (dwords < FRAME_DWORDS || bytes > RING_MAX || at % FRAME_DWORDS ||
        value % FRAME_DWORDS || value > dwords)
        return;
    for (at %= dwords; at != value % dwords; at = (at + FRAME_DWORDS) % dwords) {
        if (!gmc_read(b, ring + 4ull * at, frame, sizeof(frame)))
            return;
        uint64_t buffer = frame[0] | (uint64_t)frame[1] << 32;
        uint64_t fence = frame[3] | (uint64_t)frame[4] << 32;
        if (!run_command(b, buffer) || !gmc_write(b, fence, &frame[5], 4)) {
            pci_say(b, "the security processor finds no memory for a command");
            return;
        }
    }
}
