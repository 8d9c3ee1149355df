/* events.h: what happens next: turns of waves, dispatchers, ends.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_EVENTS_H
#define TM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* What comes first at a time has the smaller key; keys of a time differ. */
struct tm_event {
    int64_t t;
    uint64_t key;
};

enum { TM_WHEEL = 1024 };

/* Keys of one cycle, sorted or not; those before first are done. */
struct tm_cycle {
    uint64_t *key;
    uint32_t first, n, cap;
    bool sorted;
};

struct tm_events {
    struct tm_cycle cycle[TM_WHEEL];
    uint64_t busy[TM_WHEEL / 64];
    struct tm_event *heap; /* further away than the wheel reaches */
    size_t n_heap, cap_heap, n;
    uint64_t *tmp; /* for sorting */
    size_t cap_tmp;
};

/* Where there is no room in the cycle, which is far away, or being emptied. */
RD_CHECKED rd_status tm_events_put(struct tm_events *q, int64_t now, int64_t when,
                                   uint64_t key);
/* From another cycle, or from far away. */
RD_CHECKED rd_status tm_events_take(struct tm_events *q, int64_t now,
                                    struct tm_event *out);

/* when: now or later. */
RD_CHECKED static inline rd_status tm_events_push(struct tm_events *q, int64_t now,
                                                  int64_t when, uint64_t key)
{
    unsigned slot = (unsigned)when % TM_WHEEL;
    struct tm_cycle *c = &q->cycle[slot];
    q->n++;
    if (when - now >= TM_WHEEL || c->n == c->cap || c->sorted)
        return tm_events_put(q, now, when, key);
    c->key[c->n++] = key;
    q->busy[slot / 64] |= UINT64_C(1) << slot % 64;
    return RD_OK;
}

/* The next event; there must be one. */
RD_CHECKED static inline rd_status tm_events_pop(struct tm_events *q, int64_t now,
                                                 struct tm_event *out)
{
    struct tm_cycle *c = &q->cycle[(unsigned)now % TM_WHEEL];
    if (!c->sorted || c->n - c->first < 2 || (q->n_heap && q->heap[0].t <= now))
        return tm_events_take(q, now, out);
    q->n--;
    *out = (struct tm_event){now, c->key[c->first++]};
    return RD_OK;
}

/* Keys of what comes in this cycle, three at least; NULL: there are fewer. */
static inline const uint64_t *tm_events_ahead(const struct tm_events *q, int64_t now)
{
    const struct tm_cycle *c = &q->cycle[(unsigned)now % TM_WHEEL];
    return c->sorted && c->first + 3 <= c->n ? &c->key[c->first] : NULL;
}

void tm_events_destroy(struct tm_events *q);

#endif
