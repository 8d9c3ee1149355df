/* states.c: a table of states: byte strings with numbers.
 * SPDX-License-Identifier: MIT
 */
#include "states.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STATES_MOST (1u << 16)

struct state {
    uint64_t hash;
    size_t n;
    uint8_t bytes[];
};

struct states {
    struct state **v; /* by number */
    uint32_t *index;  /* open addressing: number + 1 */
    uint32_t n, room; /* room: of index, twice that of v */
};

static uint64_t hash_of(const uint8_t *bytes, size_t n)
{
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15);
    for (; n >= 8; bytes += 8, n -= 8) {
        uint64_t v;
        memcpy(&v, bytes, 8);
        h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (; n; bytes++, n--)
        h = (h ^ *bytes) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

struct states *states_create(void)
{
    struct states *s = calloc(1, sizeof *s);
    if (s && states_put(s, "", 0) == 0)
        return s;
    states_destroy(s);
    return NULL;
}

void states_destroy(struct states *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        free(s->v[i]);
    free(s->v);
    free(s->index);
    free(s);
}

static uint32_t *place_of(const struct states *s, uint64_t hash, const void *bytes,
                          size_t n)
{
    uint32_t i = (uint32_t)hash & (s->room - 1);
    for (; s->index[i]; i = (i + 1) & (s->room - 1)) {
        const struct state *x = s->v[s->index[i] - 1];
        if (x->hash == hash && x->n == n && memcmp(x->bytes, bytes, n) == 0)
            break;
    }
    return &s->index[i];
}

static bool grow(struct states *s)
{
    uint32_t room = s->room ? 2 * s->room : 64;
    struct state **v = realloc(s->v, room / 2 * sizeof(struct state *));
    if (v)
        s->v = v;
    uint32_t *index = calloc(room, sizeof *index);
    if (!v || !index) {
        free(index);
        return false;
    }
    free(s->index);
    s->index = index;
    s->room = room;
    for (uint32_t i = 0; i < s->n; i++)
        *place_of(s, s->v[i]->hash, s->v[i]->bytes, s->v[i]->n) = i + 1;
    return true;
}

uint32_t states_put(struct states *s, const void *bytes, size_t n)
{
    uint64_t hash = hash_of(bytes, n);
    if (2 * s->n >= s->room && (s->n >= STATES_MOST || !grow(s)) && !s->room)
        return STATE_NONE;
    uint32_t *at = place_of(s, hash, bytes, n);
    if (*at)
        return *at - 1;
    struct state *x = 2 * s->n < s->room ? malloc(sizeof *x + n) : NULL;
    if (!x)
        return STATE_NONE;
    x->hash = hash;
    x->n = n;
    memcpy(x->bytes, bytes, n);
    s->v[s->n] = x;
    *at = ++s->n;
    return s->n - 1;
}

const void *states_get(const struct states *s, uint32_t number, size_t *n)
{
    *n = s->v[number]->n;
    return s->v[number]->bytes;
}
