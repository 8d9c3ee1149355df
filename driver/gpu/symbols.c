/* symbols.c: what the kernel or function at an address is called.
 *
 * Runtimes that load a code object as its program headers say bring its file header and
 * its dynamic symbols along, below the code. They are looked for there, and believed
 * only as far as everything read lies in memory that the GPU may read. Must not know
 * who loaded it; where nothing is found (a runtime that copies code alone), there is no
 * name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

enum { PAGE = 4096, FARTHEST = 64 << 20, MAX_SYMBOLS = 1 << 20, MAX_HEADERS = 64 };

/* Where the file header is that the code at an address belongs to; 0: nowhere. */
static uint64_t find_header(struct gpu *gpu, uint64_t entry, Elf64_Ehdr *e)
{
    for (uint64_t va = entry / PAGE * PAGE; va && entry - va < FARTHEST; va -= PAGE) {
        if (!gpu_read(gpu, va, e, sizeof *e))
            return 0;
        if (memcmp(e->e_ident, ELFMAG, SELFMAG) == 0)
            return e->e_machine == 224 && e->e_phentsize == sizeof(Elf64_Phdr) &&
                           e->e_phnum <= MAX_HEADERS
                       ? va
                       : 0;
    }
    return 0;
}

struct symbols {
    uint64_t table, text, text_bytes, hash;
    uint32_t n;
};

static bool find_symbols(struct gpu *gpu, uint64_t base, const Elf64_Ehdr *e,
                         struct symbols *s)
{
    Elf64_Phdr p = {0};
    Elf64_Dyn d;
    unsigned i = 0;
    while (i < e->e_phnum && p.p_type != PT_DYNAMIC)
        if (!gpu_read(gpu, base + e->e_phoff + sizeof p * i++, &p, sizeof p))
            return false;
    if (p.p_type != PT_DYNAMIC)
        return false;
    *s = (struct symbols){0};
    for (uint64_t at = 0; at + sizeof d <= p.p_memsz; at += sizeof d) {
        if (!gpu_read(gpu, base + p.p_vaddr + at, &d, sizeof d) || d.d_tag == DT_NULL)
            break;
        uint64_t value = d.d_un.d_val;
        if (d.d_tag == DT_SYMTAB)
            s->table = base + value;
        if (d.d_tag == DT_STRTAB)
            s->text = base + value;
        if (d.d_tag == DT_STRSZ)
            s->text_bytes = value;
        if (d.d_tag == DT_HASH)
            s->hash = base + value;
    }
    uint32_t buckets[2]; /* their number, and that of the symbols */
    if (!s->hash || !gpu_read(gpu, s->hash, buckets, sizeof buckets))
        return false;
    s->n = buckets[1];
    return s->table && s->text && s->n <= MAX_SYMBOLS;
}

bool gpu_symbol(void *ctx, uint64_t pc, char *name, size_t size, uint64_t *start)
{
    struct gpu *gpu = ctx;
    Elf64_Ehdr e;
    struct symbols s;
    Elf64_Sym sym;
    uint64_t base = find_header(gpu, pc, &e);
    if (!base || !find_symbols(gpu, base, &e, &s) || size == 0)
        return false;
    for (uint32_t i = 0; i < s.n; i++) {
        if (!gpu_read(gpu, s.table + sizeof sym * i, &sym, sizeof sym))
            return false;
        uint64_t inside = pc - base - sym.st_value;
        if (ELF64_ST_TYPE(sym.st_info) != STT_FUNC ||
            inside >= (sym.st_size ? sym.st_size : 1) || sym.st_name >= s.text_bytes)
            continue;
        size_t n = 0;
        while (n + 1 < size && sym.st_name + n < s.text_bytes &&
               gpu_read(gpu, s.text + sym.st_name + n, &name[n], 1) && name[n])
            n++;
        name[n] = '\0';
        *start = base + sym.st_value;
        return n > 0;
    }
    return false;
}

uint64_t gpu_image(struct gpu *gpu, uint64_t pc)
{
    Elf64_Ehdr e;
    return find_header(gpu, pc, &e);
}

bool gpu_kernel_name(struct gpu *gpu, uint64_t entry, char *name, size_t size)
{
    uint64_t start;
    return gpu_symbol(gpu, entry, name, size, &start) && start == entry;
}
