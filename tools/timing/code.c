/* code.c: the kernel of a dispatch in the code objects of a capture.
 *
 * Must not know packets. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "codeobj.h"
#include "truth.h"

#define KD_BYTES      64u
#define SECTION_BYTES 64u

static bool keep(struct truth *t, const uint8_t *text, uint64_t bytes, uint64_t entry,
                 const uint8_t *kd)
{
    t->text = malloc((size_t)bytes + 1);
    if (!t->text)
        return false;
    memcpy(t->text, text, (size_t)bytes);
    memcpy(t->kd, kd, sizeof t->kd);
    memcpy(&t->kernarg_bytes, kd + 8, sizeof t->kernarg_bytes);
    t->text_bytes = (size_t)bytes;
    t->entry = (uint32_t)entry;
    return true;
}

/* ---- code objects ---- */

static bool take_kernel(const struct co_object *obj, uint64_t offset, struct truth *t)
{
    const struct co_kernel *k = NULL;
    const struct co_section *s = NULL;
    for (unsigned i = 0; i < co_kernel_count(obj); i++)
        if (co_kernel_at(obj, i)->entry_offset == offset)
            k = co_kernel_at(obj, i);
    for (unsigned i = 0; i < co_section_count(obj); i++) {
        const struct co_section *at = co_section_at(obj, i);
        if (at->access & CO_EXEC && at->data && offset >= at->offset &&
            offset - at->offset < at->bytes)
            s = at;
    }
    uint64_t bytes, align;
    struct co_error err;
    co_image_size(obj, &bytes, &align);
    /* mapped: what the file says of memory without contents costs nothing */
    uint8_t *image = k && s && bytes
                         ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                         : MAP_FAILED;
    if (image == MAP_FAILED)
        return false;
    bool ok = co_load(obj, image, (size_t)bytes, align, &err) == RD_OK &&
              k->desc_offset + KD_BYTES <= bytes && s->offset + s->bytes <= bytes &&
              keep(t, image + s->offset, s->bytes, offset - s->offset,
                   image + k->desc_offset);
    (void)munmap(image, (size_t)bytes);
    if (!ok)
        return false;
    for (unsigned i = 0; i < co_segment_count(obj); i++) {
        const struct co_segment *at = co_segment_at(obj, i);
        if (at->flags & CO_EXEC && s->offset >= at->offset &&
            s->offset - at->offset < at->bytes)
            t->lead = (uint32_t)(s->offset - at->offset);
    }
    t->kernel = strdup(k->name);
    return t->kernel != NULL;
}

/* ---- images without a header, objects that nobody has linked ---- */

#define PROGBITS 1u

struct section {
    uint64_t type, address, offset, bytes, flags, align;
};

static uint64_t le(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* false: there is none, or it leaves the file */
static bool section_at(const struct sqtt_object *o, unsigned i, struct section *out)
{
    if (o->bytes < SECTION_BYTES)
        return false;
    uint64_t table = le(o->data + 0x28, 8), n = le(o->data + 0x3c, 2);
    if (i >= n || table > o->bytes ||
        (o->bytes - table) / SECTION_BYTES < (uint64_t)i + 1)
        return false;
    const uint8_t *s = o->data + table + (size_t)i * SECTION_BYTES;
    *out = (struct section){.type = le(s + 4, 4),
                            .flags = le(s + 8, 8),
                            .address = le(s + 16, 8),
                            .offset = le(s + 24, 8),
                            .bytes = le(s + 32, 8),
                            .align = le(s + 48, 8)};
    if (out->offset > o->bytes || out->bytes > o->bytes - out->offset)
        out->bytes = 0; /* of a kind that has no bytes */
    return true;
}

/* Where tinygrad puts a section that has no address of its own: behind all others.
 * end  in, out: of what has a place so far */
static void place(struct section *at, uint64_t *end)
{
    if (at->type == PROGBITS && at->address == 0 && at->bytes) {
        uint64_t align = at->align ? at->align : 1;
        at->address = *end + (align - *end % align) % align;
        *end = at->address + at->bytes;
    }
}

/* What tinygrad loads itself has one kernel and its descriptor: images that its
 * assembler makes, which begin at most as an ELF file does, and relocatable objects of
 * LLVM. Source: tinygrad/renderer/amd/elf.py, tinygrad/runtime/support/elf.py. */
static bool take_bare(const struct sqtt_object *o, uint64_t offset, struct truth *t)
{
    struct section text = {0}, at, kd = {0};
    uint64_t end = 0;
    for (unsigned i = 0; section_at(o, i, &at); i++)
        if (at.type == PROGBITS && at.address && at.bytes &&
            at.address + at.bytes > end)
            end = at.address + at.bytes;
    for (unsigned i = 0; section_at(o, i, &at); i++) {
        place(&at, &end);
        if (at.flags & 4u && offset >= at.address && offset - at.address < at.bytes)
            text = at;
        else if (at.flags & 2u && !(at.flags & 4u) && at.bytes == KD_BYTES)
            kd = at;
    }
    return text.bytes && kd.bytes &&
           keep(t, o->data + text.offset, text.bytes, offset - text.address,
                o->data + kd.offset);
}

bool truth_take_code(const struct sqtt_object *o, uint64_t va, struct truth *t)
{
    struct co_object *obj;
    struct co_error err;
    uint64_t bytes, align;
    if (va < o->base)
        return false;
    uint64_t offset = va - o->base;
    if (co_open(o->data, o->bytes, &obj, &err) == RD_OK) {
        co_image_size(obj, &bytes, &align);
        bool ok = offset < bytes && take_kernel(obj, offset, t);
        co_close(obj);
        if (ok) {
            t->code_va = va - t->entry;
            t->object = o->data;
            t->object_bytes = o->bytes;
            return true;
        }
    }
    if (!take_bare(o, offset, t))
        return false;
    t->code_va = va - t->entry;
    return true;
}
