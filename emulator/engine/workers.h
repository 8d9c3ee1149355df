/* workers.h: host threads that stay from one dispatch to the next.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WORKERS_H
#define RD_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "status.h"

struct workers;

/* Those who work on one dispatch besides its caller. Fields are workers.c's. */
struct crew {
    struct workers *workers;
    void (*work)(void *arg);
    void *arg;
    unsigned wanted;          /* that have not come yet */
    _Atomic unsigned working; /* that have not left yet; written with the lock */
    char name[16];            /* of the caller's thread */
    pthread_cond_t left;
    struct crew *next;
    bool called;
};

RD_CHECKED rd_status workers_create(struct workers **out);
/* No crew is at work any more. */
void workers_destroy(struct workers *ws);

/* Prepare to have work(arg) done by others as well; starts nothing. */
void crew_begin(struct workers *ws, struct crew *crew, void (*work)(void *arg),
                void *arg);
/* Call for n threads, once; as many as there are begin at some time, perhaps none. They
 * take the name of the calling thread, as its children would. */
void crew_call(struct crew *crew, unsigned n);
/* Call nobody any more, and wait until those at work have left. */
void crew_end(struct crew *crew);

/* A thread of a crew stands still, or goes on: others may take its place. */
void crew_pause(struct crew *crew, bool pause);

#endif
