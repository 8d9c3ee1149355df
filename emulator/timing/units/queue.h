/* queue.h: issue queues and wait counters as rings of times.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_QUEUE_H
#define TM_QUEUE_H

#include "base.h"
#include "tinst.h"

/* Entries of a queue: when each becomes free, oldest first. */
struct tm_queue {
    unsigned first, n;
    int64_t free_at[64];
};

enum { TM_FIFO = 64 };

/* What a wait counter counts, oldest first. */
struct tm_fifo {
    unsigned first, n;
    struct tm_counted {
        int64_t done;
        const struct tm_inst *from;
        uint8_t kind; /* enum tm_stall to blame */
        bool open;    /* not known yet: no sooner than .done */
    } op[TM_FIFO];
};

static inline void queue_trim(struct tm_queue *q, int64_t now)
{
    while (q->n && q->free_at[q->first] <= now) {
        q->first = (q->first + 1) % 64;
        q->n--;
    }
    if (q->n == 0) /* stay where memory is warm */
        q->first = 0;
}

static inline void queue_add(struct tm_queue *q, int64_t free_at)
{
    if (q->n == 64) { /* deeper than any hardware queue: forget the oldest */
        q->first = (q->first + 1) % 64;
        q->n--;
    }
    unsigned at = (q->first + q->n++) % 64;
    q->free_at[at] = free_at;
}

/* When fewer than limit entries are held. */
static inline int64_t queue_free(const struct tm_queue *q, int64_t now, unsigned limit)
{
    return q->n < limit ? now : tm_max(now, q->free_at[(q->first + q->n - limit) % 64]);
}

static inline void fifo_add(struct tm_fifo *f, int64_t done, uint8_t kind,
                            const struct tm_inst *from)
{
    if (f->n == TM_FIFO) {
        f->first = (f->first + 1) % TM_FIFO;
        f->n--;
    }
    unsigned at = (f->first + f->n++) % TM_FIFO;
    f->op[at] = (struct tm_counted){done, from, kind, false};
}

/* When at most limit operations are outstanding.
 *
 * in_order  they count down in order of issue; else any order, so all of a mixed
 * counter must be looked at
 */
static inline int64_t fifo_wait(struct tm_fifo *f, unsigned limit, int64_t now,
                                uint8_t *why, const struct tm_inst **from)
{
    int64_t until = now;
    while (f->n && f->op[f->first].done <= now && !f->op[f->first].open) {
        f->first = (f->first + 1) % TM_FIFO;
        f->n--;
    }
    if (f->n == 0) /* stay where memory is warm */
        f->first = 0;
    for (unsigned i = 0; i + limit < f->n; i++) {
        const struct tm_counted *op = &f->op[(f->first + i) % TM_FIFO];
        int64_t done = op->open ? tm_max(op->done, now + 1) : op->done;
        if (done > until) {
            until = done;
            *why = op->kind;
            *from = op->from;
        }
    }
    return until;
}

#endif
