/* cp_mem.c: guest memory as packet processors see it.
 *
 * Everything goes through vm_translate, piece by piece where memory that the guest sees
 * in one is not in one; what cannot be translated is a page fault of the queue. Must
 * not know packets. Thread: the queue's worker, whose translations are kept in q->tlb.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <sys/mman.h>

#include "cp.h"
#include "sdma.h"

#define PAGE          4096u
#define CLEAR_AT_ONCE (16u << 20) /* less is written faster than touched again */

/* Translate, or report. */
static bool span_of(struct gpu_queue *q, uint64_t va, uint64_t bytes, unsigned perm,
                    struct vm_span *span)
{
    struct gpu_page_fault fault;
    if (vm_translate(q->gpu, q->space, va, bytes, perm, &q->tlb, span, &fault) == RD_OK)
        return true;
    cp_page_fault(q, &fault);
    return false;
}

unsigned cp_enter_space(struct gpu_queue *q, unsigned space)
{
    unsigned last = q->space;
    if (space != last)
        q->tlb.generation = 0; /* no mapping's */
    q->space = space;
    return last;
}

void *cp_at(struct gpu_queue *q, uint64_t va, uint64_t bytes, unsigned perm)
{
    struct vm_span span, rest;
    if (!span_of(q, va, bytes, perm, &span))
        return NULL;
    if (span.bytes == bytes)
        return span.host;
    if (span_of(q, va + span.bytes, bytes - span.bytes, perm, &rest)) /* or a fault */
        (void)cp_fail(q, GPU_ERR_FORMAT, "an object crosses a page");
    return NULL;
}

bool cp_read(struct gpu_queue *q, uint64_t va, void *to, uint64_t bytes)
{
    struct vm_span span;
    for (uint8_t *p = to; bytes;
         p += span.bytes, va += span.bytes, bytes -= span.bytes) {
        if (!span_of(q, va, bytes, GPU_READ, &span))
            return false;
        memcpy(p, span.host, span.bytes);
    }
    return true;
}

/* To a doorbell, say: what a packet writes at once. */
static bool bus_write(struct gpu_queue *q, uint64_t va, const void *from,
                      uint64_t bytes)
{
    const struct gpu_host *host = &q->gpu->host;
    return host->board && host->board->bus_write(host->ctx, q->space, va, from, bytes);
}

bool cp_write(struct gpu_queue *q, uint64_t va, const void *from, uint64_t bytes)
{
    struct gpu_page_fault fault;
    struct vm_span span;
    for (const uint8_t *p = from; bytes;
         p += span.bytes, va += span.bytes, bytes -= span.bytes) {
        if (vm_translate(q->gpu, q->space, va, bytes, GPU_WRITE, &q->tlb, &span,
                         &fault) == RD_OK) {
            vm_store(span.host, p, span.bytes);
            continue;
        }
        if (bus_write(q, va, p, bytes))
            return true;
        cp_page_fault(q, &fault);
        return false;
    }
    return true;
}

bool cp_copy(struct gpu_queue *q, uint64_t dst, uint64_t src, uint64_t bytes)
{
    struct vm_span from, to;
    for (; bytes; src += to.bytes, dst += to.bytes, bytes -= to.bytes) {
        if (!span_of(q, src, bytes, GPU_READ, &from) ||
            !span_of(q, dst, from.bytes, GPU_WRITE, &to))
            return false;
        memmove(to.host, from.host, to.bytes);
    }
    return true;
}

/* Much of it is given back to the host, which shows zeros from then on: pages of shared
 * memory can be, so buffers of the board; what refuses is written. */
static void clear(uint8_t *to, uint64_t bytes)
{
    uint64_t head = -(uintptr_t)to % PAGE, pages = 0;
    if (bytes >= CLEAR_AT_ONCE) {
        pages = (bytes - head) / PAGE * PAGE;
        if (madvise(to + head, pages, MADV_REMOVE) != 0)
            pages = 0;
    }
    if (!pages) {
        memset(to, 0, bytes);
        return;
    }
    memset(to, 0, head);
    memset(to + head + pages, 0, bytes - head - pages);
}

static bool all_zero(const uint8_t *p, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (p[i])
            return false;
    return true;
}

bool cp_fill(struct gpu_queue *q, uint64_t dst, const void *pattern, unsigned size,
             uint64_t bytes)
{
    const uint8_t *unit = pattern;
    struct vm_span to;
    for (uint64_t done = 0; done < bytes; done += to.bytes) {
        if (!span_of(q, dst + done, bytes - done, GPU_WRITE, &to))
            return false;
        if (all_zero(unit, size))
            clear(to.host, to.bytes);
        else if (size == 1)
            memset(to.host, unit[0], to.bytes);
        else if (done % size == 0 && to.bytes % size == 0)
            for (uint64_t i = 0; i < to.bytes; i += size)
                memcpy(to.host + i, unit, size);
        else /* a page ends inside a unit */
            for (uint64_t i = 0; i < to.bytes; i++)
                to.host[i] = unit[(done + i) % size];
    }
    return true;
}

bool cp_load(struct gpu_queue *q, uint64_t va, bool wide, uint64_t *value)
{
    const void *p = cp_at(q, va, wide ? 8 : 4, GPU_READ);
    if (!p)
        return false;
    if (!wide)
        *value = __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
    else if ((uintptr_t)p % 8 == 0)
        *value = __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
    else
        memcpy(value, p, 8); /* of two words: no client relies on both at once */
    return true;
}

static bool atomic32(uint32_t *p, unsigned op, uint32_t value, uint32_t compare)
{
    switch (op) {
    case ATOMIC_SWAP32:
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_CMPSWAP32:
        __atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_ADD32:
        __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
        return true;
    default:
        return false;
    }
}

static bool atomic64(uint64_t *p, unsigned op, uint64_t value, uint64_t compare)
{
    switch (op) {
    case ATOMIC_SWAP64:
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_CMPSWAP64:
        __atomic_compare_exchange_n(p, &compare, value, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        return true;
    case ATOMIC_ADD64:
        __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);
        return true;
    default:
        return false;
    }
}

bool cp_atomic(struct gpu_queue *q, unsigned op, uint64_t va, uint64_t value,
               uint64_t compare)
{
    bool wide = op >= ATOMIC_WIDE;
    void *p = cp_at(q, va, wide ? 8 : 4, GPU_READ | GPU_WRITE);
    if (!p)
        return false;
    if (wide ? atomic64(p, op, value, compare)
             : atomic32(p, op, (uint32_t)value, (uint32_t)compare))
        return true;
    (void)cp_fail(q, GPU_ERR_UNSUPPORTED, "atomic operation of a packet");
    return false;
}

const uint32_t *cp_dwords(struct gpu_queue *q, const struct cp_stream *s,
                          uint64_t offset, uint64_t count, uint32_t *gather)
{
    uint64_t at = (s->at + offset) % s->wrap, va = s->va + 4 * at;
    uint64_t first = count < s->wrap - at ? count : s->wrap - at;
    struct vm_span span;
    if (!span_of(q, va, 4 * first, GPU_READ, &span))
        return NULL;
    if (span.bytes == 4 * count)
        return (const uint32_t *)(const void *)span.host;
    for (uint64_t done = 0; done < count; done += first) {
        at = (s->at + offset + done) % s->wrap;
        first = count - done < s->wrap - at ? count - done : s->wrap - at;
        if (!cp_read(q, s->va + 4 * at, gather + done, 4 * first))
            return NULL;
    }
    return gather;
}
