/* make_elf.h: a small linked code object made in memory, with one kernel "k".
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_MAKE_ELF_H
#define TEST_MAKE_ELF_H

#include <stddef.h>
#include <stdint.h>

/* File offsets, for tests that damage one field. The read-only segment is loaded at its
 * file offset, the code segment at AT_TEXT + TEXT_SHIFT. */
enum {
    AT_PHDR = 64, /* read-only, code, notes */
    AT_KD = 0x140,
    AT_TEXT = 0x200,
    TEXT_BYTES = 0x100,
    TEXT_SHIFT = 0x1000,
    AT_SYMTAB = 0x300, /* null, k, k.kd, label */
    AT_STRTAB = 0x360,
    STRTAB_BYTES = 32,
    AT_SHSTRTAB = 0x380,
    AT_SHDR = 0x3c0, /* null .rodata .text .note .symtab .strtab .shstrtab */
    N_SECTIONS = 7,
    AT_NOTE = 0x580,
    AT_DOC = AT_NOTE + 20
};

struct made_elf {
    uint8_t data[8192];
    size_t size;
};

/* Make the file; doc is the metadata, NULL for none. */
void make_elf(struct made_elf *elf, const uint8_t *doc, size_t doc_bytes);

/* Store the low bytes of value at an offset. */
void poke(struct made_elf *elf, size_t at, unsigned bytes, uint64_t value);

#endif
