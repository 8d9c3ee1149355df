/* events.c: what happens next: turns of waves, dispatchers, ends, in order of (time, age).
 *
 * Nearly all events lie within a few hundred cycles: a wheel of cycles, each with its
 * events by age. Those further away wait in a heap. Must not know what an event means.
 * Invariant: events come out in the order of (time, age), however they went in.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "engine.h"

#define SORT_MANY 40u

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

rd_status tm_push(struct tm_engine *t, int64_t when, uint64_t age, struct tm_wave *w)
{
    struct tm_events *q = &t->events;
    struct tm_event e = {when, age, w};
    q->n++;
    if (when - t->now >= TM_WHEEL)
        return push_far(q, e);
    unsigned slot = (unsigned)when % TM_WHEEL;
    struct tm_cycle *c = &q->cycle[slot];
    rd_status st = c->n == c->cap ? grow(c) : RD_OK;
    if (st != RD_OK)
        return st;
    uint32_t i = c->n++;
    if (c->sorted) /* it is being emptied */
        for (; i > c->first && age < c->event[i - 1].age; i--)
            c->event[i] = c->event[i - 1];
    c->event[i] = e;
    q->busy[slot / 64] |= UINT64_C(1) << slot % 64;
    return RD_OK;
}

static int by_age(const void *a, const void *b)
{
    const struct tm_event *x = a, *y = b;
    return (x->age > y->age) - (x->age < y->age);
}

/* Ages come in a few rising runs: one sort is cheaper than insertions. */
static void sort(struct tm_cycle *c)
{
    c->sorted = true;
    for (uint32_t i = c->first + 1; i < c->n; i++) {
        struct tm_event e = c->event[i];
        uint32_t k = i;
        if (e.age > c->event[i - 1].age)
            continue;
        if (c->n - c->first > SORT_MANY) {
            qsort(c->event + c->first, c->n - c->first, sizeof *c->event, by_age);
            return;
        }
        for (; k > c->first && e.age < c->event[k - 1].age; k--)
            c->event[k] = c->event[k - 1];
        c->event[k] = e;
    }
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

bool tm_pop(struct tm_engine *t, struct tm_event *out)
{
    struct tm_events *q = &t->events;
    if (q->n == 0)
        return false;
    q->n--;
    struct tm_cycle *c = next_cycle(q, t->now);
    if (c && !c->sorted)
        sort(c);
    if (!c || (q->n_heap && before(&q->heap[0], &c->event[c->first]))) {
        *out = pop_far(q);
        return true;
    }
    *out = c->event[c->first++];
    if (c->first < c->n) { /* likely the next: its state may be far away */
        const char *ahead = (const char *)c->event[c->first].wave;
        for (unsigned i = 0; ahead && i < 4; i++)
            __builtin_prefetch(ahead + 64 * (size_t)i);
        return true;
    }
    unsigned slot = (unsigned)(c - q->cycle);
    c->first = c->n = 0;
    c->sorted = false;
    q->busy[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    return true;
}

void tm_events_destroy(struct tm_events *q)
{
    for (unsigned i = 0; i < TM_WHEEL; i++)
        free(q->cycle[i].event);
    free(q->heap);
}
