/* kernel.c: kernels: descriptor, code, metadata and name joined.
 *
 * A kernel is a defined object symbol NAME.kd of 64 bytes. In relocatable files the
 * linker would still have to fill in the descriptor's entry offset, so relocations that
 * fall into descriptors are applied to a copy before decoding.
 * Invariant: descriptors lie in file-backed parts of the image, 64-aligned, so distinct
 * ones never overlap.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "near.h"

#define SUFFIX       ".kd"
#define SUFFIX_BYTES 3

/* One descriptor on its way: where it is, whose name it has, its bytes. */
struct draft {
    uint64_t offset;
    unsigned symbol;
    size_t name_bytes; /* without the suffix */
    uint8_t kd[CO_KD_BYTES];
};

static bool is_kernel_symbol(const struct co_symbol *s, size_t *name_bytes)
{
    if (s->place != CO_PLACE_IMAGE || s->kind != CO_SYM_OBJECT)
        return false;
    size_t n = strlen(s->name);
    if (n <= SUFFIX_BYTES || strcmp(s->name + n - SUFFIX_BYTES, SUFFIX) != 0)
        return false;
    *name_bytes = n - SUFFIX_BYTES;
    return true;
}

static rd_status make_draft(const struct co_object *obj, unsigned symbol,
                            struct draft *out, struct co_error *err)
{
    const struct co_symbol *s = &obj->symbols[symbol];
    if (s->bytes != CO_KD_BYTES)
        return co_fail(err, RD_E_FORMAT,
                       "symbol %u '%.64s': st_size is %" PRIu64
                       ", a kernel descriptor has %d bytes",
                       symbol, s->name, s->bytes, CO_KD_BYTES);
    if (s->value % CO_KD_ALIGN)
        return co_fail(err, RD_E_FORMAT,
                       "symbol %u '%.64s': st_value 0x%" PRIx64
                       " is not %d-aligned, as a kernel descriptor must be",
                       symbol, s->name, s->value, CO_KD_ALIGN);
    const uint8_t *kd = co_bytes_at(obj, obj->info.base_addr + s->value, CO_KD_BYTES);
    if (!kd)
        return co_fail(err, RD_E_FORMAT,
                       "symbol %u '%.64s': st_value 0x%" PRIx64
                       ": no %d bytes of the file are loaded there",
                       symbol, s->name, s->value, CO_KD_BYTES);
    out->offset = s->value;
    out->symbol = symbol;
    memcpy(out->kd, kd, CO_KD_BYTES);
    return RD_OK;
}

static int compare_drafts(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* The first draft at the descriptor that holds a place; n if there is none. */
static unsigned find_draft(const struct draft *drafts, unsigned n, uint64_t place)
{
    uint64_t offset = place - place % CO_KD_ALIGN;
    unsigned lo = 0, hi = n;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        if (drafts[mid].offset < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && drafts[lo].offset == offset ? lo : n;
}

/* Apply the relocations that fall into descriptors, for an image at 0: what a
 * descriptor relocates is the distance to its code. */
static rd_status relocate_drafts(const struct co_object *obj, struct draft *drafts,
                                 unsigned n, struct co_error *err)
{
    for (unsigned t = 0; t < obj->n_relas; t++) {
        for (uint64_t i = 0; i < obj->relas[t].count; i++) {
            uint64_t place;
            unsigned d = n;
            if (co_rela_place(&obj->relas[t], i, &place))
                d = find_draft(drafts, n, place);
            if (d == n)
                continue;
            struct co_fixup f;
            rd_status st = co_rela_fixup(obj, &obj->relas[t], i, 0, &f, err);
            if (st != RD_OK)
                return st;
            uint64_t at = f.place - drafts[d].offset;
            if (f.bytes && range_ok(at, f.bytes, CO_KD_BYTES))
                store_le(drafts[d].kd + at, f.value, f.bytes);
        }
    }
    /* further names of one descriptor share its bytes */
    for (unsigned i = 1; i < n; i++)
        if (drafts[i].offset == drafts[i - 1].offset)
            memcpy(drafts[i].kd, drafts[i - 1].kd, CO_KD_BYTES);
    return RD_OK;
}

/* ---- joining ----------------------------------------------------------------- */

static int compare_meta_symbol(const void *symbol, const void *meta)
{
    return strcmp(symbol, ((const struct co_kernel_meta *)meta)->symbol);
}

static uint64_t code_bytes(const struct co_object *obj, uint64_t entry)
{
    const struct co_segment *segment = co_segment_of(obj, entry);
    if (!segment || entry - segment->offset >= segment->data_bytes)
        return 0;
    uint64_t room = segment->data_bytes - (entry - segment->offset), displacement;
    const struct co_symbol *s = co_symbol_near(obj, entry, &displacement);
    if (s && displacement == 0 && s->kind == CO_SYM_FUNC && s->bytes && s->bytes < room)
        return s->bytes;
    return room;
}

static rd_status join(struct co_object *obj, const struct draft *drafts, unsigned n,
                      size_t name_bytes, struct co_error *err)
{
    obj->kernels = co_array(n, sizeof *obj->kernels);
    obj->kernel_names = co_array((uint64_t)name_bytes + n, 1);
    if (!obj->kernels || !obj->kernel_names)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u kernels", n);
    char *name = obj->kernel_names;
    for (unsigned i = 0; i < n; i++) {
        const char *symbol = obj->symbols[drafts[i].symbol].name;
        struct co_kernel *k = &obj->kernels[i];
        memcpy(name, symbol, drafts[i].name_bytes);
        k->name = name;
        name += drafts[i].name_bytes + 1;
        k->desc_offset = drafts[i].offset;
        co_kd_parse(drafts[i].kd, &k->desc);
        k->entry_offset = k->desc_offset + (uint64_t)k->desc.entry_offset;
        k->code_bytes = code_bytes(obj, k->entry_offset);
        if (obj->n_metas)
            k->meta = bsearch(symbol, obj->metas, obj->n_metas, sizeof *obj->metas,
                              compare_meta_symbol);
    }
    obj->n_kernels = n;
    return RD_OK;
}

rd_status co_read_kernels(struct co_object *obj, struct co_error *err)
{
    unsigned n = 0;
    size_t names = 0, bytes;
    for (unsigned i = 0; i < obj->n_symbols; i++) {
        if (!is_kernel_symbol(&obj->symbols[i], &bytes))
            continue;
        n++;
        /* many symbols can share one long string: do not let them multiply it */
        if (!range_ok(names, bytes, obj->size))
            return co_fail(err, RD_E_FORMAT,
                           "symbol %u '%.32s...': kernel names exceed the file's size",
                           i, obj->symbols[i].name);
        names += bytes;
    }
    struct draft *drafts = co_array(n, sizeof *drafts);
    if (!drafts)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u kernels", n);
    rd_status st = RD_OK;
    unsigned made = 0;
    for (unsigned i = 0; st == RD_OK && i < obj->n_symbols; i++) {
        if (!is_kernel_symbol(&obj->symbols[i], &bytes))
            continue;
        drafts[made].name_bytes = bytes;
        st = make_draft(obj, i, &drafts[made++], err);
    }
    if (st == RD_OK) {
        qsort(drafts, n, sizeof *drafts, compare_drafts);
        st = relocate_drafts(obj, drafts, n, err);
    }
    if (st == RD_OK)
        st = join(obj, drafts, n, names, err);
    free(drafts);
    return st;
}

/* ---- public ------------------------------------------------------------------ */

unsigned co_kernel_count(const struct co_object *obj)
{
    return obj->n_kernels;
}

const struct co_kernel *co_kernel_at(const struct co_object *obj, unsigned i)
{
    return i < obj->n_kernels ? &obj->kernels[i] : NULL;
}

static rd_status no_kernel(const struct co_object *obj, const char *name,
                           struct co_error *err)
{
    char list[160] = "";
    size_t used = 0;
    for (unsigned i = 0; i < obj->n_kernels; i++) {
        int n = snprintf(list + used, sizeof list - used, "%s%.48s", i ? ", " : "",
                         obj->kernels[i].name);
        if (n < 0 || (size_t)n >= sizeof list - used) {
            snprintf(list + used, sizeof list - used, "...");
            break;
        }
        used += (size_t)n;
    }
    if (obj->n_kernels == 0)
        return co_fail(err, RD_E_NOT_FOUND, "the code object has no kernel");
    if (!name)
        return co_fail(err, RD_E_NOT_FOUND,
                       "the code object has %u kernels, name one of: %s",
                       obj->n_kernels, list);
    struct rd_near near;
    rd_near_begin(&near, name, strlen(name));
    for (unsigned i = 0; i < obj->n_kernels && obj->n_kernels > 1; i++)
        rd_near_try(&near, obj->kernels[i].name);
    if (near.best)
        return co_fail(err, RD_E_NOT_FOUND,
                       "no kernel '%.64s'; did you mean %.64s? There is: %s", name,
                       near.best, list);
    return co_fail(err, RD_E_NOT_FOUND, "no kernel '%.64s'; there is: %s", name, list);
}

rd_status co_kernel_find(const struct co_object *obj, const char *name,
                         const struct co_kernel **out, struct co_error *err)
{
    if (!name && obj->n_kernels == 1) {
        *out = &obj->kernels[0];
        return RD_OK;
    }
    for (unsigned i = 0; name && i < obj->n_kernels; i++) {
        size_t n = strlen(obj->kernels[i].name);
        if (strncmp(name, obj->kernels[i].name, n) == 0 &&
            (name[n] == 0 || strcmp(name + n, SUFFIX) == 0)) {
            *out = &obj->kernels[i];
            return RD_OK;
        }
    }
    return no_kernel(obj, name, err);
}

static rd_status check_meta(const struct co_kernel *k, struct co_error *err)
{
    const struct co_kernel_meta *m = k->meta;
    if (m->wave != 0 && m->wave != k->desc.wave)
        return co_fail(err, RD_E_FORMAT,
                       "kernel '%.64s': the metadata says wave%" PRIu32
                       ", the descriptor wave%u",
                       k->name, m->wave, k->desc.wave);
    if (k->desc.kernarg_bytes != 0 && m->kernarg_bytes != k->desc.kernarg_bytes)
        return co_fail(err, RD_E_FORMAT,
                       "kernel '%.64s': the metadata says %" PRIu32
                       " bytes of kernarg segment, the descriptor %" PRIu32,
                       k->name, m->kernarg_bytes, k->desc.kernarg_bytes);
    return RD_OK;
}

rd_status co_kernel_check(const struct co_object *obj, const struct co_kernel *kernel,
                          struct co_error *err)
{
    rd_status st = co_kd_check(&kernel->desc, err);
    if (st != RD_OK)
        return st;
    const struct co_segment *segment = co_segment_of(obj, kernel->entry_offset);
    if (!segment || !(segment->flags & CO_EXEC) || kernel->code_bytes == 0)
        return co_fail(err, RD_E_FORMAT,
                       "kernel '%.64s': KERNEL_CODE_ENTRY_BYTE_OFFSET %" PRId64
                       " leads to image offset 0x%" PRIx64
                       ", which is not in executable code",
                       kernel->name, kernel->desc.entry_offset, kernel->entry_offset);
    if (kernel->entry_offset % CO_CODE_ALIGN)
        return co_fail(err, RD_E_FORMAT,
                       "kernel '%.64s': the entry point at image offset 0x%" PRIx64
                       " is not %d-aligned",
                       kernel->name, kernel->entry_offset, CO_CODE_ALIGN);
    return kernel->meta ? check_meta(kernel, err) : RD_OK;
}
