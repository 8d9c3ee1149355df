/* cp_sdma.c: the SDMA engine, version 6: copies, fills, fences, polls, atomics.
 *
 * Knows SDMA packets only. An unknown packet fails the queue. Copies are host memory
 * moves of checked ranges.
 * Source: packet layouts of ROCr's SDMA builder and the amdgpu kernel driver.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "cp.h"
#include "sdma.h"

static bool copy_range(struct gpu_queue *q, uint64_t dst, uint64_t src, uint64_t bytes)
{
    const void *from = cp_at(q, src, bytes, GPU_READ);
    void *to = from ? cp_at(q, dst, bytes, GPU_WRITE) : NULL;
    if (!to)
        return false;
    memmove(to, from, bytes);
    cp_spend(q, cp_copy_ticks(q, dst, src, bytes));
    return true;
}

static void count_copy(struct gpu_queue *q, uint64_t bytes)
{
    atomic_fetch_add(&q->gpu->counters->copies, 1);
    atomic_fetch_add(&q->gpu->counters->copy_bytes, bytes);
}

static bool copy_linear(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t bytes = (dw[1] & 0x3fffffff) + 1ull;
    count_copy(q, bytes);
    if (!copy_range(q, sdma_address(dw + 5), sdma_address(dw + 3), bytes))
        return false;
    return !(dw[0] & SDMA_COPY_BROADCAST) ||
           copy_range(q, sdma_address(dw + 7), sdma_address(dw + 3), bytes);
}

struct surface {
    uint64_t base;
    uint32_t x, y, z;
    uint64_t pitch, slice; /* elements */
};

static struct surface surface(const uint32_t *dw)
{
    return (struct surface){.base = sdma_address(dw),
                            .x = dw[2] & 0x3fff,
                            .y = dw[2] >> 16 & 0x3fff,
                            .z = dw[3] & 0x1fff,
                            .pitch = (dw[3] >> 13) + 1ull,
                            .slice = (dw[4] & 0xfffffff) + 1ull};
}

static uint64_t row_of(const struct surface *s, uint32_t y, uint32_t z, unsigned shift)
{
    return s->base + ((s->x + (s->y + y) * s->pitch + (s->z + z) * s->slice) << shift);
}

static bool copy_rect(struct gpu_queue *q, const uint32_t *dw)
{
    unsigned shift = dw[0] >> 29;
    struct surface src = surface(dw + 1), dst = surface(dw + 6);
    uint32_t width = (dw[11] & 0x3fff) + 1, height = (dw[11] >> 16 & 0x3fff) + 1;
    uint32_t depth = (dw[12] & 0x1fff) + 1;
    count_copy(q, (uint64_t)width * height * depth << shift);
    for (uint32_t z = 0; z < depth; z++)
        for (uint32_t y = 0; y < height; y++)
            if (!copy_range(q, row_of(&dst, y, z, shift), row_of(&src, y, z, shift),
                            (uint64_t)width << shift))
                return false;
    return true;
}

/* The count is of bytes, of the last element's first one or last one. */
static bool fill(struct gpu_queue *q, const uint32_t *dw)
{
    unsigned shift = dw[0] >> 30 == 2 ? 2 : dw[0] >> 30 == 1 ? 1 : 0;
    uint64_t bytes = (dw[4] & 0x3fffffff) + 1ull;
    uint64_t unit = 1ull << shift;
    bytes = (bytes + unit - 1) & ~(unit - 1);
    uint8_t *to = cp_at(q, sdma_address(dw + 1), bytes, GPU_WRITE);
    if (!to)
        return false;
    count_copy(q, bytes);
    cp_spend(q, cp_copy_ticks(q, sdma_address(dw + 1), 0, bytes));
    if (shift == 0) {
        memset(to, (int)(dw[3] & 0xff), bytes);
    } else {
        for (uint64_t i = 0; i < bytes; i += unit)
            memcpy(to + i, dw + 3, unit);
    }
    return true;
}

struct poll_wait {
    const uint32_t *at;
    unsigned function;
    uint32_t ref, mask;
};

static bool poll_ready(void *ctx)
{
    const struct poll_wait *w = ctx;
    uint32_t v = __atomic_load_n(w->at, __ATOMIC_ACQUIRE);
    return cp_compare(w->function, v & w->mask, w->ref);
}

/* A poll of a register is the HDP flush, which has nothing to do here. */
static bool poll_mem(struct gpu_queue *q, const uint32_t *dw)
{
    if (!(dw[0] & SDMA_POLL_MEMORY))
        return true;
    struct poll_wait w = {.function = dw[0] >> 28 & 7, .ref = dw[3], .mask = dw[4]};
    w.at = cp_at(q, sdma_address(dw + 1) & ~3ull, 4, GPU_READ);
    return w.at && cp_wait(q, poll_ready, &w);
}

static bool atomic_op(struct gpu_queue *q, const uint32_t *dw)
{
    unsigned op = dw[0] >> 25;
    bool wide = op >= ATOMIC_WIDE;
    void *p = cp_at(q, sdma_address(dw + 1), wide ? 8 : 4, GPU_READ | GPU_WRITE);
    if (!p)
        return false;
    uint64_t value = sdma_address(dw + 3), compare = sdma_address(dw + 5);
    uint32_t compare32 = dw[5];
    switch (op) {
    case ATOMIC_SWAP32:
        __atomic_store_n((uint32_t *)p, dw[3], __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_CMPSWAP32:
        __atomic_compare_exchange_n((uint32_t *)p, &compare32, dw[3], false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_ADD32:
        __atomic_fetch_add((uint32_t *)p, dw[3], __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_SWAP64:
        __atomic_store_n((uint64_t *)p, value, __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_CMPSWAP64:
        __atomic_compare_exchange_n((uint64_t *)p, &compare, value, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_ADD64:
        __atomic_fetch_add((uint64_t *)p, value, __ATOMIC_SEQ_CST);
        return true;
    default:
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, "SDMA atomic operation");
        return false;
    }
}

/* A range of dwords: the ring, which wraps, or an indirect buffer. */
struct stream {
    const uint32_t *dw;
    uint64_t at, end; /* dwords, monotonic */
    uint64_t wrap;    /* dwords of the ring */
};

static uint32_t peek(const struct stream *s, uint64_t i)
{
    return s->dw[(s->at + i) % s->wrap];
}

static bool run_stream(struct gpu_queue *q, struct stream *s, bool nested);

static bool run_ib(struct gpu_queue *q, const uint32_t *dw, bool nested)
{
    uint64_t dwords = dw[3] & 0xfffff;
    struct stream ib = {.end = dwords, .wrap = dwords ? dwords : 1};
    if (nested) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "nested SDMA indirect buffer");
        return false;
    }
    ib.dw = cp_at(q, sdma_address(dw + 1), dwords * 4, GPU_READ);
    if (!ib.dw)
        return false;
    while (ib.at < ib.end)
        if (!run_stream(q, &ib, true))
            return false;
    return true;
}

static bool write_linear(struct gpu_queue *q, const uint32_t *dw,
                         const struct stream *s, uint32_t count)
{
    uint64_t va = sdma_address(dw + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = peek(s, 4 + i);
        if (!cp_write(q, va + 4ull * i, &v, 4))
            return false;
    }
    return true;
}

static bool timestamp(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t now = cp_clock(q);
    if (sdma_sub(dw[0]) == 0)
        return true; /* setting the local counter */
    return cp_write(q, sdma_address(dw + 1), &now, 8);
}

static bool execute(struct gpu_queue *q, const uint32_t *dw, const struct stream *s,
                    uint32_t data, bool nested)
{
    switch (sdma_opcode(dw[0])) {
    case SDMA_COPY:
        return sdma_sub(dw[0]) == SDMA_COPY_LINEAR ? copy_linear(q, dw)
                                                   : copy_rect(q, dw);
    case SDMA_WRITE:
        return write_linear(q, dw, s, data);
    case SDMA_IB:
        return run_ib(q, dw, nested);
    case SDMA_FENCE:
        return cp_write(q, sdma_address(dw + 1) & ~3ull, dw + 3, 4);
    case SDMA_TRAP:
        return cp_interrupt(q, dw[1] & 0xfffffff);
    case SDMA_POLL:
        return poll_mem(q, dw);
    case SDMA_ATOMIC:
        return atomic_op(q, dw);
    case SDMA_FILL:
        return fill(q, dw);
    case SDMA_TIMESTAMP:
        return timestamp(q, dw);
    case SDMA_GCR:
    case SDMA_NOP:
    case SDMA_SRBM_WRITE:
        return true;
    default:
        return false; /* sdma_packet_dwords has refused it */
    }
}

/* One packet of the stream. */
static bool run_stream(struct gpu_queue *q, struct stream *s, bool nested)
{
    uint32_t dw[SDMA_MAX_FIXED] = {peek(s, 0)};
    uint32_t n = sdma_packet_dwords(dw[0]), data = 0;
    char text[48];
    if (!n) {
        snprintf(text, sizeof(text), "SDMA packet 0x%08x", dw[0]);
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, text);
        return false;
    }
    uint64_t left = s->end - s->at;
    bool whole = n <= left;
    for (uint32_t i = 1; whole && i < n && i < SDMA_MAX_FIXED; i++)
        dw[i] = peek(s, i);
    if (whole && sdma_opcode(dw[0]) == SDMA_WRITE) {
        data = (dw[3] & 0xfffff) + 1;
        whole = n + data <= left;
    }
    if (!whole) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "SDMA packet ends beyond the write pointer");
        return false;
    }
    if (!nested)
        q->behind = (s->at + n + data) * 4;
    if (!execute(q, dw, s, data, nested))
        return false;
    s->at += n + data;
    return true;
}

enum cp_result cp_sdma_step(struct gpu_queue *q)
{
    uint64_t wptr = *q->doorbell;
    if (q->rptr + 4 > wptr)
        return CP_IDLE;
    struct stream s = {
        .at = q->rptr / 4, .end = wptr / 4, .wrap = q->config.ring_bytes / 4};
    s.dw = cp_at(q, q->config.ring, q->config.ring_bytes, GPU_READ);
    if (!s.dw)
        return CP_HALT;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!run_stream(q, &s, false) || cp_host_fault(q))
        return CP_HALT;
    q->rptr = s.at * 4;
    return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
}
