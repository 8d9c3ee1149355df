/* layout.c: where sections and segments lie in the load image.
 *
 * A linked object's image is its PT_LOAD segments. A relocatable one has none: its
 * allocated sections are laid out as read-only data, code, writable data, each group
 * from a page of its own. Must not know symbols or relocations.
 * Invariant: segments ascend without overlap inside [0, image_bytes), their data inside
 * the file, and image_bytes <= CO_MAX_IMAGE_BYTES, so offsets never overflow.
 * SPDX-License-Identifier: MIT
 */
#include "object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void *co_array(uint64_t count, size_t bytes)
{
    if (count > SIZE_MAX)
        return NULL;
    return calloc(count ? (size_t)count : 1, bytes);
}

const struct co_segment *co_segment_of(const struct co_object *obj, uint64_t offset)
{
    unsigned lo = 0, hi = obj->n_segments;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        const struct co_segment *s = &obj->segments[mid];
        if (offset < s->offset)
            hi = mid;
        else if (offset - s->offset >= s->bytes)
            lo = mid + 1;
        else
            return s;
    }
    return NULL;
}

const uint8_t *co_bytes_at(const struct co_object *obj, uint64_t addr, uint64_t bytes)
{
    uint64_t offset = addr - obj->info.base_addr;
    const struct co_segment *s = co_segment_of(obj, offset);
    if (!s || !range_ok(offset - s->offset, bytes, s->data_bytes))
        return NULL;
    return s->data + (offset - s->offset);
}

rd_status co_append_segment(struct co_object *obj, const struct co_segment *segment,
                            uint64_t align, const char *what, unsigned index,
                            uint64_t *offset, struct co_error *err)
{
    uint64_t start = (obj->image_bytes + align - 1) & ~(align - 1);
    if (!range_ok(start, segment->bytes, CO_MAX_IMAGE_BYTES))
        return co_fail(err, RD_E_FORMAT,
                       "%s %u: with %" PRIu64 " bytes the image exceeds %" PRIu64
                       " bytes",
                       what, index, segment->bytes, CO_MAX_IMAGE_BYTES);
    if (segment->bytes) {
        obj->segments[obj->n_segments] = *segment;
        obj->segments[obj->n_segments++].offset = start;
    }
    obj->image_bytes = start + segment->bytes; /* empty parts have a place, too */
    if (align > obj->image_align)
        obj->image_align = align;
    *offset = start;
    return RD_OK;
}

/* ---- linked objects ---------------------------------------------------------- */

static rd_status check_load(const struct elf_phdr *ph, unsigned i, size_t size,
                            struct co_error *err)
{
    rd_status st = elf_check_phdr(ph, i, size, err);
    if (st != RD_OK)
        return st;
    if (ph->filesz > ph->memsz)
        return co_fail(err, RD_E_FORMAT,
                       "program header %u: p_filesz %" PRIu64
                       " is greater than p_memsz %" PRIu64,
                       i, ph->filesz, ph->memsz);
    if (ph->align > CO_MAX_ALIGN || (ph->align && !is_pow2(ph->align)))
        return co_fail(err, RD_E_FORMAT,
                       "program header %u: p_align is %" PRIu64
                       ", not a power of two up to %" PRIu64,
                       i, ph->align, CO_MAX_ALIGN);
    if (ph->vaddr + ph->memsz < ph->vaddr)
        return co_fail(err, RD_E_FORMAT,
                       "program header %u: p_vaddr 0x%" PRIx64 " and p_memsz %" PRIu64
                       " leave the address space",
                       i, ph->vaddr, ph->memsz);
    return RD_OK;
}

/* The image begins at the first segment's address, rounded down to the alignment of the
 * strictest segment, so that every p_vaddr keeps its alignment. */
static rd_status place_base(struct co_object *obj, struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    uint64_t first = 0, align = 1;
    bool any = false;
    for (unsigned i = 0; i < h->phnum; i++) {
        struct elf_phdr ph = elf_phdr_at(obj->data, h, i);
        if (ph.type != PT_LOAD_)
            continue;
        rd_status st = check_load(&ph, i, obj->size, err);
        if (st != RD_OK)
            return st;
        if (ph.memsz == 0)
            continue;
        if (!any)
            first = ph.vaddr;
        any = true;
        if (ph.align > align)
            align = ph.align;
    }
    if (!any)
        return co_fail(err, RD_E_FORMAT, "no PT_LOAD segment among %u program headers",
                       h->phnum);
    obj->image_align = align;
    obj->info.base_addr = first & ~(align - 1);
    return RD_OK;
}

static unsigned phdr_access(uint32_t flags)
{
    return flags & (CO_READ | CO_WRITE | CO_EXEC); /* same bits as PF_R, PF_W, PF_X */
}

static rd_status layout_segments(struct co_object *obj, struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    obj->segments = co_array(h->phnum, sizeof *obj->segments);
    if (!obj->segments)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u segments", h->phnum);
    rd_status st = place_base(obj, err);
    if (st != RD_OK)
        return st;
    for (unsigned i = 0; i < h->phnum; i++) {
        struct elf_phdr ph = elf_phdr_at(obj->data, h, i);
        if (ph.type != PT_LOAD_ || ph.memsz == 0)
            continue;
        uint64_t offset = ph.vaddr - obj->info.base_addr;
        if (ph.vaddr < obj->info.base_addr || offset < obj->image_bytes)
            return co_fail(err, RD_E_FORMAT,
                           "program header %u: p_vaddr 0x%" PRIx64
                           " overlaps or precedes the segment before it",
                           i, ph.vaddr);
        if (!range_ok(offset, ph.memsz, CO_MAX_IMAGE_BYTES))
            return co_fail(err, RD_E_FORMAT,
                           "program header %u: p_vaddr 0x%" PRIx64
                           " and p_memsz %" PRIu64
                           " make an image of more than %" PRIu64 " bytes",
                           i, ph.vaddr, ph.memsz, CO_MAX_IMAGE_BYTES);
        obj->segments[obj->n_segments++] = (struct co_segment){
            .offset = offset,
            .bytes = ph.memsz,
            .data = obj->data + ph.offset,
            .data_bytes = ph.filesz,
            .flags = phdr_access(ph.flags),
        };
        obj->image_bytes = offset + ph.memsz;
    }
    return RD_OK;
}

/* ---- sections ---------------------------------------------------------------- */

static rd_status section_name(struct co_object *obj, const struct elf_shdr *names,
                              unsigned i, uint32_t at, const char **out,
                              struct co_error *err)
{
    const char *str = (const char *)obj->data + names->offset;
    if (at >= names->size || !memchr(str + at, 0, (size_t)(names->size - at)))
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: sh_name %" PRIu32
                       " is no string of the section name table",
                       i, at);
    *out = str + at;
    return RD_OK;
}

static unsigned section_access(uint64_t flags)
{
    if (!(flags & SHF_ALLOC_))
        return 0;
    return CO_READ | (flags & SHF_WRITE_ ? CO_WRITE : 0) |
           (flags & SHF_EXEC_ ? CO_EXEC : 0);
}

static rd_status read_sections(struct co_object *obj, struct co_error *err)
{
    const struct elf_header *h = &obj->header;
    obj->sections = co_array(h->shnum, sizeof *obj->sections);
    if (!obj->sections)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u sections", h->shnum);
    obj->n_sections = h->shnum;
    if (h->shnum == 0)
        return RD_OK;

    struct elf_shdr names = elf_shdr_at(obj->data, h, h->shstrndx);
    rd_status st = elf_check_shdr(&names, h->shstrndx, obj->size, err);
    if (st != RD_OK)
        return st;
    bool named = h->shstrndx != 0;
    if (named && names.type != SHT_STRTAB_)
        return co_fail(err, RD_E_FORMAT,
                       "ELF header: e_shstrndx (offset 62): section %u is no string "
                       "table",
                       h->shstrndx);
    for (unsigned i = 0; i < h->shnum; i++) {
        struct elf_shdr sh = elf_shdr_at(obj->data, h, i);
        struct co_section *s = &obj->sections[i];
        st = elf_check_shdr(&sh, i, obj->size, err);
        if (st != RD_OK)
            return st;
        s->name = "";
        if (named && sh.type != 0)
            st = section_name(obj, &names, i, sh.name, &s->name, err);
        if (st != RD_OK)
            return st;
        s->type = sh.type;
        s->flags = sh.flags;
        s->access = sh.type ? section_access(sh.flags) : 0;
        s->bytes = sh.type ? sh.size : 0;
        if (sh.type != 0 && sh.type != SHT_NOBITS_)
            s->data = obj->data + sh.offset;
    }
    return RD_OK;
}

/* Linked objects: a section lies where its address does, if that is in the image. */
static void place_sections(struct co_object *obj)
{
    for (unsigned i = 0; i < obj->n_sections; i++) {
        struct co_section *s = &obj->sections[i];
        uint64_t addr = elf_shdr_at(obj->data, &obj->header, i).addr;
        uint64_t offset = addr - obj->info.base_addr;
        s->in_image = s->access && addr >= obj->info.base_addr &&
                      range_ok(offset, s->bytes, obj->image_bytes);
        if (s->in_image)
            s->offset = offset;
        else
            s->access = 0;
    }
}

/* ---- relocatable objects ----------------------------------------------------- */

/* Order of a section's group in the image; -1 if it is not loaded. */
static int section_group(const struct co_section *s)
{
    if (!s->access)
        return -1;
    if (s->access & CO_EXEC)
        return 1;
    if (!(s->access & CO_WRITE))
        return 0;
    return s->type == SHT_NOBITS_ ? 3 : 2;
}

static rd_status append_section(struct co_object *obj, unsigned i, uint64_t min_align,
                                struct co_error *err)
{
    struct co_section *s = &obj->sections[i];
    uint64_t align = elf_shdr_at(obj->data, &obj->header, i).addralign;
    if (align > CO_MAX_ALIGN || (align && !is_pow2(align)))
        return co_fail(err, RD_E_FORMAT,
                       "section header %u: sh_addralign is %" PRIu64
                       ", not a power of two up to %" PRIu64,
                       i, align, CO_MAX_ALIGN);
    struct co_segment segment = {
        .bytes = s->bytes,
        .data = s->data,
        .data_bytes = s->data ? s->bytes : 0,
        .flags = s->access,
    };
    s->in_image = true;
    return co_append_segment(obj, &segment, align > min_align ? align : min_align,
                             "section header", i, &s->offset, err);
}

static rd_status layout_sections(struct co_object *obj, struct co_error *err)
{
    /* one more: the GOT that relocations may ask for */
    obj->segments = co_array((uint64_t)obj->n_sections + 1, sizeof *obj->segments);
    if (!obj->segments)
        return co_fail(err, RD_E_NOMEM, "out of memory for %u segments",
                       obj->n_sections);
    obj->image_align = CO_PAGE;
    for (int group = 0; group < 4; group++) {
        uint64_t min_align = CO_PAGE;
        for (unsigned i = 0; i < obj->n_sections; i++) {
            if (section_group(&obj->sections[i]) != group)
                continue;
            rd_status st = append_section(obj, i, min_align, err);
            if (st != RD_OK)
                return st;
            min_align = 1;
        }
    }
    return RD_OK;
}

rd_status co_layout(struct co_object *obj, struct co_error *err)
{
    rd_status st = read_sections(obj, err);
    if (st != RD_OK)
        return st;
    if (obj->info.relocatable)
        return layout_sections(obj, err);
    st = layout_segments(obj, err);
    if (st == RD_OK)
        place_sections(obj);
    return st;
}
