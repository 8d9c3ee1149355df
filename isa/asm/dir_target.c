/* dir_target.c: AMD's own directives, those that are accepted without effect, and the
 * directive table.
 *
 * Must not know statements. Invariant: a directive that is refused says why.
 * SPDX-License-Identifier: MIT
 */
#include "amdgpu_reloc.h"
#include "as.h"
#include "near.h"

#include <elf.h>
#include <stdlib.h>

#define TARGET "amdgcn-amd-amdhsa--"

/* Processors with these instructions, and what e_flags say of them. */
static const struct {
    const char *name;
    unsigned mach;
} targets[] = {{TARGET "gfx1100", EF_AMDGPU_GFX1100},
               {TARGET "gfx1101", EF_AMDGPU_GFX1101},
               {TARGET "gfx1102", EF_AMDGPU_GFX1102},
               {TARGET "gfx1103", EF_AMDGPU_GFX1103}};

static void dir_target(struct as *as, int arg)
{
    (void)arg;
    struct as_buf name = {0};
    unsigned i = 0, n = sizeof targets / sizeof *targets;
    as_blanks(as);
    const char *at = as->p;
    if (!as_string(as, &name)) {
        as_error(as, as->error.at, "%s", as->error.text);
    } else if (!name.failed) {
        while (i < n && !as_same((char *)name.data, name.bytes, targets[i].name))
            i++;
        if (i < n)
            as->mach = targets[i].mach;
        else
            as_error(as, at,
                     "this assembler's target is \"" TARGET
                     "gfx1100\", or gfx1101 to gfx1103");
    }
    free(name.data);
}

static void dir_version(struct as *as, int arg)
{
    (void)arg;
    int64_t version;
    as_blanks(as);
    const char *at = as->p;
    if (!as_absolute(as, &version))
        return;
    if (version < 4 || version > 6)
        as_error(as, at, "code object versions are 4, 5 and 6");
    else
        as->object_version = (unsigned)version;
}

/* .amdgpu_lds name, size[, align] */
static void dir_lds(struct as *as, int arg)
{
    (void)arg;
    const char *name;
    size_t len;
    int64_t size;
    int64_t align = 4;
    if (!as_need_name(as, "a symbol", &name, &len) || !as_expect(as, ','))
        return;
    as_blanks(as);
    const char *at = as->p;
    if (!as_absolute(as, &size))
        return;
    if (size < 0 || size > 65536) {
        as_error(as, at, "LDS has 65536 bytes");
        return;
    }
    if (as_take(as, ',')) {
        as_blanks(as);
        at = as->p;
        if (!as_absolute(as, &align))
            return;
        if (align <= 0 || (align & (align - 1)) || align > (int64_t)1 << 30) {
            as_error(as, at, "the alignment must be a power of two below 2^31");
            return;
        }
    }
    uint32_t symbol = as_symbol(as, name, len);
    struct as_symbol *s = &as->symbols[symbol];
    if (symbol == 0)
        return;
    if (s->section != 0) {
        as_error(as, name, "symbol is already defined");
        return;
    }
    s->section = AS_SEC_LDS;
    s->value = (uint64_t)align;
    s->size = (struct ex_value){.k = size};
    s->type = STT_OBJECT;
    as_defined_here(as, s);
    if (!(s->flags & AS_SYM_BOUND))
        s->bind = STB_GLOBAL;
}

static void dir_refused(struct as *as, int which)
{
    static const char *const why[] = {
        "amd_kernel_code_t is of code object version 1: use .amdhsa_kernel",
        "metadata of code object version 2 is not written: use .amdgpu_metadata",
        "this PAL metadata is not for HSA: use .amdgpu_pal_metadata",
        "this directive ends a block that was not begun",
    };
    as_error(as, as->p, "%s", why[which]);
}

/* For debuggers and linkers; the line table is not written. */
static void dir_ignored(struct as *as, int arg)
{
    (void)arg;
    while (!as_at_end(as)) {
        if (*as->p != '"') {
            as->p++;
            continue;
        }
        struct as_buf text = {0};
        bool ok = as_string(as, &text);
        free(text.data);
        if (!ok) {
            as_error(as, as->error.at, "%s", as->error.text);
            return;
        }
    }
}

const struct as_directive as_directives_target[] = {
    {".amdgcn_target", dir_target, 0},
    {".amdhsa_code_object_version", dir_version, 0},
    {".amdhsa_kernel", as_amdhsa_kernel, 0},
    {".amdgpu_metadata", as_amdgpu_metadata, 0},
    {".amdgpu_pal_metadata", as_amdgpu_metadata, 1},
    {".amdgpu_lds", dir_lds, 0},
    {".amd_kernel_code_t", dir_refused, 0},
    {".amdgpu_hsa_kernel", dir_refused, 0},
    {".hsa_code_object_version", dir_refused, 0},
    {".hsa_code_object_isa", dir_refused, 0},
    {".amd_amdgpu_isa", dir_refused, 1},
    {".amd_amdgpu_hsa_metadata", dir_refused, 1},
    {".amd_amdgpu_pal_metadata", dir_refused, 2},
    {".end_amdhsa_kernel", dir_refused, 3},
    {".end_amdgpu_metadata", dir_refused, 3},
    {".end_amdgpu_pal_metadata", dir_refused, 3},
    {NULL, NULL, 0},
};

const struct as_directive as_directives_ignored[] = {
    {".file", dir_ignored, 0},
    {".loc", dir_ignored, 0},
    {".addrsig", dir_ignored, 0},
    {".addrsig_sym", dir_ignored, 0},
    {".no_dead_strip", dir_ignored, 0},
    {".lto_discard", dir_ignored, 0},
    {NULL, NULL, 0},
};

static const struct as_directive *const tables[] = {
    as_directives_section, as_directives_data,    as_directives_symbol,
    as_directives_target,  as_directives_macro,   as_directives_cond,
    as_directives_ignored, as_directives_include, as_directives_cfi,
};

#define N_TABLES (sizeof tables / sizeof tables[0])

bool as_directives_init(struct as *as)
{
    for (uint32_t t = 0; t < N_TABLES; t++)
        for (uint32_t i = 0; tables[t][i].name; i++) {
            const char *name = tables[t][i].name;
            uint32_t *at = as_map_at(&as->directive_map, name, strlen(name), true);
            if (!at)
                return false;
            *at = (t + 1) << 16 | i;
        }
    return true;
}

const struct as_directive *as_directive_find(struct as *as, const char *name,
                                             size_t len)
{
    uint32_t found = as_map_get(&as->directive_map, name, len);
    char lower[40];
    if (!found && len < sizeof lower) {
        for (size_t i = 0; i < len; i++)
            lower[i] =
                name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
        found = as_map_get(&as->directive_map, lower, len);
    }
    return found ? &tables[(found >> 16) - 1][found & 0xffff] : NULL;
}

const char *as_directive_near(const char *name, size_t len)
{
    struct rd_near near;
    rd_near_begin(&near, name, len);
    for (unsigned t = 0; t < N_TABLES; t++)
        for (unsigned i = 0; tables[t][i].name; i++)
            rd_near_try(&near, tables[t][i].name);
    return near.best;
}
