/* object.h: a code object as the assembler sees it: sections, symbols, relocations.
 *
 * codeobj.h tells what a loader needs; here is what a source file has to say besides:
 * alignments, visibility, groups, relocations as they are written.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DIS_OBJECT_H
#define RD_DIS_OBJECT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codeobj.h"

struct dis_reloc {
    uint64_t offset; /* in the section */
    uint32_t type, symbol;
    int64_t addend;
    uint64_t target; /* an address in place of a symbol; 0: none */
    uint32_t order;  /* in the file's table */
};

struct dis_section {
    const char *name;
    uint32_t type; /* SHT_* */
    uint64_t flags, addr, bytes, align, entsize;
    const uint8_t *data;      /* NULL if the file holds none */
    struct dis_reloc *relocs; /* ascending; owned */
    struct dis_reloc *odd;    /* no operand or word makes these; owned, by order */
    uint32_t n_odd, next_odd;
    uint32_t n_relocs, group;  /* group: symbol that names it, or 0 */
    uint32_t first, n_symbols; /* its symbols in dis_object.by_place */
    bool written;              /* belongs into a source: no table of the file itself */
    bool entered;              /* a directive has named it */
};

struct dis_symbol {
    const char *name;
    uint64_t value; /* offset in its section, or the value itself */
    uint64_t bytes;
    uint32_t section; /* index, or SHN_* */
    uint8_t bind, type, vis;
};

struct dis_object {
    const char *path;
    const struct co_object *co;
    const struct co_info *info;
    struct dis_section *sections; /* in the file's numbering; 0 is none */
    struct dis_symbol *symbols;   /* the same */
    uint32_t *by_place;           /* symbols in sections, ascending */
    uint32_t *by_name;            /* named symbols, by name, then number */
    char **renamed;               /* names made here: see dis_object_read */
    uint32_t n_by_name, n_renamed;
    uint32_t n_sections, n_symbols;
};

/* Read what an opened object holds.
 *
 * Linkers keep local symbols of one name apart, a source file cannot: all but the first
 * get a name of their own, "NAME$NUMBER".
 *
 * elf  the file, of co_info's elf_bytes
 * Returns RD_OK, RD_E_NOMEM, or RD_E_FORMAT with err set.
 */
RD_CHECKED rd_status dis_object_read(const char *path, const struct co_object *co,
                                     const uint8_t *elf, struct dis_object *out,
                                     struct co_error *err);
void dis_object_free(struct dis_object *o);

/* Append a relocation to a section; the caller keeps the order. False: out of memory.
 */
bool dis_object_add(struct dis_section *s, struct dis_reloc reloc);

/* The symbol of that name defined in a section, or NULL. */
const struct dis_symbol *dis_object_find(const struct dis_object *o, const char *name,
                                         size_t len);

/* The kernel whose descriptor a symbol is, or NULL. */
const struct dis_symbol *dis_object_kernel(const struct dis_object *o,
                                           const struct dis_symbol *descriptor);

#endif
