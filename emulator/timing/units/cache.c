/* cache.c: tag stores with least-recently-used replacement.
 *
 * Must not know what is cached. Invariant: a line is in at most one way of its set.
 * SPDX-License-Identifier: MIT
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

rd_status tm_cache_create(struct tm_cache *c, uint64_t lines, uint32_t ways)
{
    if (ways == 0 || lines == 0)
        return RD_E_RANGE;
    c->ways = ways;
    c->sets = (uint32_t)(lines / ways ? lines / ways : 1);
    size_t n = (size_t)c->sets * ways;
    c->tag = calloc(n, sizeof *c->tag);
    c->ready = calloc(n, sizeof *c->ready);
    c->used = calloc(n, sizeof *c->used);
    c->written = calloc(n, sizeof *c->written);
    return c->tag && c->ready && c->used && c->written ? RD_OK : RD_E_NOMEM;
}

void tm_cache_destroy(struct tm_cache *c)
{
    free(c->tag);
    free(c->ready);
    free(c->used);
    free(c->written);
}

/* The first way of a line's set. */
static size_t first_of(const struct tm_cache *c, uint64_t line)
{
    uint32_t mask = c->sets - 1;
    return (size_t)(c->sets & mask ? line % c->sets : line & mask) * c->ways;
}

/* The way that has the line, or one that lies behind the set. Four at once: most sets
 * do not have it. */
static size_t find(const struct tm_cache *c, size_t first, uint64_t line)
{
    size_t i = first, end = first + c->ways;
    const uint64_t *tag = c->tag;
    line++;
    if (c->ways && tag[c->last] == line)
        return c->last;
    while (i + 4 <= end && tag[i] != line && tag[i + 1] != line && tag[i + 2] != line &&
           tag[i + 3] != line)
        i += 4;
    while (i < end && tag[i] != line)
        i++;
    return i;
}

/* The first empty way, else the least recently used one. */
static size_t oldest(const struct tm_cache *c, size_t first)
{
    const uint32_t *used = c->used + first;
    uint32_t least = used[0];
    size_t at = 0;
    for (size_t i = 1; i < c->ways; i++)
        least = used[i] < least ? used[i] : least;
    while (used[at] != least)
        at++;
    return first + at;
}

bool tm_cache_access(struct tm_cache *c, uint64_t line, int64_t **ready)
{
    size_t first = first_of(c, line), found = find(c, first, line);
    c->clock++;
    if (found < first + c->ways) {
        c->used[found] = c->clock;
        c->hits++;
        c->last = found;
        c->lost = false;
        *ready = &c->ready[found];
        return true;
    }
    size_t victim = oldest(c, first);
    c->misses++;
    c->last = victim;
    c->lost = c->tag[victim] && c->written[victim];
    c->lost_line = c->tag[victim] - 1;
    c->written[victim] = false;
    c->tag[victim] = line + 1;
    c->used[victim] = c->clock;
    *ready = &c->ready[victim];
    return false;
}

void tm_cache_drop(struct tm_cache *c, uint64_t line)
{
    size_t first = first_of(c, line), found = find(c, first, line);
    if (found < first + c->ways)
        c->tag[found] = c->used[found] = 0;
}

void tm_cache_clear(struct tm_cache *c)
{
    if (c->clock == c->emptied) /* each wave of a workgroup does it, behind a barrier */
        return;
    c->emptied = c->clock;
    memset(c->tag, 0, (size_t)c->sets * c->ways * sizeof *c->tag);
    memset(c->used, 0, (size_t)c->sets * c->ways * sizeof *c->used);
}

bool tm_cache_probe(const struct tm_cache *c, uint64_t line)
{
    size_t first = first_of(c, line);
    return find(c, first, line) < first + c->ways;
}
