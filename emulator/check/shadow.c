/* shadow.c: shadow memory: a hash table of blocks of cells.
 *
 * Must not know what is a race. A block is split once, when something is touched that
 * is no whole dword; its cells then stand for bytes. SPDX-License-Identifier: MIT
 */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next; /* of the same slot */
    uint64_t number;    /* address / SHADOW_BLOCK */
    unsigned grain;     /* 4 or 1 */
    struct cell *cell;
};

struct shadow {
    struct block **slot;
    size_t n_slots, n_blocks;
    uint64_t bytes;
    struct block *last; /* that was asked for */
};

struct shadow *shadow_create(void)
{
    struct shadow *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n_slots = 64;
    s->slot = calloc(s->n_slots, sizeof(struct block *));
    if (!s->slot) {
        free(s);
        return NULL;
    }
    return s;
}

void shadow_clear(struct shadow *s)
{
    for (size_t i = 0; i < s->n_slots; i++)
        while (s->slot[i]) {
            struct block *b = s->slot[i];
            s->slot[i] = b->next;
            free(b->cell);
            free(b);
        }
    s->n_blocks = 0;
    s->bytes = 0;
    s->last = NULL;
}

void shadow_destroy(struct shadow *s)
{
    if (!s)
        return;
    shadow_clear(s);
    free(s->slot);
    free(s);
}

uint64_t shadow_bytes(const struct shadow *s)
{
    return s->bytes;
}

static size_t slot_of(const struct shadow *s, uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (s->n_slots - 1);
}

/* More slots than blocks; where there is no memory for it, longer lists. */
static void grow(struct shadow *s)
{
    struct shadow bigger = {.n_slots = 4 * s->n_slots};
    bigger.slot = calloc(bigger.n_slots, sizeof(struct block *));
    if (!bigger.slot)
        return;
    for (size_t i = 0; i < s->n_slots; i++)
        while (s->slot[i]) {
            struct block *b = s->slot[i];
            s->slot[i] = b->next;
            size_t to = slot_of(&bigger, b->number);
            b->next = bigger.slot[to];
            bigger.slot[to] = b;
        }
    free(s->slot);
    s->slot = bigger.slot;
    s->n_slots = bigger.n_slots;
}

static struct block *block_new(struct shadow *s, uint64_t number)
{
    if (s->n_blocks >= s->n_slots)
        grow(s);
    struct block *b = calloc(1, sizeof *b);
    if (b)
        b->cell = calloc(SHADOW_BLOCK / 4, sizeof *b->cell);
    if (!b || !b->cell) {
        free(b);
        return NULL;
    }
    b->number = number;
    b->grain = 4;
    size_t slot = slot_of(s, number);
    b->next = s->slot[slot];
    s->slot[slot] = b;
    s->n_blocks++;
    s->bytes += sizeof *b + SHADOW_BLOCK / 4 * sizeof *b->cell;
    return b;
}

static struct block *block_at(struct shadow *s, uint64_t number)
{
    if (s->last && s->last->number == number)
        return s->last;
    struct block *b = s->slot[slot_of(s, number)];
    while (b && b->number != number)
        b = b->next;
    if (!b)
        b = block_new(s, number);
    s->last = b ? b : s->last;
    return b;
}

/* What was of a dword is of each of its bytes. */
static bool split(struct shadow *s, struct block *b)
{
    struct cell *cell = malloc(SHADOW_BLOCK * sizeof *cell);
    if (!cell)
        return false;
    for (unsigned i = 0; i < SHADOW_BLOCK; i++)
        cell[i] = b->cell[i / 4];
    free(b->cell);
    b->cell = cell;
    b->grain = 1;
    s->bytes += (uint64_t)(SHADOW_BLOCK - SHADOW_BLOCK / 4) * sizeof *cell;
    return true;
}

struct cell *shadow_cells(struct shadow *s, uint64_t address, unsigned bytes,
                          unsigned *grain, unsigned *n)
{
    struct block *b = block_at(s, address / SHADOW_BLOCK);
    unsigned at = (unsigned)(address % SHADOW_BLOCK);
    if (!b || ((at | bytes) % 4 && b->grain == 4 && !split(s, b)))
        return NULL;
    *grain = b->grain;
    *n = bytes / b->grain;
    return &b->cell[at / b->grain];
}
