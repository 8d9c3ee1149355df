/* cache.c: tag stores with least-recently-used replacement.
 *
 * Must not know what is cached. Invariant: a line is in at most one way of its set.
 * Ways of a set are in a ring, in the order of use; zeros are a ring by number.
 * SPDX-License-Identifier: MIT
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

rd_status tm_cache_create(struct tm_cache *c, uint64_t lines, uint32_t ways)
{
    if (ways == 0 || lines == 0 || ways > UINT16_MAX)
        return RD_E_RANGE;
    c->ways = ways;
    c->stride = (ways + 7u) / 8u * 8u;
    c->sets = (uint32_t)(lines / ways ? lines / ways : 1);
    size_t n = (size_t)c->sets * ways;
    c->sign = calloc((size_t)c->sets * c->stride, sizeof *c->sign);
    c->tag = calloc(n, sizeof *c->tag);
    c->ready = calloc(n, sizeof *c->ready);
    c->written = calloc(n, sizeof *c->written);
    c->links = calloc(n, sizeof *c->links);
    c->newest = calloc(c->sets, sizeof *c->newest);
    return c->sign && c->tag && c->ready && c->written && c->links && c->newest
               ? RD_OK
               : RD_E_NOMEM;
}

void tm_cache_destroy(struct tm_cache *c)
{
    free(c->sign);
    free(c->tag);
    free(c->ready);
    free(c->written);
    free(c->links);
    free(c->newest);
}

/* ---- lines ---- */

static size_t set_of(const struct tm_cache *c, uint64_t line)
{
    uint32_t mask = c->sets - 1;
    return (size_t)(c->sets & mask ? line % c->sets : line & mask);
}

/* A byte that tells most lines from others. */
static uint8_t sign_of(uint64_t line)
{
    uint64_t sign = line * UINT64_C(0x9e3779b97f4a7c15) >> 56;
    return (uint8_t)(sign ? sign : 1);
}

/* The way of a set that has the line, or .ways. Eight signs at once: most sets do not
 * have it. */
static unsigned find(const struct tm_cache *c, size_t set, uint64_t line)
{
    const uint64_t low = UINT64_C(0x0101010101010101);
    const uint8_t *sign = c->sign + set * c->stride;
    const uint64_t *tag = c->tag + set * c->ways;
    if (set == c->last_set && tag[c->last_way] == line && sign[c->last_way])
        return c->last_way;
    uint64_t all = sign_of(line) * low;
    for (unsigned k = 0; k < c->ways; k += 8) {
        uint64_t word;
        memcpy(&word, sign + k, 8);
        word ^= all;
        word = (word - low) & ~word & low << 7; /* what is zero, and some more */
        for (; word; word &= word - 1) {
            unsigned way = k + (unsigned)__builtin_ctzll(word) / 8;
            if (way < c->ways && sign[way] == (uint8_t)all && tag[way] == line)
                return way;
        }
    }
    return c->ways;
}

/* ---- the order of use ---- */

static unsigned before(const struct tm_cache *c, size_t first, unsigned way)
{
    unsigned at = way + c->ways - 1 - c->links[first + way].before;
    return at < c->ways ? at : at - c->ways;
}

static unsigned after(const struct tm_cache *c, size_t first, unsigned way)
{
    unsigned at = way + 1 + c->links[first + way].after;
    return at < c->ways ? at : at - c->ways;
}

/* One comes right after the other. */
static void link_ways(struct tm_cache *c, size_t first, unsigned way, unsigned then)
{
    unsigned ahead = then > way ? then - way : then + c->ways - way;
    c->links[first + way].after = (uint16_t)(ahead - 1);
    c->links[first + then].before = (uint16_t)(ahead - 1);
}

/* From its place in the ring to that between the newest and the oldest. */
static void take_out(struct tm_cache *c, size_t set, unsigned way)
{
    size_t first = set * c->ways;
    unsigned newest = c->newest[set];
    if (way == newest)
        return;
    unsigned oldest = before(c, first, newest);
    if (way == oldest)
        return;
    link_ways(c, first, before(c, first, way), after(c, first, way));
    link_ways(c, first, oldest, way);
    link_ways(c, first, way, newest);
}

static void make_newest(struct tm_cache *c, size_t set, unsigned way)
{
    take_out(c, set, way);
    c->newest[set] = (uint16_t)way;
}

static void make_oldest(struct tm_cache *c, size_t set, unsigned way)
{
    take_out(c, set, way);
    if (way == c->newest[set])
        c->newest[set] = (uint16_t)after(c, set * c->ways, way);
}

/* ---- the outside ---- */

bool tm_cache_access(struct tm_cache *c, uint64_t line, int64_t **ready)
{
    size_t set = set_of(c, line), first = set * c->ways;
    unsigned way = find(c, set, line);
    bool hit = way < c->ways;
    if (!hit)
        way = before(c, first, c->newest[set]); /* the oldest */
    make_newest(c, set, way);
    c->last_set = set;
    c->last_way = way;
    c->clock++;
    *ready = &c->ready[first + way];
    c->lost = false;
    if (hit) {
        c->hits++;
        return true;
    }
    uint8_t *sign = &c->sign[set * c->stride + way];
    c->misses++;
    c->lost = *sign && c->written[first + way];
    c->lost_line = c->tag[first + way];
    c->written[first + way] = false;
    c->tag[first + way] = line;
    *sign = sign_of(line);
    return false;
}

void tm_cache_drop(struct tm_cache *c, uint64_t line)
{
    size_t set = set_of(c, line);
    unsigned way = find(c, set, line);
    if (way == c->ways)
        return;
    c->sign[set * c->stride + way] = 0;
    make_oldest(c, set, way);
}

void tm_cache_clear(struct tm_cache *c)
{
    if (c->clock == c->emptied) /* each wave of a workgroup does it, behind a barrier */
        return;
    c->emptied = c->clock;
    memset(c->sign, 0, (size_t)c->sets * c->stride);
}

bool tm_cache_probe(const struct tm_cache *c, uint64_t line)
{
    return find(c, set_of(c, line), line) < c->ways;
}
