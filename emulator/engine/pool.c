/* pool.c: a few free blocks, so that short dispatches do not map memory each time.
 *
 * Must not know what a block holds. Blocks are handed out again only for the same size;
 * a full cache gives its oldest back to the host.
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS 64u
#define MAX_BYTES                                                                      \
    (64u << 20) /* of all together: what the largest workgroups need on                \
                   many threads */

struct block_pool {
    pthread_mutex_t lock;
    unsigned n;
    size_t bytes; /* of all slots */
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
    for (unsigned i = 0; i < cache->n; i++)
        munmap(cache->slots[i].block, cache->slots[i].bytes);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
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
    pthread_mutex_unlock(&cache->lock);
    if (block)
        return block;
    block =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
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
