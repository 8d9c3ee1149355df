/* constants.c: the pool of a program's constants.
 *
 * Rows are written before anybody can reach them and never change: waves read them
 * without a lock. Address space for all of them is reserved, so that they never move.
 * SPDX-License-Identifier: MIT
 */
#include "constants.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "uop.h"

#define MAX_ROWS  65000u
#define BUCKETS   4096u
#define ROW_BYTES ((MAX_ROWS + 16) * ROW_DWORDS * 4ul)

struct constant {
    uint64_t value;
    uint16_t row;
    uint8_t dwords, copies;
    uint32_t next;
};

struct constants {
    uint32_t *rows;
    unsigned n_rows;
    struct constant *v;
    size_t n, cap;
    uint32_t buckets[BUCKETS]; /* index + 1 */
};

struct constants *constants_create(void)
{
    struct constants *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    void *rows = mmap(NULL, ROW_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rows == MAP_FAILED) {
        free(k);
        return NULL;
    }
    k->rows = rows;
    return k;
}

void constants_destroy(struct constants *k)
{
    if (!k)
        return;
    munmap(k->rows, ROW_BYTES);
    free(k->v);
    free(k);
}

const uint32_t *constants_rows(const struct constants *k)
{
    return k->rows;
}

static int find(const struct constants *k, unsigned bucket, uint64_t value,
                unsigned dwords, unsigned copies)
{
    for (uint32_t i = k->buckets[bucket]; i; i = k->v[i - 1].next) {
        const struct constant *c = &k->v[i - 1];
        if (c->value == value && c->dwords == dwords && c->copies == copies)
            return c->row;
    }
    return -1;
}

int constants_row(struct constants *k, uint64_t value, unsigned dwords, unsigned copies)
{
    unsigned bucket = (unsigned)((value * 0x9e3779b97f4a7c15ull) >> 52) % BUCKETS;
    unsigned rows = dwords * copies, row = k->n_rows;
    int known = find(k, bucket, value, dwords, copies);
    if (known >= 0)
        return known;
    if (row + rows > MAX_ROWS)
        return -1;
    if (k->n == k->cap) {
        size_t cap = k->cap ? 2 * k->cap : 64;
        struct constant *v = realloc(k->v, cap * sizeof *v);
        if (!v)
            return -1;
        k->v = v;
        k->cap = cap;
    }
    uint32_t *r = k->rows + (size_t)row * ROW_DWORDS;
    for (unsigned i = 0; i < rows; i++)
        for (unsigned l = 0; l < ROW_DWORDS; l++)
            *r++ = (uint32_t)(dwords == 2 && i % 2 ? value >> 32 : value);
    k->n_rows += rows;
    k->v[k->n] = (struct constant){value, (uint16_t)row, (uint8_t)dwords,
                                   (uint8_t)copies, k->buckets[bucket]};
    k->buckets[bucket] = (uint32_t)++k->n;
    return (int)row;
}
