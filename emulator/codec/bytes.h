/* bytes.h: records as bytes: a buffer that grows, a cursor that never runs over.
 * SPDX-License-Identifier: MIT
 */
#ifndef TL_BYTES_H
#define TL_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* failed: memory ran out, contents are no longer whole. */
struct buf {
    uint8_t *p;
    size_t n, room;
    bool failed;
};

static inline bool buf_room(struct buf *b, size_t n)
{
    if (b->room - b->n >= n)
        return true;
    size_t room = b->room ? b->room : 256;
    while (room - b->n < n)
        room *= 2;
    uint8_t *p = realloc(b->p, room);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->room = room;
    return true;
}

static inline void put_u8(struct buf *b, unsigned v)
{
    if (buf_room(b, 1))
        b->p[b->n++] = (uint8_t)v;
}

static inline void put_v(struct buf *b, uint64_t v)
{
    if (!buf_room(b, 10))
        return;
    for (; v >= 0x80; v >>= 7)
        b->p[b->n++] = (uint8_t)(v | 0x80);
    b->p[b->n++] = (uint8_t)v;
}

static inline void put_z(struct buf *b, int64_t v)
{
    put_v(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static inline void put_bytes(struct buf *b, const void *p, size_t n)
{
    if (n && buf_room(b, n)) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
}

static inline void put_text(struct buf *b, const char *s)
{
    size_t n = strlen(s);
    put_v(b, n);
    put_bytes(b, s, n);
}

/* What is left to read; bad: it ended too early or is no number. */
struct cur {
    const uint8_t *p, *end;
    bool bad;
};

static inline unsigned get_u8(struct cur *c)
{
    if (c->p == c->end) {
        c->bad = true;
        return 0;
    }
    return *c->p++;
}

static inline uint64_t get_v(struct cur *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned b = get_u8(c);
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    c->bad = true;
    return 0;
}

static inline int64_t get_z(struct cur *c)
{
    uint64_t v = get_v(c);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* A part of the cursor's bytes; empty and bad if there are not so many. */
static inline struct cur get_part(struct cur *c, uint64_t n)
{
    struct cur part = {c->p, c->p, false};
    if (n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return part;
    }
    part.end = c->p += n;
    return part;
}

#endif
