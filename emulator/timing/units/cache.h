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
    uint64_t *tag;    /* line number + 1; 0: empty */
    int64_t *ready;   /* when the line's data are there */
    uint32_t *used;   /* for least recently used; 0: empty */
    bool *written;    /* since it came, tm_cache_write */
    uint32_t clock;   /* accesses so far */
    uint32_t emptied; /* at that time it was empty */
    size_t last;      /* the way that was accessed last */
    bool lost;        /* the last miss has put out a line that was written */
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
