/* recorder.c: the timeline of a program's dispatches under `rdna3 exec --timing`.
 *
 * One file for all processes: the first that dispatches writes it. A dispatch that
 * runs while another queue's is recorded is not. Kernels have no names here: they are
 * numbered by their entries. Must not know packets or the file's format.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cp.h"
#include "timeline.h"

enum { NAMED = 1024 };

static struct {
    pthread_mutex_t lock; /* held while a dispatch is recorded */
    struct tl_writer *writer;
    int32_t pid; /* whose writer it is: a child of fork has its parent's memory */
    uint64_t entry[NAMED];
    unsigned n_entries;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool open_writer(struct gdev *dev)
{
    char path[4096];
    struct tl_options options = {.live = true};
    struct tl_error err;
    int32_t none = 0, pid = (int32_t)getpid();
    if (recorder.writer && recorder.pid == pid)
        return true;
    if (!atomic_compare_exchange_strong(&dev->shared->timeline_owner, &none, pid))
        return false;
    snprintf(path, sizeof path, "%s/" GSHARED_TIMELINE, getenv(GSHARED_ENV));
    if (tl_create(path, &options, &recorder.writer, &err) != RD_OK) {
        fprintf(stderr, "rdna3: no timeline: %s\n", err.text);
        recorder.writer = NULL;
        return false;
    }
    recorder.pid = pid;
    return true;
}

static void name_kernel(uint64_t entry)
{
    char name[32];
    unsigned i = 0;
    while (i < recorder.n_entries && recorder.entry[i] != entry)
        i++;
    if (i == recorder.n_entries && i < NAMED)
        recorder.entry[recorder.n_entries++] = entry;
    snprintf(name, sizeof name, "kernel %u", i);
    tl_name(recorder.writer, name);
}

bool cp_record_begin(struct gdev_queue *q, const struct emu_dispatch *d,
                     struct tm_engine *t)
{
    if (!getenv(GSHARED_ENV_TIMELINE) || !getenv(GSHARED_ENV) ||
        pthread_mutex_trylock(&recorder.lock) != 0)
        return false;
    if (!open_writer(q->dev)) {
        pthread_mutex_unlock(&recorder.lock);
        return false;
    }
    name_kernel(d->entry);
    struct tm_observer observer = tl_observer(recorder.writer);
    tm_observe(t, &observer);
    return true;
}

void cp_record_end(void)
{
    pthread_mutex_unlock(&recorder.lock);
}
