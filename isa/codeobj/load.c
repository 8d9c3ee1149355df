/* load.c: the load image in memory.
 *
 * Must not parse: everything it needs was checked by co_open or is checked by
 * co_rela_fixup. Invariant: it writes only inside [memory, memory + image_bytes).
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <string.h>

void co_image_size(const struct co_object *obj, uint64_t *bytes, uint64_t *align)
{
    *bytes = obj->image_bytes;
    *align = obj->image_align;
}

static rd_status relocate(const struct co_object *obj, uint8_t *image, uint64_t gpuva,
                          struct co_error *err)
{
    for (unsigned i = 0; i < obj->n_got; i++) {
        uint64_t value;
        rd_status st = co_resolve(obj, obj->got_syms[i], gpuva, &value, err);
        if (st != RD_OK)
            return st;
        store_le(image + obj->got_offset + (uint64_t)i * 8, value, 8);
    }
    for (unsigned t = 0; t < obj->n_relas; t++) {
        for (uint64_t i = 0; i < obj->relas[t].count; i++) {
            struct co_fixup f;
            rd_status st = co_rela_fixup(obj, &obj->relas[t], i, gpuva, &f, err);
            if (st != RD_OK)
                return st;
            store_le(image + f.place, f.value, f.bytes);
        }
    }
    return RD_OK;
}

rd_status co_load(const struct co_object *obj, void *memory, size_t bytes,
                  uint64_t gpuva, struct co_error *err)
{
    uint8_t *image = memory;
    if (obj->image_bytes == 0)
        return co_fail(err, RD_E_FORMAT,
                       "load: none of the file's %u sections is loaded",
                       obj->n_sections);
    if (bytes < obj->image_bytes)
        return co_fail(err, RD_E_INVALID,
                       "load: %zu bytes of memory for an image of %" PRIu64, bytes,
                       obj->image_bytes);
    if (gpuva & (obj->image_align - 1))
        return co_fail(err, RD_E_INVALID,
                       "load: address 0x%" PRIx64 " is not a multiple of %" PRIu64,
                       gpuva, obj->image_align);
    if (gpuva + obj->image_bytes < gpuva)
        return co_fail(err, RD_E_INVALID,
                       "load: %" PRIu64 " bytes at 0x%" PRIx64
                       " leave the address space",
                       obj->image_bytes, gpuva);
    for (unsigned i = 0; i < obj->n_segments; i++) {
        const struct co_segment *s = &obj->segments[i];
        if (s->data_bytes)
            memcpy(image + s->offset, s->data, (size_t)s->data_bytes);
    }
    return relocate(obj, image, gpuva, err);
}
