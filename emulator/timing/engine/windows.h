/* windows.h: a run window by window: windows.c; the same by several threads: parts.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_WINDOWS_H
#define TM_WINDOWS_H

#include <stdatomic.h>

#include "engine.h"

/* A wave's fault, or what else has ended a part: of all the first so far; status is
 * RD_OK: none. */
struct tm_failure {
    rd_status status;
    int64_t t;
    uint64_t key;
    const struct tm_wave *wave;
};

struct tm_windows;
typedef void tm_windows_job(struct tm_windows *s, unsigned se);

struct tm_windows {
    struct tm_engine *all, *of[TM_MAX_SES]; /* of: who runs an SE; all, or a part */
    unsigned n;                             /* WGPs */
    int64_t *next;                          /* when the next turn of each comes */
    int64_t end;                            /* of the window */
    struct tm_failure failed[TM_MAX_SES];
    bool several;           /* threads */
    atomic_bool waited_for; /* one has nothing to do: no WGP goes further than needed */
    int64_t asked;          /* memory is asked for what is accepted up to then */
    /* Have every SE do something, at the same time or not. */
    void (*all_do)(struct tm_windows *s, tm_windows_job *job);
};

bool tm_windows_can(const struct tm_engine *t);
RD_CHECKED rd_status tm_windows_begin(struct tm_windows *s, struct tm_engine *all);
/* Until nothing is left to come, or until waves begin to talk to one another. */
RD_CHECKED rd_status tm_windows_run(struct tm_windows *s);
/* What is to come, if anything, goes to the one queue. */
RD_CHECKED rd_status tm_windows_end(struct tm_windows *s, rd_status st);

#endif
