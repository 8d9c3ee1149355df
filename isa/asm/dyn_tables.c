/* dyn_tables.c: symbol tables, hash tables and the dynamic section of a loadable file.
 *
 * Must not know relocations or file offsets. Invariant: .dynsym is in the order that
 * .gnu.hash demands: what others define first, then sorted by bucket.
 * SPDX-License-Identifier: MIT
 */
#include "dyn.h"

#include <stdlib.h>

#define BLOOM_SHIFT 26u

uint64_t dyn_symbol_address(const struct dyn *d, uint32_t symbol)
{
    const struct as_symbol *s = &d->as->symbols[symbol];
    if (s->section == 0)
        return 0;
    if (s->section >= AS_SEC_LDS)
        return s->value;
    return d->outs[d->out_of[s->section]].addr + d->at[s->section] + s->value;
}

uint32_t dyn_out_of_rank(const struct dyn *d, enum dyn_rank rank)
{
    for (uint32_t i = 1; i < d->n_outs; i++)
        if (d->outs[i].rank == rank && d->outs[i].kept)
            return i;
    return 0;
}

static bool is_local(const struct as_symbol *s)
{
    return elf_binding(s) == STB_LOCAL || s->vis == STV_HIDDEN ||
           s->vis == STV_INTERNAL;
}

bool dyn_exported(const struct dyn *d, const struct as_symbol *s)
{
    if (!elf_wanted(s) || is_local(s) || s->section == 0 || s->section == AS_SEC_LDS)
        return false;
    return s->section == AS_SEC_VAR || d->out_of[s->section] != 0;
}

/* Named, and not defined here. */
static bool imported(const struct as_symbol *s)
{
    return elf_wanted(s) && !is_local(s) && s->section == 0;
}

/* ---- hashes ---- */

static uint32_t gnu_hash(const struct as_symbol *s)
{
    uint32_t h = 5381;
    for (uint32_t i = 0; i < s->name_len; i++)
        h = h * 33 + (uint8_t)s->name[i];
    return h;
}

static uint32_t sysv_hash(const struct as_symbol *s)
{
    uint32_t h = 0;
    for (uint32_t i = 0; i < s->name_len; i++) {
        h = (h << 4) + (uint8_t)s->name[i];
        h ^= (h >> 24) & 0xf0;
    }
    return h & 0x0fffffff;
}

struct hashed {
    uint32_t symbol, hash, bucket, number, name;
};

static int by_bucket(const void *a, const void *b)
{
    const struct hashed *x = a;
    const struct hashed *y = b;
    if (x->bucket != y->bucket)
        return x->bucket < y->bucket ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint32_t bloom_words(uint32_t n)
{
    uint32_t bits = n * 12;
    uint32_t words = 1;
    if (bits == 0)
        return 1;
    while (words <= bits / 64) /* the next power of two */
        words *= 2;
    return words;
}

/* h: of n symbols, which stand behind those that others define. */
static void fill_gnu_hash(struct dyn *d, const struct hashed *h, uint32_t n,
                          uint32_t buckets)
{
    uint32_t first_symbol = 1 + d->n_exports - n;
    uint32_t words = bloom_words(n);
    uint8_t *out =
        as_buf_more(&d->gnu_hash, 16 + 8ul * words + 4ul * buckets + 4ul * n);
    if (!out)
        return;
    memset(out, 0, d->gnu_hash.bytes);
    as_put32(out, buckets);
    as_put32(out + 4, first_symbol);
    as_put32(out + 8, words);
    as_put32(out + 12, BLOOM_SHIFT);
    uint8_t *bloom = out + 16;
    uint8_t *bucket = bloom + 8ul * words;
    uint8_t *values = bucket + 4ul * buckets;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t hash = h[i].hash;
        uint8_t *word = bloom + 8ul * ((hash / 64) & (words - 1));
        word[(hash & 63) / 8] |= (uint8_t)(1u << (hash & 7));
        uint32_t second = hash >> BLOOM_SHIFT;
        word[(second & 63) / 8] |= (uint8_t)(1u << (second & 7));
        bool first = i == 0 || h[i - 1].bucket != h[i].bucket;
        bool last = i + 1 == n || h[i + 1].bucket != h[i].bucket;
        if (first)
            as_put32(bucket + 4ul * h[i].bucket, first_symbol + i);
        as_put32(values + 4ul * i, last ? hash | 1 : hash & ~1u);
    }
}

static void fill_sysv_hash(struct dyn *d)
{
    uint32_t n = d->n_exports + 1;
    uint8_t *out = as_buf_more(&d->hash, 8 + 8ul * n);
    if (!out)
        return;
    memset(out, 0, d->hash.bytes);
    as_put32(out, n);
    as_put32(out + 4, n);
    uint8_t *buckets = out + 8;
    uint8_t *chains = buckets + 4ul * n;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t b = sysv_hash(&d->as->symbols[d->exports[i - 1]]) % n;
        memcpy(chains + 4ul * i, buckets + 4ul * b, 4);
        as_put32(buckets + 4ul * b, i);
    }
}

/* ---- sizes ---- */

static void add_symbol(struct dyn *d, struct as_buf *table, uint32_t name,
                       uint32_t index, bool local)
{
    const struct as_symbol *s = &d->as->symbols[index];
    Elf64_Sym sym = {
        .st_name = name, .st_other = s->vis, .st_size = (uint64_t)s->size.k};
    sym.st_info = (uint8_t)ELF64_ST_INFO(local ? STB_LOCAL : elf_binding(s), s->type);
    as_buf_add(table, &sym, sizeof sym);
}

static void add_dynamic(struct dyn *d, uint32_t symbol, uint32_t name)
{
    d->exports[d->n_exports++] = symbol;
    add_symbol(d, &d->dynsym, name, symbol, false);
}

static bool choose_exports(struct dyn *d)
{
    struct as *as = d->as;
    struct hashed *h = calloc(as->n_symbols, sizeof *h);
    d->exports = calloc(as->n_symbols, sizeof *d->exports);
    if (!h || !d->exports) {
        free(h);
        as_out_of_memory(as);
        return false;
    }
    uint32_t n = 0;
    (void)elf_string(&d->dynstr, "", 0);
    for (uint32_t i = 1; i < as->n_symbols; i++) {
        const struct as_symbol *s = &as->symbols[i];
        if (imported(s))
            add_dynamic(d, i, elf_string(&d->dynstr, s->name, s->name_len));
        else if (dyn_exported(d, s)) {
            h[n] = (struct hashed){.symbol = i, .hash = gnu_hash(s), .number = n};
            h[n++].name = elf_string(&d->dynstr, s->name, s->name_len);
        }
    }
    uint32_t buckets = n / 4 ? n / 4 : 1;
    for (uint32_t i = 0; i < n; i++)
        h[i].bucket = h[i].hash % buckets;
    qsort(h, n, sizeof *h, by_bucket);
    for (uint32_t i = 0; i < n; i++)
        add_dynamic(d, h[i].symbol, h[i].name);
    fill_gnu_hash(d, h, n, buckets);
    fill_sysv_hash(d);
    free(h);
    return true;
}

static void plan_dynamic(struct dyn *d)
{
    unsigned entries = 7u + (d->n_rela ? 3u : 0u) + (d->n_relative ? 1u : 0u);
    uint8_t *out = as_buf_more(&d->dynamic, entries * sizeof(Elf64_Dyn));
    if (out)
        memset(out, 0, d->dynamic.bytes);
}

bool dyn_tables_plan(struct dyn *d)
{
    Elf64_Sym none = {0};
    as_buf_add(&d->dynsym, &none, sizeof none);
    if (!choose_exports(d))
        return false;
    plan_dynamic(d);
    return true;
}

/* ---- contents ---- */

/* Section and value of the symbol in a table. */
static void place_symbol(const struct dyn *d, uint32_t index, Elf64_Sym *sym)
{
    const struct as_symbol *s = &d->as->symbols[index];
    if (s->section == 0)
        sym->st_shndx = SHN_UNDEF;
    else if (s->section >= AS_SEC_LDS)
        sym->st_shndx = SHN_ABS;
    else
        sym->st_shndx = (Elf64_Half)d->outs[d->out_of[s->section]].number;
    sym->st_value = dyn_symbol_address(d, index);
}

static void fill_dynsym(struct dyn *d)
{
    Elf64_Sym *table = (Elf64_Sym *)(void *)d->dynsym.data;
    for (uint32_t i = 0; i < d->n_exports; i++)
        place_symbol(d, d->exports[i], &table[i + 1]);
}

static void append_placed(struct dyn *d, uint32_t index, bool local)
{
    const struct as_symbol *s = &d->as->symbols[index];
    uint32_t name = elf_string(&d->strtab, s->name, s->name_len);
    add_symbol(d, &d->symtab, name, index, local);
    if (!d->symtab.failed)
        place_symbol(d, index,
                     (Elf64_Sym *)(void *)(d->symtab.data + d->symtab.bytes) - 1);
}

static bool in_symtab(const struct dyn *d, const struct as_symbol *s)
{
    if (!elf_wanted(s) || s->section == 0)
        return elf_wanted(s);
    return s->section >= AS_SEC_LDS || d->out_of[s->section] != 0;
}

/* Locals, with _DYNAMIC among them, then globals. */
static void fill_symtab(struct dyn *d)
{
    const struct as *as = d->as;
    const struct dyn_out *dynamic = &d->outs[dyn_out_of_rank(d, DYN_DYNAMIC)];
    Elf64_Sym sym = {0};
    as_buf_add(&d->symtab, &sym, sizeof sym);
    sym = (Elf64_Sym){.st_name = elf_string(&d->strtab, "_DYNAMIC", 8),
                      .st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE),
                      .st_other = STV_HIDDEN,
                      .st_shndx = (Elf64_Half)dynamic->number,
                      .st_value = dynamic->addr};
    for (unsigned global = 0; global < 2; global++) {
        for (uint32_t i = 1; i < as->n_symbols; i++) {
            const struct as_symbol *s = &as->symbols[i];
            if (in_symtab(d, s) && is_local(s) == !global)
                append_placed(d, i, !global);
        }
        if (!global) {
            as_buf_add(&d->symtab, &sym, sizeof sym);
            d->first_global = (uint32_t)(d->symtab.bytes / sizeof sym);
        }
    }
}

static void fill_dynamic(struct dyn *d)
{
    Elf64_Dyn *out = (Elf64_Dyn *)(void *)d->dynamic.data;
    if (d->n_rela) {
        *out++ = (Elf64_Dyn){DT_RELA, {d->outs[dyn_out_of_rank(d, DYN_RELA)].addr}};
        *out++ = (Elf64_Dyn){DT_RELASZ, {d->n_rela * sizeof(Elf64_Rela)}};
        *out++ = (Elf64_Dyn){DT_RELAENT, {sizeof(Elf64_Rela)}};
        if (d->n_relative)
            *out++ = (Elf64_Dyn){DT_RELACOUNT, {d->n_relative}};
    }
    *out++ = (Elf64_Dyn){DT_SYMTAB, {d->outs[dyn_out_of_rank(d, DYN_SYM)].addr}};
    *out++ = (Elf64_Dyn){DT_SYMENT, {sizeof(Elf64_Sym)}};
    *out++ = (Elf64_Dyn){DT_STRTAB, {d->outs[dyn_out_of_rank(d, DYN_STR)].addr}};
    *out++ = (Elf64_Dyn){DT_STRSZ, {d->dynstr.bytes}};
    *out++ = (Elf64_Dyn){DT_GNU_HASH, {d->outs[dyn_out_of_rank(d, DYN_GNU_HASH)].addr}};
    *out++ = (Elf64_Dyn){DT_HASH, {d->outs[dyn_out_of_rank(d, DYN_HASH)].addr}};
    *out = (Elf64_Dyn){DT_NULL, {0}};
}

void dyn_tables_fill(struct dyn *d)
{
    fill_dynsym(d);
    fill_symtab(d);
    fill_dynamic(d);
}
