/* join.c: which semantics function belongs to which opcode.
 *
 * Function names are base mnemonics; the other spellings of the same meaning (v_cmpx_,
 * v_dual_, flat_/global_/scratch_/buffer_, ds_..._rtn) are derived here by rule. What
 * has no function is listed in sem/unsupported.def, and a test holds that list equal to
 * what this file finds.
 * SPDX-License-Identifier: MIT
 */
#include "join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct name_index {
    const struct sem_entry **v;
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    const struct sem_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static rd_status index_entries(const struct level_ops *level, struct name_index *out)
{
    size_t n = 0;
    for (const struct sem_entry *const *f = level->entries; *f; f++)
        for (const struct sem_entry *e = *f; e->name; e++)
            n++;
    out->v = malloc((n ? n : 1) * sizeof(struct sem_entry *));
    if (!out->v)
        return RD_E_NOMEM;
    out->n = 0;
    for (const struct sem_entry *const *f = level->entries; *f; f++)
        for (const struct sem_entry *e = *f; e->name; e++)
            out->v[out->n++] = e;
    qsort(out->v, n, sizeof *out->v, by_name);
    return RD_OK;
}

static const struct sem_entry *find(const struct name_index *ix, const char *name)
{
    struct sem_entry key = {.name = name};
    const struct sem_entry *p = &key;
    const struct sem_entry **hit = bsearch(&p, ix->v, ix->n, sizeof *ix->v, by_name);
    return hit ? *hit : NULL;
}

static const struct sem_entry *find2(const struct name_index *ix, const char *prefix,
                                     const char *rest)
{
    char name[96];
    snprintf(name, sizeof name, "%s%s", prefix, rest);
    return find(ix, name);
}

/* Remove the first occurrence of part from s. */
static bool cut(char *s, const char *part)
{
    char *p = strstr(s, part);
    if (!p)
        return false;
    memmove(p, p + strlen(part), strlen(p + strlen(part)) + 1);
    return true;
}

/* ds_load_u16_d16_hi -> load_d16_hi_b16: LDS puts d16 last and says u16 for b16. */
static void ds_d16(char *s)
{
    bool hi = cut(s, "_d16_hi"), d16 = hi || cut(s, "_d16");
    char *type = strrchr(s, '_');
    if (!d16 || !type)
        return;
    char name[64];
    snprintf(name, sizeof name, "%.*s_d16_%s%s", (int)(type - s), s, hi ? "hi_" : "",
             strcmp(type + 1, "u16") ? type + 1 : "b16");
    memcpy(s, name, strlen(name) + 1);
}

static const struct sem_entry *find_ds(const struct name_index *ix, const char *name)
{
    char s[64];
    snprintf(s, sizeof s, "%s", name + 3);
    cut(s, "_rtn");
    cut(s, "_2addr");
    cut(s, "_stride64");
    if (!strncmp(s, "storexchg_", 10))
        return find2(ix, "atomic_swap_", s + 10);
    if (!strncmp(s, "cmpstore_", 9))
        return find2(ix, "atomic_cmpswap_", s + 9);
    ds_d16(s);
    if (!strncmp(s, "load_", 5) || !strncmp(s, "store_", 6))
        return find(ix, s);
    return find2(ix, "atomic_", s);
}

/* Image instructions of a kind share a function; the micro-op has their differences. */
static const struct sem_entry *find_image(const struct name_index *ix, const char *name)
{
    static const char *const kinds[] = {"image_sample", "image_gather4", "image_load",
                                        "image_store", "image_atomic"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(name, kinds[i], strlen(kinds[i])))
            return find(ix, kinds[i]);
    if (!strcmp(name, "image_bvh64_intersect_ray"))
        return find(ix, "image_bvh_intersect_ray");
    return NULL;
}

static const struct sem_entry *find_op(const struct name_index *ix, const char *name)
{
    static const char *const spaces[] = {"flat_", "global_", "scratch_", "tbuffer_",
                                         "buffer_"};
    const struct sem_entry *e = find(ix, name);
    if (e)
        return e;
    if (!strncmp(name, "v_cmpx_", 7))
        return find2(ix, "v_cmp_", name + 7);
    if (!strncmp(name, "v_dual_", 7))
        return find2(ix, "v_", name + 7);
    if (!strcmp(name, "exp")) /* a C function has that name */
        return find(ix, "export_values");
    if (!strncmp(name, "ds_", 3))
        return find_ds(ix, name);
    if (!strncmp(name, "image_", 6))
        return find_image(ix, name);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!strncmp(name, spaces[i], strlen(spaces[i])))
            return find(ix, name + strlen(spaces[i]));
    return NULL;
}

rd_status join_semantics(const struct level_ops *level,
                         const struct sem_entry *sem[ISA_OP_COUNT])
{
    struct name_index ix;
    rd_status st = index_entries(level, &ix);
    if (st != RD_OK)
        return st;
    for (unsigned op = 1; op < ISA_OP_COUNT; op++)
        sem[op] = find_op(&ix, isa_op_name(op));
    free(ix.v);
    return RD_OK;
}
