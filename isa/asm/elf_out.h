/* elf_out.h: what both ELF writers need.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ELF_OUT_H
#define RD_ELF_OUT_H

#include <elf.h>

#include "amdgpu_reloc.h"
#include "as.h"

/* Append a zero-terminated name. Returns its offset. */
uint32_t elf_string(struct as_buf *table, const char *name, size_t len);

/* Fill in the file header. */
void elf_header(const struct as *as, Elf64_Ehdr *out, unsigned type);

/* Does the symbol belong into a symbol table? Section symbols are not asked about. */
bool elf_wanted(const struct as_symbol *s);

/* Binding as the file holds it: what is not defined is global. */
unsigned elf_binding(const struct as_symbol *s);

/* Relocations in order of section, then of place: numbers into as->relocs.
 *
 * order  out, [n_relocs]; first  out, [n_sections + 1]: where a section's begin
 * Owner: caller frees both. */
bool elf_sort_relocs(struct as *as, uint32_t **order, uint32_t **first);

#endif
