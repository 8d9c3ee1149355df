/* object.c: read the sections, symbols and relocations of a code object.
 *
 * co_open() has checked headers, section contents and names; what it does not look at
 * (groups, relocations of what is not loaded) is checked here. Must not know text.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amdgpu_reloc.h"

struct reader {
    struct dis_object *o;
    const uint8_t *elf;
    uint64_t bytes;
    Elf64_Ehdr header;
    uint32_t symtab; /* section that holds the symbols; 0: none */
    struct co_error *err;
};

static rd_status fail(struct reader *r, const char *what, uint32_t section)
{
    snprintf(r->err->text, sizeof r->err->text, "section header %" PRIu32 ": %s",
             section, what);
    return RD_E_FORMAT;
}

static Elf64_Shdr header_at(const struct reader *r, uint32_t i)
{
    Elf64_Shdr h;
    memcpy(&h, r->elf + r->header.e_shoff + (uint64_t)i * sizeof h, sizeof h);
    return h;
}

/* Tables that the assembler makes anew, and what linkers add. */
static bool made_by_tools(const struct dis_object *o, const Elf64_Shdr *h,
                          const char *name)
{
    switch (h->sh_type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_RELA:
    case SHT_REL:
    case SHT_DYNSYM:
    case SHT_HASH:
    case SHT_GNU_HASH:
    case SHT_DYNAMIC:
    case SHT_GROUP:
    case SHT_SYMTAB_SHNDX:
        return true;
    default:
        return strcmp(name, ".llvm_addrsig") == 0 ||
               (!o->info->relocatable && strcmp(name, ".relro_padding") == 0);
    }
}

static rd_status read_sections(struct reader *r)
{
    struct dis_object *o = r->o;
    o->n_sections = co_section_count(o->co);
    o->sections = calloc(o->n_sections + 1, sizeof *o->sections);
    if (!o->sections)
        return RD_E_NOMEM;
    for (uint32_t i = 0; i < o->n_sections; i++) {
        const struct co_section *c = co_section_at(o->co, i);
        Elf64_Shdr h = header_at(r, i);
        o->sections[i] =
            (struct dis_section){.name = c->name,
                                 .type = h.sh_type,
                                 .flags = h.sh_flags,
                                 .addr = h.sh_addr,
                                 .bytes = c->bytes,
                                 .align = h.sh_addralign,
                                 .entsize = h.sh_entsize,
                                 .data = c->data,
                                 .written = !made_by_tools(o, &h, c->name)};
        if (h.sh_type == SHT_SYMTAB || (h.sh_type == SHT_DYNSYM && !r->symtab))
            r->symtab = i;
    }
    return RD_OK;
}

static struct dis_symbol symbol_of(const struct dis_object *o, const Elf64_Sym *s,
                                   const char *name)
{
    struct dis_symbol out = {.name = name,
                             .value = s->st_value,
                             .bytes = s->st_size,
                             .section = s->st_shndx,
                             .bind = ELF64_ST_BIND(s->st_info),
                             .type = ELF64_ST_TYPE(s->st_info),
                             .vis = ELF64_ST_VISIBILITY(s->st_other)};
    if (out.section && out.section < o->n_sections && !o->info->relocatable)
        out.value -= o->sections[out.section].addr;
    return out;
}

static rd_status read_symbols(struct reader *r)
{
    struct dis_object *o = r->o;
    if (!r->symtab)
        return RD_OK;
    Elf64_Shdr h = header_at(r, r->symtab);
    if (h.sh_link >= o->n_sections || !o->sections[h.sh_link].data)
        return fail(r, "sh_link names no string table", r->symtab);
    const struct dis_section *strings = &o->sections[h.sh_link];
    const struct dis_section *table = &o->sections[r->symtab];
    uint64_t n = table->bytes / sizeof(Elf64_Sym);
    if (n > UINT32_MAX / 2)
        return fail(r, "too many symbols", r->symtab);
    o->symbols = calloc((size_t)n + 1, sizeof *o->symbols);
    if (!o->symbols)
        return RD_E_NOMEM;
    o->n_symbols = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        Elf64_Sym s;
        memcpy(&s, table->data + (uint64_t)i * sizeof s, sizeof s);
        if (s.st_name >= strings->bytes ||
            !memchr(strings->data + s.st_name, 0, (size_t)(strings->bytes - s.st_name)))
            return fail(r, "a symbol's name is not in the string table", r->symtab);
        o->symbols[i] = symbol_of(o, &s, (const char *)strings->data + s.st_name);
    }
    return RD_OK;
}

/* ---- names ---- */

static int by_name(const void *a, const void *b, void *user)
{
    const struct dis_object *o = user;
    uint32_t i = *(const uint32_t *)a;
    uint32_t j = *(const uint32_t *)b;
    int order = strcmp(o->symbols[i].name, o->symbols[j].name);
    if (order)
        return order;
    bool local = o->symbols[i].bind == STB_LOCAL;
    if (local != (o->symbols[j].bind == STB_LOCAL))
        return local ? 1 : -1;
    return (i > j) - (i < j);
}

static bool rename_symbol(struct dis_object *o, uint32_t index)
{
    char *name;
    if (asprintf(&name, "%s$%" PRIu32, o->symbols[index].name, index) < 0)
        return false;
    o->renamed[o->n_renamed++] = name;
    o->symbols[index].name = name;
    return true;
}

static rd_status sort_names(struct dis_object *o)
{
    uint32_t n = 0;
    o->by_name = calloc(o->n_symbols + 1, sizeof *o->by_name);
    o->renamed = calloc(o->n_symbols + 1, sizeof *o->renamed);
    if (!o->by_name || !o->renamed)
        return RD_E_NOMEM;
    for (uint32_t i = 1; i < o->n_symbols; i++)
        if (o->symbols[i].type != STT_SECTION && o->symbols[i].type != STT_FILE &&
            o->symbols[i].name[0] != '\0')
            o->by_name[n++] = i;
    qsort_r(o->by_name, n, sizeof *o->by_name, by_name, o);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t symbol = o->by_name[i];
        if (kept && strcmp(o->symbols[symbol].name,
                           o->symbols[o->by_name[kept - 1]].name) == 0) {
            if (!rename_symbol(o, symbol))
                return RD_E_NOMEM;
        } else {
            o->by_name[kept++] = symbol;
        }
    }
    o->n_by_name = kept;
    return RD_OK;
}

/* ---- where symbols are ---- */

static int by_place(const void *a, const void *b, void *user)
{
    const struct dis_object *o = user;
    uint32_t i = *(const uint32_t *)a;
    uint32_t j = *(const uint32_t *)b;
    const struct dis_symbol *x = &o->symbols[i];
    const struct dis_symbol *y = &o->symbols[j];
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (i > j) - (i < j);
}

static rd_status sort_symbols(struct dis_object *o)
{
    uint32_t n = 0;
    o->by_place = calloc(o->n_symbols + 1, sizeof *o->by_place);
    if (!o->by_place)
        return RD_E_NOMEM;
    for (uint32_t i = 1; i < o->n_symbols; i++) {
        const struct dis_symbol *s = &o->symbols[i];
        if (s->section && s->section < o->n_sections && s->type != STT_SECTION &&
            s->type != STT_FILE && s->name[0] != '\0')
            o->by_place[n++] = i;
    }
    qsort_r(o->by_place, n, sizeof *o->by_place, by_place, o);
    for (uint32_t i = 0; i < n; i++) {
        struct dis_section *s = &o->sections[o->symbols[o->by_place[i]].section];
        if (s->n_symbols++ == 0)
            s->first = i;
    }
    return RD_OK;
}

/* ---- relocations and groups ---- */

static int by_offset(const void *a, const void *b)
{
    const struct dis_reloc *x = a;
    const struct dis_reloc *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The section that holds an address, with contents in the file. */
static struct dis_section *section_at(struct dis_object *o, uint64_t addr)
{
    for (uint32_t i = 1; i < o->n_sections; i++) {
        struct dis_section *s = &o->sections[i];
        if (s->written && (s->flags & SHF_ALLOC) && s->data && addr >= s->addr &&
            addr - s->addr < s->bytes)
            return s;
    }
    return NULL;
}

bool dis_object_add(struct dis_section *s, struct dis_reloc reloc)
{
    uint32_t n = s->n_relocs;
    if ((n & (n - 1)) == 0) { /* full: make room for twice as many */
        struct dis_reloc *more = realloc(s->relocs, (n ? 2ul * n : 1) * sizeof *more);
        if (!more)
            return false;
        s->relocs = more;
    }
    reloc.order = n;
    s->relocs[s->n_relocs++] = reloc;
    return true;
}

static const struct dis_symbol *find_name(const struct dis_object *o, const char *name,
                                          size_t len)
{
    uint32_t lo = 0, hi = o->n_by_name;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct dis_symbol *s = &o->symbols[o->by_name[mid]];
        int order = strncmp(s->name, name, len);
        if (order == 0 && s->name[len] == '\0')
            return s;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static bool defined(const struct dis_object *o, const struct dis_symbol *s)
{
    return s->section && s->section < o->n_sections;
}

/* A dynamic relocation by symbol names one of .dynsym: find it among the file's. What
 * is not defined can be said in a source file that is one file only if it is weak. */
static rd_status bind_dynamic(struct reader *r, uint32_t table, struct dis_reloc *reloc)
{
    struct dis_object *o = r->o;
    uint32_t link = header_at(r, table).sh_link;
    uint32_t strings = link < o->n_sections ? header_at(r, link).sh_link : 0;
    const struct dis_section *symbols = &o->sections[link < o->n_sections ? link : 0];
    Elf64_Sym s;
    if (!symbols->data || strings >= o->n_sections || !o->sections[strings].data ||
        reloc->symbol >= symbols->bytes / sizeof s)
        return fail(r, "a relocation names no symbol", table);
    memcpy(&s, symbols->data + (uint64_t)reloc->symbol * sizeof s, sizeof s);
    const struct dis_section *text = &o->sections[strings];
    const char *name = (const char *)text->data + s.st_name;
    if (s.st_name >= text->bytes || !memchr(name, 0, (size_t)(text->bytes - s.st_name)))
        return fail(r, "a relocation's symbol has no name", table);
    const struct dis_symbol *found = find_name(o, name, strlen(name));
    if (found && !defined(o, found) && (found->section || found->bind != STB_WEAK))
        found = NULL;
    reloc->symbol = found ? (uint32_t)(found - o->symbols) : 0;
    if (!found)
        reloc->type = R_AMDGPU_NONE;
    return RD_OK;
}

/* A relocation table: of one section, or the dynamic one, whose places are addresses.
 */
static rd_status read_relocs(struct reader *r, uint32_t index)
{
    struct dis_object *o = r->o;
    const struct dis_section *table = &o->sections[index];
    Elf64_Shdr h = header_at(r, index);
    bool dynamic = !o->info->relocatable;
    if (!dynamic && (h.sh_info == 0 || h.sh_info >= o->n_sections))
        return fail(r, "sh_info names no section", index);
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table->bytes;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, table->data + at, sizeof rela);
        struct dis_section *s =
            dynamic ? section_at(o, rela.r_offset) : &o->sections[h.sh_info];
        struct dis_reloc reloc = {.offset = rela.r_offset,
                                  .type = (uint32_t)ELF64_R_TYPE(rela.r_info),
                                  .symbol = (uint32_t)ELF64_R_SYM(rela.r_info),
                                  .addend = rela.r_addend};
        if (!s)
            return fail(r, "a relocation's place is in no section", index);
        if (dynamic)
            reloc.offset -= s->addr;
        rd_status st = dynamic && reloc.symbol ? bind_dynamic(r, index, &reloc) : RD_OK;
        if (st != RD_OK)
            return st;
        if (reloc.offset > s->bytes || (dynamic && reloc.offset == s->bytes))
            return fail(r, "a relocation's place is outside of its section", index);
        if (!dynamic && reloc.symbol >= o->n_symbols)
            return fail(r, "a relocation names no symbol", index);
        if (!dis_object_add(s, reloc))
            return RD_E_NOMEM;
    }
    return RD_OK;
}

static rd_status read_group(struct reader *r, uint32_t index)
{
    struct dis_object *o = r->o;
    const struct dis_section *table = &o->sections[index];
    Elf64_Shdr h = header_at(r, index);
    if (h.sh_info == 0 || h.sh_info >= o->n_symbols)
        return fail(r, "sh_info names no symbol for the group", index);
    for (uint64_t at = 4; at + 4 <= table->bytes; at += 4) {
        uint32_t member;
        memcpy(&member, table->data + at, 4);
        if (member == 0 || member >= o->n_sections)
            return fail(r, "the group names no section", index);
        o->sections[member].group = h.sh_info;
    }
    return RD_OK;
}

static rd_status read_links(struct reader *r)
{
    struct dis_object *o = r->o;
    rd_status st = RD_OK;
    for (uint32_t i = 1; i < o->n_sections && st == RD_OK; i++) {
        if (o->sections[i].type == SHT_RELA)
            st = read_relocs(r, i);
        else if (o->sections[i].type == SHT_GROUP)
            st = read_group(r, i);
    }
    for (uint32_t i = 1; i < o->n_sections; i++)
        if (o->sections[i].n_relocs)
            qsort(o->sections[i].relocs, o->sections[i].n_relocs,
                  sizeof(struct dis_reloc), by_offset);
    return st;
}

rd_status dis_object_read(const char *path, const struct co_object *co,
                          const uint8_t *elf, struct dis_object *out,
                          struct co_error *err)
{
    struct reader r = {.o = out, .elf = elf, .err = err};
    *out = (struct dis_object){.path = path, .co = co, .info = co_info(co)};
    r.bytes = out->info->elf_bytes;
    memcpy(&r.header, elf, sizeof r.header);
    snprintf(err->text, sizeof err->text, "out of memory");
    rd_status st = read_sections(&r);
    if (st == RD_OK)
        st = read_symbols(&r);
    if (st == RD_OK)
        st = sort_names(out);
    if (st == RD_OK)
        st = sort_symbols(out);
    if (st == RD_OK)
        st = read_links(&r);
    if (st != RD_OK)
        dis_object_free(out);
    return st;
}

void dis_object_free(struct dis_object *o)
{
    for (uint32_t i = 0; o->sections && i < o->n_sections; i++) {
        free(o->sections[i].relocs);
        free(o->sections[i].odd);
    }
    free(o->sections);
    free(o->symbols);
    free(o->by_place);
    free(o->by_name);
    for (uint32_t i = 0; i < o->n_renamed; i++)
        free(o->renamed[i]);
    free(o->renamed);
    *o = (struct dis_object){0};
}

const struct dis_symbol *dis_object_find(const struct dis_object *o, const char *name,
                                         size_t len)
{
    const struct dis_symbol *s = find_name(o, name, len);
    return s && defined(o, s) ? s : NULL;
}

const struct dis_symbol *dis_object_kernel(const struct dis_object *o,
                                           const struct dis_symbol *descriptor)
{
    size_t n = strlen(descriptor->name);
    if (n <= 3 || strcmp(descriptor->name + n - 3, ".kd") != 0 ||
        descriptor->bytes != CO_KD_BYTES)
        return NULL;
    return dis_object_find(o, descriptor->name, n - 3);
}
