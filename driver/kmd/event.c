/* event.c: events, the mailbox page, waiting.
 *
 * Follows the kernel's rules: an auto-reset event with waiters is consumed by them; the
 * age of an event counts its signals and is never 0; a wait whose event is destroyed
 * fails. The lock is never held while a thread sleeps.
 *
 * A waiter that does not know an event's age is told at once. Some runtimes forget what
 * they were told and ask again without end; who hears nothing new therefore sleeps
 * shortly first. News wake it as ever, so this costs nobody anything but such a loop.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define MAX_EVENTS  (2 * KMD_EVENT_SIGNALS)
#define SPIN_NS     20000
#define SPINS       32u        /* between looks */
#define EMPTY_SLOT  UINT64_MAX /* a mailbox that no signal has written */
#define OLD_NEWS_NS 200000

struct waiter {
    struct event *event; /* NULL once destroyed */
    bool activated;
    bool old_news; /* activated by an age that has been told before */
    pthread_cond_t *wake;
    struct waiter *next;
};

struct event {
    enum kmd_event_kind kind;
    bool auto_reset, signaled;
    uint64_t age, told; /* times signaled; the age that a waiter heard last */
    struct kmd_memory_fault fault;
    uint32_t reset_cause;
    struct waiter *waiters;
};

void kmd_events_init(struct event_table *table)
{
    pthread_mutex_init(&table->lock, NULL);
}

static struct event *find(struct event_table *t, uint32_t id)
{
    return id < t->count ? t->slots[id] : NULL;
}

rd_status kmd_event_create(struct kmd *kmd, enum kmd_event_kind kind, bool auto_reset,
                           uint32_t *id)
{
    struct event_table *t = &kmd->events;
    struct event *ev = calloc(1, sizeof(*ev));
    if (!ev)
        return RD_E_NOMEM;
    *ev = (struct event){.kind = kind, .auto_reset = auto_reset, .age = 1};
    rd_status st = RD_OK;
    pthread_mutex_lock(&t->lock);
    if (!t->slots) {
        t->slots = calloc(MAX_EVENTS, sizeof(struct event *));
        t->count = t->slots ? MAX_EVENTS : 0;
    }
    uint32_t at = kind == KMD_EVENT_SIGNAL ? 1 : KMD_EVENT_SIGNALS;
    uint32_t end = kind == KMD_EVENT_SIGNAL ? KMD_EVENT_SIGNALS : t->count;
    while (at < end && t->count && t->slots[at])
        at++;
    if (!t->count)
        st = RD_E_NOMEM;
    else if (at >= end)
        st = RD_E_RANGE;
    else
        t->slots[at] = ev;
    pthread_mutex_unlock(&t->lock);
    if (st != RD_OK) {
        free(ev);
        return st;
    }
    *id = at;
    return RD_OK;
}

static void wake_all(struct event *ev, bool activate)
{
    for (struct waiter *w = ev->waiters; w; w = w->next) {
        w->activated = w->activated || activate;
        w->old_news = false;
        pthread_cond_signal(w->wake);
    }
}

static void set_locked(struct event *ev)
{
    ev->signaled = !ev->auto_reset || !ev->waiters;
    if (++ev->age < 2)
        ev->age = 2;
    wake_all(ev, true);
}

rd_status kmd_event_destroy(struct kmd *kmd, uint32_t id)
{
    struct event_table *t = &kmd->events;
    pthread_mutex_lock(&t->lock);
    struct event *ev = find(t, id);
    if (ev) {
        for (struct waiter *w = ev->waiters; w; w = w->next)
            w->event = NULL;
        wake_all(ev, false);
        t->slots[id] = NULL;
        free(ev);
    }
    pthread_mutex_unlock(&t->lock);
    return ev ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_event_set(struct kmd *kmd, uint32_t id)
{
    pthread_mutex_lock(&kmd->events.lock);
    struct event *ev = find(&kmd->events, id);
    bool can = ev && ev->kind == KMD_EVENT_SIGNAL;
    if (can)
        set_locked(ev);
    pthread_mutex_unlock(&kmd->events.lock);
    return can ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_event_reset(struct kmd *kmd, uint32_t id)
{
    pthread_mutex_lock(&kmd->events.lock);
    struct event *ev = find(&kmd->events, id);
    bool can = ev && ev->kind == KMD_EVENT_SIGNAL;
    if (can)
        ev->signaled = false;
    pthread_mutex_unlock(&kmd->events.lock);
    return can ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_event_page(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    struct event_table *t = &kmd->events;
    const uint64_t empty = EMPTY_SLOT;
    rd_status st = RD_E_EXISTS;
    if (bytes < 8 * KMD_EVENT_SIGNALS)
        return RD_E_INVALID;
    pthread_mutex_lock(&t->lock);
    if (!t->page_va) {
        t->page_va = va;
        t->page_slots = KMD_EVENT_SIGNALS;
        for (uint32_t i = 0; i < KMD_EVENT_SIGNALS; i++)
            (void)!gpu_write(kmd->gpu, va + 8ull * i, &empty, sizeof(empty));
        gpu_mailboxes(kmd->gpu, va, bytes);
        st = RD_OK;
    }
    pthread_mutex_unlock(&t->lock);
    return st;
}

void kmd_event_interrupt(struct kmd *kmd, uint32_t id)
{
    struct event_table *t = &kmd->events;
    pthread_mutex_lock(&t->lock);
    struct event *ev = find(t, id);
    const uint64_t empty = EMPTY_SLOT;
    if (t->page_va && id < t->page_slots)
        (void)!gpu_write(kmd->gpu, t->page_va + 8ull * id, &empty, sizeof(empty));
    if (ev && ev->kind == KMD_EVENT_SIGNAL)
        set_locked(ev);
    pthread_mutex_unlock(&t->lock);
}

void kmd_event_memory_fault(struct kmd *kmd, const struct kmd_memory_fault *fault)
{
    struct event_table *t = &kmd->events;
    pthread_mutex_lock(&t->lock);
    for (uint32_t id = KMD_EVENT_SIGNALS; id < t->count; id++) {
        struct event *ev = t->slots[id];
        if (ev && ev->kind == KMD_EVENT_MEMORY) {
            ev->fault = *fault;
            set_locked(ev);
        }
    }
    pthread_mutex_unlock(&t->lock);
}

void kmd_event_hang(struct kmd *kmd)
{
    struct event_table *t = &kmd->events;
    pthread_mutex_lock(&t->lock);
    for (uint32_t id = KMD_EVENT_SIGNALS; id < t->count; id++) {
        struct event *ev = t->slots[id];
        if (ev && ev->kind == KMD_EVENT_HW) {
            ev->reset_cause = KMD_RESET_HANG;
            set_locked(ev);
        }
    }
    pthread_mutex_unlock(&t->lock);
}

static enum kmd_wait_result test(const struct waiter *w, unsigned count, bool all)
{
    unsigned active = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!w[i].event)
            return KMD_WAIT_DESTROYED;
        active += w[i].activated;
    }
    bool done = all ? active == count : active > 0;
    return done ? KMD_WAIT_DONE : KMD_WAIT_TIMEOUT;
}

/* Attach to each event; one that is signaled already counts at once. */
static rd_status attach(struct event_table *t, struct waiter *w, struct kmd_wait *waits,
                        unsigned count, pthread_cond_t *wake)
{
    for (unsigned i = 0; i < count; i++)
        if (!find(t, waits[i].id))
            return RD_E_INVALID;
    for (unsigned i = 0; i < count; i++) {
        struct event *ev = find(t, waits[i].id);
        w[i] = (struct waiter){.event = ev, .activated = ev->signaled, .wake = wake};
        if (ev->auto_reset)
            ev->signaled = false;
        if (ev->kind == KMD_EVENT_SIGNAL && waits[i].age && waits[i].age != ev->age) {
            w[i].old_news = !w[i].activated && ev->told == ev->age;
            w[i].activated = true;
        }
        w[i].next = ev->waiters;
        ev->waiters = &w[i];
    }
    return RD_OK;
}

static void detach(struct waiter *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!w[i].event)
            continue;
        struct waiter **link = &w[i].event->waiters;
        while (*link != &w[i])
            link = &(*link)->next;
        *link = w[i].next;
    }
}

static void report(struct kmd_wait *waits, const struct waiter *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct event *ev = w[i].event;
        waits[i].activated = w[i].activated;
        waits[i].kind = ev->kind;
        if (!w[i].activated)
            continue;
        if (ev->kind == KMD_EVENT_SIGNAL && waits[i].age)
            waits[i].age = w[i].event->told = ev->age;
        if (ev->kind == KMD_EVENT_MEMORY)
            waits[i].fault = ev->fault;
        if (ev->kind == KMD_EVENT_HW)
            waits[i].reset_cause = ev->reset_cause;
    }
}

static void deadline(struct timespec *at, uint32_t timeout_ms, long ns)
{
    clock_gettime(CLOCK_MONOTONIC, at);
    at->tv_sec += timeout_ms / 1000;
    at->tv_nsec += (long)(timeout_ms % 1000) * 1000000 + ns;
    if (at->tv_nsec >= 1000000000) {
        at->tv_nsec -= 1000000000;
        at->tv_sec++;
    }
}

static bool only_old_news(const struct waiter *w, unsigned count)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        if (!w[i].event || (w[i].activated && !w[i].old_news))
            return false;
        any = any || w[i].old_news;
    }
    return any;
}

/* What is done within microseconds is not worth a sleep, which costs tens of them,
 * while a queue's worker is awake. Lock held, but for moments. */
static void wait_a_little(struct kmd *kmd, const struct waiter *w, unsigned count,
                          bool all)
{
    struct event_table *t = &kmd->events;
    struct timespec now, end;
    deadline(&end, 0, SPIN_NS);
    do {
        pthread_mutex_unlock(&t->lock);
        for (unsigned i = 0; i < SPINS; i++)
            __builtin_ia32_pause();
        pthread_mutex_lock(&t->lock);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (gpu_awake(kmd->gpu) && test(w, count, all) == KMD_WAIT_TIMEOUT &&
             (now.tv_sec < end.tv_sec ||
              (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)));
}

rd_status kmd_event_wait(struct kmd *kmd, struct kmd_wait *waits, unsigned count,
                         bool all, uint32_t timeout_ms, enum kmd_wait_result *result)
{
    struct event_table *t = &kmd->events;
    struct waiter *w = calloc(count ? count : 1, sizeof(*w));
    if (!w)
        return RD_E_NOMEM;
    pthread_condattr_t attr;
    pthread_cond_t wake;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attr);
    struct timespec end;
    deadline(&end, timeout_ms, 0);

    pthread_mutex_lock(&t->lock);
    rd_status st = attach(t, w, waits, count, &wake);
    if (st == RD_OK && timeout_ms && only_old_news(w, count)) {
        struct timespec soon;
        deadline(&soon, 0, OLD_NEWS_NS);
        (void)pthread_cond_timedwait(&wake, &t->lock, &soon);
    }
    if (st == RD_OK && timeout_ms && test(w, count, all) == KMD_WAIT_TIMEOUT)
        wait_a_little(kmd, w, count, all);
    if (st == RD_OK) {
        int err = timeout_ms ? 0 : ETIMEDOUT;
        while ((*result = test(w, count, all)) == KMD_WAIT_TIMEOUT &&
               err != ETIMEDOUT) {
            if (timeout_ms == UINT32_MAX)
                err = pthread_cond_wait(&wake, &t->lock);
            else
                err = pthread_cond_timedwait(&wake, &t->lock, &end);
        }
        if (*result == KMD_WAIT_DONE)
            report(waits, w, count);
        detach(w, count);
    }
    pthread_mutex_unlock(&t->lock);
    pthread_cond_destroy(&wake);
    pthread_condattr_destroy(&attr);
    free(w);
    return st;
}
