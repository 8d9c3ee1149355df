/* object.h: what the parts of the library share about one open code object.
 *
 * Order of construction, each step relying on those before: sections and segments
 * (layout.c), dynamic section (dynamic.c), symbols (symbol.c), relocation tables and
 * GOT (reloc.c), metadata (metadata.c), kernels (kernel.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef CO_OBJECT_H
#define CO_OBJECT_H

#include "codeobj.h"
#include "elf.h"
#include "error.h"

/* Image limits: memory of the largest gfx1100 board, alignment of a large page. */
#define CO_MAX_IMAGE_BYTES (UINT64_C(24) << 30)
#define CO_MAX_ALIGN       (UINT64_C(1) << 30)
#define CO_MAX_NAME        65535u
#define CO_PAGE            4096u

/* A symbol table and its strings; the last string byte is zero. */
struct co_symtab {
    const uint8_t *data;
    uint64_t count;
    const char *str;
    uint64_t str_bytes;
};

/* A relocation table. r_offset counts from first and must stay in the window_bytes
 * after it; they are the image's bytes from window on. */
struct co_rela {
    const uint8_t *data;
    uint64_t count;
    uint64_t first;
    uint64_t window, window_bytes;
    unsigned section; /* header index for messages; 0: dynamic */
};

/* What PT_DYNAMIC says; addresses as the linker wrote them, 0 if absent. */
struct co_dynamic {
    bool present;
    uint64_t rela, rela_bytes, jmprel, jmprel_bytes;
    uint64_t symtab, strtab, str_bytes, hash;
};

/* One image symbol in the order of lookup by offset. */
struct co_place_key {
    uint64_t offset;
    uint32_t rank; /* among symbols at one offset the highest is shown */
    uint32_t index;
};

struct co_object {
    const uint8_t *data;
    size_t size;
    uint64_t image_bytes, image_align;
    uint64_t got_offset; /* GOT made for ET_REL: one entry per got_syms */

    struct co_segment *segments; /* ascending, disjoint */
    struct co_section *sections;
    struct co_symbol *symbols;      /* one per entry of symtab */
    struct co_place_key *by_offset; /* ascending */
    struct co_rela *relas;
    uint32_t *got_syms;           /* ascending symbol indices */
    struct co_kernel_meta *metas; /* sorted by symbol name */
    char *meta_strings;
    const char **printfs; /* of amdhsa.printf */
    struct co_kernel *kernels;
    char *kernel_names;

    unsigned n_segments, n_sections, n_symbols, n_by_offset;
    unsigned n_relas, n_got, n_metas, n_kernels, n_printfs;

    struct co_symtab symtab; /* for listing: .symtab, else .dynsym */
    struct co_symtab relsym; /* that relocations index */
    struct co_dynamic dynamic;
    struct elf_header header;
    struct co_info info;
};

/* The steps, in order. */
RD_CHECKED rd_status co_layout(struct co_object *obj, struct co_error *err);
RD_CHECKED rd_status co_read_dynamic(struct co_object *obj, struct co_error *err);
RD_CHECKED rd_status co_read_symbols(struct co_object *obj, struct co_error *err);
RD_CHECKED rd_status co_read_relocs(struct co_object *obj, struct co_error *err);
RD_CHECKED rd_status co_read_metadata(struct co_object *obj, struct co_error *err);
RD_CHECKED rd_status co_read_kernels(struct co_object *obj, struct co_error *err);

/* Find the gfx1100 code object in an offload bundle; a plain file is passed through. */
RD_CHECKED rd_status co_unbundle(const uint8_t **data, size_t *size,
                                 uint64_t *elf_offset, struct co_error *err);

/* The segment that holds an image offset, or NULL. */
const struct co_segment *co_segment_of(const struct co_object *obj, uint64_t offset);

/* The initial contents of bytes at a link-time address, or NULL if the file holds not
 * all of them. */
const uint8_t *co_bytes_at(const struct co_object *obj, uint64_t addr, uint64_t bytes);

/* Append a part to the image; room for it must exist in obj->segments. */
RD_CHECKED rd_status co_append_segment(struct co_object *obj,
                                       const struct co_segment *segment, uint64_t align,
                                       const char *what, unsigned index,
                                       uint64_t *offset, struct co_error *err);

/* Classify a raw symbol: where it is and its value there. */
enum co_symbol_place co_place_of(const struct co_object *obj, const struct elf_sym *sym,
                                 uint64_t *value);

/* Name of an entry, checked: in the string table and of sensible length. */
RD_CHECKED rd_status co_symbol_name(const struct co_symtab *tab,
                                    const struct elf_sym *sym, uint64_t index,
                                    const char **name, struct co_error *err);

/* One relocation, worked out. */
struct co_fixup {
    uint64_t place; /* image offset */
    unsigned bytes; /* 0: nothing to do */
    uint64_t value;
};

/* Image offset that entry i of table t changes; false if it leaves its window. */
bool co_rela_place(const struct co_rela *t, uint64_t i, uint64_t *place);

/* Work out entry i of table t for an image at address base. */
RD_CHECKED rd_status co_rela_fixup(const struct co_object *obj, const struct co_rela *t,
                                   uint64_t i, uint64_t base, struct co_fixup *out,
                                   struct co_error *err);

/* Address or absolute value of symbol index of relsym for an image at base; 0 for an
 * undefined weak one. */
RD_CHECKED rd_status co_resolve(const struct co_object *obj, uint64_t index,
                                uint64_t base, uint64_t *value, struct co_error *err);

/* A zeroed array; NULL if there is no memory. count may be 0. */
void *co_array(uint64_t count, size_t bytes);

#endif
