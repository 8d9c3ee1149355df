/* symbol.c: symbol tables, and the symbol that an address belongs to.
 *
 * Must not know relocations or kernels. Invariant: string tables end in a zero byte, so
 * every name is a C string inside the file; by_offset holds only image symbols.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------------ */

static rd_status check_strings(const struct co_symtab *t, const char *what,
                               struct co_error *err)
{
    if (t->str_bytes == 0 || t->str[t->str_bytes - 1] != 0)
        return co_fail(err, RD_E_FORMAT,
                       "%s: its string table does not end in a zero byte", what);
    return RD_OK;
}

/* Find the first section of a type and read it as a symbol table. */
static rd_status section_symtab(const struct co_object *obj, uint32_t type,
                                const char *what, struct co_symtab *out,
                                struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    for (unsigned i = 0; i < h->shnum; i++) {
        struct elf_shdr sh = elf_shdr_at(obj->data, h, i);
        if (sh.type != type)
            continue;
        if (sh.entsize != SYM_BYTES || sh.size % SYM_BYTES)
            return co_fail(err, RD_E_FORMAT,
                           "%s: section header %u: sh_entsize %" PRIu64
                           " or sh_size %" PRIu64 " does not suit entries of %d bytes",
                           what, i, sh.entsize, sh.size, SYM_BYTES);
        if (sh.link >= h->shnum || obj->sections[sh.link].type != SHT_STRTAB_)
            return co_fail(err, RD_E_FORMAT,
                           "%s: section header %u: sh_link %" PRIu32
                           " is no string table",
                           what, i, sh.link);
        struct co_symtab t = {
            .data = obj->data + sh.offset,
            .count = sh.size / SYM_BYTES,
            .str = (const char *)obj->sections[sh.link].data,
            .str_bytes = obj->sections[sh.link].bytes,
        };
        rd_status st = t.count ? check_strings(&t, what, err) : RD_OK;
        if (st == RD_OK)
            *out = t;
        return st;
    }
    return RD_OK;
}

/* Dynamic symbols of a file without section headers: DT_HASH knows their number. */
static rd_status dynamic_symtab(const struct co_object *obj, struct co_symtab *out,
                                struct co_error *err)
{
    const struct co_dynamic *d = &obj->dynamic;
    if (!d->symtab || !d->strtab || !d->hash)
        return RD_OK;
    const uint8_t *hash = co_bytes_at(obj, d->hash, 8);
    if (!hash)
        return co_fail(err, RD_E_FORMAT,
                       "dynamic section: DT_HASH 0x%" PRIx64 " is not in the image",
                       d->hash);
    struct co_symtab t = {.count = load_le32(hash + 4), .str_bytes = d->str_bytes};
    t.data = co_bytes_at(obj, d->symtab, t.count * SYM_BYTES);
    t.str = (const char *)co_bytes_at(obj, d->strtab, t.str_bytes);
    if (!t.data || !t.str)
        return co_fail(err, RD_E_FORMAT,
                       "dynamic section: DT_SYMTAB 0x%" PRIx64 " (%" PRIu64
                       " symbols) or DT_STRTAB 0x%" PRIx64 " is not in the image",
                       d->symtab, t.count, d->strtab);
    rd_status st = check_strings(&t, "dynamic section", err);
    if (st == RD_OK)
        *out = t;
    return st;
}

static rd_status find_tables(struct co_object *obj, struct co_error *err)
{
    struct co_symtab dynsym = {0};
    rd_status st = section_symtab(obj, SHT_SYMTAB_, "symbol table", &obj->symtab, err);
    if (st != RD_OK)
        return st;
    if (obj->info.relocatable) {
        obj->relsym = obj->symtab;
        return RD_OK;
    }
    st = section_symtab(obj, SHT_DYNSYM_, "dynamic symbol table", &dynsym, err);
    if (st == RD_OK && !dynsym.count)
        st = dynamic_symtab(obj, &dynsym, err);
    if (st != RD_OK)
        return st;
    obj->relsym = dynsym;
    if (!obj->symtab.count)
        obj->symtab = dynsym;
    return RD_OK;
}

/* ---- entries ----------------------------------------------------------------- */

rd_status co_symbol_name(const struct co_symtab *tab, const struct elf_sym *sym,
                         uint64_t index, const char **name, struct co_error *err)
{
    if (sym->name >= tab->str_bytes)
        return co_fail(err, RD_E_FORMAT,
                       "symbol %" PRIu64 ": st_name %" PRIu32
                       " leaves the string table (%" PRIu64 " bytes)",
                       index, sym->name, tab->str_bytes);
    const char *s = tab->str + sym->name;
    uint64_t room = tab->str_bytes - sym->name;
    if (room > CO_MAX_NAME + 1 && !memchr(s, 0, CO_MAX_NAME + 1))
        return co_fail(err, RD_E_FORMAT,
                       "symbol %" PRIu64 ": name '%.32s...' is longer than %u bytes",
                       index, s, CO_MAX_NAME);
    *name = s;
    return RD_OK;
}

enum co_symbol_place co_place_of(const struct co_object *obj, const struct elf_sym *sym,
                                 uint64_t *value)
{
    *value = sym->value;
    if (sym->shndx == SHN_UNDEF_)
        return CO_PLACE_UNDEFINED;
    if (sym->shndx == SHN_ABS_)
        return CO_PLACE_ABSOLUTE;
    if (sym->shndx >= SHN_LORESERVE_)
        return CO_PLACE_OTHER;
    if (obj->info.relocatable) {
        const struct co_section *s = &obj->sections[sym->shndx];
        if (!s->in_image || sym->value > s->bytes)
            return CO_PLACE_OTHER;
        *value = s->offset + sym->value;
        return CO_PLACE_IMAGE;
    }
    uint64_t offset = sym->value - obj->info.base_addr;
    if (sym->value < obj->info.base_addr || offset > obj->image_bytes)
        return CO_PLACE_OTHER;
    *value = offset;
    return CO_PLACE_IMAGE;
}

static uint8_t symbol_kind(unsigned type)
{
    switch (type) {
    case STT_OBJECT_:
        return CO_SYM_OBJECT;
    case STT_FUNC_:
        return CO_SYM_FUNC;
    case STT_SECTION_:
        return CO_SYM_SECTION;
    case STT_FILE_:
        return CO_SYM_FILE;
    default:
        return CO_SYM_OTHER;
    }
}

static rd_status read_entry(struct co_object *obj, unsigned i, struct co_error *err)
{
    struct elf_sym sym = elf_sym_at(obj->symtab.data, i);
    struct co_symbol *s = &obj->symbols[i];
    rd_status st = co_symbol_name(&obj->symtab, &sym, i, &s->name, err);
    if (st != RD_OK)
        return st;
    /* a file without section headers may still name sections */
    bool reserved = sym.shndx >= SHN_LORESERVE_;
    if (!reserved && sym.shndx >= obj->n_sections &&
        (obj->n_sections || obj->info.relocatable))
        return co_fail(err, RD_E_FORMAT,
                       "symbol %u '%.64s': st_shndx %u of %u sections", i, s->name,
                       sym.shndx, obj->n_sections);
    s->kind = symbol_kind(sym.type);
    s->place = (uint8_t)co_place_of(obj, &sym, &s->value);
    s->bytes = sym.size;
    s->weak = sym.bind == STB_WEAK_;
    s->global = sym.bind != 0;
    s->section = reserved || sym.shndx >= obj->n_sections ? 0 : sym.shndx;
    return RD_OK;
}

/* ---- by offset --------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    const struct co_place_key *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->index > y->index ? -1 : x->index < y->index;
}

/* Labels inside a function would hide it from the lookup: drop them. */
static unsigned drop_covered(const struct co_object *obj, struct co_place_key *keys,
                             unsigned n)
{
    unsigned kept = 0;
    uint64_t end = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct co_symbol *s = &obj->symbols[keys[i].index];
        if (s->kind == CO_SYM_OTHER && s->value < end)
            continue;
        keys[kept++] = keys[i];
        uint64_t room = UINT64_MAX - s->value;
        uint64_t stop = s->value + (s->bytes < room ? s->bytes : room);
        if (s->kind != CO_SYM_OTHER && stop > end)
            end = stop;
    }
    return kept;
}

static rd_status index_symbols(struct co_object *obj, struct co_error *err)
{
    struct co_place_key *keys = co_array(obj->n_symbols, sizeof *keys);
    if (!keys)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u symbols", obj->n_symbols);
    unsigned n = 0;
    for (unsigned i = 0; i < obj->n_symbols; i++) {
        const struct co_symbol *s = &obj->symbols[i];
        if (s->place != CO_PLACE_IMAGE || s->kind == CO_SYM_SECTION ||
            s->kind == CO_SYM_FILE || !s->name[0])
            continue;
        keys[n++] = (struct co_place_key){
            .offset = s->value,
            .rank = (s->kind != CO_SYM_OTHER ? 4u : 0) + (s->bytes ? 2u : 0) +
                    (s->global ? 1u : 0),
            .index = i,
        };
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    obj->by_offset = keys;
    obj->n_by_offset = drop_covered(obj, keys, n);
    return RD_OK;
}

rd_status co_read_symbols(struct co_object *obj, struct co_error *err)
{
    rd_status st = find_tables(obj, err);
    if (st != RD_OK)
        return st;
    if (obj->symtab.count > UINT32_MAX)
        return co_fail(err, RD_E_UNSUPPORTED, "symbol table: %" PRIu64 " entries",
                       obj->symtab.count);
    obj->symbols = co_array(obj->symtab.count, sizeof *obj->symbols);
    if (!obj->symbols)
        return co_fail(err, RD_E_NOMEM, "out of memory for %" PRIu64 " symbols",
                       obj->symtab.count);
    for (unsigned i = 0; i < obj->symtab.count; i++) {
        st = read_entry(obj, i, err);
        if (st != RD_OK)
            return st;
        obj->n_symbols = i + 1;
    }
    return index_symbols(obj, err);
}

/* ---- public ------------------------------------------------------------------ */

unsigned co_symbol_count(const struct co_object *obj)
{
    return obj->n_symbols;
}

const struct co_symbol *co_symbol_at(const struct co_object *obj, unsigned i)
{
    return i < obj->n_symbols ? &obj->symbols[i] : NULL;
}

const struct co_symbol *co_symbol_find(const struct co_object *obj, const char *name)
{
    for (unsigned i = 0; i < obj->n_symbols; i++) {
        const struct co_symbol *s = &obj->symbols[i];
        if (s->place != CO_PLACE_UNDEFINED && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

const struct co_symbol *co_symbol_near(const struct co_object *obj, uint64_t offset,
                                       uint64_t *displacement)
{
    unsigned lo = 0, hi = obj->n_by_offset;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        if (obj->by_offset[mid].offset <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return NULL;
    const struct co_symbol *s = &obj->symbols[obj->by_offset[lo - 1].index];
    const struct co_segment *segment = co_segment_of(obj, offset);
    if (!segment || co_segment_of(obj, s->value) != segment)
        return NULL;
    *displacement = offset - s->value;
    return s;
}
