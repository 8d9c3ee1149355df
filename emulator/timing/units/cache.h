/* cache.h: a set-associative tag store: which lines are there, and since when.
 * Holds tags and times, never data. SPDX-License-Identifier: MIT
 */
#ifndef TM_CACHE_H
#define TM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Of a way: how many ways behind its neighbour by number the one lies that was used
 * next before it, and that after it; round in a set. */
struct tm_links {
    uint16_t before, after;
};

struct tm_cache {
    uint32_t sets, ways;
    uint32_t stride; /* of .sign: ways of a set, eight by eight */
    uint8_t *sign;   /* of its line; 0: empty */
    uint64_t *tag;   /* line number */
    int64_t *ready;  /* when the line's data are there */
    bool *written;   /* since it came, tm_cache_write */
    struct tm_links *links;
    uint16_t *newest; /* way of a set that was used last; empty ones are the oldest */
    uint32_t clock;   /* accesses so far */
    uint32_t emptied; /* at that time it was empty */
    size_t last_set;  /* where was accessed last */
    unsigned last_way;
    bool lost; /* the last miss has put out a line that was written */
    uint64_t lost_line;
    uint64_t hits, misses;
};

RD_CHECKED rd_status tm_cache_create(struct tm_cache *c, uint64_t lines, uint32_t ways);
void tm_cache_destroy(struct tm_cache *c);

/* Look a line up; on a miss it takes the place of the least recently used one.
 *
 * ready  out: where its time is kept. After a miss the caller sets it.
 */
bool tm_cache_access(struct tm_cache *c, uint64_t line, int64_t **ready);

/* The line that was just looked up is written. */
static inline void tm_cache_write(struct tm_cache *c, const int64_t *ready)
{
    c->written[ready - c->ready] = true;
}

/* Forget a line, or all. */
void tm_cache_drop(struct tm_cache *c, uint64_t line);
void tm_cache_clear(struct tm_cache *c);

/* Is it there? Changes nothing. */
bool tm_cache_probe(const struct tm_cache *c, uint64_t line);

#endif
