/* walk.c: use everything that an open code object offers.
 *
 * Serves the fuzzer and the tests with damaged files: under the sanitizers, a stray
 * pointer or length shows when it is followed.
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger images are legitimate (zero-filled data) but not worth a test's memory. */
#define MAX_LOAD (UINT64_C(16) << 20)

static uint64_t text_sum(const char *text)
{
    return text ? strlen(text) : 1;
}

static uint64_t bytes_sum(const uint8_t *data, uint64_t bytes)
{
    uint64_t sum = bytes;
    for (uint64_t i = 0; data && i < bytes; i++)
        sum += data[i];
    return sum;
}

static void check_text(const struct co_error *err)
{
    size_t n = strnlen(err->text, sizeof err->text);
    if (n == 0 || n == sizeof err->text) {
        fprintf(stderr, "error text missing or endless\n");
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        if (err->text[i] < ' ' || err->text[i] > '~') {
            fprintf(stderr, "error text with unprintable characters\n");
            abort();
        }
    }
}

static uint64_t walk_layout(const struct co_object *obj, uint64_t image_bytes)
{
    uint64_t sum = 0, end = 0;
    for (unsigned i = 0; i < co_segment_count(obj); i++) {
        const struct co_segment *s = co_segment_at(obj, i);
        if (s->offset < end || s->bytes == 0 || s->offset + s->bytes > image_bytes ||
            s->data_bytes > s->bytes)
            abort();
        end = s->offset + s->bytes;
        sum += bytes_sum(s->data, s->data_bytes) + s->flags;
    }
    for (unsigned i = 0; i < co_section_count(obj); i++) {
        const struct co_section *s = co_section_at(obj, i);
        if (s->in_image && s->offset + s->bytes > image_bytes)
            abort();
        sum += text_sum(s->name) + s->offset +
               (s->data ? bytes_sum(s->data, s->bytes) : 0);
    }
    return sum;
}

static uint64_t walk_symbols(const struct co_object *obj, uint64_t image_bytes)
{
    uint64_t sum = 0, displacement;
    for (unsigned i = 0; i < co_symbol_count(obj); i++) {
        const struct co_symbol *s = co_symbol_at(obj, i);
        if (s->place == CO_PLACE_IMAGE && s->value > image_bytes)
            abort();
        sum += text_sum(s->name) + s->value + s->bytes + s->kind;
        if (s->section && !co_section_at(obj, s->section))
            abort();
        if (co_symbol_near(obj, s->value, &displacement))
            sum += displacement;
    }
    if (co_symbol_near(obj, UINT64_MAX, &displacement))
        abort();
    return sum;
}

static uint64_t walk_kernels(const struct co_object *obj)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < co_kernel_count(obj); i++) {
        const struct co_kernel *k = co_kernel_at(obj, i), *found;
        struct co_error err = {""};
        sum += text_sum(k->name) + k->code_bytes + k->desc.vgprs;
        if (co_kernel_find(obj, k->name, &found, &err) != RD_OK)
            abort();
        rd_status st = co_kernel_check(obj, k, &err);
        if (st != RD_OK)
            check_text(&err);
        sum += (uint64_t)st;
        if (!k->meta)
            continue;
        sum += text_sum(k->meta->name) + text_sum(k->meta->language) +
               text_sum(k->meta->kind) + text_sum(k->meta->symbol);
        for (uint32_t a = 0; a < k->meta->n_args; a++) {
            const struct co_arg *arg = &k->meta->args[a];
            sum += text_sum(arg->name) + text_sum(arg->type_name) +
                   text_sum(arg->kind_text) +
                   text_sum(co_value_text((enum co_value_kind)arg->kind));
            if ((uint64_t)arg->offset + arg->bytes > k->meta->kernarg_bytes)
                abort();
        }
    }
    return sum;
}

static uint64_t walk_load(const struct co_object *obj, uint64_t gpuva)
{
    uint64_t bytes, align;
    struct co_error err = {""};
    co_image_size(obj, &bytes, &align);
    if (bytes > MAX_LOAD)
        return 1;
    uint8_t *image = calloc(1, bytes ? (size_t)bytes : 1);
    if (!image)
        return 2;
    rd_status st = co_load(obj, image, (size_t)bytes, gpuva & ~(align - 1), &err);
    uint64_t sum = st == RD_OK ? bytes_sum(image, bytes) : 0;
    if (st != RD_OK)
        check_text(&err);
    if (bytes == 0 && st != RD_E_FORMAT)
        abort();
    free(image);
    return sum;
}

uint64_t walk_object(const struct co_object *obj)
{
    uint64_t bytes, align;
    struct co_error err = {""};
    const struct co_kernel *none;
    co_image_size(obj, &bytes, &align);
    if (align == 0 || (align & (align - 1)))
        abort();
    if (bytes == 0 && (!co_info(obj)->relocatable || co_segment_count(obj)))
        abort();
    uint64_t sum = walk_layout(obj, bytes) + walk_symbols(obj, bytes) +
                   walk_kernels(obj) + walk_load(obj, 0) +
                   walk_load(obj, UINT64_C(0x7f1234560000));
    /* a name that no kernel can have: the fuzzer invents all others */
    if (co_kernel_find(obj, "", &none, &err) == RD_OK)
        abort();
    check_text(&err);
    return sum + text_sum(co_info(obj)->target) + text_sum(co_info(obj)->isa);
}

rd_status walk_bytes(const void *data, size_t size, uint64_t *sum)
{
    struct co_object *obj = NULL;
    struct co_error err = {""};
    rd_status st = co_open(data, size, &obj, &err);
    if (st != RD_OK) {
        check_text(&err);
        if (obj)
            abort();
        return st;
    }
    *sum += walk_object(obj);
    co_close(obj);
    return RD_OK;
}
