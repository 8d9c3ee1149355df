/* events.c: what happens next: turns of waves, dispatchers, ends, in order of (time,
 * key).
 *
 * Nearly all events lie within a few hundred cycles: a wheel of cycles, each with its
 * keys in order. Those further away wait in a heap. Must not know what an event means.
 * Invariant: events come out in the order of (time, key), however they went in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

static bool before(const struct tm_event *a, const struct tm_event *b)
{
    return a->t != b->t ? a->t < b->t : a->key < b->key;
}

/* ---- heap ---- */

static rd_status push_far(struct tm_events *q, struct tm_event e)
{
    if (q->n_heap == q->cap_heap) {
        size_t cap = q->cap_heap ? 2 * q->cap_heap : 256;
        struct tm_event *bigger = realloc(q->heap, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        q->heap = bigger;
        q->cap_heap = cap;
    }
    size_t i = q->n_heap++;
    for (; i && before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
    return RD_OK;
}

static struct tm_event pop_far(struct tm_events *q)
{
    struct tm_event top = q->heap[0], e = q->heap[--q->n_heap];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= q->n_heap)
            break;
        if (child + 1 < q->n_heap && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!before(&q->heap[child], &e))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = e;
    return top;
}

/* ---- wheel ---- */

static rd_status grow(struct tm_cycle *c)
{
    if (c->first) { /* room in front */
        memmove(c->key, c->key + c->first, (c->n - c->first) * sizeof *c->key);
        c->n -= c->first;
        c->first = 0;
        return RD_OK;
    }
    uint32_t cap = c->cap ? 2 * c->cap : 8;
    uint64_t *bigger = realloc(c->key, cap * sizeof *bigger);
    if (!bigger)
        return RD_E_NOMEM;
    c->key = bigger;
    c->cap = cap;
    return RD_OK;
}

rd_status tm_events_put(struct tm_events *q, int64_t now, int64_t when, uint64_t key)
{
    if (when - now >= TM_WHEEL)
        return push_far(q, (struct tm_event){when, key});
    unsigned slot = (unsigned)when % TM_WHEEL;
    struct tm_cycle *c = &q->cycle[slot];
    rd_status st = c->n == c->cap ? grow(c) : RD_OK;
    if (st != RD_OK)
        return st;
    uint32_t i = c->n++;
    if (c->sorted) /* it is being emptied */
        for (; i > c->first && key < c->key[i - 1]; i--)
            c->key[i] = c->key[i - 1];
    c->key[i] = key;
    q->busy[slot / 64] |= UINT64_C(1) << slot % 64;
    return RD_OK;
}

/* Merge the sorted a[0..n) and a[n..n+m); tmp has room for n. */
static void merge(uint64_t *a, uint32_t n, uint32_t m, uint64_t *tmp)
{
    uint64_t *b = a + n, *end = b + m, *left = tmp, *left_end = tmp + n;
    memcpy(tmp, a, n * sizeof *a);
    while (left < left_end && b < end) { /* without a branch that nobody can guess */
        uint64_t x = *left, y = *b;
        bool second = y < x;
        *a++ = second ? y : x;
        b += second;
        left += !second;
    }
    memcpy(a, left, (size_t)(left_end - left) * sizeof *a);
}

/* Sort by key. They come in a few rising runs: merge those, neighbours first. */
static rd_status sort(struct tm_events *q, struct tm_cycle *c)
{
    uint64_t *e = c->key + c->first;
    uint32_t n = c->n - c->first;
    c->sorted = true;
    if (n > q->cap_tmp) {
        uint64_t *bigger = realloc(q->tmp, c->cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        q->tmp = bigger;
        q->cap_tmp = c->cap;
    }
    uint32_t run[64], runs = 0; /* lengths of runs yet to be merged, each < the last */
    for (uint32_t from = 0; from < n;) {
        uint32_t to = from + 1;
        while (to < n && e[to] > e[to - 1])
            to++;
        run[runs++] = to - from;
        from = to;
        while (runs > 1 && (run[runs - 2] <= run[runs - 1] || runs == 64 || to == n)) {
            uint32_t both = run[runs - 2] + run[runs - 1];
            merge(e + to - both, run[runs - 2], run[runs - 1], q->tmp);
            run[--runs - 1] = both;
        }
    }
    return RD_OK;
}

/* The first cycle from now on with an event; NULL: none in the wheel. */
static struct tm_cycle *next_cycle(struct tm_events *q, int64_t now)
{
    unsigned from = (unsigned)now % TM_WHEEL, word = from / 64;
    uint64_t bits = q->busy[word] >> from % 64 << from % 64;
    for (unsigned i = 0; i <= TM_WHEEL / 64; i++) {
        if (bits)
            return &q->cycle[word * 64 + (unsigned)__builtin_ctzll(bits)];
        word = (word + 1) % (TM_WHEEL / 64);
        bits = q->busy[word];
    }
    return NULL;
}

rd_status tm_events_take(struct tm_events *q, int64_t now, struct tm_event *out)
{
    struct tm_cycle *c = next_cycle(q, now);
    rd_status st = c && !c->sorted ? sort(q, c) : RD_OK;
    if (st != RD_OK)
        return st;
    q->n--;
    unsigned slot = c ? (unsigned)(c - q->cycle) : 0;
    if (c)
        *out = (struct tm_event){now + ((slot - (unsigned)now) % TM_WHEEL),
                                 c->key[c->first]};
    if (!c || (q->n_heap && before(&q->heap[0], out))) {
        *out = pop_far(q);
        return RD_OK;
    }
    if (++c->first < c->n)
        return RD_OK;
    c->first = c->n = 0;
    c->sorted = false;
    q->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    return RD_OK;
}

void tm_events_destroy(struct tm_events *q)
{
    for (unsigned i = 0; i < TM_WHEEL; i++)
        free(q->cycle[i].key);
    free(q->heap);
    free(q->tmp);
}
