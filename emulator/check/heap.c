/* heap.c: the allocations of a program, sorted by address.
 *
 * Must not know runtimes nor who asks. Invariants: ranges [base, base + extent) of
 * blocks are disjoint; a change raises the generation before the lock is given back.
 * SPDX-License-Identifier: MIT
 */
#include "heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GONE 256u

struct ck_heap {
    pthread_mutex_t lock;
    atomic_uint generation;
    uint64_t next; /* number */
    struct ck_block **v;
    size_t n, cap;
    struct ck_block gone[GONE]; /* the last that were dropped, a ring */
    size_t n_gone;              /* ever */
};

rd_status ck_heap_create(struct ck_heap **out)
{
    struct ck_heap *h = calloc(1, sizeof *h);
    if (!h)
        return RD_E_NOMEM;
    pthread_mutex_init(&h->lock, NULL);
    h->next = 1;
    *out = h;
    return RD_OK;
}

void ck_heap_destroy(struct ck_heap *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        free(h->v[i]);
    free(h->v);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

unsigned ck_heap_generation(const struct ck_heap *h)
{
    return atomic_load_explicit(&h->generation, memory_order_acquire);
}

const atomic_uint *ck_heap_generations(const struct ck_heap *h)
{
    return &h->generation;
}

static void changed(struct ck_heap *h)
{
    atomic_fetch_add(&h->generation, 1);
    pthread_mutex_unlock(&h->lock);
}

static uint64_t end_of(const struct ck_block *b)
{
    return b->base + b->extent;
}

/* Index of the first block that ends after the address. */
static size_t index_of(const struct ck_heap *h, uint64_t address)
{
    size_t lo = 0, hi = h->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (end_of(h->v[mid]) <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct ck_block *at_base(const struct ck_heap *h, uint64_t base)
{
    size_t i = index_of(h, base);
    return i < h->n && h->v[i]->base == base ? h->v[i] : NULL;
}

static void forget(struct ck_heap *h, size_t i)
{
    h->gone[h->n_gone++ % GONE] = *h->v[i];
    free(h->v[i]);
    h->n--;
    memmove(h->v + i, h->v + i + 1, (h->n - i) * sizeof(struct ck_block *));
}

static rd_status add(struct ck_heap *h, const struct ck_block *block)
{
    size_t i = index_of(h, block->base);
    if (!block->extent || block->base + block->extent < block->base)
        return RD_E_INVALID;
    if (h->n == h->cap) {
        size_t cap = 2 * h->cap + 64;
        struct ck_block **bigger = realloc(h->v, cap * sizeof(struct ck_block *));
        if (!bigger)
            return RD_E_NOMEM;
        h->v = bigger;
        h->cap = cap;
    }
    struct ck_block *b = malloc(sizeof *b);
    if (!b)
        return RD_E_NOMEM;
    *b = *block;
    b->freed = b->ends = false;
    b->freer.n = 0;
    b->number = h->next++;
    while (i < h->n && h->v[i]->base < end_of(block))
        forget(h, i);
    memmove(h->v + i + 1, h->v + i, (h->n - i) * sizeof(struct ck_block *));
    h->v[i] = b;
    h->n++;
    return RD_OK;
}

rd_status ck_heap_add(struct ck_heap *h, const struct ck_block *block)
{
    pthread_mutex_lock(&h->lock);
    rd_status st = add(h, block);
    changed(h);
    return st;
}

rd_status ck_heap_claim(struct ck_heap *h, const struct ck_block *b)
{
    rd_status st = RD_OK;
    pthread_mutex_lock(&h->lock);
    struct ck_block *known = at_base(h, b->base);
    if (known && (known->extent < b->size || known->freed))
        known = NULL;
    if (known) {
        known->size = b->size;
        known->programs = b->programs;
        known->made = b->made;
        known->ends = false;
        known->fresh = b->fresh && known->filled;
        known->filled = false;
        known->number = h->next++;
    } else {
        st = add(h, b);
    }
    changed(h);
    return st;
}

/* The allocation to free, or why there is none. Lock held. */
static enum ck_heap_freed to_free(struct ck_heap *h, uint64_t base,
                                  struct ck_block **out)
{
    size_t i = index_of(h, base);
    struct ck_block *b = i < h->n && h->v[i]->base <= base ? h->v[i] : NULL;
    if (!b)
        return CK_HEAP_UNKNOWN;
    if (b->base != base)
        return b->freed ? CK_HEAP_UNKNOWN : CK_HEAP_INSIDE;
    *out = b;
    return b->freed ? CK_HEAP_TWICE : CK_HEAP_OK;
}

enum ck_heap_freed ck_heap_free(struct ck_heap *h, uint64_t base,
                                const struct ck_trace *by)
{
    struct ck_block *b = NULL;
    pthread_mutex_lock(&h->lock);
    enum ck_heap_freed r = to_free(h, base, &b);
    if (r == CK_HEAP_OK) {
        if (!b->ends) /* else whoever said so first has freed it */
            b->freer = *by;
        b->freed = true;
        b->ends = false;
    }
    changed(h);
    return r;
}

enum ck_heap_freed ck_heap_free_later(struct ck_heap *h, uint64_t base, void *queue,
                                      const struct ck_trace *by)
{
    struct ck_block *b = NULL;
    pthread_mutex_lock(&h->lock);
    enum ck_heap_freed r = to_free(h, base, &b);
    if (r == CK_HEAP_OK && b->ends)
        r = CK_HEAP_TWICE;
    if (r == CK_HEAP_OK) {
        b->freer = *by;
        b->ends = true;
        b->queue = queue;
    }
    changed(h);
    return r;
}

void ck_heap_settle(struct ck_heap *h, const void *queue, bool all)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->n; i++) {
        struct ck_block *b = h->v[i];
        if (!b->ends || (!all && b->queue != queue))
            continue;
        b->freed = true;
        b->ends = false;
    }
    changed(h);
}

void ck_heap_drop(struct ck_heap *h, uint64_t base, uint64_t number)
{
    pthread_mutex_lock(&h->lock);
    size_t i = index_of(h, base);
    if (i < h->n && h->v[i]->base == base && (!number || h->v[i]->number == number))
        forget(h, i);
    changed(h);
}

enum ck_heap_state ck_heap_at(struct ck_heap *h, uint64_t address, uint64_t *from,
                              uint64_t *to)
{
    enum ck_heap_state state = CK_HEAP_NONE;
    pthread_mutex_lock(&h->lock);
    size_t i = index_of(h, address);
    *from = i ? end_of(h->v[i - 1]) : 0;
    *to = i < h->n ? h->v[i]->base : UINT64_MAX;
    if (i < h->n && h->v[i]->base <= address) {
        const struct ck_block *b = h->v[i];
        bool inside = address - b->base < b->size;
        *from = inside || b->freed ? b->base : b->base + b->size;
        *to = inside && !b->freed ? b->base + b->size : end_of(b);
        state = b->freed ? CK_HEAP_FREED : inside ? CK_HEAP_LIVE : CK_HEAP_MARGIN;
    }
    pthread_mutex_unlock(&h->lock);
    return state;
}

static uint64_t distance(const struct ck_block *b, uint64_t address)
{
    return address < b->base                ? b->base - address
           : address - b->base >= b->extent ? address - b->base - b->size
           : address - b->base < b->size    ? 0
                                            : address - b->base - b->size;
}

bool ck_heap_near(struct ck_heap *h, uint64_t address, struct ck_block *out)
{
    pthread_mutex_lock(&h->lock);
    size_t i = index_of(h, address), best = h->n;
    if (i < h->n)
        best = i;
    if (i && (best == h->n ||
              distance(h->v[i - 1], address) <= distance(h->v[best], address)))
        best = i - 1;
    /* In a margin, but nearer to the beginning of the one behind it. */
    if (best == i && i + 1 < h->n && h->v[i]->base <= address &&
        distance(h->v[i + 1], address) < distance(h->v[i], address))
        best = i + 1;
    bool found = best < h->n;
    if (found)
        *out = *h->v[best];
    pthread_mutex_unlock(&h->lock);
    return found;
}

bool ck_heap_find(struct ck_heap *h, uint64_t base, struct ck_block *out)
{
    pthread_mutex_lock(&h->lock);
    const struct ck_block *b = at_base(h, base);
    if (b)
        *out = *b;
    pthread_mutex_unlock(&h->lock);
    return b != NULL;
}

bool ck_heap_gone(struct ck_heap *h, uint64_t address, struct ck_block *out)
{
    bool found = false;
    pthread_mutex_lock(&h->lock);
    size_t n = h->n_gone < GONE ? h->n_gone : GONE;
    for (size_t i = 0; i < n && !found; i++) {
        const struct ck_block *b = &h->gone[(h->n_gone - 1 - i) % GONE];
        found = address - b->base < b->extent;
        if (found)
            *out = *b;
    }
    pthread_mutex_unlock(&h->lock);
    return found;
}

void ck_heap_each(struct ck_heap *h, void (*fn)(void *ctx, const struct ck_block *b),
                  void *ctx)
{
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->n; i++)
        if (!h->v[i]->freed && !h->v[i]->ends)
            fn(ctx, h->v[i]);
    pthread_mutex_unlock(&h->lock);
}
