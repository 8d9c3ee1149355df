/* pool.h: memory of workgroups, kept from one dispatch to the next.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_POOL_H
#define RD_POOL_H

#include <stddef.h>

#include "status.h"

struct block_pool;

RD_CHECKED rd_status pool_create(struct block_pool **out);
void pool_destroy(struct block_pool *cache);

/* Page-aligned memory, zero or as its last user left it; NULL if there is none.
 * Thread: any. */
void *pool_take(struct block_pool *cache, size_t bytes);
void pool_give(struct block_pool *cache, void *block, size_t bytes);

#endif
