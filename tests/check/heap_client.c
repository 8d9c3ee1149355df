/* heap_client.c: a program that allocates by a (fake) runtime and makes one mistake:
 *     heap_client KERNEL NAME
 * The kernel writes a dword, lane by lane, from an address on. Lines that rdna3 check
 * has to name are marked. SPDX-License-Identifier: MIT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_runtime.h"
#include "rdna3/client.h"
#include "rt.h"

static struct rt_device *dev;
static struct rt_queue *queue;
static struct rt_kernel kernel;
static struct rt_buffer *kernarg;

static void must(rd_status st, const struct rt_error *err)
{
    if (st == RD_OK)
        return;
    (void)fprintf(stderr, "error: %s\n", err->text);
    exit(2);
}

/* Lanes 0 to n - 1 write from p on. */
static void fill(void *p, unsigned n)
{
    struct rt_error err;
    struct rt_signal *done;
    must(rt_signal_create(dev, 1, &done, &err), &err);
    memcpy(rt_host(kernarg), &p, sizeof p);
    struct rt_launch launch = {.items = {n, 1, 1},
                               .block = {n, 1, 1},
                               .kernarg_gpuva = rt_gpuva(kernarg),
                               .signal = done};
    must(rt_launch(queue, &kernel, &launch, &err), &err);
    must(rt_wait(done, UINT64_MAX, &err), &err);
    rt_signal_destroy(done);
}

static void open_device(const char *path)
{
    static char code[1 << 16];
    struct rt_error err;
    struct rt_code *loaded;
    struct rt_buffer *arena;
    FILE *f = fopen(path, "rbe");
    size_t bytes = f ? fread(code, 1, sizeof code, f) : 0;
    if (f)
        (void)fclose(f);
    if (hsa_code_object_reader_create_from_memory(code, bytes, NULL))
        exit(2);
    must(rt_open(NULL, &dev, &err), &err);
    must(rt_load(dev, code, bytes, &loaded, &err), &err);
    must(rt_kernel_find(loaded, NULL, &kernel, &err), &err);
    must(rt_queue_create(dev, 0, &queue, &err), &err);
    must(rt_alloc(dev, 4096, RT_GTT, 0, &kernarg, &err), &err);
    must(rt_alloc(dev, 1 << 20, RT_VRAM, 0, &arena, &err), &err);
    fake_arena(rt_host(arena), 1 << 20);
}

static char *make(size_t size)
{
    void *p = NULL;
    if (hipMalloc(&p, size)) /* MADE */
        exit(3);
    return p;
}

static void stream_ordered(bool wait)
{
    void *p = NULL;
    int stream;
    (void)hipMallocAsync(&p, 100, &stream);
    fill(p, 25);
    (void)hipFreeAsync(p, &stream); /* FREED LATER */
    if (wait)
        (void)hipStreamSynchronize(&stream);
    fill(p, 25);
}

static void opencl(unsigned lanes, bool release)
{
    void *first = clCreateBuffer(NULL, 0, 64, NULL, NULL);
    void *b = clCreateBuffer(NULL, 0, 100, NULL, NULL); /* BUFFER */
    fill(fake_memory(b), lanes);
    (void)clRetainMemObject(b);
    (void)clReleaseMemObject(first);
    (void)clReleaseMemObject(b);
    if (release)
        (void)clReleaseMemObject(b);
}

static void mistake(const char *name, char *a, char *b, char *page)
{
    if (strcmp(name, "past_end") == 0)
        fill(a, 26);
    else if (strcmp(name, "straddle") == 0)
        fill(a + 98, 1);
    else if (strcmp(name, "before_start") == 0)
        fill(b - 4, 2);
    else if (strcmp(name, "neighbour") == 0)
        fill(page + 4096 - 16, 8);
    else if (strcmp(name, "double_free") == 0)
        (void)hipFree(page); /* FREED */
    else if (strcmp(name, "use_after_free") == 0 || strcmp(name, "copy_freed") == 0)
        (void)hipFree(page); /* FREED PAGE */
    else if (strcmp(name, "inside_free") == 0)
        (void)hipFree(a + 4); /* INSIDE */
    else if (strcmp(name, "stream") == 0)
        stream_ordered(false);
    else if (strcmp(name, "stream_freed") == 0)
        stream_ordered(true);
    else if (strcmp(name, "opencl") == 0)
        opencl(25, true);
    else if (strcmp(name, "opencl_past_end") == 0)
        opencl(26, true);
    else if (strcmp(name, "opencl_leak") == 0)
        opencl(25, false);
    char host[104] = "";
    if (strcmp(name, "copy_past_end") == 0)
        (void)hipMemcpy(a, host, 104, 1); /* COPY OUT */
    if (strcmp(name, "copy_freed") == 0)
        (void)hipMemcpy(host, page + 8, 8, 2); /* COPY FREED */
    if (strcmp(name, "copies") == 0)
        (void)hipMemcpy(a, b, 100, 3);
    if (strcmp(name, "use_after_free") == 0)
        fill(page, 1);
    if (strcmp(name, "double_free") == 0)
        (void)hipFree(page); /* TWICE */
}

/* What the host gets: at once, in rows, or once it waits. */
static void copy_back(const char *name, char *host, const char *p)
{
    if (strstr(name, "rows")) {
        (void)hipMemcpy2D(host, 40, p, 60, 20, 2, 2); /* COPIED ROWS */
        return;
    }
    if (!strstr(name, "later")) {
        (void)hipMemcpy(host, p, 100, 2); /* COPIED */
        return;
    }
    memset(host, 0, 100);
    if (strstr(name, "over")) /* the next one comes there, too */
        (void)hipMemcpyAsync(host, memset(make(100), 1, 100), 100, 2, host);
    (void)hipMemcpyAsync(host, p, 100, 2, host); /* COPIED LATER */
    (void)(strstr(name, "event") ? hipEventSynchronize(host)
                                 : hipStreamSynchronize(host));
    (void)hipStreamSynchronize(host); /* told of once */
}

/* The kernel reads what it writes: of memory that nobody has written, that the host has
 * but for its end, that was freed and is new again. */
static int fresh(const char *name)
{
    char host[100];
    void *buffer = clCreateBuffer(NULL, 0, 100, NULL, NULL); /* FRESH BUFFER */
    char *p = strstr(name, "opencl") ? fake_memory(buffer) : make(100);
    if (strstr(name, "again")) {
        memset(p, 1, 100);
        (void)hipFree(p);
        p = make(100);
    }
    if (strstr(name, "written"))
        memset(p, 1, strstr(name, "short") ? 92 : 100);
    if (strstr(name, "copied")) {
        copy_back(name, host, p);
        return 0;
    }
    fill(p, 25);
    fill(p, 25);
    return 0;
}

/* Two dispatches add to the same memory, or the second is a copy; the first does not
 * end before the second is submitted, for it waits for a flag. */
static int race(const char *how)
{
    struct rt_error err;
    struct rt_queue *other;
    struct rt_signal *done[2];
    struct rt_buffer *args;
    void *p = make(100);
    memset(p, 1, 100);
    must(rt_alloc(dev, 4096, RT_GTT, 0, &args, &err), &err);
    must(rt_queue_create(dev, 0, &other, &err), &err);
    for (unsigned i = 0; i < 2; i++)
        must(rt_signal_create(dev, 1, &done[i], &err), &err);
    char *host = rt_host(args);
    volatile uint32_t *flag = (volatile uint32_t *)(void *)(host + 64);
    uint64_t pointers[2] = {(uintptr_t)p, rt_gpuva(args) + 64};
    memcpy(host, pointers, sizeof pointers);
    struct rt_launch launch = {.items = {25, 1, 1},
                               .block = {25, 1, 1},
                               .kernarg_gpuva = rt_gpuva(args),
                               .signal = done[0]};
    must(rt_launch(queue, &kernel, &launch, &err), &err);
    *flag = strcmp(how, "host") == 0;
    if (*flag)
        must(rt_wait(done[0], UINT64_MAX, &err), &err);
    bool copies = strncmp(how, "copy", 4) == 0;
    struct rt_signal *after = strcmp(how, "copy after") == 0 ? done[0] : NULL;
    if (copies)
        must(rt_copy(dev, pointers[0], rt_gpuva(args) + 128, 64, after, done[1], &err),
             &err);
    if (copies && !after)
        must(rt_wait(done[1], UINT64_MAX, &err), &err);
    if (strcmp(how, "signal") == 0)
        must(rt_barrier(other, done, 1, NULL, &err), &err);
    launch.overlap = strcmp(how, "overlap") == 0;
    launch.signal = done[1];
    bool same = launch.overlap || strcmp(how, "barrier") == 0;
    if (!copies)
        must(rt_launch(same ? queue : other, &kernel, &launch, &err), &err);
    *flag = 1;
    for (unsigned i = 0; i < 2; i++)
        must(rt_wait(done[i], UINT64_MAX, &err), &err);
    return 0;
}

/* Memory of the program's own, told of, and what cannot be so. */
static int own_allocator(void)
{
    static char memory[8192];
    rdna3_client_allocated("take", memory, 100);
    rdna3_client_allocated("take", memory, SIZE_MAX);
    rdna3_client_allocated("take", (void *)-(uintptr_t)4096, SIZE_MAX);
    rdna3_client_allocated(NULL, memory + 4096, 10);
    rdna3_client_allocated("take", NULL, 10);
    rdna3_client_freed("give", memory + 50); /* inside */
    rdna3_client_freed("give", NULL);
    rdna3_client_freed("give", (void *)(uintptr_t)8);
    rdna3_client_freed("give", memory);
    rdna3_client_freed("give", memory); /* twice */
    rdna3_client_freed(NULL, memory + 4096);
    return 0;
}

int main(int argc, char **argv)
{
    void *raw = NULL;
    if (argc != 3)
        return 2;
    const char *name = argv[2];
    open_device(argv[1]);
    if (strncmp(name, "fresh", 5) == 0)
        return fresh(name);
    if (strncmp(name, "race ", 5) == 0)
        return race(name + 5);
    if (strcmp(name, "own") == 0)
        return own_allocator();
    if (strcmp(name, "rows") == 0) {
        fill(make(4096), 32);
        return 0;
    }
    char *a = make(100), *b = make(100), *page = make(4096);
    (void)hsa_amd_memory_pool_allocate(0, 10, 0, &raw);
    fill(a, 25);
    fill(b, 25);
    fill(page, 32);
    mistake(name, a, b, page);
    for (int i = 0; i < 300; i++) { /* more than is kept */
        char *p = make(4000);
        fill(p, 8);
        (void)hipFree(p);
    }
    (void)hipFree(b);
    if (strcmp(name, "use_after_free") != 0 && strcmp(name, "double_free") != 0 &&
        strcmp(name, "copy_freed") != 0)
        (void)hipFree(page);
    if (strcmp(name, "leak") == 0)
        return 0;
    (void)hsa_amd_memory_pool_free(raw);
    return hipFree(a) ? 4 : 0;
}
