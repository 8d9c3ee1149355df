/* kernargs.c: the kernarg segment: explicit arguments checked and placed, hidden ones
 * filled in.
 *
 * Must not know how arguments were written by the user. Invariant: nothing is placed
 * before everything has been checked.
 * SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_KERNARG_BYTES 65536u

/* "argument 2 ('i32:5', n)" */
static const char *label(const struct la_arg *arg, unsigned i,
                         const struct co_arg *meta, char *text, size_t size)
{
    const char *name = meta && meta->name ? meta->name : "";
    snprintf(text, size, "argument %u ('%.40s'%s%.40s)", i, arg->text,
             *name ? ", " : "", name);
    return text;
}

static rd_status check_arg(const struct la_arg *arg, unsigned i,
                           const struct co_arg *meta, struct la_error *err)
{
    static const char *const class_text[] = {"an integer", "a floating-point number",
                                             "a buffer", "bytes"};
    char text[128];
    if (arg->bytes != meta->bytes)
        return la_fail(err, RD_E_INVALID,
                       "%s: the kernel takes %u byte%s here (%s), this is %u",
                       label(arg, i, meta, text, sizeof text), meta->bytes,
                       meta->bytes == 1 ? "" : "s", meta->kind_text, arg->bytes);
    bool fits = true;
    if (meta->kind == CO_VALUE_GLOBAL_BUFFER)
        fits = arg->cls != LA_FLOAT;
    else if (meta->kind == CO_VALUE_DYNAMIC_SHARED_POINTER)
        fits = arg->cls == LA_INTEGER || arg->cls == LA_BYTES;
    if (!fits)
        return la_fail(err, RD_E_INVALID, "%s: the kernel takes a %s here, this is %s",
                       label(arg, i, meta, text, sizeof text),
                       meta->kind == CO_VALUE_GLOBAL_BUFFER
                           ? "buffer"
                           : "dynamic LDS offset (integer)",
                       class_text[arg->cls]);
    return RD_OK;
}

/* Where the next argument lies without metadata: C's alignment for its size. */
static uint32_t natural_align(uint32_t bytes)
{
    uint32_t lowest = bytes & (0 - bytes);
    return lowest > 8 ? 8 : lowest ? lowest : 1;
}

static rd_status check_count(const struct la_kernel *kernel, const struct la_arg *args,
                             unsigned n_args, struct la_error *err)
{
    const struct co_kernel_meta *meta = kernel->meta;
    uint32_t want = meta->n_explicit_args;
    if (n_args > want)
        return la_fail(err, RD_E_INVALID,
                       "argument %u ('%.40s'): kernel %.80s takes %u argument%s, %u "
                       "given",
                       want, args[want].text, kernel->name, want, want == 1 ? "" : "s",
                       n_args);
    unsigned at = 0;
    for (uint32_t i = 0; i < meta->n_args && n_args < want; i++) {
        const struct co_arg *arg = &meta->args[i];
        if (co_value_is_hidden((enum co_value_kind)arg->kind) || at++ < n_args)
            continue;
        return la_fail(
            err, RD_E_INVALID,
            "argument %u%s%.40s is missing (%s, %u bytes): kernel %.80s takes "
            "%u, %u given",
            n_args, arg->name ? " " : "", arg->name ? arg->name : "", arg->kind_text,
            arg->bytes, kernel->name, want, n_args);
    }
    return RD_OK;
}

unsigned la_grid_dims(const struct la_shape *s)
{
    for (unsigned d = 3; d > 1; d--)
        if ((uint64_t)s->groups[d - 1] * s->block[d - 1] > 1)
            return d;
    return 1;
}

/* Addresses that hidden arguments hold. */
struct places {
    uint64_t queue_gpuva, lds_base, scratch_base;
    uint64_t printf_gpuva, hostcall_gpuva; /* 0: none */
};

/* Source: LLVM AMDGPUUsage, code object v4 and v5 kernel argument metadata. Workgroups
 * are always whole here, so remainders are 0. What needs a host service while the
 * kernel runs (hostcall unless la_answer was called, device heap, enqueueing,
 * multigrid) is 0: the ABI's "not there". */
static uint64_t hidden_value(enum co_value_kind kind, const struct la_shape *s,
                             const struct places *places)
{
    switch (kind) {
    case CO_VALUE_HIDDEN_BLOCK_COUNT_X:
    case CO_VALUE_HIDDEN_BLOCK_COUNT_Y:
    case CO_VALUE_HIDDEN_BLOCK_COUNT_Z:
        return s->groups[kind - CO_VALUE_HIDDEN_BLOCK_COUNT_X];
    case CO_VALUE_HIDDEN_GROUP_SIZE_X:
    case CO_VALUE_HIDDEN_GROUP_SIZE_Y:
    case CO_VALUE_HIDDEN_GROUP_SIZE_Z:
        return s->block[kind - CO_VALUE_HIDDEN_GROUP_SIZE_X];
    case CO_VALUE_HIDDEN_GRID_DIMS:
        return la_grid_dims(s);
    case CO_VALUE_HIDDEN_DYNAMIC_LDS_SIZE:
        return s->dynamic_lds_bytes;
    case CO_VALUE_HIDDEN_PRIVATE_BASE:
        return places->scratch_base >> 32;
    case CO_VALUE_HIDDEN_SHARED_BASE:
        return places->lds_base >> 32;
    case CO_VALUE_HIDDEN_QUEUE_PTR:
        return places->queue_gpuva;
    case CO_VALUE_HIDDEN_PRINTF_BUFFER:
        return places->printf_gpuva;
    case CO_VALUE_HIDDEN_HOSTCALL_BUFFER:
        return places->hostcall_gpuva;
    default:
        return 0;
    }
}

/* Offsets come from a file: add them up in 64 bits and keep them in the limit. */
static rd_status segment_bytes(const struct la_kernel *kernel, bool placed,
                               const struct la_arg *args, unsigned n_args,
                               uint64_t *out, struct la_error *err)
{
    uint64_t bytes = kernel->desc.kernarg_bytes;
    uint64_t end = 0;
    if (kernel->meta && kernel->meta->kernarg_bytes > bytes)
        bytes = kernel->meta->kernarg_bytes;
    for (uint32_t i = 0; placed && i < kernel->meta->n_args; i++) {
        const struct co_arg *arg = &kernel->meta->args[i];
        uint64_t arg_end = (uint64_t)arg->offset + arg->bytes;
        end = arg_end > end ? arg_end : end;
    }
    for (unsigned i = 0; !placed && i < n_args; i++) {
        uint32_t align = natural_align(args[i].bytes);
        end = (end + align - 1) / align * align + args[i].bytes;
    }
    bytes = end > bytes ? end : bytes;
    if (bytes > MAX_KERNARG_BYTES)
        return la_fail(err, RD_E_RANGE,
                       "kernel arguments: %llu bytes, at most %u are possible",
                       (unsigned long long)bytes, MAX_KERNARG_BYTES);
    *out = bytes;
    return RD_OK;
}

static void place_by_metadata(const struct la_kernel *kernel,
                              const struct la_shape *shape, const struct la_arg *args,
                              const struct places *places, char *segment)
{
    unsigned next = 0;
    for (uint32_t i = 0; i < kernel->meta->n_args; i++) {
        const struct co_arg *arg = &kernel->meta->args[i];
        enum co_value_kind kind = (enum co_value_kind)arg->kind;
        if (!co_value_is_hidden(kind)) {
            memcpy(segment + arg->offset, args[next].value, args[next].bytes);
            next++;
            continue;
        }
        uint64_t value = hidden_value(kind, shape, places);
        memcpy(segment + arg->offset, &value, arg->bytes < 8 ? arg->bytes : 8);
    }
}

static void place_in_order(const struct la_arg *args, unsigned n_args, char *segment)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < n_args; i++) {
        uint32_t align = natural_align(args[i].bytes);
        at = (at + align - 1) / align * align;
        memcpy(segment + at, args[i].value, args[i].bytes);
        at += args[i].bytes;
    }
}

/* Check the arguments against the metadata; the segment's size. */
static rd_status check_all(const struct la_kernel *kernel, bool placed,
                           const struct la_arg *args, unsigned n_args, uint64_t *bytes,
                           struct la_error *err)
{
    const struct co_kernel_meta *meta = kernel->meta;
    rd_status st = placed ? check_count(kernel, args, n_args, err) : RD_OK;
    unsigned next = 0;
    for (uint32_t i = 0; st == RD_OK && placed && i < meta->n_args; i++) {
        if (co_value_is_hidden((enum co_value_kind)meta->args[i].kind))
            continue;
        if (next == n_args) /* check_count has counted those in front of hidden ones */
            return la_fail(err, RD_E_INVALID,
                           "kernel %.80s: argument %u is behind hidden ones",
                           kernel->name, next);
        st = check_arg(&args[next], next, &meta->args[i], err);
        next++;
    }
    if (st == RD_OK)
        st = segment_bytes(kernel, placed, args, n_args, bytes, err);
    return st;
}

/* Metadata that declares room but lists nothing says nothing about places. */
static bool has_places(const struct la_kernel *kernel)
{
    const struct co_kernel_meta *meta = kernel->meta;
    return meta && (meta->n_args > 0 || meta->kernarg_bytes == 0);
}

static void place_all(const struct la_kernel *kernel, const struct la_shape *shape,
                      const struct la_arg *args, unsigned n_args,
                      const struct places *places, void *segment)
{
    if (has_places(kernel))
        place_by_metadata(kernel, shape, args, places, segment);
    else
        place_in_order(args, n_args, segment);
}

static bool takes(const struct la_kernel *kernel, unsigned kind)
{
    const struct co_kernel_meta *meta = kernel->meta;
    for (uint32_t i = 0; kernel->object && meta && i < meta->n_args; i++)
        if (meta->args[i].kind == kind)
            return true;
    return false;
}

rd_status la_build_kernargs(struct la *la, const struct la_kernel *kernel,
                            const struct la_shape *shape, const struct la_arg *args,
                            unsigned n_args, uint64_t queue_gpuva, uint64_t *gpuva,
                            struct la_error *err)
{
    struct places places = {queue_gpuva, EMU_SHARED_BASE, EMU_PRIVATE_BASE, 0, 0};
    uint64_t bytes = 0;
    void *segment;
    rd_status st = check_all(kernel, has_places(kernel), args, n_args, &bytes, err);
    if (st == RD_OK)
        st = la_alloc(la, bytes ? bytes : 1, EMU_MEM_READ, "kernel arguments", &segment,
                      err);
    la->printed.buffer = NULL;
    if (st == RD_OK && takes(kernel, CO_VALUE_HIDDEN_PRINTF_BUFFER))
        st = la_printf_buffer(la, kernel, &places.printf_gpuva, err);
    if (st == RD_OK && la->hostcall && takes(kernel, CO_VALUE_HIDDEN_HOSTCALL_BUFFER))
        st = la_hostcall_buffer(la, &places.hostcall_gpuva, err);
    if (st != RD_OK)
        return st;
    place_all(kernel, shape, args, n_args, &places, segment);
    *gpuva = (uintptr_t)segment;
    return RD_OK;
}

rd_status la_make_kernargs(const struct la_kernel *kernel, const struct la_shape *shape,
                           const struct la_arg *args, unsigned n_args,
                           uint64_t queue_gpuva, uint64_t lds_base,
                           uint64_t scratch_base, void **out, uint64_t *bytes,
                           struct la_error *err)
{
    struct places places = {queue_gpuva, lds_base, scratch_base, 0, 0};
    uint64_t size = 0;
    rd_status st = check_all(kernel, has_places(kernel), args, n_args, &size, err);
    if (st != RD_OK)
        return st;
    void *segment = calloc(1, size ? size : 1);
    if (!segment)
        return la_fail(err, RD_E_NOMEM, "out of memory");
    place_all(kernel, shape, args, n_args, &places, segment);
    *out = segment;
    *bytes = size ? size : 1;
    return RD_OK;
}
