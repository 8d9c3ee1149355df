/* bytes.h: records as bytes: a buffer that grows, a cursor that never runs over.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CODEC_BYTES_H
#define RD_CODEC_BYTES_H

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

/* A number and its sign, the sign lowest; and back. */
static inline uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Where there is room already: at most BYTES_V bytes. Returns what is behind them. */
#define BYTES_V 10
static inline uint8_t *write_v(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static inline uint8_t *write_z(uint8_t *p, uint64_t v)
{
    return write_v(p, zigzag(v));
}

static inline void put_v(struct buf *b, uint64_t v)
{
    if (buf_room(b, BYTES_V))
        b->n = (size_t)(write_v(b->p + b->n, v) - b->p);
}

static inline void put_z(struct buf *b, int64_t v)
{
    put_v(b, zigzag((uint64_t)v));
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
    return (int64_t)unzigzag(get_v(c));
}

/* The next n bytes; NULL and bad if there are fewer. */
static inline const uint8_t *get_take(struct cur *c, uint64_t n)
{
    const uint8_t *p = c->p;
    if ((uint64_t)(c->end - p) < n) {
        c->bad = true;
        return NULL;
    }
    c->p += n;
    return p;
}

/* A part of the cursor's bytes; empty and bad if there are not so many. */
static inline struct cur get_part(struct cur *c, uint64_t n)
{
    const uint8_t *p = get_take(c, n);
    return p ? (struct cur){p, p + n, false} : (struct cur){c->p, c->p, false};
}

#endif
