/* events.c: what happens next: turns of waves, dispatchers, ends, in order of (time,
 * age).
 *
 * Nearly all events lie within a few hundred cycles: a wheel of cycles, each with its
 * events by age. Those further away wait in a heap. Must not know what an event means.
 * Invariant: events come out in the order of (time, age), however they went in.
 *
 * SPDX-License-Identifier: MIT
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

static bool before(const struct tm_event *a, const struct tm_event *b)
{
    return a->t != b->t ? a->t < b->t : a->age < b->age;
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
        memmove(c->event, c->event + c->first, (c->n - c->first) * sizeof *c->event);
        c->n -= c->first;
        c->first = 0;
        return RD_OK;
    }
    uint32_t cap = c->cap ? 2 * c->cap : 8;
    struct tm_event *bigger = realloc(c->event, cap * sizeof *bigger);
    if (!bigger)
        return RD_E_NOMEM;
    c->event = bigger;
    c->cap = cap;
    return RD_OK;
}

rd_status tm_events_put(struct tm_events *q, int64_t now, const struct tm_event *e)
{
    if (e->t - now >= TM_WHEEL)
        return push_far(q, *e);
    unsigned slot = (unsigned)e->t % TM_WHEEL;
    struct tm_cycle *c = &q->cycle[slot];
    rd_status st = c->n == c->cap ? grow(c) : RD_OK;
    if (st != RD_OK)
        return st;
    uint32_t i = c->n++;
    if (c->sorted) /* it is being emptied */
        for (; i > c->first && e->age < c->event[i - 1].age; i--)
            c->event[i] = c->event[i - 1];
    c->event[i] = *e;
    q->busy[slot / 64] |= UINT64_C(1) << slot % 64;
    return RD_OK;
}

/* Merge the sorted a[0..n) and a[n..n+m); tmp has room for n. */
static void merge(struct tm_event *a, uint32_t n, uint32_t m, struct tm_event *tmp)
{
    struct tm_event *b = a + n, *end = b + m, *left = tmp, *left_end = tmp + n;
    memcpy(tmp, a, n * sizeof *a);
    while (left < left_end && b < end)
        *a++ = b->age < left->age ? *b++ : *left++;
    memcpy(a, left, (size_t)(left_end - left) * sizeof *a);
}

/* Sort by age. Ages come in a few rising runs: merge those, neighbours first. */
static rd_status sort(struct tm_events *q, struct tm_cycle *c)
{
    struct tm_event *e = c->event + c->first;
    uint32_t n = c->n - c->first;
    c->sorted = true;
    if (n > q->cap_tmp) {
        struct tm_event *bigger = realloc(q->tmp, c->cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        q->tmp = bigger;
        q->cap_tmp = c->cap;
    }
    uint32_t run[64], runs = 0; /* lengths of runs yet to be merged, each < the last */
    for (uint32_t from = 0; from < n;) {
        uint32_t to = from + 1;
        while (to < n && e[to].age > e[to - 1].age)
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
    if (!c || (q->n_heap && before(&q->heap[0], &c->event[c->first]))) {
        *out = pop_far(q);
        return RD_OK;
    }
    *out = c->event[c->first++];
    if (c->first < c->n)
        return RD_OK;
    unsigned slot = (unsigned)(c - q->cycle);
    c->first = c->n = 0;
    c->sorted = false;
    q->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    return RD_OK;
}

void tm_events_destroy(struct tm_events *q)
{
    for (unsigned i = 0; i < TM_WHEEL; i++)
        free(q->cycle[i].event);
    free(q->heap);
    free(q->tmp);
}
