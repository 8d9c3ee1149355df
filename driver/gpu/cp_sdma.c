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
    if (!cp_copy(q, dst, src, bytes))
        return false;
    cp_spend(q, cp_copy_ticks(q, dst, src, bytes));
    cp_order_copy(q, dst, src, bytes);
    return true;
}

static void count_copy(struct gpu_queue *q, uint64_t bytes)
{
    cp_going_copy(q, bytes);
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
    unsigned shift = dw[0] >> 30 == 2   ? 2
                     : dw[0] >> 30 == 1 ? 1
                                        : 0,
             unit = 1u << shift;
    uint64_t bytes = (dw[4] & 0x3fffffff) + 1ull;
    bytes = (bytes + unit - 1) & ~(uint64_t)(unit - 1);
    count_copy(q, bytes);
    cp_spend(q, cp_copy_ticks(q, sdma_address(dw + 1), 0, bytes));
    if (!cp_fill(q, sdma_address(dw + 1), dw + 3, unit, bytes))
        return false;
    cp_order_copy(q, sdma_address(dw + 1), 0, bytes);
    return true;
}

/* Of a register, or after writing to one of another that it answers in (HDP flush). */
static bool poll_register(struct gpu_queue *q, const uint32_t *dw)
{
    uint32_t reg = dw[1] >> 2;
    if (dw[0] & SDMA_POLL_HDP_FLUSH)
        cp_reg_write(q, dw[2] >> 2, dw[3]);
    return cp_reg_wait(q, reg, dw[0] >> 28 & 7, dw[4], dw[3]);
}

static bool poll_mem(struct gpu_queue *q, const uint32_t *dw)
{
    if (sdma_sub(dw[0]) == SDMA_POLL_INVALIDATE) {
        gpu_flush(q->gpu);
        return true;
    }
    struct cp_condition c = {.va = sdma_address(dw + 1) & ~3ull,
                             .function = dw[0] >> 28 & 7,
                             .ref = dw[3],
                             .mask = dw[4]};
    if (!(dw[0] & SDMA_POLL_MEMORY))
        return poll_register(q, dw);
    if (!cp_wait_memory(q, &c))
        return false;
    cp_order_wait(q, c.va);
    return true;
}

/* What others may wait for. */
static bool fence(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t va = sdma_address(dw + 1) & ~3ull;
    cp_order_write(q, va, INT64_MIN, dw[3]);
    return cp_write(q, va, dw + 3, 4);
}

static bool atomic(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t va = sdma_address(dw + 1), before = 0;
    if (q->gpu->checks.orders && va % 8 == 0 &&
        vm_read(q->gpu, q->space, va, &before, 8))
        cp_order_write(q, va, (int64_t)before,
                       (int64_t)(before + sdma_address(dw + 3)));
    return cp_atomic(q, dw[0] >> 25, va, sdma_address(dw + 3), sdma_address(dw + 5));
}

/* The header's upper bits choose the bytes. */
static bool srbm_write(struct gpu_queue *q, const uint32_t *dw)
{
    uint32_t reg = dw[1] & SDMA_REGISTER, mask = 0;
    for (unsigned i = 0; i < 4; i++)
        if (dw[0] >> (28 + i) & 1)
            mask |= 0xffu << 8 * i;
    uint32_t kept = ~mask ? cp_reg_read(q, reg) & ~mask : 0;
    cp_reg_write(q, reg, kept | (dw[2] & mask));
    return true;
}

static bool run_stream(struct gpu_queue *q, struct cp_stream *s, bool nested);

static bool run_ib(struct gpu_queue *q, const uint32_t *dw, bool nested)
{
    uint64_t dwords = dw[3] & 0xfffff;
    unsigned vmid = q->config.kernel ? SDMA_IB_VMID(dw[0]) : 0;
    struct cp_stream ib = {.va = sdma_address(dw + 1), .end = dwords, .wrap = dwords};
    if (nested) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "nested SDMA indirect buffer");
        return false;
    }
    unsigned last = cp_enter_space(q, vmid ? vmid : q->space);
    bool ok = true;
    while (ok && ib.at < ib.end)
        ok = run_stream(q, &ib, true);
    (void)cp_enter_space(q, last);
    return ok;
}

/* Entries of a page table for memory that lies together. */
static bool write_table(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t va = sdma_address(dw + 1), flags = sdma_address(dw + 3);
    uint64_t address = sdma_address(dw + 5), step = sdma_address(dw + 7);
    uint32_t count = (dw[9] & 0x7ffff) + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = flags | address;
        if (!cp_write(q, va + 8ull * i, &entry, 8))
            return false;
        address += step;
    }
    return true;
}

static bool cond_exec(struct gpu_queue *q, const uint32_t *dw)
{
    uint64_t value;
    if (!cp_load(q, sdma_address(dw + 1) & ~3ull, false, &value))
        return false;
    q->skip = value == dw[3] ? 0 : dw[4] & 0x3fff;
    return true;
}

static bool write_linear(struct gpu_queue *q, const uint32_t *dw,
                         const struct cp_stream *s, uint32_t count)
{
    uint64_t va = sdma_address(dw + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gather;
        const uint32_t *v = cp_dwords(q, s, 4 + i, 1, &gather);
        if (!v || !cp_write(q, va + 4ull * i, v, 4))
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

static bool execute(struct gpu_queue *q, const uint32_t *dw, const struct cp_stream *s,
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
        return fence(q, dw);
    case SDMA_TRAP:
        return cp_interrupt(q, dw[1] & 0xfffffff);
    case SDMA_POLL:
        return poll_mem(q, dw);
    case SDMA_TABLE:
        return write_table(q, dw);
    case SDMA_COND_EXEC:
        return cond_exec(q, dw);
    case SDMA_ATOMIC:
        return atomic(q, dw);
    case SDMA_FILL:
        return fill(q, dw);
    case SDMA_TIMESTAMP:
        return timestamp(q, dw);
    case SDMA_GCR:
    case SDMA_NOP:
        return true;
    case SDMA_SRBM_WRITE:
        return srbm_write(q, dw);
    default:
        return false; /* sdma_packet_dwords has refused it */
    }
}

/* One packet of the stream. */
static bool run_stream(struct gpu_queue *q, struct cp_stream *s, bool nested)
{
    uint32_t dw[SDMA_MAX_FIXED], data = 0;
    const uint32_t *p = cp_dwords(q, s, 0, 1, dw);
    if (!p)
        return false;
    uint32_t header = p[0], n = sdma_packet_dwords(header);
    char text[48];
    if (!n) {
        snprintf(text, sizeof(text), "SDMA packet 0x%08x", header);
        (void)cp_fail(q, GPU_ERR_UNSUPPORTED, text);
        return false;
    }
    uint64_t left = s->end - s->at;
    bool whole = n <= left;
    if (whole && sdma_opcode(header) != SDMA_NOP) {
        p = cp_dwords(q, s, 0, n, dw);
        if (!p)
            return false;
        memmove(dw, p, n * sizeof(*dw));
        dw[0] = header; /* as it was when it was judged */
        if (sdma_opcode(header) == SDMA_WRITE)
            data = (dw[3] & 0xfffff) + 1;
        whole = n + data <= left;
    } else {
        dw[0] = header;
    }
    if (!whole) {
        (void)cp_fail(q, GPU_ERR_FORMAT, "SDMA packet ends beyond the write pointer");
        return false;
    }
    if (!nested)
        q->behind = (s->at + n + data) * 4;
    q->skip = 0;
    if (!execute(q, dw, s, data, nested))
        return false;
    left -= n + data;
    s->at += n + data + (q->skip < left ? q->skip : left);
    q->skip = 0;
    return true;
}

enum cp_result cp_sdma_step(struct gpu_queue *q)
{
    uint64_t wptr = cp_bell(q);
    if (q->rptr + 4 > wptr)
        return CP_IDLE;
    struct cp_stream s = {.va = q->config.ring,
                          .at = q->rptr / 4,
                          .end = wptr / 4,
                          .wrap = q->config.ring_bytes / 4};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    cp_order_packet(q, q->rptr, true);
    if (!run_stream(q, &s, false) || cp_host_fault(q))
        return CP_HALT;
    cp_set_rptr(q, s.at * 4);
    return cp_write(q, q->config.rptr, &q->rptr, 8) ? CP_PROGRESS : CP_HALT;
}
