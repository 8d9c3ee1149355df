/* ordered.c: which dispatches of a checked program nothing orders, for the race
 * checker.
 *
 * Checked dispatches run one after the other; on the chip those of two queues, and of
 * one without barrier bits, may run at once. Order comes from barrier bits, from
 * signals that packets wait for, and from the host: what it submits after a dispatch
 * has ended it may have submitted because of that. Where nobody knows who has written
 * what a packet waits for, it is behind of everything. A dispatch that has ended is
 * kept in one of 64 slots while there are packets from before its end; sets of them are
 * masks. Copies by SDMA are like dispatches. They may be made while one runs: they are
 * judged when it has ended, and nothing orders them with it. Source: HSA Platform
 * System Architecture 1.2, section 2.9. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aql.h"
#include "checkers.h"
#include "cp.h"
#include "heap.h"

/* The host has so long to submit what it does not want to be behind of a dispatch, as
 * long as it is busy more, but no longer than this in all. */
#define WINDOW_NS 5000000ull
#define BUSY_NS   100000000ull
#define BUDGET_NS 3000000000ull
#define QUIET     3u
#define WRITTEN   4096u /* addresses that are remembered */

/* How much had been submitted to a queue when the dispatch ended. */
struct ahead {
    uint32_t queue; /* its number */
    uint64_t end;
};

struct past {
    struct ahead *ahead;
    unsigned n;
};

/* What the value at an address was last written for. */
struct written {
    uint64_t va; /* 0: free */
    uint64_t behind;
    int64_t left;
};

struct orders {
    pthread_mutex_t lock; /* but for queue_lock taken last */
    uint64_t kept;
    uint64_t running; /* the slot of the dispatch that runs */
    struct past past[CK_PAST];
    struct written *written; /* open addressing; a power of two of them */
    size_t room, n_written;
    uint32_t n_queues; /* ever */
    struct copied {
        struct copied *next;
        struct ck_before before;
        struct ck_copy copy;
    } *copies, **last; /* that nobody has judged yet, oldest first */
    uint64_t waited_ns;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

struct orders *cp_orders_create(const char *path)
{
    const struct ck_table *table = ck_table_open(path);
    bool wanted = table && table->want_classes & CK_BIT(CK_RACE);
    struct orders *o = wanted ? calloc(1, sizeof *o) : NULL;
    if (!o)
        return NULL;
    pthread_mutex_init(&o->lock, NULL);
    o->last = &o->copies;
    return o;
}

void cp_orders_destroy(struct orders *o)
{
    for (struct copied *c = o ? o->copies : NULL, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    for (unsigned i = 0; o && i < CK_PAST; i++)
        free(o->past[i].ahead);
    if (o)
        free(o->written);
    free(o);
}

static uint32_t number_of(struct orders *o, struct gpu_queue *q)
{
    if (!q->order.number)
        q->order.number = ++o->n_queues;
    return q->order.number;
}

/* ---- what is written ---- */

static struct written *find(const struct orders *o, uint64_t va)
{
    size_t i = (size_t)(va * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (o->room - 1);
    while (o->written[i].va && o->written[i].va != va)
        i = (i + 1) & (o->room - 1);
    return &o->written[i];
}

static bool grow(struct orders *o)
{
    struct orders bigger = {.room = o->room ? 2 * o->room : 64};
    bigger.written = calloc(bigger.room, sizeof *bigger.written);
    if (!bigger.written)
        return false;
    for (size_t i = 0; i < o->room; i++)
        if (o->written[i].va)
            *find(&bigger, o->written[i].va) = o->written[i];
    free(o->written);
    o->written = bigger.written;
    o->room = bigger.room;
    return true;
}

static void note(struct orders *o, uint64_t va, uint64_t behind, int64_t before,
                 int64_t now)
{
    if (o->n_written == WRITTEN) { /* who waits for those is behind of everything */
        memset(o->written, 0, o->room * sizeof *o->written);
        o->n_written = 0;
    }
    if (2 * o->n_written >= o->room && !grow(o))
        return;
    struct written *w = find(o, va);
    bool goes_on = w->va && w->left == before;
    o->n_written += !w->va;
    *w = (struct written){va, behind | (goes_on ? w->behind : 0), now};
}

/* ---- what is kept ---- */

static uint64_t submitted(struct gpu_queue *q)
{
    uint64_t end = 0;
    if (q->config.kind != GPU_QUEUE_AQL)
        return cp_bell(q);
    return vm_read(q->gpu, q->space, q->config.wptr, &end, sizeof end) ? end : 0;
}

static uint64_t position(struct gpu_queue *q)
{
    uint64_t at = 0;
    if (q->config.kind != GPU_QUEUE_AQL)
        return gpu_queue_rptr(q);
    return vm_read(q->gpu, q->space, q->config.rptr, &at, sizeof at) ? at : UINT64_MAX;
}

static bool follows(const struct gpu_queue *q)
{
    return q && (q->config.kind == GPU_QUEUE_AQL || q->config.kind == GPU_QUEUE_SDMA);
}

/* May the packet behind the one that runs begin before that has ended? */
static bool next_is_free(struct gpu_queue *q)
{
    uint64_t slots = q->config.ring_bytes / AQL_PACKET_BYTES, next = q->packet + 1;
    uint16_t header = 0;
    return next < submitted(q) &&
           vm_read(q->gpu, q->space, q->config.ring + next % slots * AQL_PACKET_BYTES,
                   &header, sizeof header) &&
           (header & 0xff) != AQL_INVALID && !(header & AQL_BARRIER);
}

/* queue_lock held. Has a queue packets from before the end of the dispatch? */
static bool is_awaited(struct gpu *gpu, const struct past *p)
{
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++) {
        struct gpu_queue *q = gpu->queues[i];
        if (!follows(q) || !q->order.number)
            continue;
        for (unsigned k = 0; k < p->n; k++)
            if (p->ahead[k].queue == q->order.number && position(q) < p->ahead[k].end)
                return true;
    }
    return false;
}

/* queue_lock held. The slot means nothing any more. */
static void drop(struct gpu *gpu, struct orders *o, unsigned slot)
{
    uint64_t others = ~(UINT64_C(1) << slot);
    free(o->past[slot].ahead);
    o->past[slot] = (struct past){.n = 0};
    o->kept &= others;
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++)
        if (gpu->queues[i]) {
            gpu->queues[i]->order.behind &= others;
            gpu->queues[i]->order.done &= others;
        }
    for (size_t i = 0; i < o->room; i++)
        o->written[i].behind &= others;
}

/* Lock held. Drop what no packet can be beside of any more. */
static void settle(struct gpu *gpu, struct orders *o)
{
    if (!o->kept)
        return;
    pthread_mutex_lock(&gpu->queue_lock);
    for (uint64_t m = o->kept; m; m &= m - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(m);
        if (!is_awaited(gpu, &o->past[slot]))
            drop(gpu, o, slot);
    }
    pthread_mutex_unlock(&gpu->queue_lock);
}

/* ---- packets ---- */

void cp_order_packet(struct gpu_queue *q, uint64_t at, bool barrier)
{
    struct orders *o = q->gpu->checks.orders;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    uint32_t number = number_of(o, q);
    if (barrier)
        q->order.behind |= q->order.done;
    for (uint64_t m = o->kept; m; m &= m - 1) {
        const struct past *p = &o->past[__builtin_ctzll(m)];
        bool before = false;
        for (unsigned k = 0; k < p->n; k++)
            before |= p->ahead[k].queue == number && at < p->ahead[k].end;
        if (!before)
            q->order.behind |= m & -m;
    }
    q->order.done |= q->order.behind;
    pthread_mutex_unlock(&o->lock);
}

void cp_order_wait(struct gpu_queue *q, uint64_t va)
{
    struct orders *o = q->gpu->checks.orders;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    const struct written *w = o->room ? find(o, va) : NULL;
    q->order.behind |= w && w->va ? w->behind : o->kept;
    q->order.done |= q->order.behind;
    pthread_mutex_unlock(&o->lock);
}

void cp_order_write(struct gpu_queue *q, uint64_t va, int64_t before, int64_t now)
{
    struct orders *o = q->gpu->checks.orders;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    note(o, va, (q->order.behind | q->order.own) & o->kept, before, now);
    pthread_mutex_unlock(&o->lock);
}

/* ---- dispatches ---- */

/* checks.lock and the lock held. beside: what runs or has just run. */
static void judge_copies(struct gpu *gpu, struct orders *o, uint64_t beside)
{
    while (o->copies && gpu->checks.ck) {
        struct copied *c = o->copies;
        o->copies = c->next;
        c->before.apart = (c->before.apart & o->kept) | beside;
        ck_copied(gpu->checks.ck, &c->before, &c->copy);
        free(c);
    }
    if (!o->copies)
        o->last = &o->copies;
}

void cp_order_begin(struct gpu_queue *q, struct ck_before *out)
{
    struct orders *o = q->gpu->checks.orders;
    pthread_mutex_lock(&o->lock);
    settle(q->gpu, o);
    judge_copies(q->gpu, o, 0); /* before the first dispatch */
    bool aql = q->config.kind == GPU_QUEUE_AQL;
    out->kept = o->kept;
    out->apart = aql ? o->kept & ~q->order.behind : 0;
    out->slot = aql && ~o->kept ? (unsigned)__builtin_ctzll(~o->kept) : CK_PAST;
    o->running = out->slot == CK_PAST ? 0 : UINT64_C(1) << out->slot;
    q->order.own = 0;
    q->order.slot = out->slot;
    q->order.began = now_ns();
    pthread_mutex_unlock(&o->lock);
}

/* Programs with several queues have some time to submit to others. */
static void linger(struct gpu_queue *q, struct orders *o)
{
    const struct timespec nap = {0, 200000};
    struct gpu *gpu = q->gpu;
    unsigned queues = 0;
    pthread_mutex_lock(&gpu->queue_lock);
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++)
        queues += gpu->queues[i] && gpu->queues[i]->config.kind == GPU_QUEUE_AQL;
    pthread_mutex_unlock(&gpu->queue_lock);
    uint64_t start = now_ns(), end = q->order.began + WINDOW_NS, now = start;
    unsigned quiet = 0; /* looks in a row */
    while (queues > 1 && o->waited_ns + now - start < BUDGET_NS &&
           !atomic_load(&q->stop) &&
           (now < end || (now < start + BUSY_NS && quiet < QUIET))) {
        nanosleep(&nap, NULL);
        quiet = gpu_program_runs() ? 0 : quiet + 1;
        now = now_ns();
    }
    o->waited_ns += now - start;
}

/* queue_lock held. What has been submitted everywhere; false: nobody may run beside.
 * A copy's own queue goes on behind it. */
static bool look_ahead(struct gpu_queue *q, struct orders *o, struct past *p)
{
    struct gpu *gpu = q->gpu;
    bool awaited = false;
    p->n = 0;
    p->ahead = calloc(gpu->n_queues + 1u, sizeof *p->ahead);
    for (unsigned i = 0; i < GPU_MAX_QUEUES && p->ahead; i++) {
        struct gpu_queue *t = gpu->queues[i];
        if (!follows(t) || p->n > gpu->n_queues)
            continue;
        bool aql = t->config.kind == GPU_QUEUE_AQL;
        uint64_t end = t != q || !aql    ? submitted(t)
                       : next_is_free(q) ? submitted(q)
                                         : q->packet + 1;
        awaited |= t == q ? aql && end > q->packet + 1 : position(t) < end;
        p->ahead[p->n++] = (struct ahead){number_of(o, t), end};
    }
    return awaited;
}

/* Both locks held. Keep it, if anything may run beside it; CK_PAST: no. */
static unsigned keep(struct gpu_queue *q, struct orders *o, unsigned slot)
{
    struct past p;
    pthread_mutex_lock(&q->gpu->queue_lock);
    bool awaited = slot != CK_PAST && look_ahead(q, o, &p);
    pthread_mutex_unlock(&q->gpu->queue_lock);
    if (!awaited) {
        if (slot != CK_PAST)
            free(p.ahead);
        return CK_PAST;
    }
    o->past[slot] = p;
    o->kept |= UINT64_C(1) << slot;
    return slot;
}

void cp_order_copy(struct gpu_queue *q, uint64_t to, uint64_t from, uint64_t bytes)
{
    struct orders *o = q->gpu->checks.orders;
    struct copied *c = o && bytes ? malloc(sizeof *c) : NULL;
    if (!c)
        return;
    pthread_mutex_lock(&o->lock);
    settle(q->gpu, o);
    uint64_t free_slots = ~(o->kept | o->running);
    uint64_t apart = o->kept & ~q->order.behind;
    unsigned slot =
        keep(q, o, free_slots ? (unsigned)__builtin_ctzll(free_slots) : CK_PAST);
    if (slot == CK_PAST && !apart &&
        !o->running) { /* it is behind of all, and all of it */
        pthread_mutex_unlock(&o->lock);
        free(c);
        return;
    }
    *c = (struct copied){.before = {.kept = o->kept, .apart = apart, .slot = slot},
                         .copy = {from, to, bytes}};
    if (slot != CK_PAST) {
        q->order.behind |= UINT64_C(1) << slot;
        q->order.done |= q->order.behind;
    }
    *o->last = c;
    o->last = &c->next;
    c->next = NULL;
    bool judge = pthread_mutex_trylock(&q->gpu->checks.lock) == 0;
    if (judge) {
        judge_copies(q->gpu, o, 0);
        pthread_mutex_unlock(&q->gpu->checks.lock);
    }
    pthread_mutex_unlock(&o->lock);
}

void cp_order_end(struct gpu_queue *q)
{
    struct orders *o = q->gpu->checks.orders;
    unsigned slot = q->order.slot;
    if (slot == CK_PAST)
        return;
    linger(q, o);
    pthread_mutex_lock(&o->lock);
    judge_copies(q->gpu, o, UINT64_C(1) << slot);
    o->running = 0;
    if (keep(q, o, slot) != CK_PAST) {
        q->order.own = UINT64_C(1) << slot;
        q->order.done |= q->order.own;
    }
    settle(q->gpu, o);
    pthread_mutex_unlock(&o->lock);
}
