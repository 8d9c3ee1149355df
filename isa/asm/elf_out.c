/* elf_out.c: what both ELF writers need.
 *
 * Must not know segments. Invariant: writes little-endian structures as the host has
 * them; the hosts of this project are little-endian.
 * SPDX-License-Identifier: MIT
 */
#include "elf_out.h"

#include <stdlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "host must be little-endian");

uint32_t elf_string(struct as_buf *table, const char *name, size_t len)
{
    if (table->bytes == 0)
        as_buf_add(table, "", 1);
    if (len == 0)
        return 0;
    size_t at = table->bytes;
    as_buf_add(table, name, len);
    as_buf_add(table, "", 1);
    return (uint32_t)at;
}

void elf_header(const struct as *as, Elf64_Ehdr *out, unsigned type)
{
    *out = (Elf64_Ehdr){.e_type = (Elf64_Half)type,
                        .e_machine = EM_AMDGPU_,
                        .e_version = EV_CURRENT,
                        .e_flags = as->mach ? as->mach : EF_AMDGPU_GFX1100,
                        .e_ehsize = sizeof *out,
                        .e_shentsize = sizeof(Elf64_Shdr)};
    memcpy(out->e_ident, ELFMAG, SELFMAG);
    out->e_ident[EI_CLASS] = ELFCLASS64;
    out->e_ident[EI_DATA] = ELFDATA2LSB;
    out->e_ident[EI_VERSION] = EV_CURRENT;
    out->e_ident[EI_OSABI] = ELFOSABI_AMDGPU_HSA;
    out->e_ident[EI_ABIVERSION] = (uint8_t)(as->object_version - 2); /* 4 is 2 */
}

bool elf_wanted(const struct as_symbol *s)
{
    if (!s->name || (s->flags & AS_SYM_SECTION))
        return false;
    if (s->flags & AS_SYM_USED)
        return true;
    if (s->section == 0 || s->section == AS_SEC_VAR)
        return false; /* only looked at */
    if (s->section == AS_SEC_LDS && !(s->flags & AS_SYM_BOUND))
        return false; /* nobody uses it */
    return !(s->name_len >= 2 && s->name[0] == '.' && s->name[1] == 'L');
}

unsigned elf_binding(const struct as_symbol *s)
{
    if (s->section == 0 && s->bind == STB_LOCAL)
        return STB_GLOBAL;
    return s->bind;
}

bool elf_sort_relocs(struct as *as, uint32_t **order, uint32_t **first)
{
    *order = calloc(as->n_relocs + 1, sizeof **order);
    *first = calloc(as->n_sections + 2, sizeof **first);
    if (!*order || !*first) {
        as_out_of_memory(as);
        return false;
    }
    for (uint32_t i = 0; i < as->n_relocs; i++)
        (*first)[as->relocs[i].section + 2]++;
    for (uint32_t i = 2; i < as->n_sections + 2; i++)
        (*first)[i] += (*first)[i - 1];
    for (uint32_t i = 0; i < as->n_relocs; i++)
        (*order)[(*first)[as->relocs[i].section + 1]++] = i;
    return true;
}
