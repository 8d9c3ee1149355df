/* dyn_reloc.c: relocations of a loadable file: applied, or left to the loader.
 *
 * Must not know tables or segments. Invariant: a symbol of this file is bound to this
 * file, save whole addresses of symbols that other files may replace (global ones of
 * default visibility, as in lld): those the loader looks up, as it does weak ones that
 * this file does not define.
 * SPDX-License-Identifier: MIT
 */
#include "dyn.h"

#include <stdlib.h>

static bool is_got(uint32_t type)
{
    return type == R_AMDGPU_GOTPCREL || type == R_AMDGPU_GOTPCREL32_LO ||
           type == R_AMDGPU_GOTPCREL32_HI;
}

static bool loaded(const struct dyn *d, uint32_t section)
{
    return (d->as->sections[section].flags & SHF_ALLOC) != 0;
}

/* An address that moves with the file. */
static bool moves(const struct dyn *d, uint32_t symbol)
{
    uint32_t section = d->as->symbols[symbol].section;
    return section != 0 && section < AS_SEC_LDS && loaded(d, section);
}

/* Nobody here has it, another file may; else it is 0. */
static bool maybe_elsewhere(const struct dyn *d, uint32_t symbol)
{
    const struct as_symbol *s = &d->as->symbols[symbol];
    return s->section == 0 && s->bind == STB_WEAK && s->vis == STV_DEFAULT;
}

/* The loader looks it up by name, in case another file has one, too. */
static bool replaceable(const struct dyn *d, uint32_t symbol)
{
    const struct as_symbol *s = &d->as->symbols[symbol];
    return maybe_elsewhere(d, symbol) ||
           (moves(d, symbol) && dyn_exported(d, s) && s->vis == STV_DEFAULT);
}

/* Its address is known when the file is loaded. */
static bool is_late(const struct dyn *d, uint32_t symbol)
{
    return moves(d, symbol) || maybe_elsewhere(d, symbol);
}

/* One more dynamic relocation for the address of a symbol. */
static void count_address(struct dyn *d, uint32_t symbol)
{
    d->n_rela++;
    d->n_relative += !replaceable(d, symbol);
}

static void error_symbol(struct dyn *d, const struct as_reloc *r, const char *before,
                         const char *after)
{
    const struct as_symbol *s = &d->as->symbols[r->symbol];
    as_error_at(d->as, r->at, r->line, "%s '%.*s'%s", before,
                (int)(s->name_len > 100 ? 100 : s->name_len), s->name ? s->name : "",
                after);
}

/* Is there something to set, and is all of it in the section? */
static bool check_place(struct dyn *d, const struct as_reloc *r)
{
    unsigned size = asm_reloc_size(r->type);
    uint64_t bytes = d->as->sections[r->section].bytes;
    if (size == 0 || r->type == R_AMDGPU_RELATIVE64)
        as_error_at(d->as, r->at, r->line,
                    "%s sets nothing in a loadable file (-c writes a relocatable one)",
                    asm_reloc_name(r->type));
    else if (r->offset > bytes || size > bytes - r->offset)
        as_error_at(d->as, r->at, r->line,
                    "the %u bytes of %s do not lie in their section", size,
                    asm_reloc_name(r->type));
    else
        return true;
    return false;
}

static bool check(struct dyn *d, const struct as_reloc *r)
{
    struct as_symbol *s = &d->as->symbols[r->symbol];
    const struct as_section *in = &d->as->sections[r->section];
    if (!check_place(d, r))
        return false;
    if (s->section == 0) /* what is named is in the tables, as in lld's */
        s->flags |= AS_SYM_USED;
    if (!(in->flags & SHF_ALLOC)) /* for debuggers; what is missing is 0, as in lld */
        return true;
    if (r->symbol == 0) {
        as_error_at(d->as, r->at, r->line,
                    "a relocation without a symbol needs a relocatable file (-c)");
        return false;
    }
    if (s->section == 0 && s->bind != STB_WEAK) {
        error_symbol(d, r, "undefined symbol",
                     ": a loadable file has no other file to find it in (-c writes a "
                     "relocatable one)");
        return false;
    }
    if (s->section == AS_SEC_LDS) {
        error_symbol(d, r, "LDS variable",
                     " has no address before linking (-c writes a relocatable file)");
        return false;
    }
    bool absolute = r->type == R_AMDGPU_ABS32 || r->type == R_AMDGPU_ABS32_LO ||
                    r->type == R_AMDGPU_ABS32_HI;
    if (absolute && moves(d, r->symbol)) {
        error_symbol(d, r, "half of the address of",
                     " cannot be known before loading: use @rel32");
        return false;
    }
    if (maybe_elsewhere(d, r->symbol) && r->type != R_AMDGPU_ABS64 &&
        !is_got(r->type)) {
        error_symbol(d, r, "the address of",
                     ", which is weak and not defined here, is known to the loader: "
                     "use @gotpcrel32, or .hidden");
        return false;
    }
    if (r->type == R_AMDGPU_ABS64 && is_late(d, r->symbol) &&
        !(in->flags & SHF_WRITE)) {
        error_symbol(d, r, "the address of",
                     " in a section that is not writable: use .data or .data.rel.ro");
        return false;
    }
    return true;
}

/* GOT entries of the symbols that ask for one (elf is 1), in the order of the symbol
 * table, as in lld. */
static void plan_got(struct dyn *d)
{
    struct as *as = d->as;
    for (uint32_t i = 1; i < as->n_symbols; i++)
        if (as->symbols[i].elf) {
            d->got_symbols[d->n_got++] = i;
            as->symbols[i].elf = d->n_got;
            if (is_late(d, i))
                count_address(d, i);
        }
}

bool dyn_relocs_plan(struct dyn *d)
{
    struct as *as = d->as;
    d->got_symbols = calloc(as->n_relocs + 1, sizeof *d->got_symbols);
    if (!d->got_symbols) {
        as_out_of_memory(as);
        return false;
    }
    for (uint32_t i = 1; i < as->n_symbols; i++)
        as->symbols[i].elf = 0;
    for (uint32_t i = 0; i < as->n_relocs; i++) {
        const struct as_reloc *r = &as->relocs[i];
        struct as_symbol *s = &as->symbols[r->symbol];
        if (!check(d, r) || !loaded(d, r->section))
            continue;
        if (r->type == R_AMDGPU_ABS64 && is_late(d, r->symbol))
            count_address(d, r->symbol);
        if (is_got(r->type))
            s->elf = 1;
    }
    plan_got(d);
    uint8_t *got = d->n_got ? as_buf_more(&d->got, 8ul * d->n_got) : NULL;
    if (got)
        memset(got, 0, 8ul * d->n_got);
    return as->result.errors == 0;
}

/* The symbol's number in .dynsym. */
static uint64_t dynamic_number(const struct dyn *d, uint32_t symbol)
{
    uint32_t i = 0;
    while (i < d->n_exports && d->exports[i] != symbol)
        i++;
    return i + 1ull;
}

/* The address is in the relocation, not in its place: zero there, as lld leaves it. */
static void add_address(struct dyn *d, uint64_t place, uint32_t symbol, uint64_t addend)
{
    Elf64_Rela r = {.r_offset = place};
    if (replaceable(d, symbol)) {
        r.r_info = ELF64_R_INFO(dynamic_number(d, symbol), R_AMDGPU_ABS64);
        r.r_addend = (int64_t)addend;
    } else {
        r.r_info = ELF64_R_INFO(0ull, R_AMDGPU_RELATIVE64);
        r.r_addend = (int64_t)(dyn_symbol_address(d, symbol) + addend);
    }
    as_buf_add(&d->rela, &r, sizeof r);
}

static bool named(const struct as_section *s, const char *name)
{
    return s->name_len == strlen(name) && memcmp(s->name, name, s->name_len) == 0;
}

/* What lld writes into debug information for a place that is not there, whatever is
 * added to it: 0, and 1 where 0 would end a list. */
static void bury(const struct dyn *d, const struct as_reloc *r, uint64_t *value)
{
    const struct as_section *in = &d->as->sections[r->section];
    bool absolute = r->type == R_AMDGPU_ABS64 || r->type == R_AMDGPU_ABS32;
    if (absolute && d->as->symbols[r->symbol].section == 0 && in->name_len > 7 &&
        !(in->flags & SHF_ALLOC) && memcmp(in->name, ".debug_", 7) == 0)
        *value = named(in, ".debug_loc") || named(in, ".debug_ranges");
}

static void apply(struct dyn *d, const struct as_reloc *r)
{
    struct as *as = d->as;
    const struct as_symbol *sym = &as->symbols[r->symbol];
    const struct dyn_out *out = &d->outs[d->out_of[r->section]];
    if (d->out_of[r->section] == 0)
        return;
    uint64_t place = out->addr + d->at[r->section] + r->offset;
    uint8_t *at = d->file->data + out->offset + d->at[r->section] + r->offset;
    uint64_t s = dyn_symbol_address(d, r->symbol);
    uint64_t value = s + (uint64_t)r->addend;
    bury(d, r, &value);
    if (is_got(r->type))
        value = d->outs[d->got_out].addr + 8ul * (sym->elf - 1) + (uint64_t)r->addend;
    switch (r->type) {
    case R_AMDGPU_ABS64:
        if (loaded(d, r->section) && is_late(d, r->symbol))
            add_address(d, place, r->symbol, (uint64_t)r->addend);
        else
            as_put64(at, value);
        break;
    case R_AMDGPU_ABS32:
    case R_AMDGPU_ABS32_LO:
        as_put32(at, value);
        break;
    case R_AMDGPU_ABS32_HI:
        as_put32(at, value >> 32);
        break;
    case R_AMDGPU_REL64:
        as_put64(at, value - place);
        break;
    case R_AMDGPU_REL32:
    case R_AMDGPU_REL32_LO:
    case R_AMDGPU_GOTPCREL:
    case R_AMDGPU_GOTPCREL32_LO:
        as_put32(at, value - place);
        break;
    case R_AMDGPU_REL32_HI:
    case R_AMDGPU_GOTPCREL32_HI:
        as_put32(at, (value - place) >> 32);
        break;
    case R_AMDGPU_REL16:
        as_branch_value(as, r->at, r->line, (int64_t)(value - place), at);
        break;
    default: /* refused by check_place */
        break;
    }
}

/* Those without a symbol first, then by symbol and place: as lld sorts them, whatever
 * the source's order was. */
static int by_place(const void *a, const void *b)
{
    const Elf64_Rela *x = a;
    const Elf64_Rela *y = b;
    uint64_t s = ELF64_R_SYM(x->r_info);
    uint64_t t = ELF64_R_SYM(y->r_info);
    if (s != t)
        return s < t ? -1 : 1;
    return (x->r_offset > y->r_offset) - (x->r_offset < y->r_offset);
}

void dyn_relocs_apply(struct dyn *d)
{
    const struct dyn_out *got = &d->outs[d->n_got ? d->got_out : 0];
    for (uint32_t i = 0; i < d->as->n_relocs; i++)
        apply(d, &d->as->relocs[i]);
    for (uint32_t i = 0; i < d->n_got; i++) {
        uint64_t value = dyn_symbol_address(d, d->got_symbols[i]);
        if (is_late(d, d->got_symbols[i]))
            add_address(d, got->addr + 8ul * i, d->got_symbols[i], 0);
        else
            as_put64(d->file->data + got->offset + 8ul * i, value);
    }
    if (d->rela.bytes)
        qsort(d->rela.data, d->rela.bytes / sizeof(Elf64_Rela), sizeof(Elf64_Rela),
              by_place);
}
