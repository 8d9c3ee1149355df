/* copy.c: copies and fills by a DMA engine.
 *
 * One engine queue serves the device; a request is written to its ring as one piece and
 * never straddles the end of it. Source: sdma_v6_0 packet layouts as ROCr uses them.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"
#include "sdma.h"

#define RING_BYTES (1u << 20)
#define MAX_COPY   (1u << 22) /* bytes of one packet: hardware takes 2^30 */
#define MAX_DWORDS 1024u      /* of one request */

/* A request under construction. */
struct request {
    uint32_t dw[MAX_DWORDS];
    unsigned n;
};

static void put(struct request *r, uint32_t value)
{
    r->dw[r->n++] = value;
}

static void put_address(struct request *r, uint64_t va)
{
    put(r, (uint32_t)va);
    put(r, (uint32_t)(va >> 32));
}

static void put_gcr(struct request *r, uint32_t control)
{
    put(r, SDMA_GCR | SDMA_GCR_REQUEST);
    put(r, 0);
    put(r, control << 16);
    put(r, control >> 16);
    put(r, 0);
}

static void put_timestamp(struct request *r, const uint64_t *to)
{
    put(r, SDMA_TIMESTAMP | SDMA_TIMESTAMP_GET);
    put_address(r, (uintptr_t)to);
}

static void put_poll(struct request *r, const int64_t *at)
{
    for (unsigned half = 0; half < 2; half++) { /* both halves of the value are 0 */
        put(r, SDMA_POLL | SDMA_POLL_MEMORY | SDMA_POLL_FUNCTION(3));
        put_address(r, (uintptr_t)at + 4 * half);
        put(r, 0);
        put(r, 0xffffffff);
        put(r, SDMA_POLL_FOR_EVER); /* retry for ever, at an interval */
    }
}

static void put_start(struct request *r, const struct rt_signal *after,
                      const struct rt_signal *done)
{
    if (after)
        put_poll(r, &after->amd->value);
    put_timestamp(r, &done->amd->start);
    put_gcr(r, SDMA_GCR_INVALIDATE);
}

static void put_end(struct request *r, const struct rt_signal *done)
{
    put_gcr(r, SDMA_GCR_WRITE_BACK);
    put_timestamp(r, &done->amd->end);
    put(r, SDMA_ATOMIC | SDMA_ATOMIC_OP(ATOMIC_ADD64));
    put_address(r, (uintptr_t)&done->amd->value);
    put_address(r, UINT64_MAX); /* -1 */
    put_address(r, 0);
    put(r, 0);
    put(r, SDMA_FENCE | SDMA_FENCE_UNCACHED);
    put_address(r, done->amd->mailbox);
    put(r, done->amd->event_id);
    put(r, SDMA_TRAP);
    put(r, done->amd->event_id);
}

/* ---- the engine's queue ---- */

/* Lock not held: creating allocates. */
static rd_status open_engine(struct rt_device *dev, struct rt_error *err)
{
    if (dev->dma.live)
        return RD_OK;
    rd_status st = rt_signal_create(dev, 0, &dev->dma_signal, err);
    if (st == RD_OK)
        st = rt_ring_create(dev, KFD_IOC_QUEUE_TYPE_SDMA, RING_BYTES, &dev->dma, err);
    return st;
}

static bool has_room(void *ctx)
{
    const struct rt_device *dev = ctx;
    uint64_t done = __atomic_load_n(dev->dma.rptr, __ATOMIC_ACQUIRE);
    return dev->dma_put - done + 2 * sizeof(((struct request *)0)->dw) <= RING_BYTES;
}

/* Append to the ring; a request that would straddle the end starts at the beginning. */
static rd_status submit(struct rt_device *dev, const struct request *r,
                        struct rt_error *err)
{
    rd_status st = rt_poll(dev, has_room, dev, err);
    if (st != RD_OK)
        return st;
    uint8_t *ring = rt_host(dev->dma.memory);
    uint64_t bytes = 4ull * r->n, at = dev->dma_put % RING_BYTES;
    if (at + bytes > RING_BYTES) {
        memset(ring + at, 0, RING_BYTES - at); /* single-dword NOPs */
        dev->dma_put += RING_BYTES - at;
        at = 0;
    }
    memcpy(ring + at, r->dw, bytes);
    dev->dma_put += bytes;
    __atomic_store_n(dev->dma.wptr, dev->dma_put, __ATOMIC_RELEASE);
    __atomic_store_n(dev->dma.doorbell, dev->dma_put, __ATOMIC_RELEASE);
    return RD_OK;
}

/* What to do, in pieces that fit in a packet. */
struct job {
    uint64_t dst, src, bytes;
    uint32_t value;
    bool fill;
};

static void put_piece(struct request *r, struct job *job)
{
    uint32_t bytes = job->bytes < MAX_COPY ? (uint32_t)job->bytes : MAX_COPY;
    if (job->fill) {
        put(r, SDMA_FILL | SDMA_FILL_DWORDS);
        put_address(r, job->dst);
        put(r, job->value);
        put(r, bytes - 1);
    } else {
        put(r, SDMA_COPY);
        put(r, bytes - 1);
        put(r, 0);
        put_address(r, job->src);
        put_address(r, job->dst);
        job->src += bytes;
    }
    job->dst += bytes;
    job->bytes -= bytes;
}

#define PIECE_DWORDS 7u
#define FRAME_DWORDS 64u /* start and end */

static rd_status run(struct rt_device *dev, struct job *job,
                     const struct rt_signal *after, const struct rt_signal *done,
                     struct rt_error *err)
{
    struct request r = {.n = 0};
    put_start(&r, after, done);
    while (job->bytes) {
        if (r.n + PIECE_DWORDS + FRAME_DWORDS > MAX_DWORDS) {
            rd_status st = submit(dev, &r, err);
            if (st != RD_OK)
                return st;
            r.n = 0;
        }
        put_piece(&r, job);
    }
    put_end(&r, done);
    return submit(dev, &r, err);
}

/* Serialised by a lock of its own: filling the ring may wait for the engine. */
static rd_status do_job(struct rt_device *dev, struct job *job,
                        const struct rt_signal *after, struct rt_signal *signal,
                        struct rt_error *err)
{
    pthread_mutex_lock(&dev->dma_lock);
    rd_status st = open_engine(dev, err);
    struct rt_signal *done = signal ? signal : dev->dma_signal;
    if (st == RD_OK && !signal)
        rt_signal_set(done, 1);
    if (st == RD_OK)
        st = run(dev, job, after, done, err);
    if (st == RD_OK && !signal)
        st = rt_wait(done, UINT64_MAX, err);
    pthread_mutex_unlock(&dev->dma_lock);
    return st;
}

rd_status rt_copy(struct rt_device *dev, uint64_t dst_gpuva, uint64_t src_gpuva,
                  uint64_t bytes, struct rt_signal *after, struct rt_signal *signal,
                  struct rt_error *err)
{
    struct job job = {.dst = dst_gpuva, .src = src_gpuva, .bytes = bytes};
    return do_job(dev, &job, after, signal, err);
}

rd_status rt_fill(struct rt_device *dev, uint64_t dst_gpuva, uint32_t value,
                  uint64_t bytes, struct rt_signal *signal, struct rt_error *err)
{
    struct job job = {.dst = dst_gpuva, .bytes = bytes, .value = value, .fill = true};
    if (bytes % 4 || dst_gpuva % 4)
        return rt_fail(err, RD_E_INVALID, "a fill is of whole dwords");
    return do_job(dev, &job, NULL, signal, err);
}
