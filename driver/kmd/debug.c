/* debug.c: what a debugger sees of queues: suspension, raised exceptions, a list.
 *
 * Exceptions are bits of the kernel's interface. Those that the debugger has asked for
 * go to it instead of to the runtime. Must not know ioctl structs. Thread: queue_lock
 * guards the table; exceptions are raised from any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "internal.h"

void kmd_debug(struct kmd *kmd, int fd, uint64_t exceptions)
{
    pthread_mutex_lock(&kmd->queue_lock);
    int old = kmd->debug_on ? kmd->debug_fd : -1;
    kmd->debug_on = fd >= 0;
    kmd->debug_fd = fd;
    atomic_store(&kmd->debug_mask, exceptions);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++) { /* nobody is left to resume it */
        struct kmd_queue *q = kmd_queue_find(kmd, id);
        if (fd < 0 && q && q->suspended) {
            q->suspended = false;
            kmd_queue_apply(q);
        }
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    if (old >= 0)
        close(old);
}

void kmd_debug_mask(struct kmd *kmd, uint64_t exceptions)
{
    atomic_store(&kmd->debug_mask, exceptions);
}

bool kmd_debugged(struct kmd_queue *q, uint64_t exceptions)
{
    atomic_fetch_or(&q->exceptions, exceptions);
    if (!(atomic_load(&q->kmd->debug_mask) & exceptions))
        return false;
    (void)!write(q->kmd->debug_fd, ".", 1);
    return true;
}

rd_status kmd_queue_suspend(struct kmd *kmd, uint32_t id, bool suspend)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    bool change = q && q->suspended != suspend;
    if (suspend && q && atomic_load(&q->exceptions) & KMD_EXCEPTION(KMD_QUEUE_NEW))
        change = false; /* a debugger has to take note of it first */
    if (change) {
        q->suspended = suspend;
        kmd_queue_apply(q);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return change ? RD_OK : RD_E_NOT_FOUND;
}

static struct kmd_queue_state state_of(const struct kmd_queue *q)
{
    return (struct kmd_queue_state){
        .id = q->id, .config = q->config, .exceptions = atomic_load(&q->exceptions)};
}

unsigned kmd_queue_list(struct kmd *kmd, struct kmd_queue_state *out, unsigned room)
{
    unsigned n = 0;
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++) {
        const struct kmd_queue *q = kmd_queue_find(kmd, id);
        if (q && n < room)
            out[n] = state_of(q);
        n += q != NULL;
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return n;
}

bool kmd_queue_raised(struct kmd *kmd, struct kmd_queue_state *out)
{
    bool any = false;
    uint64_t mask = atomic_load(&kmd->debug_mask);
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES && !any; id++) {
        const struct kmd_queue *q = kmd_queue_find(kmd, id);
        any = q && (atomic_load(&q->exceptions) & mask);
        if (any)
            *out = state_of(q);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return any;
}

void kmd_queue_clear(struct kmd *kmd, uint32_t id, uint64_t exceptions)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q)
        atomic_fetch_and(&q->exceptions, ~exceptions);
    pthread_mutex_unlock(&kmd->queue_lock);
}

void kmd_queue_tell(struct kmd *kmd, uint32_t id, uint64_t exceptions)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q && exceptions)
        kmd_tell_runtime(q, exceptions);
    pthread_mutex_unlock(&kmd->queue_lock);
}
