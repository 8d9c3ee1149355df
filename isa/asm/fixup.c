/* fixup.c: at the end of the file: values into contents, the rest into relocations.
 *
 * Must not know ELF's layout. Invariant: bytes that a relocation will set are zero,
 * save branches, which hold -1 as LLVM leaves them. SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <elf.h>

#include "amdgpu_reloc.h"

static const uint8_t variant_type[] = {
    [AS_VAR_NONE] = R_AMDGPU_NONE,
    [AS_VAR_GOTPCREL] = R_AMDGPU_GOTPCREL,
    [AS_VAR_GOTPCREL_LO] = R_AMDGPU_GOTPCREL32_LO,
    [AS_VAR_GOTPCREL_HI] = R_AMDGPU_GOTPCREL32_HI,
    [AS_VAR_REL_LO] = R_AMDGPU_REL32_LO,
    [AS_VAR_REL_HI] = R_AMDGPU_REL32_HI,
    [AS_VAR_REL64] = R_AMDGPU_REL64,
    [AS_VAR_ABS_LO] = R_AMDGPU_ABS32_LO,
    [AS_VAR_ABS_HI] = R_AMDGPU_ABS32_HI,
};

/* Types of relocations, as .reloc names them. */
static const char *const type_names[] = {
    [R_AMDGPU_NONE] = "R_AMDGPU_NONE",
    [R_AMDGPU_ABS32_LO] = "R_AMDGPU_ABS32_LO",
    [R_AMDGPU_ABS32_HI] = "R_AMDGPU_ABS32_HI",
    [R_AMDGPU_ABS64] = "R_AMDGPU_ABS64",
    [R_AMDGPU_REL32] = "R_AMDGPU_REL32",
    [R_AMDGPU_REL64] = "R_AMDGPU_REL64",
    [R_AMDGPU_ABS32] = "R_AMDGPU_ABS32",
    [R_AMDGPU_GOTPCREL] = "R_AMDGPU_GOTPCREL",
    [R_AMDGPU_GOTPCREL32_LO] = "R_AMDGPU_GOTPCREL32_LO",
    [R_AMDGPU_GOTPCREL32_HI] = "R_AMDGPU_GOTPCREL32_HI",
    [R_AMDGPU_REL32_LO] = "R_AMDGPU_REL32_LO",
    [R_AMDGPU_REL32_HI] = "R_AMDGPU_REL32_HI",
    [R_AMDGPU_RELATIVE64] = "R_AMDGPU_RELATIVE64",
    [R_AMDGPU_REL16] = "R_AMDGPU_REL16",
};

const char *asm_reloc_name(uint32_t type)
{
    return type < sizeof type_names / sizeof *type_names ? type_names[type] : NULL;
}

unsigned asm_reloc_size(uint32_t type)
{
    switch (type) {
    case R_AMDGPU_NONE:
        return 0;
    case R_AMDGPU_REL16:
        return 2;
    case R_AMDGPU_ABS64:
    case R_AMDGPU_REL64:
    case R_AMDGPU_RELATIVE64:
        return 8;
    default:
        return asm_reloc_name(type) ? 4 : 0;
    }
}

static void put(struct as *as, const struct as_fixup *f, uint64_t value)
{
    uint8_t *at = as->sections[f->section].data + f->offset;
    for (unsigned i = 0; i < f->size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void relocate(struct as *as, const struct as_fixup *f, uint32_t symbol,
                     uint32_t type, int64_t addend)
{
    if (!as_grow((void **)&as->relocs, &as->cap_relocs, as->n_relocs,
                 sizeof *as->relocs)) {
        as_out_of_memory(as);
        return;
    }
    as->relocs[as->n_relocs++] = (struct as_reloc){.offset = f->offset,
                                                   .addend = addend,
                                                   .section = f->section,
                                                   .symbol = symbol,
                                                   .type = type,
                                                   .line = f->line,
                                                   .at = f->at};
}

static const char *name_of(const struct as *as, uint32_t symbol, int *len)
{
    const struct as_symbol *s = &as->symbols[symbol];
    *len = (int)(s->name_len > 100 ? 100 : s->name_len);
    return s->name ? s->name : "";
}

/* Distance from the fixup to the symbol if it cannot change any more. */
static bool local_distance(const struct as *as, const struct as_fixup *f,
                           const struct as_value *v, int64_t *out)
{
    const struct as_symbol *s = &as->symbols[v->a];
    if (s->section != f->section || s->bind != STB_LOCAL || v->variant)
        return false;
    *out = (int64_t)(s->value + (uint64_t)v->k - f->offset);
    return true;
}

void as_branch_value(struct as *as, const char *at, uint32_t line, int64_t distance,
                     uint8_t *out)
{
    int64_t dwords = (distance - 4) / 4;
    if (distance % 4 != 0)
        as_error_at(as, at, line, "the branch target is not at a multiple of 4 bytes");
    else if (dwords < INT16_MIN || dwords > INT16_MAX)
        as_error_at(as, at, line,
                    "the branch target is %lld dwords away: simm16 holds -32768 to "
                    "32767",
                    (long long)dwords);
    else
        as_put16(out, (uint64_t)dwords);
}

static void fix_branch(struct as *as, const struct as_fixup *f,
                       const struct as_value *v)
{
    int64_t distance;
    int len;
    const char *name = name_of(as, v->a, &len);
    if (v->a == 0 || v->b || v->variant) {
        as_error_at(as, f->at, f->line, "a branch target must be a label");
        return;
    }
    if (as->symbols[v->a].section == 0) {
        as_error_at(as, f->at, f->line, "undefined label '%.*s'", len, name);
        return;
    }
    if (local_distance(as, f, v, &distance)) {
        as_branch_value(as, f->at, f->line, distance,
                        as->sections[f->section].data + f->offset);
        return;
    }
    put(as, f, 0xffff);
    relocate(as, f, v->a, R_AMDGPU_REL16, v->k);
}

static bool fits(int64_t k, unsigned bytes)
{
    if (bytes >= 8)
        return true;
    int64_t top = (int64_t)1 << (8 * bytes);
    return k < top && k >= -(top / 2);
}

/* A dword or quadword that names a symbol. */
static void fix_symbol(struct as *as, const struct as_fixup *f, struct as_value v)
{
    const struct as_symbol *a = &as->symbols[v.a];
    bool relative = f->kind == AS_FIX_LITERAL && as_is_pc_relative(as, f->node);
    int64_t distance;
    int len;
    const char *name = name_of(as, v.b, &len);
    if (v.b) {
        const struct as_symbol *b = &as->symbols[v.b];
        if (b->section != f->section || v.a == 0) {
            as_error_at(as, f->at, f->line,
                        b->section ? "'%.*s' is subtracted but lies in another section"
                                   : "'%.*s' is subtracted but not defined",
                        len, name);
            return;
        }
        v.k = (int64_t)((uint64_t)v.k + f->offset - b->value);
        relative = true;
    }
    if (f->size != 4 && f->size != 8) {
        as_error_at(as, f->at, f->line,
                    "%u byte%s cannot hold an address: it needs 4 or 8", f->size,
                    f->size > 1 ? "s" : "");
        return;
    }
    if (relative && local_distance(as, f, &v, &distance) && fits(distance, f->size)) {
        put(as, f, (uint64_t)distance);
        return;
    }
    uint32_t type = f->size == 8 ? (relative ? R_AMDGPU_REL64 : R_AMDGPU_ABS64)
                                 : (relative ? R_AMDGPU_REL32 : R_AMDGPU_ABS32);
    if (v.variant)
        type = variant_type[v.variant];
    else if (a->name && (as_same(a->name, a->name_len, "SCRATCH_RSRC_DWORD0") ||
                         as_same(a->name, a->name_len, "SCRATCH_RSRC_DWORD1")))
        type = R_AMDGPU_ABS32_LO;
    if ((type == R_AMDGPU_REL64 || type == R_AMDGPU_ABS64) != (f->size == 8)) {
        as_error_at(as, f->at, f->line, "the relocation does not have %u bytes",
                    f->size);
        return;
    }
    relocate(as, f, v.a, type, v.k);
}

/* A place of this section and a symbol plus a number, whatever the type asks for. */
static void fix_reloc(struct as *as, const struct as_fixup *f)
{
    struct as_value v = {0}, place;
    const struct as_section *in = &as->sections[f->section];
    if (in->type == SHT_NOBITS)
        as_error_at(as, f->at, f->line, "a relocation in a section without contents");
    else if (!as_eval(as, (struct ex_value){.node = f->place, .k = (int64_t)f->offset},
                      AS_EVAL_NOW, &place) ||
             place.b || place.variant ||
             (place.a && as->symbols[place.a].section != f->section))
        as_error_at(as, f->at, f->line, "the place must be one in this section");
    else if (f->node &&
             (!as_eval(as, (struct ex_value){.node = f->node}, AS_EVAL_NOW, &v) ||
              v.b || v.variant))
        as_error_at(as, f->at, f->line, "expected a number or a symbol plus a number");
    else {
        struct as_fixup at = *f;
        at.offset = (uint64_t)place.k + (place.a ? as->symbols[place.a].value : 0);
        if (f->node == 0)
            v.k = f->k;
        if (at.offset > in->bytes)
            as_error_at(as, f->at, f->line, "the place lies outside of its section");
        else
            relocate(as, &at, v.a, f->size, v.k);
    }
}

static void fix(struct as *as, const struct as_fixup *f)
{
    struct as_value v;
    if (f->kind == AS_FIX_RELOC) {
        fix_reloc(as, f);
        return;
    }
    if (!as_eval(as, (struct ex_value){.node = f->node}, AS_EVAL_NOW, &v)) {
        as_error_at(as, f->at, f->line,
                    "the expression is neither a number nor a symbol plus a number");
        return;
    }
    if (f->kind == AS_FIX_BRANCH) {
        fix_branch(as, f, &v);
    } else if (v.a || v.b) {
        if (f->kind == AS_FIX_SIMM16)
            as_error_at(as, f->at, f->line,
                        "this operand must be a number: it cannot be relocated");
        else
            fix_symbol(as, f, v);
    } else if (!fits(v.k, f->size)) {
        as_error_at(as, f->at, f->line, "the value %lld does not fit %u byte%s",
                    (long long)v.k, f->size, f->size > 1 ? "s" : "");
    } else {
        put(as, f, (uint64_t)v.k);
    }
}

/* Sizes must be numbers by now; they are kept in size.k. */
static void fix_sizes(struct as *as)
{
    for (uint32_t i = 1; i < as->n_symbols; i++) {
        struct as_symbol *s = &as->symbols[i];
        int64_t k;
        if (s->size.node == 0)
            continue;
        if (!as_eval_number(as, s->size, AS_EVAL_NOW, &k)) {
            int len;
            const char *name = name_of(as, i, &len);
            as_error_at(as, NULL, 0, "the size of '%.*s' is not a number", len, name);
            k = 0;
        }
        as->symbols[i].size = (struct ex_value){.k = k};
    }
}

/* Symbols set to an expression become places or numbers, as the symbol table has
 * nothing else. What cannot is left out; what is global must be one. */
static void fix_variables(struct as *as)
{
    for (uint32_t i = 1; i < as->n_symbols; i++) {
        struct as_symbol *s = &as->symbols[i];
        struct as_value v;
        if (s->section != AS_SEC_VAR || s->node == 0)
            continue;
        bool ok = as_eval(as, (struct ex_value){.node = s->node}, AS_EVAL_NOW, &v) &&
                  !v.b && !v.variant;
        uint32_t section = v.a && ok ? as->symbols[v.a].section : 0;
        ok = ok && (v.a == 0 || (section != 0 && section < AS_SEC_LDS));
        s = &as->symbols[i];
        if (!ok) {
            int len;
            const char *name = name_of(as, i, &len);
            if (s->bind != STB_LOCAL)
                as_error_at(as, s->at, s->line,
                            "'%.*s' is global but set to what is neither a place nor a "
                            "number",
                            len, name);
            s->flags &= (uint8_t)~AS_SYM_USED;
            continue;
        }
        s->value = (uint64_t)v.k;
        if (v.a) {
            s->value += as->symbols[v.a].value;
            s->section = section;
        }
        s->node = 0;
    }
}

void as_fixups_finish(struct as *as)
{
    for (uint32_t i = 0; i < as->n_fixups && !as->stop; i++)
        fix(as, &as->fixups[i]);
    fix_sizes(as);
    fix_variables(as);
}
