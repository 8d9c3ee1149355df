/* recorder.c: the timeline of a program's dispatches under `rdna3 exec --timing`.
 *
 * One file for all processes, which append to it one dispatch at a time: a lock on the
 * file says whose turn it is. A dispatch that runs while another one is recorded is
 * not, because waiting could stop two that need each other; they are counted. Must not
 * know packets or the file's format.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cp.h"
#include "timeline.h"

enum { NUMBERED = 1024 };

static struct {
    pthread_mutex_t lock; /* held while a dispatch of this process is recorded */
    struct tl_writer *writer;
    int turn;    /* the file again, to lock: between processes */
    int32_t pid; /* whose these are: a child of fork has its parent's memory */
    bool failed;
    uint64_t entry[NUMBERED]; /* of kernels without names */
    unsigned n_entries;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool complain(struct gpu *gpu, const char *why)
{
    gpu_log(gpu, "no timeline: %s", why);
    recorder.failed = true;
    return false;
}

/* The file of this process, open and locked; false: another one's turn, or an error. */
static bool take_turn(struct gpu *gpu)
{
    struct tl_options options = {.live = true, .append = true};
    struct tl_error err;
    int32_t pid = (int32_t)getpid();
    if (recorder.pid != pid) { /* what a parent left open stays its own */
        recorder.writer = NULL;
        recorder.failed = false;
        recorder.turn = open(gpu->timeline, O_RDONLY | O_CLOEXEC);
        recorder.pid = pid;
        if (recorder.turn < 0)
            return complain(gpu, strerror(errno));
    }
    if (recorder.failed || flock(recorder.turn, LOCK_EX | LOCK_NB) != 0)
        return false;
    if (!recorder.writer &&
        tl_create(gpu->timeline, &options, &recorder.writer, &err) != RD_OK) {
        recorder.writer = NULL;
        (void)flock(recorder.turn, LOCK_UN);
        return complain(gpu, err.text);
    }
    return true;
}

static void name_kernel(struct gpu *gpu, uint64_t entry)
{
    char name[1024];
    unsigned i = 0;
    if (gpu_kernel_name(gpu, entry, name, sizeof name)) {
        tl_name(recorder.writer, name);
        return;
    }
    while (i < recorder.n_entries && recorder.entry[i] != entry)
        i++;
    if (i == recorder.n_entries && i < NUMBERED)
        recorder.entry[recorder.n_entries++] = entry;
    snprintf(name, sizeof name, "kernel %u", i);
    tl_name(recorder.writer, name);
}

bool cp_record_begin(struct gpu_queue *q, const struct emu_dispatch *d,
                     struct tm_engine *t)
{
    if (!q->gpu->timeline)
        return false;
    bool mine = t && pthread_mutex_trylock(&recorder.lock) == 0;
    if (!mine || !take_turn(q->gpu)) {
        if (mine)
            pthread_mutex_unlock(&recorder.lock);
        atomic_fetch_add(&q->gpu->counters->unrecorded, 1);
        return false;
    }
    name_kernel(q->gpu, d->entry);
    struct tm_observer observer = tl_observer(recorder.writer);
    tm_observe(t, &observer);
    return true;
}

void cp_record_end(void)
{
    (void)flock(recorder.turn, LOCK_UN);
    pthread_mutex_unlock(&recorder.lock);
}
