/* cache.h: a set-associative tag store: which lines are there, and since when.
 * Holds tags and times, never data. SPDX-License-Identifier: MIT
 */
#ifndef TM_CACHE_H
#define TM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct tm_cache {
    uint32_t sets, ways;
    uint32_t stride;             /* signs of a set: its ways, sixteen by sixteen */
    uint32_t links, tags, times; /* where they begin in a set, in words of 8 bytes */
    size_t words;                /* of 8 bytes, of a set (cache.c) */
    int64_t *set;                /* they lie on the host's cache lines */
    void *memory;
    size_t mapped;    /* bytes of it; 0: it is the heap's */
    uint32_t emptied; /* how often so far */
    bool lost;        /* the last miss has put out a line that was written */
    uint64_t lost_line;
    uint64_t hits, misses;
};

/* Zero c first. Returns RD_E_RANGE if it would be more than 32 GiB of the host's
 * memory, or for what is no cache; RD_E_NOMEM. */
RD_CHECKED rd_status tm_cache_create(struct tm_cache *c, uint64_t lines, uint32_t ways);
void tm_cache_destroy(struct tm_cache *c);

/* Look a line up; on a miss it takes the place of the least recently used one.
 *
 * ready  out: where its time is kept. After a miss the caller sets it.
 */
bool tm_cache_access(struct tm_cache *c, uint64_t line, int64_t **ready);

/* The line that was just looked up is written. */
void tm_cache_write(struct tm_cache *c, int64_t *ready);

/* Where a line's time is kept, as a number, and by that. */
static inline uint32_t tm_cache_place(const struct tm_cache *c, const int64_t *ready)
{
    return (uint32_t)(ready - c->set);
}
static inline int64_t *tm_cache_ready(const struct tm_cache *c, uint32_t place)
{
    return c->set + place;
}

/* Forget a line, or all. */
void tm_cache_drop(struct tm_cache *c, uint64_t line);
void tm_cache_clear(struct tm_cache *c);

/* It will be looked up soon: its set comes to the host's caches. */
void tm_cache_fetch(const struct tm_cache *c, uint64_t line);

/* Is it there? Changes nothing. */
bool tm_cache_probe(const struct tm_cache *c, uint64_t line);

#endif
