/* reloc.c: relocation tables and the arithmetic of one relocation.
 *
 * Must not write to an image: load.c and kernel.c do, each to its own copy.
 * Invariant: co_rela_fixup hands out only places inside the table's window.
 * Source: LLVM AMDGPUUsage, "Relocation Records".
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    R_NONE = 0,
    R_ABS32_LO = 1,
    R_ABS32_HI = 2,
    R_ABS64 = 3,
    R_REL32 = 4,
    R_REL64 = 5,
    R_ABS32 = 6,
    R_GOTPCREL = 7,
    R_GOTPCREL32_LO = 8,
    R_GOTPCREL32_HI = 9,
    R_REL32_LO = 10,
    R_REL32_HI = 11,
    R_RELATIVE64 = 13,
    R_REL16 = 14
};

/* What a type computes, before it picks bits of it. */
enum formula { F_NONE, F_ABS, F_REL, F_GOT, F_BASE };
enum pick { P_LOW, P_HIGH, P_SIGNED, P_EITHER, P_BRANCH };

struct reloc_type {
    const char *name;
    uint8_t formula;
    uint8_t pick;
    uint8_t bytes;
};

/* A type with bytes 0 and no name does not exist. */
static const struct reloc_type types[] = {
    [R_NONE] = {"R_AMDGPU_NONE", F_NONE, P_LOW, 0},
    [R_ABS32_LO] = {"R_AMDGPU_ABS32_LO", F_ABS, P_LOW, 4},
    [R_ABS32_HI] = {"R_AMDGPU_ABS32_HI", F_ABS, P_HIGH, 4},
    [R_ABS64] = {"R_AMDGPU_ABS64", F_ABS, P_LOW, 8},
    [R_REL32] = {"R_AMDGPU_REL32", F_REL, P_SIGNED, 4},
    [R_REL64] = {"R_AMDGPU_REL64", F_REL, P_LOW, 8},
    [R_ABS32] = {"R_AMDGPU_ABS32", F_ABS, P_EITHER, 4},
    [R_GOTPCREL] = {"R_AMDGPU_GOTPCREL", F_GOT, P_SIGNED, 4},
    [R_GOTPCREL32_LO] = {"R_AMDGPU_GOTPCREL32_LO", F_GOT, P_LOW, 4},
    [R_GOTPCREL32_HI] = {"R_AMDGPU_GOTPCREL32_HI", F_GOT, P_HIGH, 4},
    [R_REL32_LO] = {"R_AMDGPU_REL32_LO", F_REL, P_LOW, 4},
    [R_REL32_HI] = {"R_AMDGPU_REL32_HI", F_REL, P_HIGH, 4},
    [R_RELATIVE64] = {"R_AMDGPU_RELATIVE64", F_BASE, P_LOW, 8},
    [R_REL16] = {"R_AMDGPU_REL16", F_REL, P_BRANCH, 2},
};

static const struct reloc_type *type_of(uint32_t type)
{
    if (type >= sizeof types / sizeof *types || !types[type].name)
        return NULL;
    return &types[type];
}

/* ---- tables ------------------------------------------------------------------ */

static rd_status dynamic_table(struct co_object *obj, uint64_t addr, uint64_t bytes,
                               const char *what, struct co_error *err)
{
    if (!bytes)
        return RD_OK;
    const uint8_t *data = co_bytes_at(obj, addr, bytes);
    if (!data || bytes % RELA_BYTES)
        return co_fail(err, RD_E_FORMAT,
                       "dynamic section: %s at 0x%" PRIx64 " with %" PRIu64
                       " bytes is not in the image or no multiple of %d",
                       what, addr, bytes, RELA_BYTES);
    obj->relas[obj->n_relas++] = (struct co_rela){
        .data = data,
        .count = bytes / RELA_BYTES,
        .first = obj->info.base_addr,
        .window = 0,
        .window_bytes = obj->image_bytes,
    };
    return RD_OK;
}

static rd_status section_table(struct co_object *obj, unsigned i,
                               const struct elf_shdr *sh, struct co_error *err)
{
    if (sh->info >= obj->n_sections)
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: sh_info %" PRIu32 " of %u sections", i,
                       sh->info, obj->n_sections);
    const struct co_section *target = &obj->sections[sh->info];
    if (!target->in_image || sh->size == 0)
        return RD_OK;
    if (sh->type == SHT_REL_)
        return co_fail(err, RD_E_UNSUPPORTED,
                       "section header %u: REL relocations for '%.64s' are not used by "
                       "AMDGPU objects",
                       i, target->name);
    if (!target->data)
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: relocations for '%.64s', which has no "
                       "contents",
                       i, target->name);
    if (sh->entsize != RELA_BYTES || sh->size % RELA_BYTES)
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: sh_entsize %" PRIu64 " or sh_size %" PRIu64
                       " does not suit entries of %d bytes",
                       i, sh->entsize, sh->size, RELA_BYTES);
    if (sh->link >= obj->n_sections || obj->sections[sh->link].data != obj->relsym.data)
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: sh_link %" PRIu32 " is not the symbol table",
                       i, sh->link);
    obj->relas[obj->n_relas++] = (struct co_rela){
        .data = obj->data + sh->offset,
        .count = sh->size / RELA_BYTES,
        .first = 0,
        .window = target->offset,
        .window_bytes = target->bytes,
        .section = i,
    };
    return RD_OK;
}

/* ---- GOT of a relocatable object --------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Collect the symbols that want an entry; each once, ascending. */
static rd_status collect_got(struct co_object *obj, struct co_error *err)
{
    uint64_t wanted = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned t = 0; t < obj->n_relas; t++) {
            for (uint64_t i = 0; i < obj->relas[t].count; i++) {
                struct elf_rela r = elf_rela_at(obj->relas[t].data, i);
                const struct reloc_type *type = type_of(r.type);
                if (!type || type->formula != F_GOT)
                    continue;
                if (pass == 0)
                    wanted++;
                else
                    obj->got_syms[obj->n_got++] = r.sym;
            }
        }
        if (wanted == 0)
            return RD_OK;
        if (pass == 0 && !(obj->got_syms = co_array(wanted, sizeof *obj->got_syms)))
            return co_fail(err, RD_E_NOMEM, "out of memory for %" PRIu64 " GOT entries",
                           wanted);
    }
    qsort(obj->got_syms, obj->n_got, sizeof *obj->got_syms, compare_u32);
    unsigned kept = 0;
    for (unsigned i = 0; i < obj->n_got; i++)
        if (kept == 0 || obj->got_syms[kept - 1] != obj->got_syms[i])
            obj->got_syms[kept++] = obj->got_syms[i];
    obj->n_got = kept;
    return RD_OK;
}

static rd_status layout_got(struct co_object *obj, struct co_error *err)
{
    rd_status st = collect_got(obj, err);
    if (st != RD_OK || obj->n_got == 0)
        return st;
    struct co_segment got = {.bytes = (uint64_t)obj->n_got * 8, .flags = CO_READ};
    return co_append_segment(obj, &got, CO_PAGE, "GOT of entries", obj->n_got,
                             &obj->got_offset, err);
}

rd_status co_read_relocs(struct co_object *obj, struct co_error *err)
{
    unsigned n = obj->info.relocatable ? obj->n_sections : 2;
    obj->relas = co_array(n, sizeof *obj->relas);
    if (!obj->relas)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u relocation tables", n);
    if (!obj->info.relocatable) {
        const struct co_dynamic *d = &obj->dynamic;
        rd_status st = dynamic_table(obj, d->rela, d->rela_bytes, "DT_RELA", err);
        if (st == RD_OK)
            st = dynamic_table(obj, d->jmprel, d->jmprel_bytes, "DT_JMPREL", err);
        return st;
    }
    for (unsigned i = 0; i < obj->n_sections; i++) {
        struct elf_shdr sh = elf_shdr_at(obj->data, &obj->header, i);
        if (sh.type != SHT_RELA_ && sh.type != SHT_REL_)
            continue;
        rd_status st = section_table(obj, i, &sh, err);
        if (st != RD_OK)
            return st;
    }
    return layout_got(obj, err);
}

/* ---- one relocation ---------------------------------------------------------- */

rd_status co_resolve(const struct co_object *obj, uint64_t index, uint64_t base,
                     uint64_t *value, struct co_error *err)
{
    const struct co_symtab *tab = &obj->relsym;
    if (index >= tab->count)
        return co_fail(err, RD_E_FORMAT,
                       "relocation: symbol index %" PRIu64 " of %" PRIu64, index,
                       tab->count);
    if (index == 0) { /* STN_UNDEF: the value 0, by the gABI */
        *value = 0;
        return RD_OK;
    }
    struct elf_sym sym = elf_sym_at(tab->data, index);
    const char *name;
    rd_status st = co_symbol_name(tab, &sym, index, &name, err);
    if (st != RD_OK)
        return st;
    if (obj->n_sections && sym.shndx < SHN_LORESERVE_ && sym.shndx >= obj->n_sections)
        return co_fail(err, RD_E_FORMAT, "symbol '%.64s': st_shndx %u of %u sections",
                       name, sym.shndx, obj->n_sections);
    switch (co_place_of(obj, &sym, value)) {
    case CO_PLACE_UNDEFINED:
        *value = 0;
        if (sym.bind == STB_WEAK_)
            return RD_OK;
        return co_fail(err, RD_E_NOT_FOUND, "undefined symbol '%.160s'", name);
    case CO_PLACE_IMAGE:
        *value += base;
        return RD_OK;
    case CO_PLACE_ABSOLUTE:
        return RD_OK;
    case CO_PLACE_OTHER:
    default:
        return co_fail(err, RD_E_UNSUPPORTED,
                       "relocation refers to '%.128s' (%s), which is not in the image",
                       name,
                       sym.shndx == SHN_AMDGPU_LDS_ ? "a variable in LDS"
                       : sym.shndx == SHN_COMMON_   ? "a common symbol"
                                                    : "a part that is not loaded");
    }
}

bool co_rela_place(const struct co_rela *t, uint64_t i, uint64_t *place)
{
    uint64_t at = elf_rela_at(t->data, i).offset - t->first;
    if (at >= t->window_bytes)
        return false;
    *place = t->window + at;
    return true;
}

static uint64_t got_entry(const struct co_object *obj, uint32_t sym)
{
    unsigned lo = 0, hi = obj->n_got;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        if (obj->got_syms[mid] < sym)
            lo = mid + 1;
        else
            hi = mid;
    }
    rd_assert(lo < obj->n_got && obj->got_syms[lo] == sym, "no GOT entry for %u", sym);
    return obj->got_offset + (uint64_t)lo * 8;
}

/* Take the bits that the type stores; false if value does not fit. */
static bool pick_bits(const struct reloc_type *type, uint64_t *value)
{
    int64_t v = (int64_t)*value;
    switch (type->pick) {
    case P_HIGH:
        *value >>= 32;
        return true;
    case P_SIGNED:
        return v >= INT32_MIN && v <= INT32_MAX;
    case P_EITHER:
        return v >= INT32_MIN && v <= (int64_t)UINT32_MAX;
    case P_BRANCH: /* from the next instruction on, in dwords */
        v = (int64_t)(*value - 4);
        *value = (uint64_t)(v / 4);
        return v % 4 == 0 && v / 4 >= INT16_MIN && v / 4 <= INT16_MAX;
    case P_LOW:
    default:
        return true;
    }
}

rd_status co_rela_fixup(const struct co_object *obj, const struct co_rela *t,
                        uint64_t i, uint64_t base, struct co_fixup *out,
                        struct co_error *err)
{
    struct elf_rela r = elf_rela_at(t->data, i);
    const struct reloc_type *type = type_of(r.type);
    if (!type || (type->formula == F_GOT && !obj->info.relocatable) ||
        (type->formula == F_BASE && obj->info.relocatable))
        return co_fail(err, RD_E_UNSUPPORTED,
                       "relocation %" PRIu64 " of section %u: type %" PRIu32
                       "%s%s is not for this kind of file",
                       i, t->section, r.type, type ? " " : "", type ? type->name : "");
    *out = (struct co_fixup){.bytes = type->bytes};
    if (type->bytes == 0)
        return RD_OK;
    if (!co_rela_place(t, i, &out->place) ||
        !range_ok(out->place - t->window, type->bytes, t->window_bytes))
        return co_fail(err, RD_E_FORMAT,
                       "relocation %" PRIu64 " of section %u: %s at r_offset 0x%" PRIx64
                       " leaves its target",
                       i, t->section, type->name, r.offset);

    uint64_t s = 0, p = base + out->place, a = (uint64_t)r.addend;
    if (type->formula == F_GOT) {
        s = base + got_entry(obj, r.sym);
    } else if (type->formula == F_BASE) {
        s = base - obj->info.base_addr;
    } else {
        rd_status st = co_resolve(obj, r.sym, base, &s, err);
        if (st != RD_OK)
            return st;
    }
    bool relative = type->formula == F_REL || type->formula == F_GOT;
    out->value = s + a - (relative ? p : 0);
    if (!pick_bits(type, &out->value))
        return co_fail(err, RD_E_RANGE,
                       "relocation %" PRIu64 " of section %u: %s at r_offset 0x%" PRIx64
                       ": the value 0x%" PRIx64 " does not fit",
                       i, t->section, type->name, r.offset, out->value);
    return RD_OK;
}
