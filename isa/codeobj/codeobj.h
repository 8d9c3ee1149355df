/* codeobj.h: AMDGPU code objects: ELF files, kernels, descriptors, metadata.
 *
 * Reads what clang, lld and ROCr exchange for gfx1100: linked objects (ET_DYN),
 * relocatable ones (ET_REL), either of them alone or inside a clang offload bundle;
 * code object versions 4, 5 and 6. Nothing here executes or decodes instructions.
 *
 * Places are image offsets: bytes from the start of the load image. Loading the image
 * at GPU address G puts offset o at G + o. co_info.base_addr + o is the address that
 * llvm-objdump shows.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CODEOBJ_H
#define RD_CODEOBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "codeobj_kd.h"
#include "codeobj_meta.h"

struct co_object;

struct co_info {
    unsigned version;    /* code object version: 4, 5, 6 */
    bool relocatable;    /* ET_REL */
    uint32_t elf_flags;  /* e_flags */
    const char *target;  /* "gfx1100" or "gfx11-generic" */
    const char *isa;     /* amdhsa.target of the metadata, or NULL */
    uint64_t base_addr;  /* link-time address of image offset 0 */
    uint64_t elf_offset; /* of the ELF file in data: not 0 in a bundle */
    uint64_t elf_bytes;
};

#define CO_READ  4u
#define CO_WRITE 2u
#define CO_EXEC  1u

/* A contiguous part of the load image with one kind of access. */
struct co_segment {
    uint64_t offset; /* in the image */
    uint64_t bytes;
    const uint8_t *data; /* initial contents, before relocation */
    uint64_t data_bytes; /* the rest of bytes is zero */
    unsigned flags;      /* CO_READ ... */
};

struct co_section {
    const char *name;
    uint32_t type;  /* sh_type */
    uint64_t flags; /* sh_flags */
    bool in_image;
    unsigned access; /* CO_READ ...; 0 outside the image */
    uint64_t offset; /* in the image */
    uint64_t bytes;
    const uint8_t *data; /* before relocation; NULL if the file holds none */
};

enum co_symbol_kind {
    CO_SYM_OTHER,
    CO_SYM_OBJECT,
    CO_SYM_FUNC,
    CO_SYM_SECTION,
    CO_SYM_FILE
};

enum co_symbol_place {
    CO_PLACE_UNDEFINED,
    CO_PLACE_IMAGE,    /* value is an image offset */
    CO_PLACE_ABSOLUTE, /* value is itself */
    CO_PLACE_OTHER     /* in a part of the file that is not loaded, LDS, common */
};

struct co_symbol {
    const char *name; /* "" for none */
    uint64_t value;
    uint64_t bytes;
    uint8_t kind;  /* enum co_symbol_kind */
    uint8_t place; /* enum co_symbol_place */
    bool global, weak;
    uint32_t section; /* index for co_section_at; 0 if none */
};

struct co_kernel {
    const char *name;
    uint64_t desc_offset;  /* of the descriptor, in the image */
    uint64_t entry_offset; /* of the code, in the image; co_kernel_check judges */
    uint64_t code_bytes;   /* from the function symbol; to the segment's end without */
    struct co_kernel_desc desc;
    const struct co_kernel_meta *meta; /* NULL if the file has none */
};

/* Could co_open take a file that begins with these bytes? With 64 or more of them an
 * ELF file's machine, version and target are looked at, too. */
bool co_may_begin(const void *head, size_t bytes);

/* Open a code object.
 *
 * data    ELF file or offload bundle; must outlive the object, which points into it
 * out     caller closes with co_close
 * err     out, set on failure
 * Returns RD_OK; RD_E_FORMAT, RD_E_TRUNCATED (a field or table is wrong or leaves the
 * file), RD_E_UNSUPPORTED (another machine, target, version or feature), RD_E_NOT_FOUND
 * (a bundle without gfx1100 code), RD_E_NOMEM.
 */
RD_CHECKED rd_status co_open(const void *data, size_t size, struct co_object **out,
                             struct co_error *err);
void co_close(struct co_object *obj);

const struct co_info *co_info(const struct co_object *obj);

/* Room that the load image needs, and the alignment of the address it is loaded at. 0
 * bytes: a relocatable file of which nothing is loaded, and co_load fails. */
void co_image_size(const struct co_object *obj, uint64_t *bytes, uint64_t *align);

/* Copy the load image and relocate it.
 *
 * memory  out, at least the image's size, full of zeros: only what the file has is
 *         written, so that gigabytes of .bss cost nothing; unspecified on failure
 * bytes   available at memory
 * gpuva   GPU virtual address of the image, a multiple of its alignment
 * Returns RD_OK; RD_E_INVALID for a wrong size or address; RD_E_NOT_FOUND for an
 * undefined symbol, named in the text; RD_E_RANGE for a value that does not fit its
 * field; RD_E_UNSUPPORTED, RD_E_FORMAT for relocations nobody knows.
 */
RD_CHECKED rd_status co_load(const struct co_object *obj, void *memory, size_t bytes,
                             uint64_t gpuva, struct co_error *err);

unsigned co_segment_count(const struct co_object *obj);
const struct co_segment *co_segment_at(const struct co_object *obj, unsigned i);

/* All sections, in the file's numbering; none if the file has no section headers. */
unsigned co_section_count(const struct co_object *obj);
const struct co_section *co_section_at(const struct co_object *obj, unsigned i);

unsigned co_symbol_count(const struct co_object *obj);
const struct co_symbol *co_symbol_at(const struct co_object *obj, unsigned i);

/* The defined symbol of that name, or NULL. */
const struct co_symbol *co_symbol_find(const struct co_object *obj, const char *name);

/* The symbol that an image offset belongs to: the nearest at or before it in the same
 * segment, functions and objects first. NULL if there is none.
 *
 * displacement  out, offset from the symbol; may lie behind the symbol's size
 */
const struct co_symbol *co_symbol_near(const struct co_object *obj, uint64_t offset,
                                       uint64_t *displacement);

/* Kernels in the order of their descriptors. */
unsigned co_kernel_count(const struct co_object *obj);
const struct co_kernel *co_kernel_at(const struct co_object *obj, unsigned i);

/* What the compiler says about calls of printf (amdhsa.printf), as the file spells it.
 */
unsigned co_printf_count(const struct co_object *obj);
const char *co_printf_at(const struct co_object *obj, unsigned i);

/* Find a kernel.
 *
 * name  with or without ".kd"; NULL: the only kernel of the object
 * Returns RD_OK, or RD_E_NOT_FOUND with a text that lists what there is.
 */
RD_CHECKED rd_status co_kernel_find(const struct co_object *obj, const char *name,
                                    const struct co_kernel **out, struct co_error *err);

/* Reject a kernel that cannot be dispatched: descriptor (co_kd_check), alignment,
 * entry point outside executable code, metadata that contradicts the descriptor.
 */
RD_CHECKED rd_status co_kernel_check(const struct co_object *obj,
                                     const struct co_kernel *kernel,
                                     struct co_error *err);

#endif
