/* fake_runtime.c: libraries of a runtime in little: HIP, OpenCL and ROCr functions over
 * one arena, without margins, and what is freed is given out again at once.
 * SPDX-License-Identifier: MIT
 */
#include "fake_runtime.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, BLOCKS = 64 };

static char *arena;
static size_t arena_bytes;
static struct {
    size_t at, bytes;
} blocks[BLOCKS]; /* in order of address */
static unsigned n_blocks;

void fake_arena(void *memory, size_t bytes)
{
    arena = memory;
    arena_bytes = bytes;
}

int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **out)
{
    size_t at = 0, bytes = (size + PAGE - 1) / PAGE * PAGE;
    unsigned i = 0;
    (void)pool;
    (void)flags;
    while (i < n_blocks && blocks[i].at - at < bytes) {
        at = blocks[i].at + blocks[i].bytes;
        i++;
    }
    if (n_blocks == BLOCKS || arena_bytes - at < bytes)
        return 0x1008;
    memmove(&blocks[i + 1], &blocks[i], (n_blocks - i) * sizeof *blocks);
    blocks[i].at = at;
    blocks[i].bytes = bytes;
    n_blocks++;
    *out = arena + at;
    return 0;
}

int hsa_amd_memory_pool_free(void *p)
{
    unsigned i = 0;
    while (i < n_blocks && arena + blocks[i].at != (char *)p)
        i++;
    if (i == n_blocks)
        return 0x1003;
    n_blocks--;
    memmove(&blocks[i], &blocks[i + 1], (n_blocks - i) * sizeof *blocks);
    return 0;
}

int hsa_code_object_reader_create_from_memory(const void *code, size_t bytes,
                                              void *reader)
{
    (void)reader;
    return code && bytes ? 0 : 0x1001;
}

int hipMalloc(void **out, size_t size)
{
    return hsa_amd_memory_pool_allocate(0, size, 0, out) ? 2 : 0;
}

int hipFree(void *p)
{
    return p && hsa_amd_memory_pool_free(p) ? 1 : 0;
}

int hipMemcpy(void *to, const void *from, size_t n, int kind)
{
    (void)kind;
    memmove(to, from, n);
    return 0;
}

int hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                size_t width, size_t height, int kind)
{
    (void)kind;
    for (size_t i = 0; i < height; i++)
        memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return 0;
}

static struct {
    void *to;
    const void *from;
    size_t n;
} later;

int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
    (void)kind;
    (void)stream;
    later.to = to;
    later.from = from;
    later.n = n;
    return 0;
}

int hipEventSynchronize(void *event)
{
    (void)event;
    return hipStreamSynchronize(NULL);
}

int hipMallocAsync(void **out, size_t size, void *stream)
{
    (void)stream;
    return hipMalloc(out, size);
}

/* A pool: the memory stays with it. */
int hipFreeAsync(void *p, void *stream)
{
    (void)p;
    (void)stream;
    return 0;
}

int hipStreamSynchronize(void *stream)
{
    (void)stream;
    if (later.n)
        memmove(later.to, later.from, later.n);
    later.n = 0;
    return 0;
}

/* A buffer gets its memory when somebody first asks for it. */
struct buffer {
    size_t size;
    void *memory;
    unsigned refs;
};

void *clCreateBuffer(void *context, uint64_t flags, size_t size, void *host, int *error)
{
    struct buffer *b = calloc(1, sizeof *b);
    (void)context;
    (void)flags;
    (void)host;
    if (b)
        *b = (struct buffer){.size = size, .refs = 1};
    if (error)
        *error = b ? 0 : -6;
    return b;
}

void *fake_memory(void *object)
{
    struct buffer *b = object;
    if (!b->memory && hsa_amd_memory_pool_allocate(0, b->size, 0, &b->memory))
        b->memory = NULL;
    return b->memory;
}

int clRetainMemObject(void *object)
{
    ((struct buffer *)object)->refs++;
    return 0;
}

int clReleaseMemObject(void *object)
{
    struct buffer *b = object;
    if (--b->refs)
        return 0;
    if (b->memory)
        (void)hsa_amd_memory_pool_free(b->memory);
    free(b);
    return 0;
}
