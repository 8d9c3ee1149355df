/* pool.c: a few free blocks, so that short dispatches do not map memory each time.
 *
 * Must not know what a block holds. Blocks are handed out again only for the same size;
 * a full cache gives its oldest back to the host.
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS     256u
#define SINGLE    8u /* blocks before they are cut from pieces */
#define HUGE_PAGE ((size_t)2 << 20)
#define PIECE     (8 * HUGE_PAGE)
#define MAX_BYTES                                                                      \
    (64u << 20) /* of all together: what the largest workgroups need on                \
                   many threads */

struct block_pool {
    pthread_mutex_t lock;
    unsigned n;
    size_t bytes; /* of all slots */
    /* What is left of the last piece that many blocks are cut from. */
    char *piece;
    size_t piece_bytes;
    unsigned mapped; /* blocks so far */
    struct {
        void *block;
        size_t bytes;
    } slots[SLOTS];
};

rd_status pool_create(struct block_pool **out)
{
    struct block_pool *c = calloc(1, sizeof *c);
    if (!c)
        return RD_E_NOMEM;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return RD_OK;
}

void pool_destroy(struct block_pool *cache)
{
    if (!cache)
        return;
    if (cache->piece_bytes)
        munmap(cache->piece, cache->piece_bytes);
    for (unsigned i = 0; i < cache->n; i++)
        munmap(cache->slots[i].block, cache->slots[i].bytes);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static void *map(size_t bytes)
{
    void *at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* A piece of huge pages for the blocks to come. Lock held. */
static bool new_piece(struct block_pool *cache)
{
    char *at = map(PIECE + HUGE_PAGE);
    if (!at)
        return false;
    size_t before = -(uintptr_t)at % HUGE_PAGE;
    if (before)
        munmap(at, before);
    munmap(at + before + PIECE, HUGE_PAGE - before);
    if (cache->piece_bytes)
        munmap(cache->piece, cache->piece_bytes);
    cache->piece = at + before;
    cache->piece_bytes = PIECE;
    (void)madvise(cache->piece, PIECE, MADV_HUGEPAGE); /* a hint */
    return true;
}

/* Once there are many, blocks lie together in huge pages: who goes from wave to wave of
 * the whole chip misses the host's TLB less. Lock held. */
static void *cut(struct block_pool *cache, size_t bytes)
{
    if (++cache->mapped <= SINGLE || bytes > PIECE / 8)
        return NULL;
    if (cache->piece_bytes < bytes && !new_piece(cache))
        return NULL;
    void *block = cache->piece;
    cache->piece += bytes;
    cache->piece_bytes -= bytes;
    return block;
}

void *pool_take(struct block_pool *cache, size_t bytes)
{
    void *block = NULL;
    pthread_mutex_lock(&cache->lock);
    for (unsigned i = cache->n; i-- > 0 && !block;)
        if (cache->slots[i].bytes == bytes) {
            block = cache->slots[i].block;
            cache->bytes -= bytes;
            cache->slots[i] = cache->slots[--cache->n];
        }
    if (!block)
        block = cut(cache, bytes);
    pthread_mutex_unlock(&cache->lock);
    return block ? block : map(bytes);
}

/* Lock held. */
static void drop_first(struct block_pool *cache)
{
    munmap(cache->slots[0].block, cache->slots[0].bytes);
    cache->bytes -= cache->slots[0].bytes;
    cache->n--;
    memmove(&cache->slots[0], &cache->slots[1], cache->n * sizeof cache->slots[0]);
}

void pool_give(struct block_pool *cache, void *block, size_t bytes)
{
    bool kept = bytes <= MAX_BYTES;
    pthread_mutex_lock(&cache->lock);
    while (kept && (cache->bytes + bytes > MAX_BYTES || cache->n == SLOTS))
        drop_first(cache);
    if (kept) {
        cache->bytes += bytes;
        cache->slots[cache->n].block = block;
        cache->slots[cache->n++].bytes = bytes;
    }
    pthread_mutex_unlock(&cache->lock);
    if (!kept)
        munmap(block, bytes);
}
