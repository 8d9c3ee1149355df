/* debug.c: what a debugger sees of queues: suspension, raised exceptions, a list.
 *
 * Exceptions are bits of the kernel's interface. Those that the debugger has asked for
 * go to it instead of to the runtime. Must not know ioctl structs. Thread: queue_lock
 * guards the table; exceptions are raised from any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "cp.h"

void gdev_debug(struct gdev *dev, int fd, uint64_t exceptions)
{
    pthread_mutex_lock(&dev->queue_lock);
    int old = dev->debug_on ? dev->debug_fd : -1;
    dev->debug_on = fd >= 0;
    dev->debug_fd = fd;
    atomic_store(&dev->debug_mask, exceptions);
    for (uint32_t id = 0; id < DEV_MAX_QUEUES; id++) /* nobody is left to resume them */
        if (fd < 0 && dev->queues[id] && dev->queues[id]->suspended) {
            dev->queues[id]->suspended = false;
            dev_queue_apply(dev->queues[id]);
        }
    pthread_mutex_unlock(&dev->queue_lock);
    if (old >= 0)
        close(old);
}

void gdev_debug_mask(struct gdev *dev, uint64_t exceptions)
{
    atomic_store(&dev->debug_mask, exceptions);
}

bool cp_debugged(struct gdev_queue *q, uint64_t exceptions)
{
    atomic_fetch_or(&q->exceptions, exceptions);
    if (!(atomic_load(&q->dev->debug_mask) & exceptions))
        return false;
    (void)!write(q->dev->debug_fd, ".", 1);
    return true;
}

/* Queue lock held. */
static struct gdev_queue *find(struct gdev *dev, uint32_t id)
{
    struct gdev_queue *q = id < DEV_MAX_QUEUES ? dev->queues[id] : NULL;
    return q && !q->config.internal ? q : NULL;
}

rd_status gdev_queue_suspend(struct gdev *dev, uint32_t id, bool suspend)
{
    pthread_mutex_lock(&dev->queue_lock);
    struct gdev_queue *q = find(dev, id);
    bool change = q && q->suspended != suspend;
    if (change) {
        q->suspended = suspend;
        dev_queue_apply(q);
    }
    pthread_mutex_unlock(&dev->queue_lock);
    return change ? RD_OK : RD_E_NOT_FOUND;
}

static struct gdev_queue_state state_of(const struct gdev_queue *q)
{
    return (struct gdev_queue_state){
        .id = q->id, .config = q->config, .exceptions = atomic_load(&q->exceptions)};
}

unsigned gdev_queue_list(struct gdev *dev, struct gdev_queue_state *out, unsigned room)
{
    unsigned n = 0;
    pthread_mutex_lock(&dev->queue_lock);
    for (uint32_t id = 0; id < DEV_MAX_QUEUES; id++) {
        const struct gdev_queue *q = find(dev, id);
        if (q && n < room)
            out[n] = state_of(q);
        n += q != NULL;
    }
    pthread_mutex_unlock(&dev->queue_lock);
    return n;
}

bool gdev_queue_raised(struct gdev *dev, struct gdev_queue_state *out)
{
    bool any = false;
    uint64_t mask = atomic_load(&dev->debug_mask);
    pthread_mutex_lock(&dev->queue_lock);
    for (uint32_t id = 0; id < DEV_MAX_QUEUES && !any; id++) {
        const struct gdev_queue *q = find(dev, id);
        any = q && (atomic_load(&q->exceptions) & mask);
        if (any)
            *out = state_of(q);
    }
    pthread_mutex_unlock(&dev->queue_lock);
    return any;
}

void gdev_queue_clear(struct gdev *dev, uint32_t id, uint64_t exceptions)
{
    pthread_mutex_lock(&dev->queue_lock);
    struct gdev_queue *q = find(dev, id);
    if (q)
        atomic_fetch_and(&q->exceptions, ~exceptions);
    pthread_mutex_unlock(&dev->queue_lock);
}

void gdev_queue_tell(struct gdev *dev, uint32_t id, uint64_t exceptions)
{
    pthread_mutex_lock(&dev->queue_lock);
    struct gdev_queue *q = find(dev, id);
    if (q && exceptions)
        cp_tell_runtime(q, exceptions);
    pthread_mutex_unlock(&dev->queue_lock);
}
