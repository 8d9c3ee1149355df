/* queue.c: AQL queues: packets, scratch memory, instruction caches.
 *
 * A packet is written completely before its header, the header before the doorbell.
 * Scratch is given to a queue before a kernel that needs it, while nothing runs there,
 * so the firmware never has to ask. Code that was loaded since a queue's last packet is
 * made visible by emptying the caches first.
 * Source: HSA Platform System Architecture 1.2, 2.9; amd_hsa_queue.h of ROCr.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "pm4.h"

#define DEFAULT_PACKETS 1024u
#define MAX_PACKETS     131072u

/* ---- the queue ---- */

static void put32(struct rt_queue *q, unsigned at, uint32_t value)
{
    memcpy((uint8_t *)rt_host(q->ring.page) + at, &value, sizeof(value));
}

static void put64(struct rt_queue *q, unsigned at, uint64_t value)
{
    memcpy((uint8_t *)rt_host(q->ring.page) + at, &value, sizeof(value));
}

static void describe(struct rt_queue *q)
{
    const struct rt_info *info = &q->dev->info;
    put32(q, AMD_QUEUE_FEATURES, 1); /* kernel dispatch */
    put64(q, AMD_QUEUE_BASE, rt_gpuva(q->ring.memory));
    put32(q, AMD_QUEUE_SIZE, q->packets);
    put64(q, AMD_QUEUE_ID, q->ring.id);
    put32(q, AMD_QUEUE_LDS_HI, (uint32_t)(info->lds_base >> 32));
    put32(q, AMD_QUEUE_SCRATCH_HI, (uint32_t)(info->scratch_base >> 32));
    put32(q, AMD_QUEUE_MAX_CU, info->compute_units - 1);
    put32(q, AMD_QUEUE_MAX_WAVE, info->waves_per_cu - 1);
    put32(q, AMD_QUEUE_RPTR_OFFSET, 0x80);
    put32(q, AMD_QUEUE_PROPERTIES, AMD_QUEUE_IS_PTR64 | AMD_QUEUE_PROFILING);
    put64(q, AMD_QUEUE_INACTIVE_SIGNAL, (uintptr_t)q->inactive->amd);
}

static bool add(struct rt_queue *q)
{
    bool added = false;
    pthread_mutex_lock(&q->dev->lock);
    for (unsigned i = 0; i < RT_MAX_QUEUES && !added; i++) {
        if (q->dev->queues[i])
            continue;
        __atomic_store_n(&q->dev->queues[i], q, __ATOMIC_RELEASE);
        added = true;
    }
    pthread_mutex_unlock(&q->dev->lock);
    return added;
}

rd_status rt_queue_create(struct rt_device *dev, uint32_t packets,
                          struct rt_queue **out, struct rt_error *err)
{
    if (!packets)
        packets = DEFAULT_PACKETS;
    if (packets < 64 || packets > MAX_PACKETS || packets & (packets - 1))
        return rt_fail(err, RD_E_INVALID,
                       "a queue of %u packets: a power of two from 64 to %u", packets,
                       MAX_PACKETS);
    struct rt_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    q->dev = dev;
    q->packets = packets;
    rd_status st = rt_signal_create(dev, 0, &q->inactive, err);
    if (st == RD_OK)
        st = rt_ring_create(dev, KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                            (uint64_t)packets * AQL_PACKET_BYTES, &q->ring, err);
    if (st == RD_OK) {
        describe(q);
        if (!add(q))
            st = rt_fail(err, RD_E_NOMEM, "%u queues are open", RT_MAX_QUEUES);
    }
    if (st != RD_OK) {
        rt_queue_destroy(q);
        return st;
    }
    *out = q;
    return RD_OK;
}

void rt_queue_destroy(struct rt_queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->dev->lock);
    for (unsigned i = 0; i < RT_MAX_QUEUES; i++)
        if (q->dev->queues[i] == q)
            q->dev->queues[i] = NULL;
    pthread_mutex_unlock(&q->dev->lock);
    rt_ring_destroy(q->dev, &q->ring);
    rt_signal_destroy(q->inactive);
    rt_free(q->scratch);
    free(q);
}

uint64_t rt_queue_gpuva(const struct rt_queue *q)
{
    return rt_gpuva(q->ring.page);
}

/* ---- packets ---- */

static bool has_room(void *ctx)
{
    const struct rt_queue *q = ctx;
    uint64_t done = __atomic_load_n(q->ring.rptr, __ATOMIC_ACQUIRE);
    return *q->ring.wptr - done < q->packets;
}

static bool is_empty(void *ctx)
{
    const struct rt_queue *q = ctx;
    return __atomic_load_n(q->ring.rptr, __ATOMIC_ACQUIRE) == *q->ring.wptr;
}

/* Write a packet behind the others and ring. */
static rd_status submit(struct rt_queue *q, const void *packet, struct rt_error *err)
{
    rd_status st = rt_poll(q->dev, has_room, q, err);
    if (st != RD_OK)
        return st;
    uint64_t index = *q->ring.wptr;
    uint8_t *slot =
        (uint8_t *)rt_host(q->ring.memory) + index % q->packets * AQL_PACKET_BYTES;
    uint32_t first;
    memcpy(&first, packet, sizeof(first));
    memcpy(slot + 4, (const uint8_t *)packet + 4, AQL_PACKET_BYTES - 4);
    __atomic_store_n(q->ring.wptr, index + 1, __ATOMIC_RELEASE);
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    __atomic_store_n(q->ring.doorbell, index, __ATOMIC_RELEASE);
    return RD_OK;
}

static uint64_t completion(const struct rt_signal *s)
{
    return s ? (uintptr_t)s->amd : 0;
}

/* A vendor packet that runs the PM4 which empties the caches. */
static rd_status refresh_code(struct rt_queue *q, struct rt_error *err)
{
    uint64_t version = q->dev->code_version;
    if (q->code_version == version)
        return RD_OK;
    uint64_t ib = rt_gpuva(q->dev->invalidate);
    struct aql_vendor p = {.header = AQL_VENDOR | AQL_BARRIER | AQL_SYSTEM_FENCES,
                           .format = AQL_VENDOR_PM4_IB,
                           .dw = {PM4_HEADER(PM4_INDIRECT_BUFFER, 3), (uint32_t)ib,
                                  (uint32_t)(ib >> 32), PM4_IB_VALID | 8,
                                  AQL_PM4_IB_FOLLOWS}};
    rd_status st = submit(q, &p, err);
    if (st == RD_OK)
        q->code_version = version;
    return st;
}

/* ---- scratch ---- */

#define SCRATCH_GRANULE  256u /* bytes of a wave; unit of COMPUTE_TMPRING_SIZE */
#define SCRATCH_MAX      (1ull << 30)
#define TMPRING_MAX_SIZE 0x7fffu
#define TMPRING_MAX_WAVE 0xfffu

/* Room for every wave the board holds, or for as many as fit in SCRATCH_MAX. */
static rd_status give_scratch(struct rt_queue *q, uint32_t lane_bytes,
                              struct rt_error *err)
{
    const struct rt_info *info = &q->dev->info;
    uint32_t lane = (lane_bytes + 15) & ~15u;
    uint64_t wave = ((uint64_t)lane * 64 + SCRATCH_GRANULE - 1) / SCRATCH_GRANULE;
    if (wave > TMPRING_MAX_SIZE)
        return rt_fail(err, RD_E_INVALID, "%u bytes of scratch per lane are too many",
                       lane_bytes);
    uint64_t waves = (uint64_t)info->compute_units * info->waves_per_cu;
    uint64_t fit = SCRATCH_MAX / (wave * SCRATCH_GRANULE);
    uint64_t per_se = (waves < fit ? waves : fit) / info->shader_engines;
    per_se = per_se > TMPRING_MAX_WAVE ? TMPRING_MAX_WAVE : per_se ? per_se : 1;
    uint64_t bytes = per_se * info->shader_engines * wave * SCRATCH_GRANULE;

    rd_status st = rt_poll(q->dev, is_empty, q, err);
    struct rt_buffer *memory = NULL;
    if (st == RD_OK)
        st = rt_alloc(q->dev, bytes, RT_VRAM, 0, &memory, err);
    if (st != RD_OK)
        return st;
    rt_free(q->scratch);
    q->scratch = memory;
    q->scratch_lane_bytes = lane;
    put32(q, AMD_QUEUE_TMPRING, (uint32_t)(per_se | wave << 12));
    put64(q, AMD_QUEUE_SCRATCH_SRD, rt_gpuva(memory) | 1ull << 62); /* swizzled */
    put64(q, AMD_QUEUE_SCRATCH_SRD + 8, bytes);
    put64(q, AMD_QUEUE_SCRATCH_BASE, rt_gpuva(memory));
    put32(q, AMD_QUEUE_SCRATCH_LANE, lane);
    return RD_OK;
}

/* ---- launching ---- */

#define MAX_BLOCK_ITEMS     1024u
#define MAX_LDS_BYTES       65536u
#define DYNAMIC_STACK_BYTES 16384u /* where the compiler knows no bound */

static rd_status fill_shape(struct aql_dispatch *p, const struct rt_launch *launch,
                            struct rt_error *err)
{
    uint64_t items = 1;
    unsigned dims = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t block = launch->block[i] ? launch->block[i] : 1;
        uint32_t total = launch->items[i] ? launch->items[i] : 1;
        items = items > MAX_BLOCK_ITEMS ? items : items * block;
        p->wg[i] = (uint16_t)block;
        p->grid[i] = total;
        if (total > 1 || block > 1)
            dims = i + 1;
    }
    p->setup = (uint16_t)dims;
    if (items > MAX_BLOCK_ITEMS)
        return rt_fail(
            err, RD_E_INVALID, "block %u,%u,%u: a workgroup has at most %u work-items",
            launch->block[0], launch->block[1], launch->block[2], MAX_BLOCK_ITEMS);
    return RD_OK;
}

rd_status rt_launch(struct rt_queue *q, const struct rt_kernel *kernel,
                    const struct rt_launch *launch, struct rt_error *err)
{
    const struct co_kernel_desc *desc = &kernel->desc;
    struct aql_dispatch p = {.kernel_object = kernel->desc_gpuva,
                             .kernarg = launch->kernarg_gpuva,
                             .completion = completion(launch->signal)};
    rd_status st = fill_shape(&p, launch, err);
    uint64_t lds = (uint64_t)desc->group_segment_bytes + launch->dynamic_lds_bytes;
    if (st == RD_OK && lds > MAX_LDS_BYTES)
        st = rt_fail(err, RD_E_INVALID, "%llu bytes of LDS: a workgroup has %u",
                     (unsigned long long)lds, MAX_LDS_BYTES);
    if (st != RD_OK)
        return st;
    p.group_bytes = (uint32_t)lds;
    p.private_bytes = desc->private_segment_bytes;
    if (desc->uses_dynamic_stack && p.private_bytes < DYNAMIC_STACK_BYTES)
        p.private_bytes = DYNAMIC_STACK_BYTES;
    if (p.private_bytes < launch->stack_bytes)
        p.private_bytes = launch->stack_bytes;
    if (p.private_bytes > q->scratch_lane_bytes)
        st = give_scratch(q, p.private_bytes, err);
    if (st == RD_OK)
        st = refresh_code(q, err);
    if (st != RD_OK)
        return st;
    p.header = (uint16_t)(AQL_DISPATCH | AQL_SYSTEM_FENCES |
                          (launch->overlap ? 0 : AQL_BARRIER));
    return submit(q, &p, err);
}

rd_status rt_barrier(struct rt_queue *q, struct rt_signal *const *deps, unsigned count,
                     struct rt_signal *signal, struct rt_error *err)
{
    struct aql_barrier p = {.header = AQL_BARRIER_AND | AQL_BARRIER | AQL_SYSTEM_FENCES,
                            .completion = completion(signal)};
    if (count > 5)
        return rt_fail(err, RD_E_INVALID, "a barrier waits for at most 5 signals");
    for (unsigned i = 0; i < count; i++)
        p.dep[i] = completion(deps[i]);
    return submit(q, &p, err);
}
