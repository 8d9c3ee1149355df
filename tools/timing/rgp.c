/* rgp.c: files of the Radeon GPU Profiler: chunks, of which the thread traces, the code
 * objects and where they were loaded are looked at.
 *
 * A file may hold several launches: the trace of an engine then is one after the other,
 * each from its header on. Source: src/amd/common/ac_rgp.c of Mesa, extra/sqtt/sqtt.h
 * of tinygrad. SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "capture.h"
#include "sqtt.h"

#define MAGIC        0x50303042u
#define FILE_BYTES   56u
#define CHUNK_BYTES  16u
#define LOADER_BYTES 40u

enum { CHUNK_DESC = 1, CHUNK_DATA = 2, CHUNK_OBJECTS = 9, CHUNK_LOADS = 10 };

struct file {
    const uint8_t *data;
    size_t bytes;
    char *why;
    size_t why_bytes;
    uint64_t base[256]; /* of the objects, in order */
    unsigned n_bases, n_objects;
};

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static bool within(struct file *f, uint64_t offset, uint64_t bytes, const char *what)
{
    if (offset <= f->bytes && bytes <= f->bytes - offset)
        return true;
    (void)snprintf(f->why, f->why_bytes, "%s lies outside of the file", what);
    return false;
}

bool capture_is_rgp(const uint8_t *data, size_t bytes)
{
    return bytes >= FILE_BYTES && le32(data) == MAGIC;
}

/* An engine's trace: a launch from header to header. */
static bool take_data(struct file *f, struct sqtt_file *out, size_t at, unsigned se)
{
    if (!within(f, at, CHUNK_BYTES + 8, "a chunk"))
        return false;
    uint64_t offset = le32(f->data + at + 16), bytes = le32(f->data + at + 20);
    if (!within(f, offset, bytes, "a thread trace"))
        return false;
    size_t from = 0, launch = 0;
    while (from < bytes && se < CAPTURE_SES) {
        size_t n = sqtt_length(f->data + offset + from, (size_t)bytes - from);
        /* the engines that come first say how many launches there are */
        if (launch > out->n_launches ||
            !capture_add_trace(out, launch, se, f->data + offset + from, n))
            return false;
        launch++;
        from += n;
    }
    return true;
}

static bool take_objects(struct file *f, struct sqtt_file *out, size_t at, size_t bytes)
{
    if (!within(f, at, CHUNK_BYTES + 16, "a chunk"))
        return false;
    size_t record = at + CHUNK_BYTES + 16;
    for (uint32_t n = le32(f->data + at + 28); n > 0; n--) {
        if (record + 4 > at + bytes || !within(f, record, 4, "a code object"))
            return true;
        uint32_t size = le32(f->data + record);
        if (!within(f, record + 4, size, "a code object"))
            return false;
        if (!capture_add_object(out, 0, f->data + record + 4, size))
            return false;
        record += 4 + (size_t)size;
    }
    return true;
}

/* Where objects were loaded, in their order. */
static bool take_loads(struct file *f, size_t at)
{
    if (!within(f, at, CHUNK_BYTES + 16, "a chunk"))
        return false;
    uint32_t size = le32(f->data + at + 24), n = le32(f->data + at + 28);
    if (size < 16)
        return true;
    for (uint64_t i = 0, p = at + CHUNK_BYTES + 16; i < n; i++, p += size) {
        if (!within(f, p, 16, "where a code object was loaded"))
            return false;
        const uint8_t *r = f->data + p;
        if (le32(r) == 0 && f->n_bases < sizeof f->base / sizeof *f->base)
            f->base[f->n_bases++] = le32(r + 8) | (uint64_t)le32(r + 12) << 32;
    }
    return true;
}

bool capture_read_rgp(const uint8_t *data, size_t bytes, struct sqtt_file *out,
                      char *why, size_t why_bytes)
{
    struct file f = {.data = data, .bytes = bytes, .why = why, .why_bytes = why_bytes};
    unsigned se = 0;
    for (size_t at = le32(data + 16); at < bytes;) {
        if (!within(&f, at, CHUNK_BYTES, "a chunk"))
            return false;
        uint32_t size = le32(data + at + 8);
        if (size < CHUNK_BYTES || !within(&f, at, size, "a chunk")) {
            (void)snprintf(why, why_bytes, "the chunk at byte %zu is %u bytes long", at,
                           size);
            return false;
        }
        bool ok = true;
        if (data[at] == CHUNK_DESC && size >= CHUNK_BYTES + 4)
            se = le32(data + at + 16);
        else if (data[at] == CHUNK_DATA)
            ok = take_data(&f, out, at, se);
        else if (data[at] == CHUNK_OBJECTS)
            ok = take_objects(&f, out, at, size);
        else if (data[at] == CHUNK_LOADS)
            ok = take_loads(&f, at);
        if (!ok)
            return false;
        at += size;
    }
    for (size_t i = 0; i < out->n_objects && i < f.n_bases; i++)
        out->object[i].base = f.base[i];
    return true;
}
