/* arena.c: allocation for a program that reads, writes and ends.
 *
 * Knows nothing of instructions. Everything handed out stays valid until
 * gen_arena_free, also the old copy of an array that grew.
 * SPDX-License-Identifier: MIT
 */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    max_align_t data[];
};

static struct block *blocks;

void *gen_alloc(size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes);
    if (b == NULL)
        gen_die("out of memory");
    b->next = blocks;
    blocks = b;
    return b->data;
}

char *gen_strndup(const char *text, size_t len)
{
    char *copy = gen_alloc(len + 1);
    memcpy(copy, text, len);
    return copy;
}

/* Arrays double at powers of two, so count alone tells the capacity. */
void *gen_grow(void *array, size_t count, size_t element_bytes)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    size_t capacity = count == 0 ? 1 : count * 2;
    void *bigger = gen_alloc(capacity * element_bytes);
    if (count != 0)
        memcpy(bigger, array, count * element_bytes);
    return bigger;
}

void gen_arena_free(void)
{
    while (blocks != NULL) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

void gen_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("isagen: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}
