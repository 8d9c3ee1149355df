/* queue.c: queues by the numbers that clients know them by.
 *
 * A number is also the place of the doorbell in the process's page; clients' queues get
 * the lowest, the driver's own the highest. Must not know packets. Invariant: a number
 * is given again only after the queue that had it is off the hardware.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

static const enum gpu_queue_kind kinds[] = {[KMD_QUEUE_PM4] = GPU_QUEUE_PM4,
                                            [KMD_QUEUE_AQL] = GPU_QUEUE_AQL,
                                            [KMD_QUEUE_SDMA] = GPU_QUEUE_SDMA};

/* Queue lock held. */
static rd_status make(struct kmd *kmd, struct kmd_queue *q)
{
    const struct kmd_queue_config *c = &q->config;
    uint32_t id = 0, flip = c->internal ? GPU_MAX_QUEUES - 1 : 0;
    while (id < GPU_MAX_QUEUES && kmd->queues[id ^ flip])
        id++;
    if (id == GPU_MAX_QUEUES)
        return RD_E_NOMEM;
    q->id = id ^ flip;
    q->wanted = c->percentage > 0 && c->ring;
    atomic_store(&q->active, q->wanted);
    struct gpu_queue_config config = {.kind = kinds[c->kind],
                                      .id = q->id,
                                      .doorbell = kmd->doorbells + q->id,
                                      .ring = c->ring,
                                      .ring_bytes = c->ring_bytes,
                                      .rptr = c->rptr,
                                      .wptr = c->wptr,
                                      .priority = c->priority,
                                      .active = q->wanted,
                                      .owner = q};
    rd_status st = gpu_queue_create(kmd->gpu, &config, &q->gpu);
    if (st != RD_OK)
        return st;
    kmd->queues[q->id] = q;
    if (!c->internal) {
        (void)kmd_session_clear(kmd, getpid(), KMD_SOURCE_QUEUE, q->id, ~0ull);
        (void)kmd_debugged(q, KMD_EXCEPTION(KMD_QUEUE_NEW));
    }
    return RD_OK;
}

rd_status kmd_queue_make(struct kmd *kmd, const struct kmd_queue_config *config,
                         struct kmd_queue **out)
{
    rd_status st = kmd_doorbells(kmd);
    if (st != RD_OK)
        return st;
    struct kmd_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return RD_E_NOMEM;
    q->kmd = kmd;
    q->config = *config;
    pthread_mutex_lock(&kmd->queue_lock);
    st = make(kmd, q);
    pthread_mutex_unlock(&kmd->queue_lock);
    if (st == RD_OK)
        *out = q;
    else
        free(q);
    return st;
}

rd_status kmd_queue_create(struct kmd *kmd, const struct kmd_queue_config *config,
                           uint32_t *id, uint64_t *doorbell)
{
    struct kmd_queue *q;
    rd_status st = kmd_queue_make(kmd, config, &q);
    if (st != RD_OK)
        return st;
    atomic_fetch_add(&kmd->queue_changes, 1);
    *id = q->id;
    *doorbell = kmd->doorbell_offset + 8ull * q->id;
    return RD_OK;
}

struct kmd_queue *kmd_queue_find(struct kmd *kmd, uint32_t id)
{
    struct kmd_queue *q = id < GPU_MAX_QUEUES ? kmd->queues[id] : NULL;
    return q && !q->config.internal && !q->leaving ? q : NULL;
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

bool kmd_queue_lives_in(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    bool found = false;
    pthread_mutex_lock(&kmd->queue_lock);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES && !found; id++) {
        const struct kmd_queue *q = kmd->queues[id];
        if (!q || q->config.internal)
            continue;
        const struct kmd_queue_config *c = &q->config;
        found = overlap(va, bytes, c->ring, c->ring_bytes) ||
                overlap(va, bytes, c->rptr, 8) || overlap(va, bytes, c->wptr, 8) ||
                overlap(va, bytes, c->eop, c->eop_bytes) ||
                overlap(va, bytes, c->cwsr, c->cwsr_bytes);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return found;
}

/* No call finds the queue any more; who goes through the table does until it is out. */
static void remove_queue(struct kmd *kmd, struct kmd_queue *q)
{
    bool unused = gpu_queue_destroy(q->gpu);
    pthread_mutex_lock(&kmd->queue_lock);
    kmd->queues[q->id] = NULL;
    pthread_mutex_unlock(&kmd->queue_lock);
    if (unused)
        free(q);
}

void kmd_queue_remove(struct kmd_queue *q)
{
    remove_queue(q->kmd, q);
}

rd_status kmd_queue_destroy(struct kmd *kmd, uint32_t id)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q) {
        q->leaving = true;
        if (kmd->gws_owner == id + 1)
            kmd->gws_owner = 0;
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    if (!q)
        return RD_E_NOT_FOUND;
    remove_queue(kmd, q);
    atomic_fetch_add(&kmd->queue_changes, 1);
    return RD_OK;
}

void kmd_queue_apply(struct kmd_queue *q)
{
    bool active = q->wanted && !q->suspended;
    const struct gpu_save_area area = {.base = q->config.cwsr,
                                       .stack_bytes = BOARD_CTL_STACK_BYTES,
                                       .bytes = (uint32_t)q->config.cwsr_bytes};
    atomic_store(&q->active, active);
    if (active || !area.base)
        gpu_queue_activate(q->gpu, active);
    else
        gpu_queue_save(q->gpu, &area);
}

rd_status kmd_queue_update(struct kmd *kmd, uint32_t id, uint64_t ring,
                           uint64_t ring_bytes, uint32_t percentage, uint32_t priority)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q) {
        if (ring && ring_bytes != q->config.ring_bytes)
            atomic_fetch_add(&kmd->queue_changes, 1);
        if (ring) {
            q->config.ring = ring;
            q->config.ring_bytes = ring_bytes;
        }
        q->config.percentage = percentage;
        q->config.priority = priority;
        q->wanted = ring && percentage;
        gpu_queue_set(q->gpu, ring, ring_bytes, priority);
        kmd_queue_apply(q);
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return q ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_queue_cu_mask(struct kmd *kmd, uint32_t id, const uint32_t *mask,
                            unsigned bits)
{
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q)
        gpu_queue_cu_mask(q->gpu, mask, bits);
    pthread_mutex_unlock(&kmd->queue_lock);
    return q ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_queue_wave_state(struct kmd *kmd, uint32_t id, uint32_t *ctl_used,
                               uint32_t *save_used)
{
    rd_status st = RD_E_NOT_FOUND;
    pthread_mutex_lock(&kmd->queue_lock);
    struct kmd_queue *q = kmd_queue_find(kmd, id);
    if (q && q->config.kind == KMD_QUEUE_SDMA)
        st = RD_E_INVALID;
    else if (q && atomic_load(&q->active))
        st = RD_E_BUSY;
    else if (q) {
        gpu_queue_saved(q->gpu, ctl_used, save_used);
        st = RD_OK;
    }
    pthread_mutex_unlock(&kmd->queue_lock);
    return st;
}

rd_status kmd_queue_gws(struct kmd *kmd, uint32_t id, uint32_t count, uint32_t *first)
{
    rd_status st = RD_OK;
    pthread_mutex_lock(&kmd->queue_lock);
    if (!kmd_queue_find(kmd, id))
        st = RD_E_NOT_FOUND;
    else if (count && kmd->gws_owner && kmd->gws_owner != id + 1)
        st = RD_E_BUSY;
    else
        kmd->gws_owner = count ? id + 1 : 0;
    pthread_mutex_unlock(&kmd->queue_lock);
    if (st == RD_OK)
        *first = 0;
    return st;
}

unsigned kmd_queue_count(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->queue_lock);
    unsigned n = 0;
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++)
        n += kmd_queue_find(kmd, id) != NULL;
    pthread_mutex_unlock(&kmd->queue_lock);
    return n;
}

uint32_t kmd_queue_changes(struct kmd *kmd)
{
    return atomic_load(&kmd->queue_changes);
}

void kmd_kick(struct kmd *kmd)
{
    gpu_kick(kmd->gpu);
}
