/* alloc_cl.c: buffers that programs make with OpenCL.
 *
 * A runtime takes memory for a buffer when some device first needs it, often in another
 * thread: the oldest buffer of that size that has none is taken for the one. Must not
 * know where memory is. SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

enum { CL_SUCCESS = 0, CL_OUT_OF_HOST_MEMORY = -6, CL_INVALID_MEM_OBJECT = -38 };
#define CL_MEM_USE_HOST_PTR UINT64_C(8)

typedef uint64_t flags_t;

/* clang-format off */
ALLOC_EXPORT void *clCreateBuffer(void *context, flags_t flags, size_t size, void *host, int *error);
ALLOC_EXPORT void *clCreateBufferWithProperties(void *context, const void *properties,
                                                flags_t flags, size_t size, void *host, int *error);
ALLOC_EXPORT int clRetainMemObject(void *object);
ALLOC_EXPORT int clReleaseMemObject(void *object);
ALLOC_EXPORT void *clSVMAlloc(void *context, flags_t flags, size_t size, unsigned alignment);
ALLOC_EXPORT void clSVMFree(void *context, void *p);
/* clang-format on */

struct buffer {
    struct buffer *next;
    void *object; /* NULL: being made */
    unsigned refs;
    bool placed; /* has memory, or never gets any */
    struct ck_block block;
};

static struct {
    pthread_mutex_t lock;
    struct buffer *first, **last; /* oldest first; released ones stay */
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &buffers.first};

static struct buffer *buffer_of(const void *object)
{
    struct buffer *b = buffers.first;
    while (b && b->object != object)
        b = b->next;
    return b;
}

/* Lock held. */
static void drop(const struct buffer *gone)
{
    struct buffer **at = &buffers.first;
    while (*at && *at != gone)
        at = &(*at)->next;
    if (!*at)
        return;
    struct buffer *b = *at;
    *at = b->next;
    if (buffers.last == &b->next)
        buffers.last = at;
    free(b);
}

static struct buffer *buffer_add(const struct alloc_call *c, flags_t flags, size_t size)
{
    struct buffer *b = c->on && size ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->refs = 1;
    b->placed = (flags & CL_MEM_USE_HOST_PTR) != 0;
    b->block.size = size;
    b->block.programs = true;
    b->block.made = c->trace;
    pthread_mutex_lock(&buffers.lock);
    *buffers.last = b;
    buffers.last = &b->next;
    pthread_mutex_unlock(&buffers.lock);
    return b;
}

static void *buffer_made(struct buffer *b, void *object)
{
    if (!b)
        return object;
    pthread_mutex_lock(&buffers.lock);
    struct buffer *old = object ? buffer_of(object) : b;
    if (old)
        drop(old); /* its handle is used again */
    if (object) {
        b->object = object;
        alloc_count();
    }
    pthread_mutex_unlock(&buffers.lock);
    return object;
}

void *clCreateBuffer(void *context, flags_t flags, size_t size, void *host, int *error)
{
    struct alloc_call c;
    void *(*real)(void *, flags_t, size_t, void *, int *) = ALLOC_REAL(clCreateBuffer);
    if (!real) {
        if (error)
            *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    alloc_enter(&c, "clCreateBuffer");
    struct buffer *b = buffer_add(&c, flags, size);
    void *object = buffer_made(b, real(context, flags, size, host, error));
    alloc_leave(&c);
    return object;
}

void *clCreateBufferWithProperties(void *context, const void *properties, flags_t flags,
                                   size_t size, void *host, int *error)
{
    struct alloc_call c;
    void *(*real)(void *, const void *, flags_t, size_t, void *, int *) =
        ALLOC_REAL(clCreateBufferWithProperties);
    if (!real) {
        if (error)
            *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    alloc_enter(&c, "clCreateBufferWithProperties");
    struct buffer *b = buffer_add(&c, flags, size);
    void *object = buffer_made(b, real(context, properties, flags, size, host, error));
    alloc_leave(&c);
    return object;
}

int clRetainMemObject(void *object)
{
    int (*real)(void *) = ALLOC_REAL(clRetainMemObject);
    int status = real ? real(object) : CL_INVALID_MEM_OBJECT;
    if (status != CL_SUCCESS || !alloc_heap() || !object)
        return status;
    pthread_mutex_lock(&buffers.lock);
    struct buffer *b = buffer_of(object);
    if (b)
        b->refs++;
    pthread_mutex_unlock(&buffers.lock);
    return status;
}

/* One reference less; false: there was none left, which is told of. */
static bool let_go(const struct alloc_call *c, const void *object)
{
    struct ck_block twice = {.size = 0};
    pthread_mutex_lock(&buffers.lock);
    struct buffer *b = object ? buffer_of(object) : NULL;
    if (b && !b->refs) {
        twice = b->block;
    } else if (b && !--b->refs) {
        b->placed = true;
        b->block.freer = c->trace;
    }
    pthread_mutex_unlock(&buffers.lock);
    if (twice.size)
        alloc_tell("double-free", &c->trace, &twice);
    return !twice.size;
}

int clReleaseMemObject(void *object)
{
    struct alloc_call c;
    int (*real)(void *) = ALLOC_REAL(clReleaseMemObject);
    if (!real)
        return CL_INVALID_MEM_OBJECT;
    alloc_enter(&c, "clReleaseMemObject");
    int status = c.on && !let_go(&c, object) ? CL_INVALID_MEM_OBJECT : real(object);
    alloc_leave(&c);
    return status;
}

void *clSVMAlloc(void *context, flags_t flags, size_t size, unsigned alignment)
{
    struct alloc_call c;
    void *(*real)(void *, flags_t, size_t, unsigned) = ALLOC_REAL(clSVMAlloc);
    if (!real)
        return NULL;
    alloc_enter(&c, "clSVMAlloc");
    void *p = real(context, flags, size, alignment);
    alloc_claim(&c, p, size);
    alloc_leave(&c);
    return p;
}

void clSVMFree(void *context, void *p)
{
    struct alloc_call c;
    struct alloc_freeing f;
    void (*real)(void *, void *) = ALLOC_REAL(clSVMFree);
    if (!real)
        return;
    alloc_enter(&c, "clSVMFree");
    alloc_freeing(&c, p, &f);
    real(context, p);
    alloc_freed(&c, p, true, &f);
    alloc_leave(&c);
}

/* Runtimes may round sizes up, to less than a page more. */
bool alloc_cl_take(size_t size, struct ck_block *to)
{
    struct buffer *best = NULL;
    pthread_mutex_lock(&buffers.lock);
    for (struct buffer *b = buffers.first; b; b = b->next)
        if (!b->placed && b->block.size <= size && size - b->block.size < 4096 &&
            (!best || b->block.size > best->block.size))
            best = b;
    if (best) {
        best->placed = true;
        best->block.base = to->base;
        to->size = best->block.size;
        to->made = best->block.made;
    }
    pthread_mutex_unlock(&buffers.lock);
    return best != NULL;
}

void alloc_cl_each(void (*fn)(void *ctx, const struct ck_block *b), void *ctx)
{
    pthread_mutex_lock(&buffers.lock);
    for (const struct buffer *b = buffers.first; b; b = b->next)
        if (b->refs && b->object)
            fn(ctx, &b->block);
    pthread_mutex_unlock(&buffers.lock);
}

/* clang-format off */
void *alloc_cl_hook(const char *name)
{
    static const struct alloc_hook hooks[] = {
        ALLOC_HOOK(clCreateBuffer) ALLOC_HOOK(clCreateBufferWithProperties)
        ALLOC_HOOK(clRetainMemObject) ALLOC_HOOK(clReleaseMemObject) ALLOC_HOOK(clSVMAlloc)
        ALLOC_HOOK(clSVMFree)};
    return alloc_hook_in(hooks, sizeof hooks / sizeof *hooks, name);
}
