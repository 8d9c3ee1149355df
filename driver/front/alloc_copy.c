/* alloc_copy.c: what programs have HIP and ROCr copy and fill: does it lie in the
 * allocations?
 *
 * Runtimes refuse some of it and take other pointers for the host's. Told of and then
 * done as ever. SPDX-License-Identifier: MIT
 */
#include <stdio.h>

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
    alloc_found_in(&f, c, &b, at, bytes);
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

/* NAME(ARGUMENTS), called with NAMES, copies ROWS in the order of STREAM. */
#define MOVES(name, arguments, names, rows, stream, failed)                            \
    int name arguments                                                                 \
    {                                                                                  \
        struct alloc_call c;                                                           \
        struct alloc_copy k;                                                           \
        struct alloc_rows r = rows;                                                    \
        __typeof__(&name) real = ALLOC_REAL(name);                                     \
        if (!real)                                                                     \
            return failed;                                                             \
        alloc_enter(&c, #name);                                                        \
        judge(&c, r.to, alloc_area(r.to_pitch, r.width, r.height), true);              \
        judge(&c, r.from, alloc_area(r.from_pitch, r.width, r.height), false);         \
        alloc_copy_begin(&k, &c, &r, stream);                                          \
        int status = real names;                                                       \
        if (!status)                                                                   \
            alloc_copy_end(&k);                                                        \
        alloc_leave(&c);                                                               \
        return status;                                                                 \
    }
#define ROWS(...) ((struct alloc_rows){__VA_ARGS__})
#define COPY(name, arguments, names)                                                   \
    MOVES(name, arguments, names, ROWS(to, n, from, n, n, 1), stream, HIP_UNKNOWN)
#define COPY_NOW(name, arguments, names)                                               \
    MOVES(name, arguments, names, ROWS(to, n, from, n, n, 1), ALLOC_NOW, HIP_UNKNOWN)
#define FILL(name, arguments, names, bytes)                                            \
    FILLS(name, arguments, names, bytes, HIP_UNKNOWN)
/* ... fills so many bytes. */
#define FILLS(name, arguments, names, bytes, failed)                                   \
    int name arguments                                                                 \
    {                                                                                  \
        struct alloc_call c;                                                           \
        __typeof__(&name) real = ALLOC_REAL(name);                                     \
        if (!real)                                                                     \
            return failed;                                                             \
        alloc_enter(&c, #name);                                                        \
        judge(&c, to, bytes, true);                                                    \
        int status = real names;                                                       \
        alloc_leave(&c);                                                               \
        return status;                                                                 \
    }

/* clang-format off */
COPY_NOW(hipMemcpy, (void *to, const void *from, size_t n, int kind), (to, from, n, kind))
COPY(hipMemcpyAsync, (void *to, const void *from, size_t n, int kind, void *stream),
     (to, from, n, kind, stream))
COPY_NOW(hipMemcpyWithStream, (void *to, const void *from, size_t n, int kind, void *stream),
     (to, from, n, kind, stream))
COPY_NOW(hipMemcpyHtoD, (void *to, void *from, size_t n), (to, from, n))
COPY_NOW(hipMemcpyDtoH, (void *to, void *from, size_t n), (to, from, n))
COPY_NOW(hipMemcpyDtoD, (void *to, void *from, size_t n), (to, from, n))
COPY(hipMemcpyHtoDAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
COPY(hipMemcpyDtoHAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
COPY(hipMemcpyDtoDAsync, (void *to, void *from, size_t n, void *stream), (to, from, n, stream))
MOVES(hipMemcpy2D,
      (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, int kind),
      (to, tp, from, fp, w, h, kind), ROWS(to, tp, from, fp, w, h), ALLOC_NOW, HIP_UNKNOWN)
MOVES(hipMemcpy2DAsync,
      (void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, int kind, void *stream),
      (to, tp, from, fp, w, h, kind, stream), ROWS(to, tp, from, fp, w, h), stream, HIP_UNKNOWN)
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
     (to, pitch, value, w, h), alloc_area(pitch, w, h))
FILL(hipMemset2DAsync, (void *to, size_t pitch, int value, size_t w, size_t h, void *stream),
     (to, pitch, value, w, h, stream), alloc_area(pitch, w, h))
MOVES(hsa_memory_copy, (void *to, const void *from, size_t n), (to, from, n),
      ROWS(to, n, from, n, n, 1), ALLOC_NOW, HSA_ERROR)
FILLS(hsa_amd_memory_fill, (void *to, uint32_t value, size_t n), (to, value, n), 4 * n, HSA_ERROR)

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
