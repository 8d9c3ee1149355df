/* alloc_copy.c: what programs have HIP and ROCr copy and fill: does it lie in the
 * allocations, and has anybody written what the host gets?
 *
 * Runtimes refuse some of it and take other pointers for the host's. Told of and then
 * done as ever. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alloc.h"

enum { HIP_UNKNOWN = 999, HSA_ERROR = 0x1000 };

/* clang-format off */
ALLOC_EXPORT int hipMemcpy(void *to, const void *from, size_t n, int kind);
ALLOC_EXPORT int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);
ALLOC_EXPORT int hipMemcpyWithStream(void *to, const void *from, size_t n, int kind, void *stream);
ALLOC_EXPORT int hipMemcpyHtoD(void *to, void *from, size_t n);
ALLOC_EXPORT int hipMemcpyDtoH(void *to, void *from, size_t n);
ALLOC_EXPORT int hipMemcpyDtoD(void *to, void *from, size_t n);
ALLOC_EXPORT int hipMemcpyHtoDAsync(void *to, void *from, size_t n, void *stream);
ALLOC_EXPORT int hipMemcpyDtoHAsync(void *to, void *from, size_t n, void *stream);
ALLOC_EXPORT int hipMemcpyDtoDAsync(void *to, void *from, size_t n, void *stream);
ALLOC_EXPORT int hipMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h,
                             int kind);
ALLOC_EXPORT int hipMemcpy2DAsync(void *to, size_t tp, const void *from, size_t fp, size_t w,
                                  size_t h, int kind, void *stream);
ALLOC_EXPORT int hipMemset(void *to, int value, size_t n);
ALLOC_EXPORT int hipMemsetAsync(void *to, int value, size_t n, void *stream);
ALLOC_EXPORT int hipMemsetD8(void *to, unsigned char value, size_t n);
ALLOC_EXPORT int hipMemsetD8Async(void *to, unsigned char value, size_t n, void *stream);
ALLOC_EXPORT int hipMemsetD16(void *to, unsigned short value, size_t n);
ALLOC_EXPORT int hipMemsetD16Async(void *to, unsigned short value, size_t n, void *stream);
ALLOC_EXPORT int hipMemsetD32(void *to, int value, size_t n);
ALLOC_EXPORT int hipMemsetD32Async(void *to, int value, size_t n, void *stream);
ALLOC_EXPORT int hipMemset2D(void *to, size_t pitch, int value, size_t w, size_t h);
ALLOC_EXPORT int hipMemset2DAsync(void *to, size_t pitch, int value, size_t w, size_t h,
                                  void *stream);
ALLOC_EXPORT int hsa_memory_copy(void *to, const void *from, size_t n);
ALLOC_EXPORT int hsa_amd_memory_fill(void *to, uint32_t value, size_t n);
/* clang-format on */

static void found_in(struct ck_finding *f, const struct alloc_call *c,
                     const struct ck_block *b, uint64_t at, size_t bytes)
{
    f->host = c->trace;
    f->made = b->made;
    f->located = true;
    f->address = at;
    f->bytes = (uint32_t)bytes;
    f->base = b->base;
    f->size = b->size;
    (void)snprintf(f->allocation, sizeof f->allocation, "memory of %.29s",
                   *b->made.call ? b->made.call : "the runtime");
}

/* A range that a call reads or writes. */
static void judge(const struct alloc_call *c, const void *p, size_t bytes, bool write)
{
    uint64_t at = (uintptr_t)p, from, to;
    struct ck_block b;
    struct ck_finding f = {.cls = CK_MEM, .wave_lanes = 32};
    if (!c->on || !p || !bytes)
        return;
    enum ck_heap_state state = ck_heap_at(alloc_heap(), at, &from, &to);
    bool freed = state == CK_HEAP_FREED;
    if (state == CK_HEAP_NONE || (state == CK_HEAP_LIVE && bytes <= to - at) ||
        !ck_heap_near(alloc_heap(), at, &b) || at - b.base >= b.extent)
        return;
    found_in(&f, c, &b, at, bytes);
    if (freed)
        f.freed = b.freer;
    (void)snprintf(f.kind, sizeof f.kind, freed ? "use-after-free" : "out-of-bounds");
    if (freed)
        (void)snprintf(f.text, sizeof f.text,
                       "%s %s %zu bytes of %s, which has been freed", c->trace.call,
                       write ? "writes" : "reads", bytes, f.allocation);
    else
        (void)snprintf(f.text, sizeof f.text,
                       "%s %s %zu bytes from byte %llu of %s on, which has %llu",
                       c->trace.call, write ? "writes" : "reads", bytes,
                       (unsigned long long)(at - b.base), f.allocation,
                       (unsigned long long)b.size);
    alloc_found(&f);
}

/* Is there nothing but what new memory was filled with? */
static bool is_fill(const void *p, size_t bytes)
{
    uint32_t now[1024];
    for (size_t done = 0; done < bytes;) {
        size_t left = bytes - done, n = left < sizeof now ? left : sizeof now;
        struct iovec to = {now, n}, from = {(char *)(uintptr_t)p + done, n};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n)
            return false;
        for (size_t i = 0; i < n / sizeof *now; i++)
            if (now[i] != CK_HEAP_FILL)
                return false;
        done += n;
    }
    return true;
}

static bool is_host(const void *p)
{
    uint64_t at = (uintptr_t)p;
    struct ck_block b;
    return !ck_heap_near(alloc_heap(), at, &b) || at - b.base >= b.size ||
           strstr(b.made.call, "Host");
}

/* What a copy has brought to the host: an error if nobody has written any of it. Where
 * somebody has written a part the host may know which. */
static void judge_copied(const struct alloc_call *c, const void *to, const void *from,
                         size_t bytes)
{
    uint64_t at = (uintptr_t)from;
    struct ck_block b;
    struct ck_finding f = {.cls = CK_INIT, .wave_lanes = 32, .kind = "undefined-copy"};
    if (!c->on || !c->direct || bytes < 4 || bytes % 4 ||
        !ck_heap_near(alloc_heap(), at, &b) || at - b.base >= b.size || !b.fresh ||
        (at - b.base) % 4 || bytes > b.size - (at - b.base) || !is_host(to) ||
        !is_fill(to, bytes))
        return;
    found_in(&f, c, &b, at, bytes);
    (void)snprintf(f.text, sizeof f.text,
                   "%s gives the host %zu bytes from byte %llu of %s on, none of which "
                   "anybody has written",
                   c->trace.call, bytes, (unsigned long long)(at - b.base),
                   f.allocation);
    alloc_found(&f);
}

/* Of rows. */
static size_t area(size_t pitch, size_t width, size_t height)
{
    return width && height ? pitch * (height - 1) + width : 0;
}

/* NAME(ARGUMENTS), called with NAMES: it writes and reads so many bytes, at least
 * HERE of which are there when it comes back. */
#define MOVES(name, arguments, names, to, writes, from, reads, here, failed)           \
    int name arguments                                                                 \
    {                                                                                  \
        struct alloc_call c;                                                           \
        __typeof__(&name) real = ALLOC_REAL(name);                                     \
        if (!real)                                                                     \
            return failed;                                                             \
        alloc_enter(&c, #name);                                                        \
        judge(&c, to, writes, true);                                                   \
        judge(&c, from, reads, false);                                                 \
        int status = real names;                                                       \
        if ((here) && !status)                                                         \
            judge_copied(&c, to, from, here);                                          \
        alloc_leave(&c);                                                               \
        return status;                                                                 \
    }
#define COPY(name, arguments, names)                                                   \
    MOVES(name, arguments, names, to, n, from, n, 0, HIP_UNKNOWN)
#define COPY_NOW(name, arguments, names)                                               \
    MOVES(name, arguments, names, to, n, from, n, n, HIP_UNKNOWN)
#define FILL(name, arguments, names, bytes)                                            \
    MOVES(name, arguments, names, to, bytes, NULL, 0, 0, HIP_UNKNOWN)

/* clang-format off */
COPY_NOW(hipMemcpy, (void *to, const void *from, size_t n, int kind), (to, from, n, kind))
COPY(hipMemcpyAsync, (void *to, const void *from, size_t n, int kind, void *stream),
     (to, from, n, kind, stream))
COPY_NOW(hipMemcpyWithStream, (void *to, const void *from, size_t n, int kind, void *stream),
     (to, from, n, kind, stream))
COPY(hipMemcpyHtoD, (void *to, void *from, size_t n), (to, from, n))
COPY_NOW(hipMemcpyDtoH, (void *to, void *from, size_t n), (to, from, n))
COPY(hipMemcpyDtoD, (void *to, void *from, size_t n), (to, from, n))
COPY(hipMemcpyHtoDAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
COPY(hipMemcpyDtoHAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
COPY(hipMemcpyDtoDAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
MOVES(hipMemcpy2D,
      (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, int kind),
      (to, tp, from, fp, w, h, kind), to, area(tp, w, h), from, area(fp, w, h), 0, HIP_UNKNOWN)
MOVES(hipMemcpy2DAsync,
      (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, int kind, void *stream),
      (to, tp, from, fp, w, h, kind, stream), to, area(tp, w, h), from, area(fp, w, h), 0, HIP_UNKNOWN)
FILL(hipMemset, (void *to, int value, size_t n), (to, value, n), n)
FILL(hipMemsetAsync, (void *to, int value, size_t n, void *stream), (to, value, n, stream), n)
FILL(hipMemsetD8, (void *to, unsigned char value, size_t n), (to, value, n), n)
FILL(hipMemsetD8Async, (void *to, unsigned char value, size_t n, void *stream),
     (to, value, n, stream), n)
FILL(hipMemsetD16, (void *to, unsigned short value, size_t n), (to, value, n), 2 * n)
FILL(hipMemsetD16Async, (void *to, unsigned short value, size_t n, void *stream),
     (to, value, n, stream), 2 * n)
FILL(hipMemsetD32, (void *to, int value, size_t n), (to, value, n), 4 * n)
FILL(hipMemsetD32Async, (void *to, int value, size_t n, void *stream), (to, value, n, stream), 4 * n)
FILL(hipMemset2D, (void *to, size_t pitch, int value, size_t w, size_t h),
     (to, pitch, value, w, h), area(pitch, w, h))
FILL(hipMemset2DAsync, (void *to, size_t pitch, int value, size_t w, size_t h, void *stream),
     (to, pitch, value, w, h, stream), area(pitch, w, h))
MOVES(hsa_memory_copy, (void *to, const void *from, size_t n), (to, from, n), to, n, from, n, n,
      HSA_ERROR)
MOVES(hsa_amd_memory_fill, (void *to, uint32_t value, size_t n), (to, value, n), to, 4 * n, NULL, 0, 0,
      HSA_ERROR)

void *alloc_copy_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(hipMemcpy) ALLOC_HOOK(hipMemcpyAsync) ALLOC_HOOK(hipMemcpyWithStream)
        ALLOC_HOOK(hipMemcpyHtoD) ALLOC_HOOK(hipMemcpyDtoH) ALLOC_HOOK(hipMemcpyDtoD)
        ALLOC_HOOK(hipMemcpyHtoDAsync) ALLOC_HOOK(hipMemcpyDtoHAsync)
        ALLOC_HOOK(hipMemcpyDtoDAsync) ALLOC_HOOK(hipMemcpy2D) ALLOC_HOOK(hipMemcpy2DAsync)
        ALLOC_HOOK(hipMemset) ALLOC_HOOK(hipMemsetAsync) ALLOC_HOOK(hipMemsetD8)
        ALLOC_HOOK(hipMemsetD8Async) ALLOC_HOOK(hipMemsetD16) ALLOC_HOOK(hipMemsetD16Async)
        ALLOC_HOOK(hipMemsetD32) ALLOC_HOOK(hipMemsetD32Async) ALLOC_HOOK(hipMemset2D)
        ALLOC_HOOK(hipMemset2DAsync) ALLOC_HOOK(hsa_memory_copy)
        ALLOC_HOOK(hsa_amd_memory_fill)};
    return alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name);
}
