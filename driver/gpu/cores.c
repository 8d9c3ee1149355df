/* cores.c: where the waves of a dispatch stand when it fails, or when somebody asks: as
 * a core file in a folder, and a word about it in the folder's pipe.
 *
 * Must not know who reads them, nor packets. An order to show is obeyed by the poller:
 * it stops what runs, the engine's threads show their waves, and all goes on.
 *
 * Rule: gpu_look and gpu_looked are called in signal handlers.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cp.h"
#include "kept.h"

#define NAP_NS 200000
#define NAPS   10000u /* two seconds */

/* ---- what the engine shows ---- */

static void group_begin(void *ctx, uint64_t group, unsigned n_waves,
                        const struct emu_fault *fault)
{
    struct gpu_queue *q = ctx;
    const struct emu_inspector *to = &q->shown.capture.inspector;
    pthread_mutex_lock(&q->shown.lock);
    to->group_begin(to->ctx, group, n_waves, fault);
    pthread_mutex_unlock(&q->shown.lock);
}

static void wave(void *ctx, const struct emu_wave_info *info)
{
    struct gpu_queue *q = ctx;
    const struct emu_inspector *to = &q->shown.capture.inspector;
    pthread_mutex_lock(&q->shown.lock);
    to->wave(to->ctx, info);
    q->shown.waves++;
    pthread_mutex_unlock(&q->shown.lock);
}

/* ---- files ---- */

/* Where the code object of the kernel begins: the name is none if it is not known. */
static void name_kernel(struct gpu *gpu, uint64_t entry, char *name, size_t size)
{
    if (!gpu_kernel_name(gpu, entry, name, size))
        (void)snprintf(name, size, "kernel");
}

static void tell(const struct gpu *gpu, uint32_t number)
{
    char path[PATH_MAX];
    struct kept_news news = {.pid = (int32_t)getpid(), .number = number};
    (void)snprintf(path, sizeof path, "%s/" KEPT_NEWS, gpu->cores.folder);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, &news, sizeof news);
    close(fd);
}

/* Lock held. */
static void keep(struct gpu_queue *q, const char *reason)
{
    struct gpu *gpu = q->gpu;
    const struct emu_dispatch *d = &q->shown.dispatch;
    char name[256];
    size_t bytes;
    name_kernel(gpu, d->entry, name, sizeof name);
    struct core_subject about = {.emu = q->shown.emu,
                                 .dispatch = d,
                                 .image = gpu_image(gpu, d->entry),
                                 .kernel = name,
                                 .reason = reason,
                                 .memory = gpu->cores.whole,
                                 .brief = true};
    void *file = capture_file(&q->shown.capture, &about, &bytes);
    if (!file) {
        gpu_log(gpu, "queue %u: no memory for a core file", q->id);
        return;
    }
    unsigned number =
        kept_write(gpu->cores.folder, KEPT_CORE_FILE, KEPT_CORES, file, bytes);
    free(file);
    if (number < KEPT_CORES)
        tell(gpu, number);
}

void cp_cores_begin(struct gpu_queue *q, struct emu *emu, struct emu_dispatch *d)
{
    if (!q->gpu->cores.folder)
        return;
    pthread_mutex_lock(&q->shown.lock);
    capture_begin(&q->shown.capture, q->gpu->cores.whole);
    q->shown.inspector = (struct emu_inspector){q, group_begin, wave};
    q->shown.emu = emu;
    q->shown.waves = 0;
    d->inspector = &q->shown.inspector;
    q->shown.dispatch = *d;
    pthread_mutex_unlock(&q->shown.lock);
}

void cp_cores_end(struct gpu_queue *q, rd_status st, const struct emu_fault *fault)
{
    char text[1024] = "memory of the program went away while the kernel used it";
    bool vanished = atomic_load(&q->host_fault);
    if (!q->gpu->cores.folder)
        return;
    pthread_mutex_lock(&q->shown.lock);
    if (st == RD_E_FAULT && !vanished)
        emu_fault_text(fault, text, sizeof text);
    if ((st == RD_E_FAULT || vanished) && !q->gpu->checks.path) /* that is a finding */
        keep(q, text);
    capture_end(&q->shown.capture);
    q->shown.emu = NULL;
    pthread_mutex_unlock(&q->shown.lock);
}

/* ---- orders ---- */

/* A queue that stands still for another reason is left alone. */
static void show(struct gpu_queue *q)
{
    const struct timespec nap = {0, NAP_NS};
    if (!atomic_load(&q->in_dispatch) || !atomic_load(&q->active) ||
        !q->gpu->cores.folder)
        return;
    atomic_store(&q->showing, true);
    gpu_priority_apply(q);
    for (unsigned i = 0; i < NAPS && atomic_load(&q->in_dispatch); i++) {
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&q->shown.lock);
        bool all = q->shown.emu && q->shown.waves && !atomic_load(&q->watch.threads);
        if (all) {
            keep(q, "interrupted");
            capture_end(&q->shown.capture);
            capture_begin(&q->shown.capture, q->gpu->cores.whole);
            q->shown.waves = 0;
        }
        pthread_mutex_unlock(&q->shown.lock);
        if (all)
            break;
    }
    atomic_store(&q->showing, false);
    gpu_priority_apply(q);
}

void gpu_look_serve(struct gpu *gpu)
{
    uint32_t wanted = atomic_load(&gpu->cores.wanted);
    if (wanted == atomic_load(&gpu->cores.served))
        return;
    pthread_mutex_lock(&gpu->queue_lock);
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++)
        if (gpu->queues[i])
            show(gpu->queues[i]);
    pthread_mutex_unlock(&gpu->queue_lock);
    atomic_store(&gpu->cores.served, wanted);
}

uint32_t gpu_look(void)
{
    struct gpu *gpu = gpu_of_process();
    if (!gpu || !gpu->cores.folder || gpu->cores.pid != getpid() ||
        !atomic_load(&gpu->running))
        return 0;
    uint32_t ticket = atomic_fetch_add(&gpu->cores.wanted, 1) + 1;
    return ticket ? ticket : 1;
}

bool gpu_looked(uint32_t ticket)
{
    struct gpu *gpu = gpu_of_process();
    return !gpu || (int32_t)(atomic_load(&gpu->cores.served) - ticket) >= 0 ||
           !atomic_load(&gpu->running);
}
