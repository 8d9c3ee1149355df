/* make_elf.c: a small linked code object made in memory.
 * SPDX-License-Identifier: MIT
 */
#include "make_elf.h"

#include <stdlib.h>
#include <string.h>

void poke(struct made_elf *elf, size_t at, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        elf->data[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_phdr(struct made_elf *e, unsigned i, uint32_t type, uint32_t flags,
                     uint64_t offset, uint64_t vaddr, uint64_t bytes, uint64_t align)
{
    size_t at = AT_PHDR + 56u * i;
    poke(e, at, 4, type);
    poke(e, at + 4, 4, flags);
    poke(e, at + 8, 8, offset);
    poke(e, at + 16, 8, vaddr);
    poke(e, at + 32, 8, bytes);
    poke(e, at + 40, 8, bytes);
    poke(e, at + 48, 8, align);
}

struct made_shdr {
    uint32_t name, type;
    uint64_t flags, addr, offset, size, entsize;
    uint32_t link;
};

static void put_shdr(struct made_elf *e, unsigned i, const struct made_shdr *s)
{
    size_t at = AT_SHDR + 64u * i;
    poke(e, at, 4, s->name);
    poke(e, at + 4, 4, s->type);
    poke(e, at + 8, 8, s->flags);
    poke(e, at + 16, 8, s->addr);
    poke(e, at + 24, 8, s->offset);
    poke(e, at + 32, 8, s->size);
    poke(e, at + 40, 4, s->link);
    poke(e, at + 48, 8, 1);
    poke(e, at + 56, 8, s->entsize);
}

static void put_symbol(struct made_elf *e, unsigned i, uint32_t name, unsigned info,
                       unsigned section, uint64_t value, uint64_t size)
{
    size_t at = AT_SYMTAB + 24u * i;
    poke(e, at, 4, name);
    poke(e, at + 4, 1, info);
    poke(e, at + 6, 2, section);
    poke(e, at + 8, 8, value);
    poke(e, at + 16, 8, size);
}

static void put_header(struct made_elf *e)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 64, 3};
    memcpy(e->data, ident, sizeof ident);
    poke(e, 16, 2, 3);   /* ET_DYN */
    poke(e, 18, 2, 224); /* EM_AMDGPU */
    poke(e, 20, 4, 1);
    poke(e, 32, 8, AT_PHDR);
    poke(e, 40, 8, AT_SHDR);
    poke(e, 48, 4, 0x41); /* gfx1100 */
    poke(e, 52, 2, 64);
    poke(e, 54, 2, 56);
    poke(e, 56, 2, 3);
    poke(e, 58, 2, 64);
    poke(e, 60, 2, N_SECTIONS);
    poke(e, 62, 2, 6);
}

void make_elf(struct made_elf *e, const uint8_t *doc, size_t doc_bytes)
{
    size_t note_bytes = doc ? 20 + doc_bytes : 0;
    if (AT_NOTE + note_bytes > sizeof e->data)
        abort();
    memset(e, 0, sizeof *e);
    e->size = AT_NOTE + note_bytes;
    put_header(e);
    put_phdr(e, 0, 1, 4, 0, 0, AT_TEXT, 4096);
    put_phdr(e, 1, 1, 5, AT_TEXT, AT_TEXT + TEXT_SHIFT, TEXT_BYTES, 4096);
    put_phdr(e, 2, 4, 4, AT_NOTE, AT_NOTE, note_bytes, 4);

    poke(e, AT_KD + 8, 4, 16); /* kernarg_size */
    poke(e, AT_KD + 16, 8, AT_TEXT + TEXT_SHIFT - AT_KD);
    poke(e, AT_KD + 48, 4, 0x60ac0000);
    poke(e, AT_KD + 52, 4, 0x84); /* two user SGPRs, workgroup id x */
    poke(e, AT_KD + 56, 2, 0x408);
    poke(e, AT_TEXT, 4, 0xbfb00000); /* s_endpgm */

    memcpy(e->data + AT_STRTAB, "\0k\0k.kd\0label", 14);
    put_symbol(e, 1, 1, 0x12, 2, AT_TEXT + TEXT_SHIFT, 8);
    put_symbol(e, 2, 3, 0x11, 1, AT_KD, 64);
    put_symbol(e, 3, 8, 0x00, 2, AT_TEXT + TEXT_SHIFT + 4, 0);

    memcpy(e->data + AT_SHSTRTAB,
           "\0.rodata\0.text\0.note\0.symtab\0.strtab\0.shstrtab", 47);
    const struct made_shdr sections[N_SECTIONS] = {
        {0},
        {.name = 1, .type = 1, .flags = 2, .addr = AT_KD, .offset = AT_KD, .size = 64},
        {.name = 9,
         .type = 1,
         .flags = 6,
         .addr = AT_TEXT + TEXT_SHIFT,
         .offset = AT_TEXT,
         .size = TEXT_BYTES},
        {.name = 15, .type = 7, .offset = AT_NOTE, .size = note_bytes},
        {.name = 21,
         .type = 2,
         .offset = AT_SYMTAB,
         .size = 96,
         .entsize = 24,
         .link = 5},
        {.name = 29, .type = 3, .offset = AT_STRTAB, .size = STRTAB_BYTES},
        {.name = 37, .type = 3, .offset = AT_SHSTRTAB, .size = 64},
    };
    for (unsigned i = 1; i < N_SECTIONS; i++)
        put_shdr(e, i, &sections[i]);

    if (doc) {
        poke(e, AT_NOTE, 4, 7);
        poke(e, AT_NOTE + 4, 4, doc_bytes);
        poke(e, AT_NOTE + 8, 4, 32);
        memcpy(e->data + AT_NOTE + 12, "AMDGPU", 7);
        memcpy(e->data + AT_DOC, doc, doc_bytes);
    }
}
