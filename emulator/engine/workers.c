/* workers.c: host threads that stay from one dispatch to the next.
 *
 * A dispatch calls for threads when it turns out to be worth it; whoever is free comes.
 * Dispatches that run at once share the threads, of which there are as many as the
 * greediest one has called for: one that gets none is run by its caller alone. Must not
 * know what the work is. A child that forks has no threads and begins anew.
 * SPDX-License-Identifier: MIT
 */
#include "workers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS_MAX 1024u

struct workers {
    pid_t pid;
    pthread_mutex_t lock; /* everything below, and the crews */
    pthread_cond_t wanted;
    struct crew *first; /* crews that call */
    unsigned n, idle, paused, most;
    bool stop;
    pthread_t thread[THREADS_MAX];
};

static void start_over(struct workers *ws)
{
    ws->pid = getpid();
    pthread_mutex_init(&ws->lock, NULL);
    pthread_cond_init(&ws->wanted, NULL);
    ws->first = NULL;
    ws->n = ws->idle = ws->paused = ws->most = 0;
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
    struct crew **at = &crew->workers->first;
    while (*at && *at != crew)
        at = &(*at)->next;
    if (*at)
        *at = crew->next;
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
    pthread_mutex_lock(&ws->lock);
    while (!ws->stop) {
        if (ws->first) {
            join_crew(ws, ws->first, name);
            continue;
        }
        ws->idle++;
        pthread_cond_wait(&ws->wanted, &ws->lock);
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
    pthread_mutex_unlock(&ws->lock);
    /* Without the lock: who wakes needs it. */
    if (n > 1)
        pthread_cond_broadcast(&ws->wanted);
    else
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
