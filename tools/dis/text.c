/* text.c: names, expressions and labels of a source file.
 *
 * Must not know sections' contents. Invariant: an expression makes the relocation that
 * it was made of. SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "amdgpu_reloc.h"
#include "asm.h"
#include "demangle.h"
#include "write.h"

static bool plain(const char *name)
{
    static const char start[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$";
    size_t n = strlen(name);
    if (n == 0 || !strchr(start, name[0]))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!strchr(start, name[i]) && !(name[i] >= '0' && name[i] <= '9'))
            return false;
    return true;
}

/* A name between quotes cannot hold these; no compiler makes such names. */
static char allowed(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < ' ' ? '?' : c;
}

void dis_put_name(FILE *out, const char *name)
{
    if (plain(name)) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fputc(allowed(*name), out);
    fputc('"', out);
}

static size_t name_text(char *text, size_t room, const char *name)
{
    bool quotes = !plain(name);
    size_t n = (size_t)snprintf(text, room, "%s%s%s", quotes ? "\"" : "", name,
                                quotes ? "\"" : "");
    for (size_t i = 1; text && quotes && i + 1 < n && i < room; i++)
        text[i] = allowed(text[i]);
    return n;
}

/* What follows a symbol for each type of relocation. */
static const struct {
    const char *specifier;
    const char *after;
    uint32_t type;
    bool in_data, in_code;
} kinds[] = {
    {"@abs32@lo", "", R_AMDGPU_ABS32_LO, true, true},
    {"@abs32@hi", "", R_AMDGPU_ABS32_HI, true, true},
    {"", "", R_AMDGPU_ABS64, true, false},
    {"", "-.", R_AMDGPU_REL32, true, false},
    {"", "", R_AMDGPU_REL32, false, true}, /* LLVM's rule for literals */
    {"@rel64", "", R_AMDGPU_REL64, true, false},
    {"", "", R_AMDGPU_ABS32, true, false},
    {"@gotpcrel", "", R_AMDGPU_GOTPCREL, true, true},
    {"@gotpcrel32@lo", "", R_AMDGPU_GOTPCREL32_LO, true, true},
    {"@gotpcrel32@hi", "", R_AMDGPU_GOTPCREL32_HI, true, true},
    {"@rel32@lo", "", R_AMDGPU_REL32_LO, true, true},
    {"@rel32@hi", "", R_AMDGPU_REL32_HI, true, true},
    {"", "", R_AMDGPU_RELATIVE64, true, false},
    {"", "", R_AMDGPU_REL16, false, true},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* The first symbol of a section at or behind an offset: index into by_place. */
static uint32_t symbol_at(const struct dis_object *o, const struct dis_section *s,
                          uint64_t offset)
{
    uint32_t lo = s->first, hi = s->first + s->n_symbols;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (o->symbols[o->by_place[mid]].value < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The section that holds an address of a loadable file: one that begins there, else
 * one that it lies in or just behind. */
static uint32_t section_of(const struct dis_object *o, uint64_t addr)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->n_sections; i++) {
        const struct dis_section *s = &o->sections[i];
        if (!s->written || !(s->flags & SHF_ALLOC) || addr < s->addr ||
            addr - s->addr > s->bytes)
            continue;
        if (!best || addr - s->addr < s->bytes)
            best = i;
    }
    return best;
}

/* A name to count from, and the distance to an address: the symbol there, or the
 * section. A symbol that another file could replace would be looked up by name. */
static const char *place_name(const struct dis_object *o, uint64_t addr, uint64_t *rest)
{
    uint32_t number = section_of(o, addr);
    const struct dis_section *s = &o->sections[number];
    if (!number)
        return NULL;
    *rest = addr - s->addr;
    for (uint32_t i = symbol_at(o, s, *rest); i < s->first + s->n_symbols; i++) {
        const struct dis_symbol *y = &o->symbols[o->by_place[i]];
        if (y->value != *rest)
            break;
        if (y->bind == STB_LOCAL || y->vis != STV_DEFAULT) {
            *rest = 0;
            return y->name;
        }
    }
    return s->name;
}

/* A local symbol at a place of a section: branches take no sums. */
static const char *local_at(const struct dis_object *o, uint32_t section,
                            uint64_t value)
{
    const struct dis_section *s = &o->sections[section];
    for (uint32_t i = s->first; i < s->first + s->n_symbols; i++) {
        const struct dis_symbol *y = &o->symbols[o->by_place[i]];
        if (y->value == value && y->bind == STB_LOCAL)
            return y->name;
    }
    return NULL;
}

bool dis_place_known(const struct dis_object *o, uint64_t addr)
{
    return section_of(o, addr) != 0;
}

/* What a relocation counts from, as a source names it; "" if it is nothing. */
static const char *counts_from(const struct dis_object *o, const struct dis_reloc *r,
                               char label[32])
{
    const struct dis_symbol *symbol = &o->symbols[r->symbol];
    if (r->symbol == 0)
        return "";
    if (symbol->type != STT_SECTION || symbol->section >= o->n_sections)
        return symbol->name;
    if (!o->sections[symbol->section].group)
        return o->sections[symbol->section].name;
    /* its name stands for another */
    snprintf(label, 32, ".Lsection_%" PRIu32, symbol->section);
    return label;
}

const char *dis_expression(struct dis_writer *w, const struct dis_section *s,
                           const struct dis_reloc *r, bool data)
{
    const struct dis_object *o = w->o;
    const struct dis_symbol *symbol = &o->symbols[r->symbol];
    char label[32];
    const char *name = counts_from(o, r, label);
    uint64_t addend = (uint64_t)r->addend;
    uint64_t rest = 0;
    size_t k = 0;
    (void)s;
    while (k < N_KINDS &&
           (kinds[k].type != r->type || !(data ? kinds[k].in_data : kinds[k].in_code)))
        k++;
    if (k == N_KINDS)
        return NULL;
    if (r->target) {
        name = place_name(o, r->target, &rest);
        addend += rest;
    } else if (r->type == R_AMDGPU_RELATIVE64) {
        name = place_name(o, addend, &addend);
    }
    if (r->type == R_AMDGPU_REL16 && addend) {
        name = symbol->type == STT_SECTION && symbol->section < o->n_sections
                   ? local_at(o, symbol->section, addend)
                   : NULL;
        addend = 0;
    }
    if (!name || !*name || !w->expression)
        return NULL;
    size_t room = w->expression_bytes;
    size_t n = name_text(w->expression, room, name);
    n += (size_t)snprintf(w->expression + n, room - n, "%s", kinds[k].specifier);
    if (addend)
        n +=
            (size_t)snprintf(w->expression + n, room - n, "%+" PRId64, (int64_t)addend);
    snprintf(w->expression + n, room - n, "%s", kinds[k].after);
    return w->expression;
}

/* Would the assembler know the distance? That of two places in one section, save from
 * an instruction to a global symbol; a word of data is no instruction, even in code. */
static bool is_settled(const struct dis_writer *w, const struct dis_section *s,
                       const struct dis_reloc *r)
{
    const struct dis_symbol *to = &w->o->symbols[r->symbol];
    return to->section < w->o->n_sections && &w->o->sections[to->section] == s &&
           (r->type == R_AMDGPU_REL32 ||
            (r->type == R_AMDGPU_REL16 && to->bind == STB_LOCAL));
}

/* Does an operand or a word of data make the relocation, and the bytes around it? What
 * a relocation sets is zero then, save in branches. */
static bool is_natural(struct dis_writer *w, const struct dis_section *s,
                       const struct dis_reloc *r, bool code)
{
    unsigned size = asm_reloc_size(r->type);
    if (!size || r->offset > s->bytes || size > s->bytes - r->offset ||
        r->type == R_AMDGPU_RELATIVE64 || is_settled(w, s, r) ||
        (!dis_expression(w, s, r, true) && !(code && dis_expression(w, s, r, false))))
        return false;
    for (uint64_t at = r->offset; s->data && at < r->offset + size; at++)
        if (s->data[at] != (r->type == R_AMDGPU_REL16 ? 0xff : 0))
            return false;
    return true;
}

static int by_order(const void *a, const void *b)
{
    const struct dis_reloc *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

bool dis_part_relocs(struct dis_writer *w, struct dis_section *s, bool code)
{
    uint32_t kept = 0;
    uint64_t end = 0;
    if (!w->o->info->relocatable || s->n_relocs == 0 || s->odd)
        return true;
    s->odd = malloc(s->n_relocs * sizeof *s->odd);
    if (!s->odd)
        return false;
    for (uint32_t i = 0; i < s->n_relocs; i++) {
        struct dis_reloc r = s->relocs[i];
        if (r.offset < end || !is_natural(w, s, &r, code)) {
            s->odd[s->n_odd++] = r;
            continue;
        }
        end = r.offset + asm_reloc_size(r.type);
        s->relocs[kept++] = r;
    }
    s->n_relocs = kept;
    qsort(s->odd, s->n_odd, sizeof *s->odd, by_order);
    return true;
}

void dis_put_odd(struct dis_writer *w, struct dis_section *s, uint32_t order)
{
    for (; s->next_odd < s->n_odd && s->odd[s->next_odd].order < order; s->next_odd++) {
        const struct dis_reloc *r = &s->odd[s->next_odd];
        char label[32];
        const char *name = counts_from(w->o, r, label);
        if (!asm_reloc_name(r->type)) {
            w->lost++;
            continue;
        }
        printf("\t.reloc\t%" PRIu64 ", %s", r->offset, asm_reloc_name(r->type));
        if (*name) {
            printf(", ");
            dis_put_name(stdout, name);
        }
        if (r->addend)
            printf(*name ? "%+" PRId64 : ", %" PRId64, r->addend);
        putchar('\n');
    }
}

uint32_t dis_reloc_at(const struct dis_section *s, uint64_t offset)
{
    uint32_t lo = 0, hi = s->n_relocs;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->relocs[mid].offset < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint64_t dis_next_symbol(const struct dis_object *o, const struct dis_section *s,
                         uint64_t offset)
{
    uint32_t i = symbol_at(o, s, offset + 1);
    if (i == s->first + s->n_symbols)
        return s->bytes;
    uint64_t value = o->symbols[o->by_place[i]].value;
    return value < s->bytes ? value : s->bytes;
}

void dis_put_labels(const struct dis_writer *w, const struct dis_section *s,
                    uint64_t offset)
{
    const struct dis_object *o = w->o;
    for (uint32_t i = symbol_at(o, s, offset); i < s->first + s->n_symbols; i++) {
        const struct dis_symbol *y = &o->symbols[o->by_place[i]];
        char plain_name[512];
        if (y->value != offset)
            return;
        if (y->type == STT_OBJECT && dis_object_kernel(o, y) && offset < s->bytes)
            continue; /* .amdhsa_kernel defines it, or data.c does */
        putchar('\n');
        dis_put_name(stdout, y->name);
        printf(": // %s, %" PRIu64 " bytes%s%s\n",
               y->type == STT_FUNC     ? "function"
               : y->type == STT_OBJECT ? "object"
                                       : "symbol",
               y->bytes, demangle(y->name, plain_name, sizeof plain_name) ? ": " : "",
               demangle(y->name, plain_name, sizeof plain_name) ? plain_name : "");
    }
}

void dis_put_inside(const struct dis_writer *w, const struct dis_section *s,
                    uint64_t from, uint64_t to)
{
    const struct dis_object *o = w->o;
    for (uint32_t i = symbol_at(o, s, from + 1); i < s->first + s->n_symbols; i++) {
        const struct dis_symbol *y = &o->symbols[o->by_place[i]];
        if (y->value >= to)
            return;
        printf("\t.set\t");
        dis_put_name(stdout, y->name);
        printf(", .-%" PRIu64 "\n", to - y->value);
    }
}
