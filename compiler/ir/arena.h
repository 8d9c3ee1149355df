/* arena.h: memory that is freed all at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_ARENA_H
#define RD_CC_ARENA_H

#include <stddef.h>

struct cc_chunk;

struct cc_arena {
    struct cc_chunk *top;
    size_t used, cap;
};

/* Zeroed, aligned for any scalar; NULL if out of memory. */
void *cc_arena_alloc(struct cc_arena *a, size_t bytes);
/* A copy of bytes; of zero bytes, a valid pointer. */
void *cc_arena_copy(struct cc_arena *a, const void *data, size_t bytes);
void cc_arena_free(struct cc_arena *a);

#endif
