/* pool.c: the waves and workgroups on the chip, used again and again.
 *
 * The engine goes from wave to wave, each some kilobytes: where they lie in the host's
 * huge pages, that costs no misses of its TLB. A few waves come from a small block.
 * Must not know what a wave holds. Invariant: every wave lies on a host cache line of
 * its own, and what is taken is zero.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine.h"

enum { FEW = 16, HUGE_PAGE = 2 << 20, LARGEST = 32 << 20, LINE = 64 };

/* From wave to wave an odd number of lines, so that they use all sets of a cache. */
static size_t stride(const struct tm_pools *p)
{
    size_t bytes = sizeof(struct tm_wave) + p->vgprs * sizeof(uint32_t);
    return ((bytes + LINE - 1) / LINE | 1u) * LINE;
}

static rd_status more_waves(struct tm_pools *p)
{
    size_t last = p->blocks ? p->blocks->bytes : 0;
    size_t bytes = !last              ? FEW * stride(p)
                   : last < HUGE_PAGE ? HUGE_PAGE
                   : last < LARGEST   ? 2 * last
                                      : last;
    struct tm_block *block = malloc(sizeof *block);
    void *memory = aligned_alloc(last ? HUGE_PAGE : LINE, bytes);
    if (!block || !memory) {
        free(block);
        free(memory);
        return RD_E_NOMEM;
    }
    if (last)
        (void)madvise(memory, bytes, MADV_HUGEPAGE); /* a hint */
    *block = (struct tm_block){.memory = memory, .bytes = bytes, .next = p->blocks};
    p->blocks = block;
    return RD_OK;
}

static rd_status more_indices(struct tm_pools *p)
{
    size_t cap = p->cap_waves ? 2 * p->cap_waves : 64;
    if (cap > 1u << TM_INDEX_BITS)
        return RD_E_NOMEM;
    struct tm_wave **bigger = realloc(p->wave, cap * sizeof(*bigger));
    if (!bigger)
        return RD_E_NOMEM;
    if (!p->cap_waves)
        bigger[p->n_waves++] = NULL; /* 0 is nobody's index */
    p->wave = bigger;
    p->cap_waves = cap;
    return RD_OK;
}

static struct tm_wave *new_wave(struct tm_pools *p)
{
    if ((!p->blocks || p->blocks->bytes - p->blocks->used < stride(p)) &&
        more_waves(p) != RD_OK)
        return NULL;
    if (p->n_waves == p->cap_waves && more_indices(p) != RD_OK)
        return NULL;
    void *memory = p->blocks->memory + p->blocks->used;
    struct tm_wave *w = memory;
    memset(w, 0, sizeof *w);
    p->blocks->used += stride(p);
    w->index = (uint32_t)p->n_waves;
    return p->wave[p->n_waves++] = w;
}

struct tm_wave *tm_pool_wave(struct tm_pools *p)
{
    struct tm_wave *w = p->free_waves;
    if (w)
        p->free_waves = w->next_free;
    else if (!(w = new_wave(p)))
        return NULL;
    tm_wave_clear(w, p->vgprs);
    return w;
}

void tm_pool_give_wave(struct tm_pools *p, struct tm_wave *w)
{
    w->next_free = p->free_waves;
    p->free_waves = w;
}

struct tm_group *tm_pool_group(struct tm_pools *p)
{
    struct tm_group *g = p->free_groups;
    if (g) {
        p->free_groups = g->next_free;
        *g = (struct tm_group){.next_made = g->next_made};
        return g;
    }
    g = calloc(1, sizeof *g);
    if (g) {
        g->next_made = p->made_groups;
        p->made_groups = g;
    }
    return g;
}

void tm_pool_give_group(struct tm_pools *p, struct tm_group *g)
{
    g->next_free = p->free_groups;
    p->free_groups = g;
}

void tm_pool_free(struct tm_pools *p)
{
    for (size_t i = 1; i < p->n_waves; i++)
        for (unsigned c = 0; c < TM_COUNTERS; c++)
            fifo_free(&p->wave[i]->counter[c]);
    for (struct tm_block *b = p->blocks, *next; b; b = next) {
        next = b->next;
        free(b->memory);
        free(b);
    }
    for (struct tm_group *g = p->made_groups, *next; g; g = next) {
        next = g->next_made;
        free(g);
    }
    free(p->wave);
    *p = (struct tm_pools){.blocks = NULL};
}
