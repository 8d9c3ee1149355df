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

/* The same where nobody asks how many are held: those that are free are overwritten. */
enum { TM_RING = 64 };
struct tm_ring {
    unsigned n; /* so many have been added */
    int64_t free_at[TM_RING];
};

/* The same for few entries: of a wave. */
struct tm_short_queue {
    uint32_t first, n;
    int64_t free_at[TM_SHORT_QUEUE];
};

/* An operation that a wait counter counts. */
struct tm_counted {
    int64_t done;
    const struct tm_inst *from;
    uint8_t kind; /* enum tm_stall to blame */
    bool open;    /* not known yet: it is accepted the cycle before .done */
};

enum { TM_FIFO = 64 };

/* What a wait counter counts, oldest first: a ring that grows. Operations have numbers,
 * modulo its room their places. */
struct tm_fifo {
    uint32_t first, n, room; /* room: a power of two, up to TM_FIFO */
    bool lost;               /* one, for want of memory */
    struct tm_counted *op;
    struct tm_counted *grown; /* memory of its own, or NULL */
};

/* fifo.c. A fifo that begins in the memory given to it; what grew stays with it until
 * fifo_free. */
void fifo_begin(struct tm_fifo *f, struct tm_counted *op, uint32_t room);
void fifo_grow(struct tm_fifo *f);
void fifo_free(struct tm_fifo *f);

static inline struct tm_counted *fifo_at(const struct tm_fifo *f, uint32_t number)
{
    return &f->op[number & (f->room - 1)];
}

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

static inline void ring_add(struct tm_ring *r, int64_t free_at)
{
    r->free_at[r->n++ % TM_RING] = free_at;
}

/* When fewer than limit are held. */
static inline int64_t ring_room(const struct tm_ring *r, unsigned limit)
{
    return limit > TM_RING ? 0 : r->free_at[(r->n - limit) % TM_RING];
}

/* As queue_free. */
static inline int64_t ring_free(const struct tm_ring *r, int64_t now, unsigned limit)
{
    return tm_max(now, ring_room(r, limit));
}

static inline void short_trim(struct tm_short_queue *q, int64_t now)
{
    while (q->n && q->free_at[q->first] <= now) {
        q->first = (q->first + 1) % TM_SHORT_QUEUE;
        q->n--;
    }
}

static inline void short_add(struct tm_short_queue *q, int64_t free_at)
{
    if (q->n == TM_SHORT_QUEUE) {
        q->first = (q->first + 1) % TM_SHORT_QUEUE;
        q->n--;
    }
    q->free_at[(q->first + q->n++) % TM_SHORT_QUEUE] = free_at;
}

/* As queue_free; limit up to TM_SHORT_QUEUE. */
static inline int64_t short_free(const struct tm_short_queue *q, int64_t now,
                                 unsigned limit)
{
    if (q->n < limit)
        return now;
    return tm_max(now, q->free_at[(q->first + q->n - limit) % TM_SHORT_QUEUE]);
}

/* Returns its number. */
static inline uint32_t fifo_add(struct tm_fifo *f, int64_t done, uint8_t kind,
                                const struct tm_inst *from)
{
    if (f->n == f->room && f->room < TM_FIFO)
        fifo_grow(f);
    if (f->n == f->room) {
        f->first++;
        f->n--;
    }
    uint32_t number = f->first + f->n++;
    *fifo_at(f, number) = (struct tm_counted){done, from, kind, false};
    return number;
}

/* Memory is asked for what all CUs have accepted once in so many cycles, in the order
 * of acceptance (send.h). No answer may be due before it is known: this is less than a
 * hit in the L0 takes. */
enum { TM_WINDOW = 64 };

/* The first time from then on at which memory is asked. */
static inline int64_t tm_window(int64_t when)
{
    return (when + TM_WINDOW - 1) / TM_WINDOW * TM_WINDOW;
}

/* When it will be known what an open operation takes: asked after now. */
static inline int64_t tm_known(const struct tm_base *b, const struct tm_counted *op,
                               int64_t now)
{
    return tm_window(tm_max(op->done - PARAM(b, lds_start), now + 1));
}

/* When at most limit operations are outstanding, as far as that is known.
 *
 * why, from  out: which it waits for, or has waited for until now; TM_S_NONE: that is
 *            not known before the answer
 */
static inline int64_t fifo_wait(const struct tm_base *b, struct tm_fifo *f,
                                unsigned limit, int64_t now, uint8_t *why,
                                const struct tm_inst **from)
{
    int64_t until = now;
    for (; f->n; f->first++, f->n--) {
        const struct tm_counted *op = fifo_at(f, f->first);
        if (op->done > now || op->open)
            break;
        *why = op->kind; /* it may have been open when the wave began to wait */
        *from = op->from;
    }
    for (uint32_t i = 0; i + limit < f->n; i++) {
        const struct tm_counted *op = fifo_at(f, f->first + i);
        int64_t done = op->open ? tm_known(b, op, now) : op->done;
        if (done > until) {
            until = done;
            *why = op->open ? TM_S_NONE : op->kind;
            *from = op->open ? NULL : op->from;
        }
    }
    return until;
}

#endif
