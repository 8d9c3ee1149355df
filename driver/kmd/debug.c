/* debug.c: what a debugger sees of queues: suspension, raised exceptions, a list.
 *
 * Exceptions are bits of the kernel's interface. Those that the debugger has asked for
 * go to it instead of to the runtime. A queue keeps what was raised while there was no
 * session; a session has the rest (session.c). Must not know ioctl structs. Thread:
 * queue_lock guards the table; exceptions are raised from any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "internal.h"

void kmd_queues_resume(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++) {
        struct kmd_queue *q = kmd_queue_find(kmd, id);
        if (q && q->suspended) {
            q->suspended = false;
            kmd_queue_apply(q);
        }
    }
    pthread_mutex_unlock(&kmd->queue_lock);
}

bool kmd_debugged(struct kmd_queue *q, uint64_t exceptions)
{
    uint64_t before = atomic_exchange(&q->exceptions, 0);
    if (before)
        (void)kmd_session_raise(q->kmd, KMD_SOURCE_QUEUE, q->id, before, 0);
    bool taken =
        kmd_session_raise(q->kmd, KMD_SOURCE_QUEUE, q->id, exceptions, exceptions);
    bool mine;
    if (!kmd_session(q->kmd, getpid(), &mine))
        atomic_fetch_or(&q->exceptions, before | exceptions);
    return taken;
}

void kmd_queues_hand_over(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++) {
        struct kmd_queue *q = kmd_queue_find(kmd, id);
        if (q)
            (void)kmd_session_raise(kmd, KMD_SOURCE_QUEUE, id,
                                    atomic_exchange(&q->exceptions, 0), 0);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
}

/* What the queue has raised; forget those in clear. */
static uint64_t raised(struct kmd_queue *q, uint64_t clear)
{
    return atomic_fetch_and(&q->exceptions, ~clear) |
           kmd_session_clear(q->kmd, getpid(), KMD_SOURCE_QUEUE, q->id, clear);
}

/* Where a debugger finds what was saved: in the header of the area, whose fields are
 * the offset and size of the control stack, and of waves behind it. */
static void tell_saved(struct kmd_queue *q)
{
    uint32_t stack, waves;
    if (!q->config.cwsr)
        return;
    gpu_queue_saved(q->gpu, &stack, &waves);
    const uint32_t head[4] = {BOARD_CTL_STACK_BYTES - stack, stack,
                              BOARD_CTL_STACK_BYTES + waves, waves};
    (void)!gpu_write(q->kmd->gpu, q->config.cwsr, head, sizeof(head));
}

rd_status kmd_queue_suspend(struct kmd *kmd, uint32_t id, bool suspend)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    bool change = q && q->suspended != suspend;
    if (suspend && q && raised(q, 0) & KMD_EXCEPTION(KMD_QUEUE_NEW))
        change = false; /* a debugger has to take note of it first */
    if (change) {
        q->suspended = suspend;
        kmd_queue_apply(q);
        if (suspend)
            tell_saved(q);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return change ? RD_OK : RD_E_NOT_FOUND;
}

unsigned kmd_queue_list(struct kmd *kmd, struct kmd_queue_state *out, unsigned room)
{
    unsigned n = 0;
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++) {
        struct kmd_queue *q = kmd_queue_find(kmd, id);
        if (q && n < room)
            out[n] = (struct kmd_queue_state){
                .id = q->id, .config = q->config, .exceptions = raised(q, 0)};
        n += q != NULL;
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return n;
}

void kmd_queue_clear(struct kmd *kmd, uint32_t id, uint64_t exceptions)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q)
        (void)raised(q, exceptions);
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
