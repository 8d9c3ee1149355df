/* arena.h: memory that is freed all at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_ARENA_H
#define RD_CC_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Room for count elements of size bytes in an array of malloc's that has cap. array:
 * address of the pointer to it. False if out of memory: nothing changed. */
bool cc_room(void *array, uint32_t *cap, uint32_t count, size_t size);

#endif
