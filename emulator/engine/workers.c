/* workers.c: host threads that stay from one dispatch to the next.
 *
 * A dispatch calls for threads when it turns out to be worth it; whoever is free comes.
 * Dispatches that run at once share the threads, of which there are as many as the
 * greediest one has called for: one that gets none is run by its caller alone. To wake
 * a thread can take longer than a short dispatch, so threads that have worked look for
 * more a while before they sleep, and callers for the last to leave. Must not know what
 * the work is. A child that forks has no threads and begins anew.
 * SPDX-License-Identifier: MIT
 */
#include "workers.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1024u
#define LOOK_NS     60000ull /* how long threads look, */
#define LOOKS       64u      /* between looks at the time */

struct workers {
    pid_t pid;
    pthread_mutex_t lock; /* everything below, and the crews */
    pthread_cond_t wanted;
    struct crew *_Atomic first; /* crews that call */
    unsigned n, idle, paused, most;
    unsigned asleep; /* of the idle ones */
    _Atomic bool stop;
    pthread_t thread[THREADS_MAX];
};

static void start_over(struct workers *ws)
{
    ws->pid = getpid();
    pthread_mutex_init(&ws->lock, NULL);
    pthread_cond_init(&ws->wanted, NULL);
    ws->first = NULL;
    ws->n = ws->idle = ws->asleep = ws->paused = ws->most = 0;
}

rd_status workers_create(struct workers **out)
{
    struct workers *ws = calloc(1, sizeof *ws);
    if (!ws)
        return RD_E_NOMEM;
    start_over(ws);
    *out = ws;
    return RD_OK;
}

void workers_destroy(struct workers *ws)
{
    if (!ws)
        return;
    if (ws->pid == getpid()) {
        pthread_mutex_lock(&ws->lock);
        ws->stop = true;
        pthread_cond_broadcast(&ws->wanted);
        pthread_mutex_unlock(&ws->lock);
        for (unsigned i = 0; i < ws->n; i++)
            pthread_join(ws->thread[i], NULL);
        pthread_mutex_destroy(&ws->lock);
        pthread_cond_destroy(&ws->wanted);
    }
    free(ws);
}

/* Lock held. */
static void unlink_crew(struct crew *crew)
{
    struct crew *at = atomic_load(&crew->workers->first);
    if (at == crew) {
        atomic_store(&crew->workers->first, crew->next);
        return;
    }
    while (at && at->next != crew)
        at = at->next;
    if (at)
        at->next = crew->next;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Look for a while until done(arg). */
static void look(bool (*done)(const void *arg), const void *arg)
{
    uint64_t start = now_ns();
    for (unsigned i = 1; !done(arg); i++) {
        __builtin_ia32_pause();
        if (i % LOOKS)
            continue;
        if (now_ns() - start > LOOK_NS)
            return;
        sched_yield();
    }
}

static bool work_or_end(const void *arg)
{
    const struct workers *ws = arg;
    return atomic_load_explicit(&ws->first, memory_order_relaxed) ||
           atomic_load_explicit(&ws->stop, memory_order_relaxed);
}

static bool all_left(const void *arg)
{
    const struct crew *crew = arg;
    return !atomic_load_explicit(&crew->working, memory_order_relaxed);
}

/* Lock held, but not while the work is done. */
static void join_crew(struct workers *ws, struct crew *crew, char name[16])
{
    crew->working++;
    if (--crew->wanted == 0)
        unlink_crew(crew);
    bool rename = strcmp(name, crew->name) != 0;
    memcpy(name, crew->name, 16);
    pthread_mutex_unlock(&ws->lock);
    if (rename)
        (void)prctl(PR_SET_NAME, name, 0ul, 0ul, 0ul);
    crew->work(crew->arg);
    pthread_mutex_lock(&ws->lock);
    if (--crew->working == 0)
        pthread_cond_signal(&crew->left);
}

static void *worker(void *arg)
{
    struct workers *ws = arg;
    char name[16] = "";
    bool looked = true;
    pthread_mutex_lock(&ws->lock);
    while (!ws->stop) {
        struct crew *first = ws->first;
        if (first) {
            join_crew(ws, first, name);
            looked = false;
            continue;
        }
        ws->idle++;
        if (!looked) {
            pthread_mutex_unlock(&ws->lock);
            look(work_or_end, ws);
            pthread_mutex_lock(&ws->lock);
            looked = true;
        } else {
            ws->asleep++;
            pthread_cond_wait(&ws->wanted, &ws->lock);
            ws->asleep--;
        }
        ws->idle--;
    }
    pthread_mutex_unlock(&ws->lock);
    return NULL;
}

void crew_begin(struct workers *ws, struct crew *crew, void (*work)(void *arg),
                void *arg)
{
    *crew = (struct crew){.workers = ws, .work = work, .arg = arg};
}

/* Lock held. How many sleep that are wanted beside those that look? */
static unsigned to_wake(const struct workers *ws)
{
    unsigned wanted = 0, look = ws->idle - ws->asleep;
    for (const struct crew *c = ws->first; c; c = c->next)
        wanted += c->wanted;
    wanted = wanted > look ? wanted - look : 0;
    return wanted < ws->asleep ? wanted : ws->asleep;
}

void crew_call(struct crew *crew, unsigned n)
{
    struct workers *ws = crew->workers;
    if (crew->called || !n)
        return;
    if (ws->pid != getpid())
        start_over(ws);
    (void)prctl(PR_GET_NAME, crew->name, 0ul, 0ul, 0ul);
    pthread_cond_init(&crew->left, NULL);
    pthread_mutex_lock(&ws->lock);
    crew->called = true;
    crew->wanted = n;
    crew->next = ws->first;
    ws->first = crew;
    ws->most = n > ws->most ? n : ws->most;
    for (unsigned idle = ws->idle;
         idle < n && ws->n < ws->most + ws->paused && ws->n < THREADS_MAX &&
         !pthread_create(&ws->thread[ws->n], NULL, worker, ws);
         idle++)
        ws->n++;
    unsigned wake = to_wake(ws);
    pthread_mutex_unlock(&ws->lock);
    /* Without the lock: who wakes needs it. */
    if (wake > 1)
        pthread_cond_broadcast(&ws->wanted);
    else if (wake)
        pthread_cond_signal(&ws->wanted);
}

void crew_end(struct crew *crew)
{
    struct workers *ws = crew->workers;
    if (!crew->called)
        return;
    pthread_mutex_lock(&ws->lock);
    if (crew->wanted)
        unlink_crew(crew);
    crew->wanted = 0;
    if (crew->working) {
        pthread_mutex_unlock(&ws->lock);
        look(all_left, crew);
        pthread_mutex_lock(&ws->lock);
    }
    while (crew->working)
        pthread_cond_wait(&crew->left, &ws->lock);
    pthread_mutex_unlock(&ws->lock);
    pthread_cond_destroy(&crew->left);
}

void crew_pause(struct crew *crew, bool pause)
{
    struct workers *ws = crew->workers;
    if (!crew->called)
        return;
    pthread_mutex_lock(&ws->lock);
    ws->paused += pause ? 1u : 0u - 1u;
    pthread_mutex_unlock(&ws->lock);
}
