/* code.c: brings code into guest memory and finds the kernel's entry and descriptor.
 *
 * Must not know arguments or shapes. Invariant: a kernel that leaves here has passed
 * the descriptor checks and starts inside executable memory.
 * SPDX-License-Identifier: MIT
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void segment_name(const struct co_segment *segment, char *name, size_t size)
{
    const char *what = segment->flags & CO_EXEC    ? "code"
                       : segment->flags & CO_WRITE ? "data"
                                                   : "constants";
    snprintf(name, size, "code object's %s", what);
}

static rd_status show_segments(struct la *la, const struct co_object *co,
                               const char *base, struct la_error *err)
{
    for (unsigned i = 0; i < co_segment_count(co); i++) {
        const struct co_segment *segment = co_segment_at(co, i);
        unsigned perm = (segment->flags & CO_READ ? EMU_MEM_READ : 0) |
                        (segment->flags & CO_WRITE ? EMU_MEM_WRITE : 0) |
                        (segment->flags & CO_EXEC ? EMU_MEM_EXEC : 0);
        char name[48];
        segment_name(segment, name, sizeof name);
        rd_status st =
            la_show(la, base + segment->offset, segment->bytes, perm, name, err);
        if (st != RD_OK)
            return st;
    }
    return RD_OK;
}

/* Open the object and keep it for la_destroy to close. */
static rd_status open_object(struct la *la, const void *data, size_t bytes,
                             struct co_object **out, struct la_error *err)
{
    struct co_error why;
    struct la_object *object = calloc(1, sizeof *object);
    if (!object)
        return la_fail(err, RD_E_NOMEM, "out of memory");
    rd_status st = co_open(data, bytes, &object->co, &why);
    if (st != RD_OK) {
        free(object);
        return la_fail(err, st, "%s", why.text);
    }
    object->next = la->objects;
    la->objects = object;
    *out = object->co;
    return RD_OK;
}

/* A kernel of an object that is loaded there. */
static struct la_kernel kernel_at(const struct co_object *co,
                                  const struct co_kernel *found, uint64_t base)
{
    return (struct la_kernel){
        .name = found->name,
        .desc = found->desc,
        .meta = found->meta,
        .entry_gpuva = base + found->entry_offset,
        .desc_gpuva = base + found->desc_offset,
        .image_gpuva = base,
        .object = co,
    };
}

rd_status la_load_object(struct la *la, const void *data, size_t bytes,
                         const char *kernel, struct la_kernel *out,
                         struct la_error *err)
{
    struct co_object *co = NULL;
    struct co_error why;
    const struct co_kernel *found;
    rd_status st = open_object(la, data, bytes, &co, err);
    if (st != RD_OK)
        return st;
    st = co_kernel_find(co, kernel, &found, &why);
    if (st == RD_OK)
        st = co_kernel_check(co, found, &why);
    if (st != RD_OK)
        return la_fail(err, st, "%s", why.text);

    uint64_t image_bytes;
    uint64_t align;
    void *base;
    co_image_size(co, &image_bytes, &align);
    st = la_map(la, image_bytes, "code object", &base, err);
    if (st != RD_OK)
        return st;
    if ((uintptr_t)base % align != 0)
        return la_fail(err, RD_E_UNSUPPORTED, "code object: alignment 0x%llx",
                       (unsigned long long)align);
    st = co_load(co, base, image_bytes, (uintptr_t)base, &why);
    if (st != RD_OK)
        return la_fail(err, st, "%s", why.text);
    la->objects->gpuva = (uintptr_t)base;
    st = show_segments(la, co, base, err);
    if (st != RD_OK)
        return st;
    *out = kernel_at(co, found, (uintptr_t)base);
    return RD_OK;
}

rd_status la_find_kernel(const struct la_kernel *loaded, const char *kernel,
                         struct la_kernel *out, struct la_error *err)
{
    struct co_error why;
    const struct co_kernel *found;
    rd_status st = co_kernel_find(loaded->object, kernel, &found, &why);
    if (st == RD_OK)
        st = co_kernel_check(loaded->object, found, &why);
    if (st != RD_OK)
        return la_fail(err, st, "%s", why.text);
    *out = kernel_at(loaded->object, found, loaded->image_gpuva);
    return RD_OK;
}

bool la_symbol(void *ctx, uint64_t pc, char *name, size_t size, uint64_t *start)
{
    const struct la *la = ctx;
    for (const struct la_object *o = la->objects; o; o = o->next) {
        for (unsigned i = 0; o->gpuva && i < co_symbol_count(o->co); i++) {
            const struct co_symbol *s = co_symbol_at(o->co, i);
            if (s->kind != CO_SYM_FUNC || s->place != CO_PLACE_IMAGE ||
                pc - o->gpuva - s->value >= s->bytes)
                continue;
            (void)snprintf(name, size, "%s", s->name);
            *start = o->gpuva + s->value;
            return true;
        }
    }
    return false;
}

/* The descriptor of code that comes without one. */
static void default_desc(unsigned wave, struct co_kernel_desc *desc)
{
    uint8_t kd[CO_KD_BYTES] = {0};
    uint32_t granules = wave == 64 ? 63 : 31;      /* 256 VGPRs */
    uint32_t rsrc1 = granules | 0xf0u << 12 |      /* nearest even, denormals kept */
                     1u << 21 | 1u << 23 |         /* DX10_CLAMP, IEEE_MODE */
                     1u << 29 | 1u << 30;          /* WGP_MODE, MEM_ORDERED */
    uint32_t rsrc2 = 2u << 1 | 7u << 7 | 2u << 11; /* 2 user SGPRs, ids x y z */
    uint16_t properties = (uint16_t)(1u << 3 | (wave == 32 ? 1u << 10 : 0));
    memcpy(kd + 48, &rsrc1, 4);
    memcpy(kd + 52, &rsrc2, 4);
    memcpy(kd + 56, &properties, 2);
    co_kd_parse(kd, desc);
}

rd_status la_load_raw(struct la *la, const void *code, size_t bytes, const void *kd,
                      unsigned wave, uint64_t entry, struct la_kernel *out,
                      struct la_error *err)
{
    struct co_kernel_desc desc;
    struct co_error why;
    if (kd)
        co_kd_parse(kd, &desc);
    else
        default_desc(wave ? wave : 32, &desc);
    rd_status st = co_kd_check(&desc, &why);
    if (st != RD_OK)
        return la_fail(err, st, "%s", why.text);
    if (wave && desc.wave != wave)
        return la_fail(err, RD_E_INVALID,
                       "the kernel descriptor is of wave%u, wave%u was asked for",
                       desc.wave, wave);
    if (entry % 4 != 0 || entry >= bytes)
        return la_fail(
            err, RD_E_INVALID,
            "entry offset %llu: must be a multiple of 4 inside the %zu bytes "
            "of code",
            (unsigned long long)entry, bytes);

    /* Programs start at multiples of 256 (COMPUTE_PGM_LO holds address >> 8). */
    size_t lead = (size_t)(0 - entry) % CO_CODE_ALIGN;
    char *base;
    st = la_map(la, bytes + lead, "code", (void **)&base, err);
    if (st != RD_OK)
        return st;
    memcpy(base + lead, code, bytes);
    st = la_show(la, base + lead, bytes, EMU_MEM_READ | EMU_MEM_EXEC, "code", err);
    if (st != RD_OK)
        return st;
    *out = (struct la_kernel){
        .name = "(raw code)",
        .desc = desc,
        .entry_gpuva = (uintptr_t)base + lead + entry,
    };
    return RD_OK;
}
