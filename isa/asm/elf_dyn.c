/* elf_dyn.c: write a file that loads as it is (ET_DYN): gather sections, lay out
 * segments as lld does for amdgcn, write everything.
 *
 * Must not know directives. Invariant: addresses and file offsets are equal modulo the
 * page, and everything that is loaded lies in exactly one PT_LOAD.
 * SPDX-License-Identifier: MIT
 */
#include "dyn.h"

#include <stdlib.h>

#define MAX_PHDRS 9u

static uint64_t align_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

/* ---- gather ---- */

static bool starts(const struct as_section *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s->name_len >= n && memcmp(s->name, prefix, n) == 0 &&
           (s->name_len == n || s->name[n] == '.');
}

static enum dyn_rank rank_of(const struct as_section *s)
{
    if (!(s->flags & SHF_ALLOC))
        return DYN_OTHER;
    if (s->type == SHT_NOTE && !(s->flags & (SHF_WRITE | SHF_EXECINSTR)))
        return DYN_NOTE;
    if (s->flags & SHF_EXECINSTR)
        return DYN_TEXT;
    if (!(s->flags & SHF_WRITE))
        return DYN_RODATA;
    if (starts(s, ".data.rel.ro"))
        return DYN_RELRO;
    if (as_same(s->name, s->name_len, ".got")) /* written by hand, or by 'dis' */
        return DYN_GOT;
    return s->type == SHT_NOBITS ? DYN_BSS : DYN_DATA;
}

/* .text.foo goes into .text, and so on. */
static void out_name(const struct as_section *s, const char **name, uint32_t *len)
{
    static const char *const classes[] = {".text", ".rodata", ".data.rel.ro", ".data",
                                          ".bss"};
    *name = s->name;
    *len = s->name_len;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (starts(s, classes[i])) {
            *name = classes[i];
            *len = (uint32_t)strlen(classes[i]);
            return;
        }
}

static uint32_t new_out(struct dyn *d, struct dyn_out out)
{
    if (!as_grow((void **)&d->outs, &d->cap_outs, d->n_outs, sizeof out)) {
        as_out_of_memory(d->as);
        return 0;
    }
    d->outs[d->n_outs] = out;
    return d->n_outs++;
}

static uint32_t out_for(struct dyn *d, const struct as_section *s)
{
    const char *name;
    uint32_t len;
    out_name(s, &name, &len);
    uint32_t *slot = as_map_at(&d->out_map, name, len, true);
    if (!slot) {
        as_out_of_memory(d->as);
        return 0;
    }
    if (*slot == 0)
        *slot = new_out(d, (struct dyn_out){.name = name,
                                            .name_len = len,
                                            .type = s->type,
                                            .entsize = s->entsize,
                                            .align = 1,
                                            .rank = (uint8_t)rank_of(s)});
    return *slot;
}

static bool dropped(const struct as_section *s)
{
    if (s->flags & SHF_EXCLUDE)
        return true;
    if (as_same(s->name, s->name_len, ".note.GNU-stack"))
        return true;
    return !(s->flags & SHF_ALLOC) && s->bytes == 0;
}

static bool gather_section(struct dyn *d, uint32_t index)
{
    struct as *as = d->as;
    const struct as_section *s = &as->sections[index];
    uint32_t o = out_for(d, s);
    if (o == 0)
        return false;
    struct dyn_out *out = &d->outs[o];
    if (s->align > DYN_MAX_ALIGN && (s->flags & SHF_ALLOC)) {
        as_error_at(as, NULL, 0,
                    "section '%.*s' is aligned to %llu: a loadable file allows %u",
                    (int)(s->name_len > 64 ? 64 : s->name_len), s->name,
                    (unsigned long long)s->align, DYN_MAX_ALIGN);
        return false;
    }
    if (out->rank != rank_of(s)) {
        as_error_at(as, NULL, 0, "section '%.*s' does not fit the flags of '%.*s'",
                    (int)(s->name_len > 64 ? 64 : s->name_len), s->name,
                    (int)out->name_len, out->name);
        return false;
    }
    if (out->type == SHT_NOBITS && s->type != SHT_NOBITS)
        out->type = s->type;
    if (out->size && out->entsize != s->entsize)
        out->entsize = 0;
    out->flags |= s->flags & ~(uint64_t)SHF_GROUP;
    if (s->align > out->align)
        out->align = s->align;
    d->out_of[index] = o;
    d->at[index] = align_up(out->size, s->align);
    out->size = d->at[index] + s->bytes;
    out->kept |= s->bytes > 0;
    return true;
}

static bool gather(struct dyn *d)
{
    struct as *as = d->as;
    d->out_of = calloc(as->n_sections, sizeof *d->out_of);
    d->at = calloc(as->n_sections, sizeof *d->at);
    (void)new_out(d, (struct dyn_out){0}); /* number 0 is none */
    if (!d->out_of || !d->at)
        as_out_of_memory(as);
    if (as->stop)
        return false;
    for (uint32_t i = 1; i < as->n_sections; i++)
        if (!dropped(&as->sections[i]) && !gather_section(d, i))
            return false;
    /* A section that is empty stays if a symbol lies in it. */
    for (uint32_t i = 1; i < as->n_symbols; i++) {
        const struct as_symbol *s = &as->symbols[i];
        if (elf_wanted(s) && s->section && s->section < AS_SEC_LDS &&
            d->out_of[s->section])
            d->outs[d->out_of[s->section]].kept = true;
    }
    return true;
}

/* ---- sections made here ---- */

static void add_table(struct dyn *d, const char *name, uint32_t type, uint64_t flags,
                      uint64_t entsize, uint64_t align, enum dyn_rank rank,
                      const struct as_buf *table)
{
    (void)new_out(d, (struct dyn_out){.name = name,
                                      .name_len = (uint32_t)strlen(name),
                                      .type = type,
                                      .flags = flags,
                                      .entsize = entsize,
                                      .align = align,
                                      .size = table->bytes,
                                      .rank = (uint8_t)rank,
                                      .kept = true,
                                      .table = table});
}

static void add_tables(struct dyn *d)
{
    uint64_t a = SHF_ALLOC;
    uint64_t wa = SHF_ALLOC | SHF_WRITE;
    uint8_t *rela =
        d->n_rela ? as_buf_more(&d->rela, d->n_rela * sizeof(Elf64_Rela)) : NULL;
    add_table(d, ".dynsym", SHT_DYNSYM, a, sizeof(Elf64_Sym), 8, DYN_SYM, &d->dynsym);
    add_table(d, ".gnu.hash", SHT_GNU_HASH, a, 0, 8, DYN_GNU_HASH, &d->gnu_hash);
    add_table(d, ".hash", SHT_HASH, a, 4, 4, DYN_HASH, &d->hash);
    add_table(d, ".dynstr", SHT_STRTAB, a, 0, 1, DYN_STR, &d->dynstr);
    if (rela) {
        add_table(d, ".rela.dyn", SHT_RELA, a, sizeof(Elf64_Rela), 8, DYN_RELA,
                  &d->rela);
        d->rela.bytes = 0; /* filled while relocating */
    }
    add_table(d, ".dynamic", SHT_DYNAMIC, wa, sizeof(Elf64_Dyn), 8, DYN_DYNAMIC,
              &d->dynamic);
    if (d->n_got && dyn_out_of_rank(d, DYN_GOT))
        as_error_at(d->as, NULL, 0,
                    "section '.got' is written by hand: no @gotpcrel beside it");
    d->got_out = d->n_outs;
    if (d->n_got)
        add_table(d, ".got", SHT_PROGBITS, wa, 0, 8, DYN_GOT, &d->got);
}

/* ---- addresses ---- */

static bool sort_outs(struct dyn *d)
{
    d->order = calloc(d->n_outs, sizeof *d->order);
    if (!d->order) {
        as_out_of_memory(d->as);
        return false;
    }
    uint32_t n = 0;
    for (unsigned rank = DYN_NOTE; rank <= DYN_OTHER; rank++)
        for (uint32_t i = 1; i < d->n_outs; i++)
            if (d->outs[i].kept && d->outs[i].rank == rank) {
                d->order[n++] = i;
                d->outs[i].number = n;
            }
    d->order[n] = 0; /* n_outs - 1 at most: outs[0] is none */
    return true;
}

static bool begins_segment(enum dyn_rank rank, enum dyn_rank before)
{
    return (rank >= DYN_TEXT && before < DYN_TEXT) ||
           (rank >= DYN_DYNAMIC && before < DYN_DYNAMIC) ||
           (rank >= DYN_DATA && before < DYN_DATA);
}

/* The strictest alignment in the segment that begins with the k-th section. */
static uint64_t segment_align(const struct dyn *d, uint32_t k)
{
    uint64_t align = DYN_PAGE;
    enum dyn_rank before = (enum dyn_rank)d->outs[d->order[k]].rank;
    for (; d->order[k]; k++) {
        const struct dyn_out *o = &d->outs[d->order[k]];
        if (o->rank == DYN_OTHER || begins_segment((enum dyn_rank)o->rank, before))
            break;
        if (o->align > align)
            align = o->align;
        before = (enum dyn_rank)o->rank;
    }
    return align;
}

/* Program headers that make_phdrs will write. */
static unsigned count_phdrs(const struct dyn *d)
{
    bool data = dyn_out_of_rank(d, DYN_DATA) || dyn_out_of_rank(d, DYN_BSS);
    return 6u + (dyn_out_of_rank(d, DYN_TEXT) != 0) +
           (dyn_out_of_rank(d, DYN_NOTE) != 0) + data;
}

static void assign_addresses(struct dyn *d)
{
    uint64_t addr = sizeof(Elf64_Ehdr) + count_phdrs(d) * sizeof(Elf64_Phdr);
    uint64_t offset = addr;
    enum dyn_rank before = DYN_NOTE;
    for (uint32_t i = 0; d->order[i]; i++) {
        struct dyn_out *o = &d->outs[d->order[i]];
        enum dyn_rank rank = (enum dyn_rank)o->rank;
        if (rank == DYN_OTHER)
            break;
        bool fresh = begins_segment(rank, before);
        if (fresh)
            addr = align_up(addr, DYN_PAGE) + addr % DYN_PAGE;
        o->addr = align_up(addr, o->align);
        offset += fresh ? (o->addr - offset) % segment_align(d, i) : o->addr - addr;
        o->offset = offset;
        addr = o->addr + o->size;
        if (rank != DYN_BSS) /* nothing follows .bss in its segment */
            offset += o->size;
        before = rank;
    }
    d->file_bytes = offset;
}

/* ---- program headers ---- */

struct phdrs {
    Elf64_Phdr p[MAX_PHDRS];
    unsigned n;
};

static void add_phdr(struct phdrs *ph, Elf64_Phdr p)
{
    p.p_paddr = p.p_vaddr;
    ph->p[ph->n++] = p;
}

/* A header that covers the output sections of some ranks; none if there are none. */
static void add_range(struct dyn *d, struct phdrs *ph, unsigned first, unsigned last,
                      uint32_t type, uint32_t flags, uint64_t align)
{
    Elf64_Phdr p = {.p_type = type, .p_flags = flags, .p_align = align};
    bool any = false;
    for (uint32_t i = 0; d->order[i]; i++) {
        const struct dyn_out *o = &d->outs[d->order[i]];
        if (o->rank < first || o->rank > last)
            continue;
        if (!any) {
            p.p_offset = o->offset;
            p.p_vaddr = o->addr;
        }
        any = true;
        if (o->align > p.p_align)
            p.p_align = o->align;
        p.p_memsz = o->addr + o->size - p.p_vaddr;
        if (!(o->type == SHT_NOBITS && o->rank == DYN_BSS))
            p.p_filesz = o->offset + o->size - p.p_offset;
    }
    if (any)
        add_phdr(ph, p);
}

static void make_phdrs(struct dyn *d, struct phdrs *ph)
{
    uint64_t table = sizeof(Elf64_Ehdr);
    add_phdr(ph, (Elf64_Phdr){.p_type = PT_PHDR,
                              .p_flags = PF_R,
                              .p_offset = table,
                              .p_vaddr = table,
                              .p_align = 8});
    add_range(d, ph, DYN_NOTE, DYN_RODATA, PT_LOAD, PF_R, DYN_PAGE);
    /* The first segment begins with the file's headers. */
    Elf64_Phdr *load = &ph->p[1];
    load->p_filesz += load->p_offset;
    load->p_memsz += load->p_vaddr;
    load->p_offset = load->p_vaddr = load->p_paddr = 0;
    add_range(d, ph, DYN_TEXT, DYN_TEXT, PT_LOAD, PF_R | PF_X, DYN_PAGE);
    add_range(d, ph, DYN_DYNAMIC, DYN_RELRO, PT_LOAD, PF_R | PF_W, DYN_PAGE);
    add_range(d, ph, DYN_DATA, DYN_BSS, PT_LOAD, PF_R | PF_W, DYN_PAGE);
    add_range(d, ph, DYN_DYNAMIC, DYN_DYNAMIC, PT_DYNAMIC, PF_R | PF_W, 8);
    add_range(d, ph, DYN_DYNAMIC, DYN_RELRO, PT_GNU_RELRO, PF_R, 8);
    add_phdr(ph, (Elf64_Phdr){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W});
    add_range(d, ph, DYN_NOTE, DYN_NOTE, PT_NOTE, PF_R, 4);
    ph->p[0].p_filesz = ph->p[0].p_memsz = ph->n * sizeof(Elf64_Phdr);
}

/* ---- the file ---- */

static void write_loaded(struct dyn *d)
{
    struct as *as = d->as;
    uint8_t *file = as_buf_more(d->file, d->file_bytes);
    if (!file)
        return;
    memset(file, 0, d->file_bytes);
    for (uint32_t i = 1; i < as->n_sections; i++) {
        const struct as_section *s = &as->sections[i];
        const struct dyn_out *o = &d->outs[d->out_of[i]];
        if (d->out_of[i] && o->kept && o->rank != DYN_OTHER && s->type != SHT_NOBITS &&
            s->bytes)
            memcpy(file + o->offset + d->at[i], s->data, s->bytes);
    }
}

/* Sections that are not loaded follow, in their order. */
static void write_others(struct dyn *d)
{
    struct as *as = d->as;
    for (uint32_t k = 0; d->order[k]; k++) {
        struct dyn_out *o = &d->outs[d->order[k]];
        if (o->rank != DYN_OTHER)
            continue;
        as_buf_align(d->file, o->align < DYN_PAGE ? o->align : DYN_PAGE);
        o->offset = d->file->bytes;
        uint8_t *out =
            o->size && o->type != SHT_NOBITS ? as_buf_more(d->file, o->size) : NULL;
        if (out)
            memset(out, 0, o->size);
    }
    for (uint32_t i = 1; i < as->n_sections; i++) {
        const struct as_section *s = &as->sections[i];
        const struct dyn_out *o = &d->outs[d->out_of[i]];
        if (d->out_of[i] && o->rank == DYN_OTHER && s->data && !d->file->failed &&
            o->type != SHT_NOBITS)
            memcpy(d->file->data + o->offset + d->at[i], s->data, s->bytes);
    }
}

static void copy_tables(struct dyn *d)
{
    for (uint32_t i = 1; i < d->n_outs; i++) {
        const struct dyn_out *o = &d->outs[i];
        if (o->table && o->rank != DYN_GOT && o->table->bytes)
            memcpy(d->file->data + o->offset, o->table->data, o->table->bytes);
    }
}

static void add_shdr(struct dyn *d, struct as_buf *headers, const struct dyn_out *o)
{
    Elf64_Shdr h = {.sh_name = elf_string(&d->shstrtab, o->name, o->name_len),
                    .sh_type = o->type,
                    .sh_flags = o->flags,
                    .sh_addr = o->addr,
                    .sh_offset = o->offset,
                    .sh_size = o->size,
                    .sh_link = o->link,
                    .sh_info = o->info,
                    .sh_addralign = o->align,
                    .sh_entsize = o->entsize};
    as_buf_add(headers, &h, sizeof h);
}

/* A table at the end of the file; its name is in .shstrtab already. */
static void add_last(struct dyn *d, struct as_buf *headers, uint32_t name,
                     uint32_t type, const struct as_buf *table, uint32_t link)
{
    bool symbols = type == SHT_SYMTAB;
    as_buf_align(d->file, symbols ? 8 : 1);
    Elf64_Shdr h = {.sh_name = name,
                    .sh_type = type,
                    .sh_offset = d->file->bytes,
                    .sh_size = table->bytes,
                    .sh_link = link,
                    .sh_info = symbols ? d->first_global : 0,
                    .sh_addralign = symbols ? 8 : 1,
                    .sh_entsize = symbols ? sizeof(Elf64_Sym) : 0};
    as_buf_add(d->file, table->data, table->bytes);
    as_buf_add(headers, &h, sizeof h);
}

static void link_sections(struct dyn *d)
{
    uint32_t dynsym = d->outs[dyn_out_of_rank(d, DYN_SYM)].number;
    uint32_t dynstr = d->outs[dyn_out_of_rank(d, DYN_STR)].number;
    for (uint32_t i = 1; i < d->n_outs; i++) {
        struct dyn_out *o = &d->outs[i];
        if (o->rank == DYN_SYM) {
            o->link = dynstr;
            o->info = 1;
        } else if (o->rank == DYN_DYNAMIC) {
            o->link = dynstr;
        } else if (o->rank == DYN_GNU_HASH || o->rank == DYN_HASH ||
                   o->rank == DYN_RELA) {
            o->link = dynsym;
        }
    }
}

static void write_headers(struct dyn *d, const struct phdrs *ph)
{
    struct as_buf headers = {0};
    Elf64_Shdr none = {0};
    Elf64_Ehdr e;
    uint32_t n = 1;
    link_sections(d);
    as_buf_add(&headers, &none, sizeof none);
    for (; d->order[n - 1]; n++)
        add_shdr(d, &headers, &d->outs[d->order[n - 1]]);
    uint32_t symtab = elf_string(&d->shstrtab, ".symtab", 7);
    uint32_t shstrtab = elf_string(&d->shstrtab, ".shstrtab", 9);
    uint32_t strtab = elf_string(&d->shstrtab, ".strtab", 7);
    add_last(d, &headers, symtab, SHT_SYMTAB, &d->symtab, n + 2);
    add_last(d, &headers, shstrtab, SHT_STRTAB, &d->shstrtab, 0);
    add_last(d, &headers, strtab, SHT_STRTAB, &d->strtab, 0);
    as_buf_align(d->file, 8);
    elf_header(d->as, &e, ET_DYN);
    e.e_phoff = sizeof e;
    e.e_phentsize = sizeof(Elf64_Phdr);
    e.e_phnum = (Elf64_Half)ph->n;
    e.e_shoff = d->file->bytes;
    e.e_shnum = (Elf64_Half)(n + 3);
    e.e_shstrndx = (Elf64_Half)(n + 1);
    as_buf_add(d->file, headers.data, headers.bytes);
    if (headers.failed)
        d->file->failed = true;
    if (!d->file->failed) {
        memcpy(d->file->data, &e, sizeof e);
        memcpy(d->file->data + sizeof e, ph->p, ph->n * sizeof ph->p[0]);
    }
    free(headers.data);
}

static void write_file(struct dyn *d)
{
    struct phdrs ph = {0};
    make_phdrs(d, &ph);
    write_loaded(d);
    if (!d->file->failed)
        write_others(d);
    if (d->file->failed || d->dynsym.failed || d->dynamic.failed || d->dynstr.failed ||
        d->hash.failed || d->gnu_hash.failed || d->got.failed)
        return;
    dyn_tables_fill(d);
    dyn_relocs_apply(d);
    copy_tables(d);
    write_headers(d, &ph);
}

static void free_all(struct dyn *d)
{
    struct as_buf *bufs[] = {&d->dynsym, &d->gnu_hash, &d->hash, &d->dynstr,
                             &d->rela,   &d->dynamic,  &d->got,  &d->symtab,
                             &d->strtab, &d->shstrtab};
    for (size_t i = 0; i < sizeof bufs / sizeof bufs[0]; i++)
        free(bufs[i]->data);
    free(d->outs);
    free(d->out_map.slots);
    free(d->out_of);
    free(d->at);
    free(d->order);
    free(d->exports);
    free(d->got_symbols);
}

bool as_write_dyn(struct as *as, struct as_buf *out)
{
    struct dyn d = {.as = as, .file = out};
    if (gather(&d) && dyn_relocs_plan(&d) && dyn_tables_plan(&d)) {
        add_tables(&d);
        if (!as->stop && as->result.errors == 0 && sort_outs(&d)) {
            assign_addresses(&d);
            write_file(&d);
        }
    }
    if (out->failed || d.symtab.failed || d.strtab.failed || d.shstrtab.failed ||
        d.rela.failed)
        as_out_of_memory(as);
    free_all(&d);
    return !as->stop && as->result.errors == 0;
}
