/* alloc_hip.c: memory that programs take from HIP.
 *
 * HIP takes it from ROCr, one block for each allocation; here it gets the size that the
 * program has asked for and the program's trace. Streams free when the work before that
 * is done: until somebody has waited for it, the memory counts as used.
 * SPDX-License-Identifier: MIT
 */
#include <stdatomic.h>

#include "alloc.h"

enum { HIP_SUCCESS = 0, HIP_UNKNOWN = 999 };

/* As HIP has them: extents are three sizes, a pitched pointer a pointer and three. */
struct extent {
    size_t width, height, depth;
};
struct pitched {
    void *ptr;
    size_t pitch, width, height;
};

static atomic_uint pending; /* memory that streams free was freed, ever */

/* clang-format off */
ALLOC_EXPORT int hipMalloc(void **out, size_t size);
ALLOC_EXPORT int hipExtMallocWithFlags(void **out, size_t size, unsigned flags);
ALLOC_EXPORT int hipMallocManaged(void **out, size_t size, unsigned flags);
ALLOC_EXPORT int hipHostMalloc(void **out, size_t size, unsigned flags);
ALLOC_EXPORT int hipHostAlloc(void **out, size_t size, unsigned flags);
ALLOC_EXPORT int hipMallocHost(void **out, size_t size);
ALLOC_EXPORT int hipMemAllocHost(void **out, size_t size);
ALLOC_EXPORT int hipMallocAsync(void **out, size_t size, void *stream);
ALLOC_EXPORT int hipMallocFromPoolAsync(void **out, size_t size, void *pool, void *stream);
ALLOC_EXPORT int hipMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
ALLOC_EXPORT int hipMemAllocPitch(void **out, size_t *pitch, size_t width, size_t height,
                                  unsigned element);
ALLOC_EXPORT int hipMalloc3D(struct pitched *out, struct extent extent);
ALLOC_EXPORT int hipFree(void *p);
ALLOC_EXPORT int hipHostFree(void *p);
ALLOC_EXPORT int hipFreeHost(void *p);
ALLOC_EXPORT int hipFreeAsync(void *p, void *stream);
ALLOC_EXPORT int hipStreamSynchronize(void *stream);
ALLOC_EXPORT int hipStreamSynchronize_spt(void *stream);
ALLOC_EXPORT int hipDeviceSynchronize(void);
ALLOC_EXPORT int hipCtxSynchronize(void);
ALLOC_EXPORT int hipEventSynchronize(void *event);

/* A function that gives memory: NAME(out, ARGUMENTS), called with NAMES, of that size;
 * new: that only the device sees. */
#define GIVES(name, arguments, names, size, new)                                           \
    int name arguments                                                                 \
    {                                                                                  \
        struct alloc_call c;                                                           \
        __typeof__(&name) real = ALLOC_REAL(name);                                     \
        if (!real)                                                                     \
            return HIP_UNKNOWN;                                                        \
        alloc_enter(&c, #name);                                                        \
        c.fresh = new;                                                                 \
        int status = real names;                                                       \
        if (status == HIP_SUCCESS)                                                     \
            alloc_claim(&c, *out, size);                                               \
        alloc_leave(&c);                                                               \
        return status;                                                                 \
    }

GIVES(hipMalloc, (void **out, size_t size), (out, size), size, true)
GIVES(hipExtMallocWithFlags, (void **out, size_t size, unsigned flags), (out, size, flags), size, flags == 0)
GIVES(hipMallocManaged, (void **out, size_t size, unsigned flags), (out, size, flags), size, false)
GIVES(hipHostMalloc, (void **out, size_t size, unsigned flags), (out, size, flags), size, false)
GIVES(hipHostAlloc, (void **out, size_t size, unsigned flags), (out, size, flags), size, false)
GIVES(hipMallocHost, (void **out, size_t size), (out, size), size, false)
GIVES(hipMemAllocHost, (void **out, size_t size), (out, size), size, false)
GIVES(hipMallocAsync, (void **out, size_t size, void *stream), (out, size, stream), size, true)
GIVES(hipMallocFromPoolAsync, (void **out, size_t size, void *pool, void *stream),
      (out, size, pool, stream), size, true)
GIVES(hipMallocPitch, (void **out, size_t *pitch, size_t width, size_t height),
      (out, pitch, width, height), *pitch * height, true)
GIVES(hipMemAllocPitch, (void **out, size_t *pitch, size_t width, size_t height, unsigned element),
      (out, pitch, width, height, element), *pitch * height, true)
/* clang-format on */

int hipMalloc3D(struct pitched *out, struct extent extent)
{
    struct alloc_call c;
    int (*real)(struct pitched *, struct extent) = ALLOC_REAL(hipMalloc3D);
    if (!real)
        return HIP_UNKNOWN;
    alloc_enter(&c, "hipMalloc3D");
    c.fresh = true;
    int status = real(out, extent);
    if (status == HIP_SUCCESS)
        alloc_claim(&c, out->ptr, out->pitch * extent.height * extent.depth);
    alloc_leave(&c);
    return status;
}

static int give_back(int (*real)(void *p), const char *name, void *p)
{
    struct alloc_call c;
    struct alloc_freeing f;
    if (!real)
        return HIP_UNKNOWN;
    alloc_enter(&c, name);
    alloc_freeing(&c, p, &f);
    int status = real(p);
    alloc_freed(&c, p, status == HIP_SUCCESS, &f);
    alloc_leave(&c);
    return status;
}

int hipFree(void *p)
{
    return give_back(ALLOC_REAL(hipFree), "hipFree", p);
}

int hipHostFree(void *p)
{
    return give_back(ALLOC_REAL(hipHostFree), "hipHostFree", p);
}

int hipFreeHost(void *p)
{
    return give_back(ALLOC_REAL(hipFreeHost), "hipFreeHost", p);
}

int hipFreeAsync(void *p, void *stream)
{
    struct alloc_call c;
    struct alloc_freeing f;
    int (*real)(void *, void *) = ALLOC_REAL(hipFreeAsync);
    if (!real)
        return HIP_UNKNOWN;
    alloc_enter(&c, "hipFreeAsync");
    alloc_freeing(&c, p, &f);
    if (c.on && f.how == CK_HEAP_OK) {
        (void)ck_heap_free_later(alloc_heap(), (uintptr_t)p, stream, &c.trace);
        atomic_store(&pending, 1);
    }
    int status = real(p, stream);
    alloc_leave(&c);
    return status;
}

/* Somebody has waited for a stream, or for all. */
static int settle(int status, const void *stream, bool all)
{
    if (status == HIP_SUCCESS && atomic_load(&pending))
        ck_heap_settle(alloc_heap(), stream, all);
    if (status == HIP_SUCCESS)
        alloc_copies_wait(stream, all ? ALLOC_WAIT_ALL : ALLOC_WAIT_STREAM);
    return status;
}

int hipStreamSynchronize(void *stream)
{
    int (*real)(void *) = ALLOC_REAL(hipStreamSynchronize);
    return real ? settle(real(stream), stream, false) : HIP_UNKNOWN;
}

int hipStreamSynchronize_spt(void *stream)
{
    int (*real)(void *) = ALLOC_REAL(hipStreamSynchronize_spt);
    return real ? settle(real(stream), stream, false) : HIP_UNKNOWN;
}

int hipDeviceSynchronize(void)
{
    int (*real)(void) = ALLOC_REAL(hipDeviceSynchronize);
    return real ? settle(real(), NULL, true) : HIP_UNKNOWN;
}

int hipCtxSynchronize(void)
{
    int (*real)(void) = ALLOC_REAL(hipCtxSynchronize);
    return real ? settle(real(), NULL, true) : HIP_UNKNOWN;
}

int hipEventSynchronize(void *event)
{
    int (*real)(void *) = ALLOC_REAL(hipEventSynchronize);
    int status = real ? real(event) : HIP_UNKNOWN;
    if (status == HIP_SUCCESS)
        alloc_copies_wait(NULL, ALLOC_WAIT_SOME);
    return status;
}

/* clang-format off */
void *alloc_hip_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(hipMalloc) ALLOC_HOOK(hipExtMallocWithFlags) ALLOC_HOOK(hipMallocManaged)
        ALLOC_HOOK(hipHostMalloc) ALLOC_HOOK(hipHostAlloc) ALLOC_HOOK(hipMallocHost)
        ALLOC_HOOK(hipMemAllocHost) ALLOC_HOOK(hipMallocAsync)
        ALLOC_HOOK(hipMallocFromPoolAsync) ALLOC_HOOK(hipMallocPitch)
        ALLOC_HOOK(hipMemAllocPitch) ALLOC_HOOK(hipMalloc3D) ALLOC_HOOK(hipFree)
        ALLOC_HOOK(hipHostFree) ALLOC_HOOK(hipFreeHost) ALLOC_HOOK(hipFreeAsync)
        ALLOC_HOOK(hipStreamSynchronize) ALLOC_HOOK(hipStreamSynchronize_spt)
        ALLOC_HOOK(hipDeviceSynchronize) ALLOC_HOOK(hipCtxSynchronize)
        ALLOC_HOOK(hipEventSynchronize)};
    return alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name);
}
