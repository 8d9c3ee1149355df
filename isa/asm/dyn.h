/* dyn.h: the state of writing a loadable file (ET_DYN).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_AS_DYN_H
#define RD_AS_DYN_H

#include "elf_out.h"

#define DYN_PAGE      4096u
#define DYN_MAX_ALIGN 65536u

/* Order of the output sections; a new segment begins at TEXT, RELRO and DATA. */
enum dyn_rank {
    DYN_NOTE,
    DYN_SYM,
    DYN_GNU_HASH,
    DYN_HASH,
    DYN_STR,
    DYN_RELA,
    DYN_RODATA,
    DYN_TEXT,
    DYN_DYNAMIC,
    DYN_GOT,
    DYN_RELRO,
    DYN_DATA,
    DYN_BSS,
    DYN_OTHER, /* not loaded */
};

struct dyn_out {
    const char *name;
    uint32_t name_len, type;
    uint64_t flags, entsize, align, addr, offset, size;
    uint32_t link, info, number;
    uint8_t rank;
    bool kept, is_class;        /* is_class: gathers name.* */
    const struct as_buf *table; /* contents made here, not by input sections */
};

struct dyn {
    struct as *as;
    struct as_buf *file;
    struct dyn_out *outs;
    uint32_t n_outs, cap_outs;
    struct as_map out_map;
    uint32_t *out_of; /* of each input section: index into outs, 0 none */
    uint64_t *at;     /* where it lies in there */
    uint32_t *order;  /* outs in order of rank */
    struct as_buf dynsym, gnu_hash, hash, dynstr, rela, dynamic, got;
    struct as_buf symtab, strtab, shstrtab;
    uint32_t *exports, n_exports; /* symbols in the order of .dynsym */
    uint32_t *got_symbols, n_got; /* as_symbol.elf is the GOT entry's number + 1 */
    uint32_t n_rela, n_relative, got_out; /* n_relative of the n_rela name no symbol */
    uint32_t first_global;                /* in .symtab */
    uint64_t file_bytes;                  /* to the end of what is loaded */
};

/* dyn_tables.c */

/* Choose the dynamic symbols and size every table. */
bool dyn_tables_plan(struct dyn *d);
/* Fill them, once addresses are known. */
void dyn_tables_fill(struct dyn *d);
/* Is the symbol visible to others? Then it has a number in .dynsym. */
bool dyn_exported(const struct dyn *d, const struct as_symbol *s);
uint64_t dyn_symbol_address(const struct dyn *d, uint32_t symbol);
uint32_t dyn_out_of_rank(const struct dyn *d, enum dyn_rank rank);

/* dyn_reloc.c */

/* Count the GOT entries and dynamic relocations that the relocations ask for. */
bool dyn_relocs_plan(struct dyn *d);
/* Apply them to the file, add dynamic ones to d->rela. */
void dyn_relocs_apply(struct dyn *d);

#endif
