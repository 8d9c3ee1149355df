/* bufres.h: the buffer resource (V#) and what it does to addresses (manual 9.4, 9.6).
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BUFRES_H
#define RD_BUFRES_H

#include <stdbool.h>
#include <stdint.h>

enum bufres_oob {
    OOB_STRUCTURED, /* index >= records, or beyond the record */
    OOB_INDEX,      /* index >= records */
    OOB_EMPTY,      /* only a buffer without records is out of range */
    OOB_RAW,        /* byte offset beyond the buffer; swizzled: as structured */
};

struct bufres {
    uint64_t base;
    uint32_t stride, records;
    uint32_t index_stride; /* swizzled: indices before the next element */
    uint8_t element;       /* swizzled: bytes of an element; 0: linear */
    uint8_t dst_sel[4];    /* 0, 1, or 4 + channel */
    uint8_t format;
    uint8_t oob; /* enum bufres_oob */
    bool add_tid;
    bool other_type; /* no buffer: the instruction is ignored */
};

static inline struct bufres bufres_read(const uint32_t *sgpr)
{
    struct bufres r = {
        .base = sgpr[0] | (uint64_t)(sgpr[1] & 0xffffu) << 32,
        .stride = sgpr[1] >> 16 & 0x3fffu,
        .records = sgpr[2],
        .format = sgpr[3] >> 12 & 63u,
        .index_stride = 8u << (sgpr[3] >> 21 & 3u),
        .add_tid = sgpr[3] >> 23 & 1u,
        .oob = sgpr[3] >> 28 & 3u,
        .other_type = sgpr[3] >> 30 != 0,
    };
    unsigned swizzle = sgpr[1] >> 30;
    r.element = swizzle == 1 ? 4 : swizzle == 3 ? 16 : 0;
    for (unsigned i = 0; i < 4; i++)
        r.dst_sel[i] = sgpr[3] >> (3 * i) & 7u;
    return r;
}

/* Loads return zero, stores are dropped. */
static inline bool bufres_unbound(const struct bufres *r)
{
    return r->format == 0 && !r->add_tid;
}

/* Where a lane's element is. */
struct bufaddr {
    uint64_t index, offset; /* of the record, and within it */
    uint64_t byte;          /* from base, without the SGPR offset */
    uint32_t soffset;
};

static inline struct bufaddr bufres_locate(const struct bufres *r, uint64_t index,
                                           uint64_t offset, uint32_t soffset)
{
    struct bufaddr a = {.index = index, .offset = offset, .soffset = soffset};
    if (!r->element) {
        a.byte = index * r->stride + offset;
        return a;
    }
    uint64_t index_msb = index / r->index_stride, index_lsb = index % r->index_stride;
    uint64_t offset_msb = offset / r->element, offset_lsb = offset % r->element;
    a.byte = (index_msb * r->stride + offset_msb * r->element) * r->index_stride +
             index_lsb * r->element + offset_lsb;
    return a;
}

/* Is a payload of bytes, skip bytes into the element, inside the buffer? */
static inline bool bufres_in_range(const struct bufres *r, const struct bufaddr *a,
                                   unsigned skip, unsigned bytes)
{
    bool in_record = a->offset + skip + bytes <= r->stride;
    switch ((enum bufres_oob)r->oob) {
    case OOB_STRUCTURED:
        return a->index < r->records && in_record;
    case OOB_INDEX:
        return a->index < r->records;
    case OOB_EMPTY:
        return r->records != 0;
    case OOB_RAW:
        if (r->element && r->stride)
            return a->index < r->records && in_record;
        return a->byte + skip + bytes + a->soffset <= r->records;
    }
    return false;
}

/* GPU address of byte skip of the element; in a swizzled buffer the parts of a long
 * element are apart. */
static inline uint64_t bufres_address(const struct bufres *r, const struct bufaddr *a,
                                      unsigned skip)
{
    uint64_t byte = a->byte + skip;
    if (r->element && skip)
        byte = bufres_locate(r, a->index, a->offset + skip, 0).byte;
    return r->base + a->soffset + byte;
}

#endif
