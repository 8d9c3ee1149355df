/* elf_rel.c: write a relocatable file (ET_REL), laid out as LLVM does.
 *
 * Must not know how contents came about. Invariant: local symbols come first in the
 * symbol table, and relocations name section symbols where LLVM's would.
 * SPDX-License-Identifier: MIT
 */
#include "elf_out.h"

#include <stdlib.h>

struct group {
    uint32_t symbol, first, last; /* sections */
};

struct rel {
    struct as *as;
    struct as_buf *out;
    struct as_buf strings, symbols, headers;
    uint32_t *order, *first; /* relocations */
    uint32_t n_symbols, n_local;
    uint32_t n_headers, symtab;
    struct group *groups;
    uint32_t n_groups;
    uint32_t *next;   /* the next section in the same group */
    uint32_t *starts; /* number of the group that a section is the first of */
};

/* The symbol that a relocation names; its addend may change. */
static uint32_t relocation_symbol(struct as *as, const struct as_reloc *r,
                                  int64_t *addend)
{
    const struct as_symbol *s = &as->symbols[r->symbol];
    bool got = r->type == R_AMDGPU_GOTPCREL || r->type == R_AMDGPU_GOTPCREL32_LO ||
               r->type == R_AMDGPU_GOTPCREL32_HI;
    *addend = r->addend;
    if (r->symbol == 0 || s->section == 0 || s->section >= AS_SEC_LDS || got ||
        s->bind != STB_LOCAL)
        return r->symbol;
    const struct as_section *section = &as->sections[s->section];
    if ((section->flags & SHF_MERGE) && r->addend != 0)
        return r->symbol;
    *addend = (int64_t)((uint64_t)r->addend + s->value);
    return section->symbol;
}

static void mark_symbols(struct rel *w)
{
    struct as *as = w->as;
    int64_t addend;
    for (uint32_t i = 0; i < as->n_relocs; i++) {
        uint32_t s = relocation_symbol(as, &as->relocs[i], &addend);
        as->symbols[s].flags |= AS_SYM_USED;
    }
}

static unsigned section_number(const struct as *as, const struct as_symbol *s)
{
    if (s->section == 0)
        return SHN_UNDEF;
    if (s->section == AS_SEC_VAR)
        return SHN_ABS;
    if (s->section == AS_SEC_LDS)
        return SHN_AMDGPU_LDS;
    return as->sections[s->section].elf;
}

static void add_symbol(struct rel *w, uint32_t index)
{
    struct as_symbol *s = &w->as->symbols[index];
    Elf64_Sym sym = {.st_info = (uint8_t)ELF64_ST_INFO(elf_binding(s), s->type),
                     .st_other = s->vis,
                     .st_shndx = (Elf64_Half)section_number(w->as, s),
                     .st_value = s->value,
                     .st_size = (uint64_t)s->size.k};
    if (s->name && !(s->flags & AS_SYM_SECTION))
        sym.st_name = elf_string(&w->strings, s->name, s->name_len);
    s->elf = w->n_symbols++;
    as_buf_add(&w->symbols, &sym, sizeof sym);
}

static void add_symbols(struct rel *w)
{
    struct as *as = w->as;
    Elf64_Sym none = {0};
    as_buf_add(&w->symbols, &none, sizeof none);
    w->n_symbols = 1;
    for (unsigned global = 0; global < 2; global++) {
        for (uint32_t i = 1; i < as->n_symbols; i++) {
            const struct as_symbol *s = &as->symbols[i];
            bool section = (s->flags & AS_SYM_SECTION) && (s->flags & AS_SYM_USED);
            if ((section || elf_wanted(s)) && (elf_binding(s) != STB_LOCAL) == global)
                add_symbol(w, i);
        }
        if (!global)
            w->n_local = w->n_symbols;
    }
}

static void add_header(struct rel *w, const char *name, size_t len, Elf64_Shdr h)
{
    h.sh_name = elf_string(&w->strings, name, len);
    as_buf_add(&w->headers, &h, sizeof h);
    w->n_headers++;
}

/* Append contents to the file. Returns their offset. */
static uint64_t add_contents(struct rel *w, const void *data, uint64_t n,
                             uint64_t align)
{
    uint64_t gap = (0 - w->out->bytes) & (align - 1);
    uint8_t *at = gap ? as_buf_more(w->out, gap) : NULL;
    if (at)
        memset(at, 0, gap);
    uint64_t offset = w->out->bytes;
    if (data)
        as_buf_add(w->out, data, n);
    return offset;
}

static bool has_relocs(const struct rel *w, uint32_t section)
{
    return w->first[section + 1] > w->first[section];
}

/* Numbers of all sections: each with its group before and its relocations behind. */
static void number_sections(struct rel *w)
{
    uint32_t next = 2;
    for (uint32_t i = 1; i < w->as->n_sections; i++) {
        next += w->starts[i] != 0;
        w->as->sections[i].elf = next++;
        next += has_relocs(w, i);
    }
    w->symtab = next;
}

static void add_relocs(struct rel *w, uint32_t section)
{
    struct as *as = w->as;
    const struct as_section *s = &as->sections[section];
    struct as_buf name = {0};
    Elf64_Shdr h = {.sh_type = SHT_RELA,
                    .sh_flags = s->group ? SHF_GROUP : SHF_INFO_LINK,
                    .sh_link = w->symtab,
                    .sh_info = s->elf,
                    .sh_addralign = 8,
                    .sh_entsize = sizeof(Elf64_Rela)};
    h.sh_offset = add_contents(w, NULL, 0, 8);
    for (uint32_t i = w->first[section]; i < w->first[section + 1]; i++) {
        const struct as_reloc *r = &as->relocs[w->order[i]];
        int64_t addend;
        uint32_t symbol = relocation_symbol(as, r, &addend);
        Elf64_Rela rela = {.r_offset = r->offset,
                           .r_info = ELF64_R_INFO((uint64_t)as->symbols[symbol].elf,
                                                  (uint64_t)r->type),
                           .r_addend = addend};
        as_buf_add(w->out, &rela, sizeof rela);
    }
    h.sh_size = w->out->bytes - h.sh_offset;
    as_buf_add(&name, ".rela", 5);
    as_buf_add(&name, s->name, s->name_len);
    if (!name.failed)
        add_header(w, (const char *)name.data, name.bytes, h);
    w->out->failed |= name.failed;
    free(name.data);
}

static void add_section(struct rel *w, uint32_t index)
{
    const struct as_section *s = &w->as->sections[index];
    bool nobits = s->type == SHT_NOBITS;
    Elf64_Shdr h = {.sh_type = s->type,
                    .sh_flags = s->flags,
                    .sh_size = s->bytes,
                    .sh_addralign = s->align,
                    .sh_entsize = s->entsize};
    /* A huge alignment is kept in the header; the file need not follow it. */
    uint64_t align = s->align < 4096 ? s->align : 4096;
    h.sh_offset = add_contents(w, nobits ? NULL : s->data, s->bytes, align);
    add_header(w, s->name, s->name_len, h);
    if (has_relocs(w, index))
        add_relocs(w, index);
}

/* ---- comdat groups ---- */

/* Gather the sections of each group; next[] chains them. */
static bool find_groups(struct rel *w)
{
    struct as *as = w->as;
    w->groups = calloc(as->n_sections + 1, sizeof *w->groups);
    w->next = calloc(as->n_sections + 1, sizeof *w->next);
    w->starts = calloc(as->n_sections + 1, sizeof *w->starts);
    if (!w->groups || !w->next || !w->starts) {
        as_out_of_memory(as);
        return false;
    }
    for (uint32_t i = 1; i < as->n_sections; i++) {
        struct as_symbol *g = &as->symbols[as->sections[i].group];
        if (as->sections[i].group == 0)
            continue;
        if (g->elf == 0) { /* until symbols are numbered: its place among the groups */
            w->groups[w->n_groups++] =
                (struct group){.symbol = as->sections[i].group, .first = i};
            g->elf = w->n_groups;
            w->starts[i] = w->n_groups;
        } else {
            w->next[w->groups[g->elf - 1].last] = i;
        }
        w->groups[g->elf - 1].last = i;
    }
    return true;
}

static void add_group(struct rel *w, const struct group *group)
{
    struct as *as = w->as;
    uint32_t word = GRP_COMDAT;
    Elf64_Shdr h = {.sh_type = SHT_GROUP,
                    .sh_link = w->symtab,
                    .sh_info = as->symbols[group->symbol].elf,
                    .sh_addralign = 4,
                    .sh_entsize = 4};
    h.sh_offset = add_contents(w, &word, 4, 4);
    for (uint32_t i = group->first; i; i = w->next[i]) {
        word = as->sections[i].elf;
        as_buf_add(w->out, &word, 4);
        word++;
        if (has_relocs(w, i))
            as_buf_add(w->out, &word, 4);
    }
    h.sh_size = w->out->bytes - h.sh_offset;
    add_header(w, ".group", 6, h);
}

/* Everything between the file header and the section headers. */
static void write_body(struct rel *w)
{
    struct as *as = w->as;
    Elf64_Shdr none = {0};
    number_sections(w);
    mark_symbols(w);
    add_symbols(w);
    add_header(w, "", 0, none);
    /* The string table is header 1 but comes last, when all names are known. */
    add_header(w, ".strtab", 7, none);
    for (uint32_t i = 1; i < as->n_sections; i++) {
        if (w->starts[i])
            add_group(w, &w->groups[w->starts[i] - 1]);
        add_section(w, i);
    }
    Elf64_Shdr h = {.sh_type = SHT_SYMTAB,
                    .sh_size = w->symbols.bytes,
                    .sh_link = 1,
                    .sh_info = w->n_local,
                    .sh_addralign = 8,
                    .sh_entsize = sizeof(Elf64_Sym)};
    h.sh_offset = add_contents(w, w->symbols.data, w->symbols.bytes, 8);
    add_header(w, ".symtab", 7, h);
}

static void finish(struct rel *w)
{
    Elf64_Ehdr header;
    Elf64_Shdr h = {.sh_type = SHT_STRTAB, .sh_addralign = 1};
    h.sh_size = w->strings.bytes;
    h.sh_offset = add_contents(w, w->strings.data, w->strings.bytes, 1);
    elf_header(w->as, &header, ET_REL);
    header.e_shnum = (Elf64_Half)w->n_headers;
    header.e_shstrndx = 1;
    header.e_shoff = add_contents(w, NULL, 0, 8);
    as_buf_add(w->out, w->headers.data, w->headers.bytes);
    if (w->out->failed || w->headers.failed || w->strings.failed || w->symbols.failed) {
        as_out_of_memory(w->as);
        return;
    }
    Elf64_Shdr *strtab = (Elf64_Shdr *)(void *)(w->out->data + header.e_shoff) + 1;
    h.sh_name = strtab->sh_name;
    memcpy(strtab, &h, sizeof h);
    memcpy(w->out->data, &header, sizeof header);
}

bool as_write_rel(struct as *as, struct as_buf *out)
{
    struct rel w = {.as = as, .out = out};
    Elf64_Ehdr header = {0};
    as_buf_add(out, &header, sizeof header);
    if (elf_sort_relocs(as, &w.order, &w.first) && find_groups(&w)) {
        write_body(&w);
        finish(&w);
    }
    free(w.groups);
    free(w.next);
    free(w.starts);
    free(w.order);
    free(w.first);
    free(w.strings.data);
    free(w.symbols.data);
    free(w.headers.data);
    return !as->stop;
}
