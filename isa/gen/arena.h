/* arena.h: memory that lives until the generator ends, and growing arrays in it.
 * SPDX-License-Identifier: MIT
 */
#ifndef GEN_ARENA_H
#define GEN_ARENA_H

#include <stddef.h>

/* Zeroed memory, freed by gen_arena_free; exits the program if there is none. */
void *gen_alloc(size_t bytes);

/* A copy of len bytes of text with a terminating zero. */
char *gen_strndup(const char *text, size_t len);

/* Make room for one more element; returns the (possibly moved) array. */
void *gen_grow(void *array, size_t count, size_t element_bytes);

void gen_arena_free(void);

/* Append one zeroed element to an array held as pointer + count; yields its address. */
#define GEN_PUSH(array, count)                                                         \
    ((array) = gen_grow((array), (count), sizeof *(array)), &(array)[(count)++])

/* Print "isagen: ..." and exit with status 1. */
_Noreturn void gen_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
