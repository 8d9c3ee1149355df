/* vbios.c: the board's ROM: the tables that the kernel driver asks for, and no code.
 *
 * The legacy entry point returns at once. The commands that a driver may run hold
 * nothing but their end. Source: atomfirmware.h of the amdgpu kernel driver (layouts).
 * SPDX-License-Identifier: MIT
 */
#include "board.h"
#include "words.h"

/* Where things are. */
enum {
    PCI_POINTER = 0x18,
    STRING_COUNT = 0x2f,
    MAGIC = 0x30,
    HEADER_POINTER = 0x48,
    STRINGS_POINTER = 0x6e,
    STRINGS = 0x94,
    PCI_DATA = 0x100,
    ROM_HEADER = 0x180,
    COMMANDS = 0x200,
    DATA_LIST = 0x300,
    END_COMMAND = 0x400,
    TABLES = 0x500,
};

/* Numbers in the list of data tables. */
enum {
    SMC_DPM_INFO = 2,
    FIRMWARE_INFO = 4,
    SMU_INFO = 8,
    GFX_INFO = 14,
    INDIRECT_IO = 23,
    VRAM_INFO = 28,
    DATA_TABLES = 40,
};
#define COMMAND_TABLES 90u
#define ASIC_INIT      0u
#define OP_END         91u
#define SMU_BYTES      6144u

/* Without its end. */
static void put_text(uint8_t *p, const char *text)
{
    while (*text)
        *p++ = (uint8_t)*text++;
}

/* The header of a table: its bytes and version. Returns where the next one goes. */
static uint32_t table(uint8_t *rom, uint32_t at, uint32_t bytes, uint8_t major,
                      uint8_t minor)
{
    put16(rom + at, bytes);
    rom[at + 2] = major;
    rom[at + 3] = minor;
    return (at + bytes + 15) & ~15u;
}

static uint32_t data_table(uint8_t *rom, unsigned number, uint32_t at, uint32_t bytes,
                           uint8_t major, uint8_t minor)
{
    put16(rom + DATA_LIST + 4 + 2 * number, at);
    return table(rom, at, bytes, major, minor);
}

static void data_tables(uint8_t *rom)
{
    uint32_t at = TABLES, next;
    (void)table(rom, DATA_LIST, 4 + 2 * DATA_TABLES, 2, 1);
    next = data_table(rom, FIRMWARE_INFO, at, 100, 3, 4);
    put32(rom + at + 8, 100 * BOARD_SCLK_MHZ); /* clocks at start-up, 10 kHz */
    put32(rom + at + 12, 100 * BOARD_MCLK_MHZ);
    put16(rom + at + 24, 0x4c); /* the first scratch register */
    at = next;
    next = data_table(rom, GFX_INFO, at, 64, 2, 7);
    put16(rom + at + 40, 10000); /* the timer's clock, 10 kHz */
    at = next;
    at = data_table(rom, INDIRECT_IO, at, 8, 1, 1);
    next = data_table(rom, VRAM_INFO, at, 256, 3, 0);
    rom[at + 20] = 1;    /* modules */
    rom[at + 24] = 0x70; /* GDDR6 */
    rom[at + 25] = 24;   /* channels, */
    rom[at + 26] = 4;    /* 16 bits wide */
    at = next;
    at = data_table(rom, SMC_DPM_INFO, at, SMU_BYTES, 4, 10);
    (void)data_table(rom, SMU_INFO, at, SMU_BYTES, 3, 1);
}

static void command_tables(uint8_t *rom)
{
    (void)table(rom, COMMANDS, 4 + 2 * COMMAND_TABLES, 2, 1);
    put16(rom + COMMANDS + 4 + 2 * ASIC_INIT, END_COMMAND);
    (void)table(rom, END_COMMAND, 8, 2, 1); /* the version that drivers run */
    rom[END_COMMAND + 6] = OP_END;
}

void board_rom(uint8_t *rom)
{
    rom[0] = 0x55;
    rom[1] = 0xaa;
    rom[2] = BOARD_ROM_BYTES / 512;
    rom[3] = 0xcb; /* far return */
    put16(rom + PCI_POINTER, PCI_DATA);
    put_text(rom + PCI_DATA, "PCIR");
    put16(rom + PCI_DATA + 4, BOARD_VENDOR);
    put16(rom + PCI_DATA + 6, BOARD_DEVICE);
    put16(rom + PCI_DATA + 10, 0x18);
    rom[PCI_DATA + 15] = 0x03;
    put16(rom + PCI_DATA + 16, BOARD_ROM_BYTES / 512);
    rom[PCI_DATA + 21] = 0x80; /* the last image */
    put_text(rom + MAGIC, " 761295520");
    rom[STRING_COUNT] = 1;
    put16(rom + STRINGS_POINTER, STRINGS);
    put_text(rom + STRINGS, BOARD_ROM_PART);
    put16(rom + HEADER_POINTER, ROM_HEADER);
    (void)table(rom, ROM_HEADER, 0x28, 2, 2);
    put_text(rom + ROM_HEADER + 4, "ATOM");
    put16(rom + ROM_HEADER + 0x1e, COMMANDS);
    put16(rom + ROM_HEADER + 0x20, DATA_LIST);
    command_tables(rom);
    data_tables(rom);
    uint8_t total = 0;
    for (uint32_t i = 0; i < BOARD_ROM_BYTES; i++)
        total = (uint8_t)(total + rom[i]);
    rom[BOARD_ROM_BYTES - 1] = (uint8_t)-total;
}
