/* submit.c: the kernel's own rings, to which work comes through the render node: one
 * for graphics, one for compute, one for the DMA engine.
 *
 * A ring is an ordinary queue of the device, hidden from clients; an indirect buffer is
 * one packet in it, followed by a fence that writes the submission's number. Must not
 * know what is in the buffers. Invariant: numbers of a ring grow, and a ring that fails
 * has every number finished, as after a reset by the kernel; the next submission gets a
 * new ring.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "internal.h"
#include "pm4.h"
#include "sdma.h"

#define RING_BYTES 65536ull
#define PAGE       4096ull
#define MAX_DWORDS 1024u /* of one submission: far below the ring */

/* Offsets in the page behind the ring. */
#define AT_RPTR  0u
#define AT_WPTR  8u
#define AT_FENCE 64u

struct words {
    uint32_t dw[MAX_DWORDS];
    unsigned n;
};

static void put(struct words *w, uint32_t dword)
{
    if (w->n < MAX_DWORDS)
        w->dw[w->n++] = dword;
}

static void put64(struct words *w, uint64_t v)
{
    put(w, (uint32_t)v);
    put(w, (uint32_t)(v >> 32));
}

static uint64_t *at(const struct kmd_ring *r, unsigned offset)
{
    return (uint64_t *)(void *)(r->memory + RING_BYTES + offset);
}

static uint64_t ring_va(const struct kmd_ring *r)
{
    return (uintptr_t)r->memory;
}

static uint64_t fence_va(const struct kmd_ring *r)
{
    return ring_va(r) + RING_BYTES + AT_FENCE;
}

static uint64_t done_so_far(const struct kmd_ring *r)
{
    return r->memory ? __atomic_load_n(at(r, AT_FENCE), __ATOMIC_ACQUIRE) : r->last;
}

/* Memory of the kernel's own, which the GPU sees. */
static rd_status make_memory(struct kmd *kmd, struct kmd_ring *r)
{
    void *p = mmap(NULL, RING_BYTES + PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return RD_E_NOMEM;
    madvise(p, RING_BYTES + PAGE, MADV_DONTFORK);
    rd_status st = gpu_vm_add(kmd->gpu, (uintptr_t)p, RING_BYTES + PAGE,
                              GPU_READ | GPU_WRITE, "kernel ring");
    if (st == RD_OK)
        r->memory = p;
    else
        munmap(p, RING_BYTES + PAGE);
    return st;
}

/* Memory once per ring; a queue now and after every failure. Lock held. */
static rd_status ready(struct kmd *kmd, struct kmd_ring *r, bool dma)
{
    if (r->queue)
        return RD_OK;
    rd_status st = r->memory ? RD_OK : make_memory(kmd, r);
    if (st != RD_OK)
        return st;
    *at(r, AT_RPTR) = *at(r, AT_WPTR) = 0;
    r->put = 0;
    struct kmd_queue_config config = {
        .kind = dma ? KMD_QUEUE_SDMA : KMD_QUEUE_PM4,
        .internal = true,
        .ring = ring_va(r),
        .ring_bytes = RING_BYTES,
        .rptr = ring_va(r) + RING_BYTES + AT_RPTR,
        .wptr = ring_va(r) + RING_BYTES + AT_WPTR,
        .percentage = 100,
        .priority = 7,
    };
    return kmd_queue_make(kmd, &config, &r->queue);
}

/* The ring has failed: everything in it counts as finished. Lock held. */
static void reset(struct kmd *kmd, struct kmd_ring *r)
{
    kmd_queue_remove(r->queue);
    r->queue = NULL;
    r->resets++;
    __atomic_store_n(at(r, AT_FENCE), r->last, __ATOMIC_RELEASE);
    kmd_smi_event(kmd, KMD_SMI_PRE_RESET, "%x job failed\n", r->resets);
    kmd_smi_event(kmd, KMD_SMI_POST_RESET, "%x\n", r->resets);
}

static void wait_for(struct words *w, bool dma, uint64_t va, uint64_t number)
{
    if (dma) {
        put(w, SDMA_POLL | SDMA_POLL_FUNCTION(5) | SDMA_POLL_MEMORY);
        put64(w, va);
        put(w, (uint32_t)number);
        put(w, UINT32_MAX);
        put(w, SDMA_POLL_FOR_EVER);
    } else {
        put(w, PM4_HEADER(PM4_WAIT_REG_MEM, 6));
        put(w, PM4_WAIT_MEMORY << 4 | 5u);
        put64(w, va);
        put(w, (uint32_t)number);
        put(w, UINT32_MAX);
        put(w, 4);
    }
}

static void run_ib(struct words *w, bool dma, const struct kmd_ib *ib)
{
    put(w, dma ? SDMA_IB : PM4_HEADER(PM4_INDIRECT_BUFFER, 3));
    put64(w, ib->va);
    put(w, dma ? ib->dwords : ib->dwords | PM4_IB_VALID);
    if (dma)
        put64(w, 0);
}

static void write_fence(struct words *w, bool dma, uint64_t va, uint64_t number)
{
    if (dma) {
        put(w, SDMA_FENCE | SDMA_FENCE_UNCACHED);
        put64(w, va);
        put(w, (uint32_t)number);
    } else {
        put(w, PM4_HEADER(PM4_RELEASE_MEM, 7));
        put(w, PM4_RELEASE_EVENT);
        put(w, (uint32_t)PM4_RELEASE_DATA_64 << 29);
        put64(w, va);
        put64(w, number);
        put(w, 0);
    }
}

/* Append to the ring and ring its bell; waits for room. False: the ring has failed. */
static bool append(struct kmd_ring *r, bool dma, const struct words *w)
{
    const volatile uint64_t *rptr = at(r, AT_RPTR);
    uint64_t unit = dma ? 4 : 1, slots = RING_BYTES / 4;
    while ((r->put - *rptr / unit) % slots + w->n >= slots) {
        if (gpu_queue_halted(r->queue->gpu))
            return false;
        sched_yield();
    }
    uint32_t *ring = (uint32_t *)(void *)r->memory;
    for (unsigned i = 0; i < w->n; i++)
        ring[(r->put + i) % slots] = w->dw[i];
    r->put += w->n;
    __atomic_store_n(r->queue->kmd->doorbells + r->queue->id, r->put * unit,
                     __ATOMIC_RELEASE);
    return true;
}

rd_status kmd_submit(struct kmd *kmd, const struct kmd_submit *s, uint64_t *number)
{
    struct kmd_ring *r = &kmd->rings[s->engine];
    bool dma = s->engine == KMD_ENGINE_DMA;
    struct words w = {.n = 0};
    if (s->n_ibs * 6ull + s->n_after * 7ull + 32 > MAX_DWORDS)
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->ring_lock);
    if (r->queue && gpu_queue_halted(r->queue->gpu))
        reset(kmd, r);
    rd_status st = ready(kmd, r, dma);
    if (st == RD_OK) {
        for (unsigned i = 0; i < s->n_after; i++) {
            const struct kmd_ring *other = &kmd->rings[s->after[i].engine];
            if (other->memory && done_so_far(other) < s->after[i].number)
                wait_for(&w, dma, fence_va(other), s->after[i].number);
        }
        for (unsigned i = 0; i < s->n_ibs; i++)
            run_ib(&w, dma, &s->ibs[i]);
        if (s->user_fence)
            write_fence(&w, dma, s->user_fence, r->last + 1);
        write_fence(&w, dma, fence_va(r), ++r->last);
        *number = r->last;
        if (!append(r, dma, &w))
            reset(kmd, r);
    }
    pthread_mutex_unlock(&kmd->ring_lock);
    if (st == RD_OK)
        kmd_kick(kmd);
    return st;
}

enum kmd_fence kmd_fence_state(struct kmd *kmd, enum kmd_engine engine, uint64_t number)
{
    struct kmd_ring *r = &kmd->rings[engine];
    pthread_mutex_lock(&kmd->ring_lock);
    enum kmd_fence state = KMD_FENCE_BUSY;
    if (r->queue && done_so_far(r) < number && gpu_queue_halted(r->queue->gpu))
        reset(kmd, r);
    if (number > r->last)
        state = KMD_FENCE_UNKNOWN;
    else if (done_so_far(r) >= number)
        state = KMD_FENCE_DONE;
    pthread_mutex_unlock(&kmd->ring_lock);
    return state;
}

uint64_t kmd_fence_last(struct kmd *kmd, enum kmd_engine engine)
{
    pthread_mutex_lock(&kmd->ring_lock);
    uint64_t last = kmd->rings[engine].last;
    pthread_mutex_unlock(&kmd->ring_lock);
    return last;
}

uint32_t kmd_ring_resets(struct kmd *kmd)
{
    uint32_t n = 0;
    pthread_mutex_lock(&kmd->ring_lock);
    for (unsigned i = 0; i < KMD_ENGINES; i++)
        n += kmd->rings[i].resets;
    pthread_mutex_unlock(&kmd->ring_lock);
    return n;
}
