/* config.c: configuration space: identity, windows, capabilities.
 *
 * What a driver may write is in a mask; the windows' addresses are the transport's
 * business, so they are kept and not looked at, but that of the doorbells, which queues
 * write to. SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"
#include "words.h"

enum {
    COMMAND = 0x04,
    STATUS = 0x06,
    DOORBELLS = 0x18,
    ROM = 0x30,
    PM = 0x50,
    EXPRESS = 0x64,
    MSI = 0xa0,
    VENDOR_EXTENDED = 0x100,
};

#define COMMAND_BITS 0x0547u /* ports, memory, master, parity, errors, no INTx */

static void express(uint8_t *c)
{
    c[0] = 0x10;
    c[1] = MSI;
    put16(c + 2, 0x0002);     /* endpoint, version 2 */
    put32(c + 4, 0x00008fa1); /* payload, extended tags */
    put16(c + 8, 0x2810);
    put32(c + 0xc, 0x00000d04); /* link: 16 GT/s x16 */
    put16(c + 0x12, 0x1104);
    put32(c + 0x24, 0x00070993);
    put32(c + 0x2c, 0x0000001e);
    put16(c + 0x30, 0x0004);
}

void config_init(struct pci_board *b)
{
    uint8_t *c = b->space;
    memset(c, 0, sizeof(b->space));
    put16(c, BOARD_VENDOR);
    put16(c + 2, BOARD_DEVICE);
    put16(c + STATUS, 0x0010); /* has capabilities */
    c[0x08] = BOARD_REVISION;
    c[0x0a] = 0x80; /* display, not VGA: no legacy ports */
    c[0x0b] = 0x03;
    put32(c + 0x10, 0xc); /* 64 bits, prefetchable */
    put32(c + DOORBELLS, 0xc);
    put32(c + 0x20, 0x1);
    put16(c + 0x2c, BOARD_SUBSYS_VENDOR);
    put16(c + 0x2e, BOARD_SUBSYS_DEVICE);
    c[0x34] = PM;
    c[0x3d] = 1;
    c[PM] = 0x01;
    c[PM + 1] = EXPRESS;
    put16(c + PM + 2, 0x0003);
    put16(c + PM + 4, 0x0008);
    express(c + EXPRESS);
    c[MSI] = 0x05;
    put16(c + MSI + 2, 0x0080); /* one message, 64-bit addresses */
    put32(c + VENDOR_EXTENDED, 0x0001000b);
    put32(c + VENDOR_EXTENDED + 4, 0x00c00001);
}

/* Bits of a byte that a driver changes. */
static uint8_t writable(uint32_t offset)
{
    if (offset >= COMMAND && offset < COMMAND + 2)
        return (uint8_t)(COMMAND_BITS >> 8 * (offset - COMMAND));
    if (offset == 0x0c || offset == 0x3c)
        return 0xff;
    if (offset >= 0x10 && offset < 0x28) /* sized by the transport; types stay */
        return offset == 0x10 || offset == 0x18 ? 0xf0 : offset == 0x20 ? 0xfc : 0xff;
    if (offset >= PM + 4 && offset < PM + 6)
        return offset == PM + 4 ? 0x03 : 0x01;
    if ((offset >= EXPRESS + 8 && offset < EXPRESS + 10) ||
        (offset >= EXPRESS + 0x10 && offset < EXPRESS + 0x12) ||
        (offset >= EXPRESS + 0x28 && offset < EXPRESS + 0x2a) ||
        (offset >= EXPRESS + 0x30 && offset < EXPRESS + 0x32))
        return 0xff;
    if (offset >= MSI + 2 && offset < MSI + 14)
        return offset == MSI + 2 ? 0x71 : offset == MSI + 3 ? 0 : 0xff;
    return 0;
}

void pci_config_read(struct pci_board *b, uint32_t offset, void *to, uint32_t bytes)
{
    uint8_t *p = to;
    for (uint32_t i = 0; i < bytes; i++)
        p[i] = (uint64_t)offset + i < PCI_CONFIG_BYTES ? b->space[offset + i] : 0xff;
}

static void settle_doorbells(struct pci_board *b)
{
    uint64_t base;
    memcpy(&base, b->space + DOORBELLS, sizeof(base));
    atomic_store(&b->doorbells, base & ~UINT64_C(15));
}

/* The ROM's size shows in the bits that stay zero: it is asked for here. */
static void settle_rom(struct pci_board *b)
{
    uint32_t value;
    memcpy(&value, b->space + ROM, sizeof(value));
    put32(b->space + ROM, value & (~(BOARD_ROM_BYTES - 1) | 1u));
}

void pci_config_write(struct pci_board *b, uint32_t offset, const void *from,
                      uint32_t bytes)
{
    const uint8_t *p = from;
    for (uint32_t i = 0; i < bytes && (uint64_t)offset + i < PCI_CONFIG_BYTES; i++) {
        uint32_t at = offset + i;
        uint8_t mask = at >= ROM && at < ROM + 4 ? 0xff : writable(at);
        b->space[at] = (uint8_t)((b->space[at] & ~mask) | (p[i] & mask));
    }
    settle_rom(b);
    settle_doorbells(b);
}
