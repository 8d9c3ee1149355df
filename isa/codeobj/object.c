/* object.c: opening and closing; the order of the steps.
 *
 * Must not parse. Invariant: a half-built object can be closed at any step.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <stdlib.h>

void co_close(struct co_object *obj)
{
    if (!obj)
        return;
    for (unsigned i = 0; i < obj->n_metas; i++)
        free((void *)obj->metas[i].args);
    free(obj->metas);
    free(obj->meta_strings);
    free(obj->printfs);
    free(obj->kernels);
    free(obj->kernel_names);
    free(obj->segments);
    free(obj->sections);
    free(obj->symbols);
    free(obj->by_offset);
    free(obj->relas);
    free(obj->got_syms);
    free(obj);
}

static rd_status build(struct co_object *obj, struct co_error *err)
{
    rd_status (*const steps[])(struct co_object *, struct co_error *) = {
        co_layout,      co_read_dynamic,  co_read_symbols,
        co_read_relocs, co_read_metadata, co_read_kernels,
    };
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        rd_status st = steps[i](obj, err);
        if (st != RD_OK)
            return st;
    }
    return RD_OK;
}

rd_status co_open(const void *data, size_t size, struct co_object **out,
                  struct co_error *err)
{
    const uint8_t *elf = data;
    uint64_t elf_offset;
    rd_status st = co_unbundle(&elf, &size, &elf_offset, err);
    if (st != RD_OK)
        return st;
    struct elf_header header;
    st = elf_read_header(elf, size, &header, err);
    if (st != RD_OK)
        return st;
    struct co_object *obj = calloc(1, sizeof *obj);
    if (!obj)
        return co_fail(err, RD_E_NOMEM, "out of memory");
    obj->data = elf;
    obj->size = size;
    obj->header = header;
    obj->info = (struct co_info){
        .version = header.version,
        .relocatable = header.type == ET_REL_,
        .elf_flags = header.flags,
        .target = header.target,
        .elf_offset = elf_offset,
        .elf_bytes = size,
    };
    st = build(obj, err);
    if (st != RD_OK) {
        co_close(obj);
        return st;
    }
    *out = obj;
    return RD_OK;
}

const struct co_info *co_info(const struct co_object *obj)
{
    return &obj->info;
}

unsigned co_segment_count(const struct co_object *obj)
{
    return obj->n_segments;
}

const struct co_segment *co_segment_at(const struct co_object *obj, unsigned i)
{
    return i < obj->n_segments ? &obj->segments[i] : NULL;
}

unsigned co_section_count(const struct co_object *obj)
{
    return obj->n_sections;
}

const struct co_section *co_section_at(const struct co_object *obj, unsigned i)
{
    return i < obj->n_sections ? &obj->sections[i] : NULL;
}
