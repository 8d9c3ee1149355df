/* pool.c: a few free blocks, so that short dispatches do not map memory each time.
 *
 * Must not know what a block holds. Blocks are handed out again only for the same size;
 * a full cache gives memory back to the host.
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SLOTS     64u
#define MAX_BYTES (1u << 20) /* larger ones are rare, and slow to use anyway */

struct block_pool {
    pthread_mutex_t lock;
    unsigned n;
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
            cache->slots[i] = cache->slots[--cache->n];
        }
    pthread_mutex_unlock(&cache->lock);
    if (block)
        return block;
    block =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

void pool_give(struct block_pool *cache, void *block, size_t bytes)
{
    pthread_mutex_lock(&cache->lock);
    bool kept = bytes <= MAX_BYTES && cache->n < SLOTS;
    if (kept) {
        cache->slots[cache->n].block = block;
        cache->slots[cache->n++].bytes = bytes;
    }
    pthread_mutex_unlock(&cache->lock);
    if (!kept)
        munmap(block, bytes);
}
