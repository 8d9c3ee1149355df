/* cache.c: tag stores with least-recently-used replacement.
 *
 * Must not know what is cached. Invariant: a line is in at most one way of its set.
 * All of a set lies together, so that to look one up takes few of the host's cache
 * lines and one of its pages: what finds a line (a byte of each way), the order of use,
 * the lines' numbers, when their data are there. Ways of a set are in a ring, in the
 * order of use; zeros are a ring by number.
 * SPDX-License-Identifier: MIT
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    HOST_LINE = 64,
    SIGNS = 16, /* that are compared at once */
    HUGE_PAGE = 2 << 20,
    MOST_FETCHED = 96, /* words of a set: of 32 ways all */
};

#define WRITTEN (UINT64_C(1) << 63) /* of a tag: since it came, tm_cache_write */

/* Of a way: how many ways behind its neighbour by number the one lies that was used
 * next before it, and that after it; round in a set. */
struct links {
    uint16_t before, after;
};

/* Of a set; behind it are signs, links, tags and times of its ways. */
struct head {
    uint32_t emptied; /* c->emptied when it was last accessed */
    uint16_t newest;  /* way that was used last; empty ones are the oldest */
    bool used;
    uint8_t sign[]; /* of a way's line; 0: empty */
};

/* ---- parts of a set ---- */

static struct head *head_of(int64_t *set)
{
    void *at = set;
    return at;
}

static struct links *links_of(const struct tm_cache *c, int64_t *set)
{
    void *at = set + c->links;
    return at;
}

static uint64_t *tags_of(const struct tm_cache *c, int64_t *set)
{
    void *at = set + c->tags;
    return at;
}

static int64_t *times_of(const struct tm_cache *c, int64_t *set)
{
    return set + c->times;
}

static int64_t *set_of(const struct tm_cache *c, uint64_t line)
{
    uint32_t mask = c->sets - 1;
    size_t set = (size_t)(c->sets & mask ? line % c->sets : line & mask);
    return c->set + set * c->words;
}

/* Zeros, from the beginning of a host cache line on; if they are many, in huge pages,
 * as lines that follow each other lie all over them. */
static bool give_memory(struct tm_cache *c, size_t bytes)
{
    bool many = bytes >= HUGE_PAGE;
    size_t line = many ? HUGE_PAGE : HOST_LINE;
    if (many) {
        c->memory = mmap(NULL, bytes + line, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (c->memory == MAP_FAILED)
            c->memory = NULL;
        c->mapped = c->memory ? bytes + line : 0;
    } else {
        c->memory = calloc(bytes + line, 1);
    }
    if (!c->memory)
        return false;
    size_t off = (uintptr_t)c->memory % line;
    void *set = (char *)c->memory + (off ? line - off : 0);
    if (many)
        (void)madvise(set, bytes, MADV_HUGEPAGE); /* a hint */
    c->set = set;
    return true;
}

rd_status tm_cache_create(struct tm_cache *c, uint64_t lines, uint32_t ways)
{
    if (ways == 0 || lines == 0 || ways > UINT16_MAX)
        return RD_E_RANGE;
    c->ways = ways;
    c->stride = (ways + SIGNS - 1) / SIGNS * SIGNS;
    c->links = (uint32_t)(offsetof(struct head, sign) + c->stride + 7) / 8;
    c->tags = c->links + (uint32_t)(ways * sizeof(struct links) + 7) / 8;
    c->times = c->tags + ways;
    size_t line = HOST_LINE / 8;
    c->words = (c->times + ways + line - 1) / line * line;
    uint64_t sets = lines / ways ? lines / ways : 1;
    if (sets > UINT32_MAX / c->words) /* tm_cache_place */
        return RD_E_RANGE;
    c->sets = (uint32_t)sets;
    if (!give_memory(c, c->sets * c->words * sizeof *c->set))
        return RD_E_NOMEM;
    return RD_OK;
}

void tm_cache_destroy(struct tm_cache *c)
{
    if (c->mapped)
        (void)munmap(c->memory, c->mapped);
    else
        free(c->memory);
}

/* ---- lines ---- */

/* A byte that tells most lines from others. */
static uint8_t sign_of(uint64_t line)
{
    uint64_t sign = line * UINT64_C(0x9e3779b97f4a7c15) >> 56;
    return (uint8_t)(sign ? sign : 1);
}

static bool is_line(uint64_t tag, uint64_t line)
{
    return (tag & ~WRITTEN) == line;
}

/* Has the cache been emptied since the set was accessed? Then its signs are no more. */
static bool is_emptied(const struct tm_cache *c, int64_t *set)
{
    return head_of(set)->emptied != c->emptied;
}

/* Bits of those signs, from the first of so many on, that are one. */
static unsigned which(const uint8_t *sign, uint8_t one)
{
    typedef uint8_t signs __attribute__((vector_size(SIGNS)));
    signs all;
    memcpy(&all, sign, sizeof all);
#ifdef __SSE2__
    return (unsigned)_mm_movemask_epi8((__m128i)(all == one));
#else
    unsigned bits = 0;
    all = all == one;
    for (unsigned k = 0; k < SIGNS; k++)
        bits |= (all[k] & 1u) << k;
    return bits;
#endif
}

/* The way of a set that has the line, or .ways. The set is not emptied. Many signs at
 * once: most sets do not have it. */
static unsigned find(const struct tm_cache *c, int64_t *set, uint64_t line)
{
    const uint8_t *sign = head_of(set)->sign;
    const uint64_t *tag = tags_of(c, set);
    uint8_t own = sign_of(line);
    for (unsigned k = 0; k < c->ways; k += SIGNS)
        for (unsigned bits = which(sign + k, own); bits; bits &= bits - 1) {
            unsigned way = k + (unsigned)__builtin_ctz(bits);
            if (is_line(tag[way], line))
                return way;
        }
    return c->ways;
}

/* ---- the order of use ---- */

static unsigned before(const struct tm_cache *c, const struct links *l, unsigned way)
{
    unsigned at = way + c->ways - 1 - l[way].before;
    return at < c->ways ? at : at - c->ways;
}

static unsigned after(const struct tm_cache *c, const struct links *l, unsigned way)
{
    unsigned at = way + 1 + l[way].after;
    return at < c->ways ? at : at - c->ways;
}

/* One comes right after the other. */
static void link_ways(const struct tm_cache *c, struct links *l, unsigned way,
                      unsigned then)
{
    unsigned ahead = then > way ? then - way : then + c->ways - way;
    l[way].after = (uint16_t)(ahead - 1);
    l[then].before = (uint16_t)(ahead - 1);
}

/* From its place in the ring to that between the newest and the oldest. */
static void take_out(const struct tm_cache *c, int64_t *set, unsigned way)
{
    struct links *l = links_of(c, set);
    unsigned newest = head_of(set)->newest;
    if (way == newest)
        return;
    unsigned oldest = before(c, l, newest);
    if (way == oldest)
        return;
    link_ways(c, l, before(c, l, way), after(c, l, way));
    link_ways(c, l, oldest, way);
    link_ways(c, l, way, newest);
}

static void make_newest(const struct tm_cache *c, int64_t *set, unsigned way)
{
    take_out(c, set, way);
    head_of(set)->newest = (uint16_t)way;
}

static void make_oldest(const struct tm_cache *c, int64_t *set, unsigned way)
{
    take_out(c, set, way);
    if (way == head_of(set)->newest)
        head_of(set)->newest = (uint16_t)after(c, links_of(c, set), way);
}

/* ---- the outside ---- */

/* It was not what its set was accessed for the last time. */
__attribute__((noinline)) static bool access_other(struct tm_cache *c, int64_t *set,
                                                   uint64_t line, int64_t **ready)
{
    struct head *head = head_of(set);
    unsigned way = c->ways;
    if (!is_emptied(c, set)) {
        way = find(c, set, line);
    } else {
        memset(head->sign, 0, c->stride);
        head->emptied = c->emptied;
    }
    if (way < c->ways) {
        make_newest(c, set, way);
        *ready = times_of(c, set) + way;
        c->hits++;
        return true;
    }
    way = before(c, links_of(c, set), head->newest); /* the oldest: round in the ring */
    head->newest = (uint16_t)way;
    *ready = times_of(c, set) + way;
    uint64_t *tag = tags_of(c, set) + way;
    c->misses++;
    if (head->sign[way]) {
        c->lost = (*tag & WRITTEN) != 0;
        c->lost_line = *tag & ~WRITTEN;
    }
    *tag = line;
    head->sign[way] = sign_of(line);
    return false;
}

bool tm_cache_access(struct tm_cache *c, uint64_t line, int64_t **ready)
{
    int64_t *set = set_of(c, line);
    struct head *head = head_of(set);
    *(volatile bool *)&head->used = true; /* first: the host gives a page, not zeros */
    unsigned way = head->newest;
    c->lost = false;
    if (is_emptied(c, set) || !head->sign[way] || !is_line(tags_of(c, set)[way], line))
        return access_other(c, set, line, ready);
    *ready = times_of(c, set) + way;
    c->hits++;
    return true;
}

void tm_cache_write(struct tm_cache *c, int64_t *ready)
{
    void *tag = ready - c->ways;
    *(uint64_t *)tag |= WRITTEN;
}

void tm_cache_drop(struct tm_cache *c, uint64_t line)
{
    int64_t *set = set_of(c, line);
    unsigned way = is_emptied(c, set) ? c->ways : find(c, set, line);
    if (way == c->ways)
        return;
    head_of(set)->sign[way] = 0;
    make_oldest(c, set, way);
}

void tm_cache_clear(struct tm_cache *c)
{
    c->emptied++;
}

void tm_cache_fetch(const struct tm_cache *c, uint64_t line)
{
    int64_t *set = set_of(c, line);
    size_t words = c->words < MOST_FETCHED ? c->words : MOST_FETCHED;
    for (size_t k = 0; k < words; k += HOST_LINE / 8)
        __builtin_prefetch(set + k, 1);
}

bool tm_cache_probe(const struct tm_cache *c, uint64_t line)
{
    int64_t *set = set_of(c, line);
    return !is_emptied(c, set) && find(c, set, line) < c->ways;
}
