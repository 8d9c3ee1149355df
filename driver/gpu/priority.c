/* priority.c: queues of lower priority make way for dispatches of higher ones.
 *
 * A queue competes from its first dispatch until it has nothing to do, waits for memory
 * or a signal, or halts. While one of higher priority competes, a dispatch is paused as
 * by a suspension: inside, or before it begins. So a queue that waits for one of lower
 * priority does not hold it up. Copies use no compute units and never compete. Must not
 * know packets. Invariant: only this file and the handler of host faults write
 * q->control, and what they cancel stays cancelled.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "context.h"
#include "cp.h"
#include "look.h"

#define KILL_NAP_NS 100000
#define KILL_NAPS   200 /* what has not ended by then is left to itself */

/* Lock held. */
static void set_control(struct gpu_queue *q, uint32_t highest)
{
    bool go_on = atomic_load(&q->active) && q->priority >= highest;
    int run = atomic_load(&q->showing) ? EMU_CONTROL_SHOW : EMU_CONTROL_RUN;
    int stand = atomic_load(&q->saving) ? EMU_CONTROL_SAVE : EMU_CONTROL_PAUSE;
    int control = go_on ? run : stand;
    if (atomic_load(&q->stop) || atomic_load(&q->host_fault) || atomic_load(&q->killed))
        control = EMU_CONTROL_CANCEL;
    if (cp_control(q) != control)
        cp_set_control(q, control);
    if (atomic_load(&q->host_fault)) /* it may have come in between */
        cp_set_control(q, EMU_CONTROL_CANCEL);
}

/* Lock held. */
static void set_all(struct gpu_priority *p)
{
    uint32_t highest = 0;
    for (const struct gpu_queue *q = p->first; q; q = q->next_competing)
        if (atomic_load(&q->active) && q->priority > highest)
            highest = q->priority;
    for (struct gpu_queue *q = p->first; q; q = q->next_competing)
        set_control(q, highest);
}

void gpu_priority_apply(struct gpu_queue *q)
{
    struct gpu_priority *p = &q->gpu->priority;
    pthread_mutex_lock(&p->lock);
    q->priority = q->config.priority;
    if (!q->competes)
        set_control(q, 0);
    set_all(p);
    pthread_mutex_unlock(&p->lock);
}

void cp_compete(struct gpu_queue *q)
{
    struct gpu_priority *p = &q->gpu->priority;
    if (q->competes)
        return;
    pthread_mutex_lock(&p->lock);
    q->competes = true;
    q->next_competing = p->first;
    p->first = q;
    set_all(p);
    pthread_mutex_unlock(&p->lock);
}

void cp_give_way(struct gpu_queue *q)
{
    struct gpu_priority *p = &q->gpu->priority;
    if (!q->competes)
        return;
    pthread_mutex_lock(&p->lock);
    q->competes = false;
    struct gpu_queue **at = &p->first;
    while (*at != q)
        at = &(*at)->next_competing;
    *at = q->next_competing;
    set_control(q, 0);
    set_all(p);
    pthread_mutex_unlock(&p->lock);
}

/* ---- waves that are killed ----------------------------------------------------------
 */

void cp_waves_begin(struct gpu_queue *q)
{
    struct gpu_priority *p = &q->gpu->priority;
    pthread_mutex_lock(&p->lock);
    atomic_store(&q->waves_in, q->space);
    pthread_mutex_unlock(&p->lock);
}

bool cp_waves_end(struct gpu_queue *q)
{
    struct gpu_priority *p = &q->gpu->priority;
    pthread_mutex_lock(&p->lock);
    atomic_store(&q->waves_in, GPU_SPACES);
    bool killed = atomic_exchange(&q->killed, false);
    if (killed && !q->competes)
        set_control(q, 0);
    if (killed)
        set_all(p);
    pthread_mutex_unlock(&p->lock);
    return killed;
}

/* Queue lock held. Has it waves there? */
static bool kill_waves(struct gpu_queue *q, unsigned space)
{
    struct gpu_priority *p = &q->gpu->priority;
    pthread_mutex_lock(&p->lock);
    bool there = atomic_load(&q->waves_in) == space;
    if (there) {
        atomic_store(&q->killed, true);
        cp_set_control(q, EMU_CONTROL_CANCEL);
    }
    pthread_mutex_unlock(&p->lock);
    return there;
}

void gpu_kill_waves(struct gpu *gpu, unsigned space)
{
    const struct timespec nap = {0, KILL_NAP_NS};
    bool left = true;
    for (unsigned naps = 0; left && naps < KILL_NAPS; naps++) {
        left = false;
        pthread_mutex_lock(&gpu->queue_lock);
        for (unsigned i = 0; i < GPU_MAX_QUEUES; i++)
            if (gpu->queues[i] && kill_waves(gpu->queues[i], space))
                left = true;
        pthread_mutex_unlock(&gpu->queue_lock);
        if (left)
            nanosleep(&nap, NULL);
    }
}
