/* arena.c: a bump allocator, and arrays that grow. Knows nothing of what it holds; what
 * an arena gave stays in place until everything is freed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536u

struct cc_chunk {
    struct cc_chunk *next;
    _Alignas(16) unsigned char data[];
};

void *cc_arena_alloc(struct cc_arena *a, size_t bytes)
{
    if (bytes > (size_t)1 << 40)
        return NULL;
    bytes = (bytes + 15u) & ~(size_t)15u;
    if (bytes > a->cap - a->used || !a->top) {
        size_t cap = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        struct cc_chunk *c = malloc(sizeof *c + cap);
        if (!c)
            return NULL;
        c->next = a->top;
        a->top = c;
        a->cap = cap;
        a->used = 0;
    }
    void *p = a->top->data + a->used;
    a->used += bytes;
    memset(p, 0, bytes);
    return p;
}

void *cc_arena_copy(struct cc_arena *a, const void *data, size_t bytes)
{
    void *p = cc_arena_alloc(a, bytes ? bytes : 1);
    if (p && bytes)
        memcpy(p, data, bytes);
    return p;
}

void cc_arena_free(struct cc_arena *a)
{
    while (a->top) {
        struct cc_chunk *next = a->top->next;
        free(a->top);
        a->top = next;
    }
    a->used = a->cap = 0;
}

bool cc_room(void *array, uint32_t *cap, uint32_t count, size_t size)
{
    void *old;
    if (count <= *cap)
        return true;
    uint32_t more = *cap ? *cap : 64;
    while (more < count)
        more *= 2;
    memcpy(&old, array, sizeof old); /* a pointer to anything */
    void *bigger = realloc(old, more * size);
    if (!bigger)
        return false;
    memcpy(array, &bigger, sizeof bigger);
    *cap = more;
    return true;
}
