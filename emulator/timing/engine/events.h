/* events.h: what happens next: turns of waves, dispatchers, ends.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_EVENTS_H
#define TM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct tm_wave;

struct tm_event {
    int64_t t;
    uint64_t age;
    struct tm_wave *wave; /* NULL: the engine's, .age says what */
};

enum { TM_WHEEL = 1024 };

/* Events of one cycle by age; those before first are done. */
struct tm_cycle {
    struct tm_event *event;
    uint32_t first, n, cap;
    bool sorted;
};

struct tm_events {
    struct tm_cycle cycle[TM_WHEEL];
    uint64_t busy[TM_WHEEL / 64];
    struct tm_event *heap; /* further away than the wheel reaches */
    size_t n_heap, cap_heap, n;
    struct tm_event *tmp; /* for sorting */
    size_t cap_tmp;
};

/* when: now or later. */
RD_CHECKED rd_status tm_events_push(struct tm_events *q, int64_t now, int64_t when,
                                    uint64_t age, struct tm_wave *w);
/* The next event; there must be one. */
RD_CHECKED rd_status tm_events_pop(struct tm_events *q, int64_t now,
                                   struct tm_event *out);
/* The wave whose turn comes so many events later in this cycle; NULL: nobody's. */
struct tm_wave *tm_events_ahead(const struct tm_events *q, int64_t now, unsigned n);
void tm_events_destroy(struct tm_events *q);

#endif
