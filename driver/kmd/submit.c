/* submit.c: the kernel's own rings, to which work comes through the render node: one
 * for graphics, some for compute and for the DMA engines.
 *
 * A ring is an ordinary queue of the device, hidden from clients; an indirect buffer is
 * one packet in it, followed by a fence that writes the submission's number. Must not
 * know what is in the buffers. A ring that fails, or waits in one submission for longer
 * than the kernel has patience, is reset: a new one gets what had not ended, in order,
 * but for the work of whoever's submission it was, of which only the fences are left:
 * they tell an error, and their owner submits no more. Invariant: numbers of a ring
 * grow, and each of them ends. Looked at when somebody submits, waits or asks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sched.h>
#include <stdlib.h>
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
/* In the pages behind that: a word for each of the last submissions that wait for what
 * is no ring's, far more than the ring holds. */
#define GATES      2048u
#define GATE_BYTES (8ull * GATES)
#define ALL_BYTES  (RING_BYTES + PAGE + GATE_BYTES)

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
    void *p = mmap(NULL, ALL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    if (p == MAP_FAILED)
        return RD_E_NOMEM;
    madvise(p, ALL_BYTES, MADV_DONTFORK);
    rd_status st = gpu_vm_add(kmd->gpu, (uintptr_t)p, ALL_BYTES, GPU_READ | GPU_WRITE,
                              "kernel ring");
    if (st == RD_OK)
        r->memory = p;
    else
        munmap(p, ALL_BYTES);
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

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A submission that may not have ended. */
struct kmd_job {
    struct kmd_job *next;
    struct kmd_submit what;
    uint64_t number;
    bool dropped;
    uint64_t *gate; /* becomes 1 when it may begin, or NULL */
    struct kmd_ib *ibs;
    struct kmd_after after[];
};

/* Does it wait for what no ring brings? The kernel keeps such work back. */
static bool kept_back(const struct kmd_ring *r, uint64_t done)
{
    const struct kmd_job *job = r->jobs;
    while (job && job->number <= done)
        job = job->next;
    return job && job->gate && !__atomic_load_n(job->gate, __ATOMIC_ACQUIRE);
}

/* Has the ring failed, or stood still in one submission, but for its kernels, for too
 * long? */
static bool broken(struct kmd_ring *r)
{
    uint64_t done = done_so_far(r), now = now_ms();
    if (!r->queue || gpu_queue_halted(r->queue->gpu))
        return r->queue != NULL;
    if (r->watched != done + 1 || done == r->last || gpu_queue_running(r->queue->gpu) ||
        kept_back(r, done)) {
        r->watched = done + 1;
        r->watched_ms = now;
    }
    return now - r->watched_ms > r->queue->kmd->lockup_ms;
}

/* Append to the ring and ring its bell; waits for room. False: the ring is broken. */
static bool append(struct kmd_ring *r, bool dma, const struct words *w)
{
    const volatile uint64_t *rptr = at(r, AT_RPTR);
    uint64_t unit = dma ? 4 : 1, slots = RING_BYTES / 4;
    while ((r->put - *rptr / unit) % slots + w->n >= slots) {
        if (broken(r))
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

static bool dma_engine(enum kmd_engine engine)
{
    return engine >= KMD_ENGINE_DMA;
}

/* Put a submission, or what a dropped one leaves, into its ring. Lock held. */
static bool issue(struct kmd *kmd, struct kmd_ring *r, const struct kmd_job *job)
{
    const struct kmd_submit *s = &job->what;
    bool dma = dma_engine(s->engine);
    struct words w = {.n = 0};
    for (unsigned i = 0; i < s->n_after && !job->dropped; i++) {
        const struct kmd_ring *other = &kmd->rings[s->after[i].engine];
        if (other->memory && done_so_far(other) < s->after[i].number)
            wait_for(&w, dma, fence_va(other), s->after[i].number);
    }
    if (job->gate && !job->dropped)
        wait_for(&w, dma, (uintptr_t)job->gate, 1);
    for (unsigned i = 0; i < s->n_ibs && !job->dropped; i++)
        run_ib(&w, dma, &s->ibs[i]);
    if (s->user_fence && !job->dropped)
        write_fence(&w, dma, s->user_fence, job->number);
    write_fence(&w, dma, fence_va(r), job->number);
    return append(r, dma, &w);
}

static void free_job(struct kmd_job *job)
{
    if (job)
        free(job->ibs);
    free(job);
}

static struct kmd_job *new_job(const struct kmd_submit *s)
{
    size_t after = s->n_after * sizeof(*s->after), ibs = s->n_ibs * sizeof(*s->ibs);
    struct kmd_job *job = calloc(1, sizeof(*job) + after);
    if (job)
        job->ibs = malloc(ibs + 1);
    if (!job || !job->ibs) {
        free_job(job);
        return NULL;
    }
    if (after)
        memcpy(job->after, s->after, after);
    if (ibs)
        memcpy(job->ibs, s->ibs, ibs);
    job->what = *s;
    job->what.after = job->after;
    job->what.ibs = job->ibs;
    return job;
}

/* Forget jobs that have ended. Lock held. */
static void prune(struct kmd_ring *r)
{
    uint64_t done = done_so_far(r);
    while (r->jobs && r->jobs->number <= done) {
        struct kmd_job *job = r->jobs;
        r->jobs = job->next;
        free_job(job);
    }
}

/* Remember whose fault a reset was, and which numbers end with an error. */
static void blame(struct kmd *kmd, struct kmd_ring *r)
{
    uint64_t owner = r->jobs ? r->jobs->what.owner : 0;
    uint64_t *guilty = realloc(kmd->guilty, (kmd->n_guilty + 1) * sizeof(*guilty));
    if (guilty) {
        kmd->guilty = guilty;
        guilty[kmd->n_guilty] = owner;
        kmd->n_guilty += owner != 0;
    }
    for (struct kmd_job *job = r->jobs; job; job = job->next) {
        if (job->what.owner != owner)
            continue;
        job->dropped = true;
        r->failed[r->n_failed++ % KMD_FAILED] = job->number;
    }
}

/* A new ring with what the old one leaves. Lock held. */
static void reset(struct kmd *kmd, struct kmd_ring *r, enum kmd_engine engine)
{
    prune(r);
    r->resets++;
    kmd_queue_remove(r->queue);
    r->queue = NULL;
    blame(kmd, r);
    bool ok = ready(kmd, r, dma_engine(engine)) == RD_OK;
    for (struct kmd_job *job = r->jobs; job && ok; job = job->next)
        ok = issue(kmd, r, job);
    if (!ok) /* it fails again at once, or there is no memory: everything ends */
        __atomic_store_n(at(r, AT_FENCE), r->last, __ATOMIC_RELEASE);
    r->watched = 0;
}

/* Reset a ring that needs it. Lock held. */
static void look_after(struct kmd *kmd, enum kmd_engine engine)
{
    struct kmd_ring *r = &kmd->rings[engine];
    if (broken(r))
        reset(kmd, r, engine);
}

static void look_after_all(struct kmd *kmd)
{
    for (unsigned i = 0; i < KMD_ENGINES; i++)
        look_after(kmd, (enum kmd_engine)i);
}

static bool is_guilty(const struct kmd *kmd, uint64_t owner)
{
    for (unsigned i = 0; i < kmd->n_guilty; i++)
        if (kmd->guilty[i] == owner)
            return true;
    return false;
}

/* What a job waits for on software timelines opens its gate. Lock held. */
static rd_status set_gate(struct kmd *kmd, struct kmd_ring *r, struct kmd_job *job)
{
    const struct kmd_fences fences = {.soft = job->what.soft};
    if (!fences.soft || kmd_soft_state(kmd, fences.soft) != KMD_FENCE_BUSY)
        return RD_OK;
    job->gate = at(r, PAGE + 8 * (unsigned)(r->last % GATES));
    *job->gate = 0;
    return kmd_fences_open(kmd, &fences, job->gate);
}

static rd_status submit(struct kmd *kmd, const struct kmd_submit *s, uint64_t *number)
{
    struct kmd_ring *r = &kmd->rings[s->engine];
    look_after(kmd, s->engine);
    rd_status st = ready(kmd, r, dma_engine(s->engine));
    if (st != RD_OK)
        return st;
    prune(r);
    struct kmd_job *job = new_job(s), **end = &r->jobs;
    if (!job)
        return RD_E_NOMEM;
    st = set_gate(kmd, r, job);
    if (st != RD_OK) {
        free_job(job);
        return st;
    }
    *number = job->number = ++r->last;
    while (*end)
        end = &(*end)->next;
    *end = job;
    if (!issue(kmd, r, job))
        reset(kmd, r, s->engine);
    return RD_OK;
}

rd_status kmd_submit(struct kmd *kmd, const struct kmd_submit *s, uint64_t *number)
{
    if (s->n_ibs * 6ull + s->n_after * 7ull + 32 > MAX_DWORDS)
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->ring_lock);
    rd_status st = submit(kmd, s, number);
    pthread_mutex_unlock(&kmd->ring_lock);
    if (st == RD_OK)
        kmd_kick(kmd);
    return st;
}

static bool has_failed(const struct kmd_ring *r, uint64_t number)
{
    for (unsigned i = 0; i < KMD_FAILED && i < r->n_failed; i++)
        if (r->failed[i] == number)
            return true;
    return false;
}

enum kmd_fence kmd_fence_state(struct kmd *kmd, enum kmd_engine engine, uint64_t number)
{
    struct kmd_ring *r = &kmd->rings[engine];
    enum kmd_fence state = KMD_FENCE_BUSY;
    pthread_mutex_lock(&kmd->ring_lock);
    if (done_so_far(r) < number) /* what it waits for may stand still elsewhere */
        look_after_all(kmd);
    if (number > r->last)
        state = KMD_FENCE_UNKNOWN;
    else if (has_failed(r, number))
        state = KMD_FENCE_FAILED;
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
    uint32_t n = atomic_load(&kmd->shared->resets);
    pthread_mutex_lock(&kmd->ring_lock);
    look_after_all(kmd);
    for (unsigned i = 0; i < KMD_ENGINES; i++)
        n += kmd->rings[i].resets;
    pthread_mutex_unlock(&kmd->ring_lock);
    return n;
}

void kmd_recover(struct kmd *kmd)
{
    uint32_t n = atomic_fetch_add(&kmd->shared->resets, 1) + 1;
    kmd_smi_event(kmd, KMD_SMI_PRE_RESET, "%x user trigger\n", n);
    kmd_smi_event(kmd, KMD_SMI_POST_RESET, "%x \n", n);
}

bool kmd_guilty(struct kmd *kmd, uint64_t owner)
{
    pthread_mutex_lock(&kmd->ring_lock);
    look_after_all(kmd);
    bool guilty = is_guilty(kmd, owner);
    pthread_mutex_unlock(&kmd->ring_lock);
    return guilty;
}

void kmd_rings_inherit(struct kmd *kmd, const struct kmd *from)
{
    for (unsigned i = 0; i < KMD_ENGINES; i++)
        kmd->rings[i].last = from->rings[i].last;
}
