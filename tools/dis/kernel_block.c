/* kernel_block.c: which descriptors an .amdhsa_kernel block makes.
 *
 * The block defines the descriptor's symbol with the kernel's binding and visibility,
 * protects a kernel that is visible by default, and stores the distance to it.
 * Must not know the descriptor's bits. SPDX-License-Identifier: MIT
 */
#include "kernel_block.h"

#include <string.h>

#include "amdgpu_reloc.h"

#define ENTRY_AT 16u /* the field that holds the distance */

/* Is the distance the kernel's? */
static bool entry_is(const struct dis_object *o, const struct dis_symbol *descriptor,
                     const struct dis_symbol *kernel)
{
    const struct dis_section *s = &o->sections[descriptor->section];
    uint64_t at = descriptor->value + ENTRY_AT;
    uint64_t stored;
    memcpy(&stored, s->data + at, sizeof stored);
    if (!o->info->relocatable)
        return stored == o->sections[kernel->section].addr + kernel->value - s->addr -
                             descriptor->value;
    for (uint32_t i = 0; i < s->n_relocs; i++) {
        const struct dis_reloc *r = &s->relocs[i];
        const struct dis_symbol *to = &o->symbols[r->symbol];
        uint64_t addend = (uint64_t)r->addend - ENTRY_AT;
        if (r->offset != at)
            continue;
        return r->type == R_AMDGPU_REL64 && stored == 0 &&
               (to == kernel
                    ? addend == 0
                    : to->type == STT_SECTION && to->section == kernel->section &&
                          kernel->bind == STB_LOCAL && addend == kernel->value);
    }
    return false;
}

/* Other relocations in the descriptor. */
static bool others(const struct dis_section *s, uint64_t from)
{
    for (uint32_t i = 0; i < s->n_relocs; i++)
        if (s->relocs[i].offset >= from && s->relocs[i].offset < from + CO_KD_BYTES &&
            s->relocs[i].offset != from + ENTRY_AT)
            return true;
    return false;
}

static bool symbols_agree(const struct dis_symbol *descriptor,
                          const struct dis_symbol *kernel)
{
    if (descriptor->bind != kernel->bind || descriptor->type != STT_OBJECT)
        return false;
    return kernel->vis == descriptor->vis
               ? kernel->vis != STV_DEFAULT
               : descriptor->vis == STV_DEFAULT && kernel->vis == STV_PROTECTED;
}

const struct dis_symbol *dis_block(const struct dis_object *o,
                                   const struct dis_symbol *descriptor, char *text)
{
    const struct dis_symbol *kernel = dis_object_kernel(o, descriptor);
    const struct dis_section *s = &o->sections[descriptor->section];
    if (!kernel || !symbols_agree(descriptor, kernel) || !s->data ||
        descriptor->value > s->bytes || s->bytes - descriptor->value < CO_KD_BYTES ||
        !entry_is(o, descriptor, kernel) || others(s, descriptor->value))
        return NULL;
    struct co_error err;
    const struct co_kernel *k;
    const struct co_kernel_meta *m = NULL;
    if (co_kernel_find(o->co, kernel->name, &k, &err) == RD_OK)
        m = k->meta;
    size_t n = asm_kernel_text(s->data + descriptor->value, m ? m->vgpr_count : 0,
                               m ? m->sgpr_count : 0, text);
    return n ? kernel : NULL;
}

bool dis_block_protects(const struct dis_object *o, const struct dis_symbol *kernel)
{
    char name[1024], text[ASM_KERNEL_BYTES];
    size_t n = strlen(kernel->name);
    if (kernel->vis != STV_PROTECTED || n + 4 > sizeof name || kernel->type != STT_FUNC)
        return false;
    memcpy(name, kernel->name, n);
    memcpy(name + n, ".kd", 4);
    const struct dis_symbol *descriptor = dis_object_find(o, name, n + 3);
    return descriptor && descriptor->vis == STV_DEFAULT &&
           dis_block(o, descriptor, text) != NULL;
}
