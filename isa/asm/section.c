/* section.c: sections, their contents, alignment, and the notes left for fixups.
 *
 * Must not know syntax or ELF's layout. Invariant: offsets are final when they are
 * handed out, as no encoding ever changes its length.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>
#include <stdlib.h>

#define S_NOP 0xbf800000u

static uint32_t section_symbol(struct as *as, uint32_t section)
{
    uint32_t index = as_symbol_anonymous(as);
    struct as_symbol *s = &as->symbols[index];
    if (index == 0)
        return 0;
    s->section = section;
    s->flags = AS_SYM_SECTION;
    s->type = STT_SECTION;
    return index;
}

/* A section's name stands for its start in expressions. */
static void name_symbol(struct as *as, struct as_section *section, uint32_t index)
{
    uint32_t *at = as_map_at(&as->symbol_map, section->name, section->name_len, true);
    if (!at) {
        as_out_of_memory(as);
        return;
    }
    struct as_symbol *s = &as->symbols[*at];
    if (*at == 0) {
        *at = section->symbol;
    } else if (s->section == 0) { /* mentioned before */
        s->section = index;
        s->flags |= AS_SYM_SECTION;
        s->type = STT_SECTION;
        section->symbol = *at;
    }
}

static uint32_t section_new(struct as *as, const struct as_section_spec *spec)
{
    struct as_section section = {.name = spec->name,
                                 .name_len = (uint32_t)spec->name_len,
                                 .type = spec->type,
                                 .flags = spec->flags,
                                 .entsize = spec->entsize,
                                 .align = 1};
    if (as->n_sections >= UINT16_MAX - 300u) {
        as_fatal(as, as->p, "too many sections");
        return 0;
    }
    if (spec->group) {
        section.group = as_symbol(as, spec->group, spec->group_len);
        if (section.group)
            as->symbols[section.group].flags |= AS_SYM_USED;
    }
    section.symbol = section_symbol(as, as->n_sections);
    if (section.symbol == 0 || !as_grow((void **)&as->sections, &as->cap_sections,
                                        as->n_sections, sizeof section)) {
        as_out_of_memory(as);
        return 0;
    }
    if (!spec->group)
        name_symbol(as, &section, as->n_sections);
    as->sections[as->n_sections] = section;
    return as->n_sections++;
}

/* The key of a section in a group is both names. */
static uint32_t *section_slot(struct as *as, const struct as_section_spec *spec)
{
    if (!spec->group)
        return as_map_at(&as->section_map, spec->name, spec->name_len, true);
    struct as_buf key = {0};
    as_buf_add(&key, spec->name, spec->name_len);
    as_buf_add(&key, "\n", 1);
    as_buf_add(&key, spec->group, spec->group_len);
    uint32_t *slot = NULL;
    if (!key.failed) {
        slot = as_map_at(&as->section_map, (const char *)key.data, key.bytes, false);
        const char *kept = slot ? NULL : as_keep(as, (const char *)key.data, key.bytes);
        if (kept)
            slot = as_map_at(&as->section_map, kept, key.bytes, true);
    }
    free(key.data);
    return slot;
}

uint32_t as_section_get(struct as *as, const struct as_section_spec *spec)
{
    uint32_t *slot = section_slot(as, spec);
    if (!slot) {
        as_out_of_memory(as);
        return 0;
    }
    if (*slot == 0) {
        *slot = section_new(as, spec);
        return *slot;
    }
    const struct as_section *s = &as->sections[*slot];
    if (s->type != spec->type || s->flags != spec->flags ||
        s->entsize != spec->entsize) {
        static const char why[] = "section changes its type, flags or entry size";
        if (spec->line)
            as_error_at(as, spec->at, spec->line, why);
        else
            as_error(as, spec->at, why);
        return 0;
    }
    return *slot;
}

void as_section_enter(struct as *as, uint32_t section)
{
    if (section == 0)
        return;
    as->previous = as->section;
    as->section = section;
}

static bool grow_contents(struct as *as, struct as_section *s, uint64_t n)
{
    uint64_t cap = s->cap ? s->cap : 4096;
    while (cap - s->bytes < n)
        cap *= 2;
    uint8_t *moved = realloc(s->data, cap);
    if (!moved) {
        as_out_of_memory(as);
        return false;
    }
    s->data = moved;
    s->cap = cap;
    return true;
}

uint8_t *as_emit(struct as *as, uint64_t n)
{
    static uint8_t nowhere[64];
    struct as_section *s = &as->sections[as->section];
    if (s->type == SHT_NOBITS) {
        if (n > AS_MAX_NOBITS || s->bytes > AS_MAX_NOBITS - n) {
            as_fatal(as, as->p, "section '%.*s' grows beyond 1 TiB",
                     (int)(s->name_len > 64 ? 64 : s->name_len), s->name);
            return NULL;
        }
        s->bytes += n;
        return nowhere;
    }
    if (n > AS_MAX_BYTES || as->bytes > AS_MAX_BYTES - n) {
        as_fatal(as, as->p, "the contents of all sections grow beyond 1 GiB");
        return NULL;
    }
    if (n > s->cap - s->bytes && !grow_contents(as, s, n))
        return NULL;
    uint8_t *at = s->data + s->bytes;
    s->bytes += n;
    as->bytes += n;
    return at;
}

void as_emit_fill(struct as *as, uint64_t n, uint8_t value)
{
    bool nobits = as->sections[as->section].type == SHT_NOBITS;
    uint8_t *at = n ? as_emit(as, n) : NULL;
    if (at && !nobits)
        memset(at, value, n);
    else if (at && value)
        as_error(as, as->p, "a section without contents holds only zeros");
}

/* Code is padded with s_nop 0; an odd rest before it with zeros. */
static void fill_code(uint8_t *at, uint64_t n)
{
    memset(at, 0, n & 3);
    at += n & 3;
    for (n &= ~(uint64_t)3; n; n -= 4, at += 4)
        as_put32(at, S_NOP);
}

void as_align(struct as *as, uint64_t align, const struct ex_value *fill, unsigned size,
              uint64_t max)
{
    struct as_section *s = &as->sections[as->section];
    uint64_t gap = (0 - s->bytes) & (align - 1);
    if (align > s->align)
        s->align = align;
    if (gap == 0 || (max && gap > max))
        return;
    if (fill && gap % size != 0) {
        as_error(as, as->p, "a gap of %llu bytes is no multiple of the fill value's %u",
                 (unsigned long long)gap, size);
        return;
    }
    bool nobits = s->type == SHT_NOBITS;
    bool code = (s->flags & SHF_EXECINSTR) != 0;
    uint8_t *at = as_emit(as, gap);
    if (!at || nobits)
        return;
    if (!fill) {
        if (code)
            fill_code(at, gap);
        else
            memset(at, 0, gap);
        return;
    }
    for (uint64_t i = 0; i < gap; i++)
        at[i] = (uint8_t)((uint64_t)fill->k >> (8 * (i % size)));
}

void as_fixup(struct as *as, enum as_fixup_kind kind, unsigned size, uint64_t offset,
              uint32_t node, const char *at)
{
    if (!as_grow((void **)&as->fixups, &as->cap_fixups, as->n_fixups,
                 sizeof *as->fixups)) {
        as_out_of_memory(as);
        return;
    }
    as->fixups[as->n_fixups++] = (struct as_fixup){.offset = offset,
                                                   .section = as->section,
                                                   .node = node,
                                                   .line = as_source_line(as, as->line),
                                                   .kind = (uint8_t)kind,
                                                   .size = (uint8_t)size,
                                                   .at = at};
}
