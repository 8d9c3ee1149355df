/* cp_aql.c: the AQL command processor: HSA packets and AMD's vendor packets.
 *
 * Packets are processed strictly in order, each to its end, which satisfies every
 * barrier bit; but under the timing model dispatches without the bit run beside those
 * before them. A packet leaves the ring (header invalid, read index advanced) after its
 * kernel has ended, since kernels read it, and before its completion signal fires.
 * Source: HSA Platform System Architecture 1.2, section 2.9.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "aql.h"
#include "cp.h"

#define MAX_WG_ITEMS  1024u
#define MAX_LDS_BYTES 65536u

static uint64_t queue_struct(const struct gpu_queue *q)
{
    return q->config.rptr - AMD_QUEUE_RPTR;
}

struct sgprs {
    struct emu_dispatch *d;
    unsigned n;
};

static void push(struct sgprs *s, uint64_t value)
{
    if (s->n + 2 > 32)
        return;
    s->d->user_sgpr[s->n++] = (uint32_t)value;
    s->d->user_sgpr[s->n++] = (uint32_t)(value >> 32);
}

/* User SGPRs in the order of the property bits. */
static bool fill_sgprs(struct gpu_queue *q, const struct aql_dispatch *p,
                       uint64_t packet_va, uint64_t index, uint32_t properties,
                       struct emu_dispatch *d)
{
    struct sgprs s = {.d = d};
    uint64_t queue = queue_struct(q);
    if (properties & KD_PRIVATE_BUFFER) {
        uint64_t srd[2];
        if (!cp_read(q, queue + AMD_QUEUE_SCRATCH_SRD, srd, sizeof(srd)))
            return false;
        push(&s, srd[0]);
        push(&s, srd[1]);
    }
    if (properties & KD_DISPATCH_PTR)
        push(&s, packet_va);
    if (properties & KD_QUEUE_PTR)
        push(&s, queue);
    if (properties & KD_KERNARG_PTR)
        push(&s, p->kernarg);
    if (properties & KD_DISPATCH_ID)
        push(&s, index);
    if (properties & KD_FLAT_SCRATCH) {
        uint64_t base;
        if (!cp_read(q, queue + AMD_QUEUE_SCRATCH_BASE, &base, sizeof(base)))
            return false;
        push(&s, base);
    }
    if (properties & KD_PRIVATE_SIZE)
        d->user_sgpr[s.n++ & 31] = p->private_bytes;
    d->n_user_sgprs = d->rsrc2 >> 1 & 31;
    return true;
}

/* -1 if the packet is fine, else an error. Source: rocrtst queue validation cases. */
static int validate(const struct aql_dispatch *p)
{
    unsigned dims = p->setup & 3;
    if (dims == 0)
        return GPU_ERR_DIM;
    uint32_t items = 1;
    for (unsigned i = 0; i < dims; i++) {
        if (!p->grid[i])
            return GPU_ERR_DIM;
        if (!p->wg[i] || p->wg[i] > MAX_WG_ITEMS)
            return GPU_ERR_WG_SIZE;
        items *= p->wg[i];
        if (items > MAX_WG_ITEMS)
            return GPU_ERR_WG_SIZE;
    }
    if (p->group_bytes > MAX_LDS_BYTES)
        return GPU_ERR_GROUP_SIZE;
    if (!p->kernel_object || p->kernel_object % 64)
        return GPU_ERR_CODE;
    return -1;
}

/* Ask the runtime for something through queue_inactive_signal and wait for its 0. */
static bool ask_runtime(struct gpu_queue *q, int64_t request)
{
    uint64_t signal;
    if (!cp_read(q, queue_struct(q) + AMD_QUEUE_INACTIVE_SIGNAL, &signal, 8) ||
        !cp_signal_store(q, signal, request))
        return false;
    struct cp_condition zero = {.va = signal + AMD_SIGNAL_VALUE,
                                .mask = UINT64_MAX,
                                .function = 3,
                                .wide = true};
    return cp_wait_memory(q, &zero);
}

/* Per-lane scratch that the queue offers; wave32 waves get twice that of wave64. */
static bool scratch_ready(struct gpu_queue *q, uint32_t bytes, bool wave64)
{
    uint32_t lane64;
    for (unsigned attempt = 0; bytes; attempt++) {
        if (!cp_read(q, queue_struct(q) + AMD_QUEUE_SCRATCH_LANE, &lane64, 4))
            return false;
        uint64_t available = (uint64_t)lane64 * 64 / (wave64 ? 64 : 32);
        if (bytes <= available)
            break;
        if (attempt == 2) { /* the runtime answered, but not with enough */
            (void)cp_fail(q, GPU_ERR_REGISTERS, "not enough scratch memory");
            return false;
        }
        if (!ask_runtime(q, wave64 ? 0x1 : 0x401))
            return false;
    }
    return true;
}

/* Scratch lent for one dispatch goes back after it. */
static bool scratch_return(struct gpu_queue *q)
{
    uint64_t at = queue_struct(q) + AMD_QUEUE_PROPERTIES;
    uint32_t properties;
    if (!cp_read(q, at, &properties, 4))
        return false;
    return !(properties & AMD_QUEUE_USE_SCRATCH_ONCE) || ask_runtime(q, 512);
}

static bool read_kernel(struct gpu_queue *q, uint64_t object, struct emu_dispatch *d,
                        uint32_t *properties)
{
    uint8_t kd[KD_BYTES];
    int64_t entry;
    uint16_t bits;
    if (!cp_read(q, object, kd, sizeof(kd)))
        return false;
    memcpy(&entry, kd + KD_ENTRY, 8);
    memcpy(&d->rsrc1, kd + KD_RSRC1, 4);
    memcpy(&d->rsrc2, kd + KD_RSRC2, 4);
    memcpy(&d->rsrc3, kd + KD_RSRC3, 4);
    memcpy(&bits, kd + KD_PROPERTIES, 2);
    d->entry = object + (uint64_t)entry;
    d->wave64 = !(bits & KD_WAVE32);
    *properties = bits;
    return true;
}

/* What a valid packet asks for. False after reporting a page fault. */
static bool describe(struct gpu_queue *q, const struct aql_dispatch *p,
                     uint64_t packet_va, uint64_t index, struct emu_dispatch *d)
{
    uint32_t properties;
    d->lds_bytes = p->group_bytes;
    d->scratch_bytes = p->private_bytes;
    if (!read_kernel(q, p->kernel_object, d, &properties))
        return false;
    unsigned dims = p->setup & 3;
    for (unsigned i = 0; i < 3; i++) {
        d->block[i] = i < dims ? p->wg[i] : 1;
        d->items[i] = i < dims ? p->grid[i] : 1;
        d->groups[i] =
            (uint32_t)(((uint64_t)d->items[i] + d->block[i] - 1) / d->block[i]);
    }
    return scratch_ready(q, p->private_bytes, d->wave64) &&
           fill_sgprs(q, p, packet_va, index, properties, d);
}

static enum cp_result run_dispatch(struct gpu_queue *q, const struct aql_dispatch *p,
                                   uint64_t packet_va, uint64_t index)
{
    struct emu_dispatch d = {.entry = 0};
    int error = validate(p);
    if (error >= 0)
        return cp_fail(q, (enum gpu_error)error, NULL);
    if (!describe(q, p, packet_va, index, &d))
        return CP_HALT;
    enum cp_result r = cp_dispatch(q, &d);
    if (r == CP_PROGRESS && p->private_bytes && !scratch_return(q))
        return CP_HALT;
    return r;
}

struct barrier_wait {
    struct gpu_queue *q;
    uint64_t signals[5];
    unsigned count;
    bool any;
};

static bool barrier_ready(void *ctx)
{
    const struct barrier_wait *w = ctx;
    unsigned zero = 0;
    for (unsigned i = 0; i < w->count; i++) {
        uint64_t value;
        if (!cp_load(w->q, w->signals[i] + AMD_SIGNAL_VALUE, true, &value))
            return false;
        zero += value == 0;
    }
    return w->any ? zero > 0 || !w->count : zero == w->count;
}

static enum cp_result run_barrier(struct gpu_queue *q, const struct aql_barrier *p,
                                  bool any)
{
    struct barrier_wait wait = {.q = q, .any = any};
    for (unsigned i = 0; i < 5; i++)
        if (p->dep[i])
            wait.signals[wait.count++] = p->dep[i];
    if (!cp_wait(q, barrier_ready, &wait))
        return CP_HALT;
    for (unsigned i = 0; i < wait.count; i++)
        cp_order_wait(q, wait.signals[i] + AMD_SIGNAL_VALUE);
    return CP_PROGRESS;
}

struct value_wait {
    struct gpu_queue *q;
    uint64_t va;
    int64_t value, mask;
    uint32_t condition; /* hsa_signal_condition_t: == != < >= */
};

static bool value_ready(void *ctx)
{
    const struct value_wait *w = ctx;
    uint64_t bits;
    if (!cp_load(w->q, w->va, true, &bits))
        return false;
    int64_t v = (int64_t)bits & w->mask;
    switch (w->condition) {
    case 0:
        return v == w->value;
    case 1:
        return v != w->value;
    case 2:
        return v < w->value;
    default:
        return v >= w->value;
    }
}

static uint64_t pair(const uint32_t *dw)
{
    return dw[0] | (uint64_t)dw[1] << 32;
}

static enum cp_result run_vendor(struct gpu_queue *q, const struct aql_vendor *p)
{
    if (p->format == AQL_VENDOR_PM4_IB) {
        if ((p->dw[0] >> 8 & 0xff) != 0x3f)
            return cp_fail(q, GPU_ERR_VENDOR, "PM4 packet is no indirect buffer");
        bool ok = cp_pm4_run(q, pair(p->dw + 1), p->dw[3] & 0xfffff);
        return ok ? CP_PROGRESS : CP_HALT;
    }
    if (p->format == AQL_VENDOR_BARRIER_VALUE) {
        uint64_t signal = pair(p->dw + 1);
        struct value_wait wait = {.q = q,
                                  .va = signal + AMD_SIGNAL_VALUE,
                                  .value = (int64_t)pair(p->dw + 3),
                                  .mask = (int64_t)pair(p->dw + 5),
                                  .condition = p->dw[7]};
        if (!signal)
            return CP_PROGRESS;
        if (!cp_wait(q, value_ready, &wait))
            return CP_HALT;
        cp_order_wait(q, wait.va);
        return CP_PROGRESS;
    }
    return cp_fail(q, GPU_ERR_VENDOR, NULL);
}

static enum cp_result run_packet(struct gpu_queue *q, const union aql_packet *p,
                                 uint64_t packet_va, uint64_t index)
{
    switch (p->header & 0xff) {
    case AQL_VENDOR:
        return run_vendor(q, &p->vendor);
    case AQL_DISPATCH:
        return run_dispatch(q, &p->dispatch, packet_va, index);
    case AQL_BARRIER_AND:
        return run_barrier(q, &p->barrier, false);
    case AQL_BARRIER_OR:
        return run_barrier(q, &p->barrier, true);
    case AQL_AGENT:
        return cp_fail(q, GPU_ERR_UNSUPPORTED, "agent dispatch");
    default:
        return cp_fail(q, GPU_ERR_FORMAT, NULL);
    }
}

static uint64_t slot_of(const struct gpu_queue *q, uint64_t index)
{
    uint64_t slots = q->config.ring_bytes / AQL_PACKET_BYTES;
    return q->config.ring + index % slots * AQL_PACKET_BYTES;
}

/* It leaves the ring. */
static bool retire(struct gpu_queue *q, uint64_t index)
{
    uint16_t invalid = AQL_INVALID;
    uint64_t next = index + 1;
    return cp_write(q, slot_of(q, index), &invalid, sizeof(invalid)) &&
           cp_write(q, q->config.rptr, &next, sizeof(next));
}

/* ---- dispatches that run at once, under the timing model ---- */

/* Those that need scratch memory take it one after the other, and what is wrong with a
 * packet is told in its turn. */
static bool next_beside(struct gpu_queue *q, struct emu_dispatch *d)
{
    uint64_t index = q->packet + q->packets.n, wptr;
    union aql_packet p;
    if (!cp_load(q, q->config.wptr, true, &wptr) || index >= wptr ||
        index - q->packet >= q->config.ring_bytes / AQL_PACKET_BYTES)
        return false;
    const union aql_packet *slot =
        cp_at(q, slot_of(q, index), AQL_PACKET_BYTES, GPU_READ);
    uint16_t header = slot ? __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE) : 0;
    if (!slot || (header & 0xff) != AQL_DISPATCH || header & AQL_BARRIER)
        return false;
    p = *slot;
    struct emu_dispatch next = {.control = d->control,
                                .queue = d->queue,
                                .watch = d->watch,
                                .inspector = d->inspector};
    if (p.dispatch.private_bytes || validate(&p.dispatch) >= 0 ||
        !describe(q, &p.dispatch, slot_of(q, index), index, &next))
        return false;
    *d = next;
    q->packets.n++;
    q->dispatches++;
    atomic_fetch_add(&q->gpu->counters->dispatches, 1);
    return true;
}

/* Packets leave the ring in order, but are completed when they have ended. */
static bool ended_beside(struct gpu_queue *q, unsigned number, uint64_t start,
                         uint64_t end)
{
    struct cp_packets *g = &q->packets;
    const union aql_packet *slot =
        cp_at(q, slot_of(q, q->packet + number), AQL_PACKET_BYTES, GPU_READ);
    if (!slot)
        return false;
    uint64_t completion = slot->dispatch.completion;
    g->ended |= UINT64_C(1) << number;
    for (; g->retired < g->n && g->ended >> g->retired & 1u; g->retired++)
        if (!retire(q, q->packet + g->retired))
            return false;
    return cp_signal_complete(q, completion, start, end);
}

static const struct cp_beside beside = {next_beside, ended_beside};

/* May others run beside it? */
static const struct cp_beside *beside_of(const struct gpu_queue *q,
                                         const union aql_packet *p)
{
    bool is_dispatch = (p->header & 0xff) == AQL_DISPATCH;
    return q->gpu->clock.simulated && is_dispatch && !p->dispatch.private_bytes
               ? &beside
               : NULL;
}

enum cp_result cp_aql_step(struct gpu_queue *q)
{
    uint64_t index, wptr;
    if (!cp_load(q, q->config.rptr, true, &index) ||
        !cp_load(q, q->config.wptr, true, &wptr))
        return CP_HALT;
    if (index >= wptr)
        return CP_IDLE;
    uint64_t va = slot_of(q, index);
    const union aql_packet *slot = cp_at(q, va, AQL_PACKET_BYTES, GPU_READ);
    if (!slot)
        return CP_HALT;
    uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
    if ((header & 0xff) == AQL_INVALID)
        return CP_STALL;
    union aql_packet p = *slot;
    q->packet = index;
    q->order.own = 0;
    cp_order_packet(q, index, header & AQL_BARRIER);
    if ((header & 0xff) == AQL_DISPATCH)
        cp_spend_unseen(q, BOARD_AQL_DISPATCH_NS * BOARD_CLOCK_HZ / 1000000000u);
    uint64_t start = cp_clock(q);
    q->packets = (struct cp_packets){.n = 1};
    q->beside = beside_of(q, &p);
    enum cp_result r = run_packet(q, &p, va, index);
    q->beside = NULL;
    if (r != CP_PROGRESS || q->packets.ended) /* they have been completed */
        return r;
    uint64_t end = cp_clock(q);
    if (!retire(q, index))
        return CP_HALT;
    /* All formats have their completion signal in the last 8 bytes. */
    return cp_signal_complete(q, p.dispatch.completion, start, end) ? CP_PROGRESS
                                                                    : CP_HALT;
}
