/* blocks.h: memory of workgroups, kept from one dispatch to the next.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BLOCKS_H
#define RD_BLOCKS_H

#include <stddef.h>

#include "status.h"

struct block_cache;

RD_CHECKED rd_status blocks_create(struct block_cache **out);
void blocks_destroy(struct block_cache *cache);

/* Page-aligned memory, zero or as its last user left it; NULL if there is none.
 * Thread: any. */
void *blocks_take(struct block_cache *cache, size_t bytes);
void blocks_give(struct block_cache *cache, void *block, size_t bytes);

#endif
