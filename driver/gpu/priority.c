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
#include "cp.h"
#include "look.h"

/* Lock held. */
static void set_control(struct gpu_queue *q, uint32_t highest)
{
    bool go_on = atomic_load(&q->active) && q->priority >= highest;
    int run = atomic_load(&q->showing) ? EMU_CONTROL_SHOW : EMU_CONTROL_RUN;
    int control = go_on ? run : EMU_CONTROL_PAUSE;
    if (atomic_load(&q->stop) || atomic_load(&q->host_fault))
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
