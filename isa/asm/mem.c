/* mem.c: growing arrays, buffers and the string map of the assembler.
 *
 * Must not know what is stored. Invariant: after a failed growth the old contents are
 * still there, so that the state can be freed.
 * SPDX-License-Identifier: MIT
 */
#include "as.h"

#include <stdlib.h>

bool as_grow(void **array, uint32_t *cap, uint32_t count, size_t size)
{
    if (count < *cap)
        return true;
    if (*cap >= UINT32_MAX / 2)
        return false;
    uint32_t more = *cap ? *cap * 2 : 16;
    void *moved = realloc(*array, (size_t)more * size);
    if (!moved)
        return false;
    *array = moved;
    *cap = more;
    return true;
}

uint8_t *as_buf_more(struct as_buf *buf, size_t n)
{
    if (n > buf->cap - buf->bytes) {
        size_t cap = buf->cap ? buf->cap : 256;
        while (cap - buf->bytes < n && cap < SIZE_MAX / 2)
            cap *= 2;
        uint8_t *moved = cap - buf->bytes < n ? NULL : realloc(buf->data, cap);
        if (!moved) {
            buf->failed = true;
            return NULL;
        }
        buf->data = moved;
        buf->cap = cap;
    }
    uint8_t *at = buf->data + buf->bytes;
    buf->bytes += n;
    return at;
}

void as_buf_add(struct as_buf *buf, const void *data, size_t n)
{
    uint8_t *at = n ? as_buf_more(buf, n) : NULL;
    if (at)
        memcpy(at, data, n);
}

void as_buf_align(struct as_buf *buf, size_t align)
{
    size_t gap = (0 - buf->bytes) & (align - 1);
    uint8_t *at = gap ? as_buf_more(buf, gap) : NULL;
    if (at)
        memset(at, 0, gap);
}

static uint32_t hash_of(const char *key, size_t len)
{
    uint64_t h = len;
    while (len >= 8) {
        uint64_t word;
        memcpy(&word, key, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
        key += 8;
        len -= 8;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < len; i++)
        tail = tail << 8 | (uint8_t)key[i];
    h = (h ^ tail) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

static struct as_map_entry *probe(const struct as_map *map, const char *key, size_t len,
                                  uint32_t hash)
{
    uint32_t mask = map->cap - 1;
    for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
        struct as_map_entry *e = &map->slots[i];
        if (!e->key)
            return e;
        if (e->hash == hash && e->len == len && memcmp(e->key, key, len) == 0)
            return e;
    }
}

static bool map_grow(struct as_map *map)
{
    struct as_map bigger = {.cap = map->cap ? map->cap * 2 : 64, .count = map->count};
    if (bigger.cap > UINT32_MAX / 4)
        return false;
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < map->cap; i++) {
        const struct as_map_entry *e = &map->slots[i];
        if (e->key)
            *probe(&bigger, e->key, e->len, e->hash) = *e;
    }
    free(map->slots);
    *map = bigger;
    return true;
}

uint32_t *as_map_at(struct as_map *map, const char *key, size_t len, bool create)
{
    uint32_t hash = hash_of(key, len);
    if (map->cap > 0) {
        struct as_map_entry *e = probe(map, key, len, hash);
        if (e->key)
            return &e->value;
    }
    if (!create || len > UINT32_MAX)
        return NULL;
    if (map->count * 2 >= map->cap && !map_grow(map))
        return NULL;
    struct as_map_entry *e = probe(map, key, len, hash);
    *e = (struct as_map_entry){.key = key, .len = (uint32_t)len, .hash = hash};
    map->count++;
    return &e->value;
}

uint32_t as_map_get(const struct as_map *map, const char *key, size_t len)
{
    if (map->cap == 0)
        return 0;
    const struct as_map_entry *e = probe(map, key, len, hash_of(key, len));
    return e->key ? e->value : 0;
}
