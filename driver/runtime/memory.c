/* memory.c: buffers: an address in this process, pages of the kernel driver behind it.
 *
 * Addresses come from reserving host address space, since both sides use the same ones.
 * Invariant: around an allocation lie pages that nobody may touch.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define HUGE (2ull << 20)
/* KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, which the header shifts into the sign bit */
#define WRITABLE 0x80000000u

static void link_in(struct rt_device *dev, struct rt_buffer *b)
{
    pthread_mutex_lock(&dev->lock);
    b->next = dev->buffers;
    b->link = &dev->buffers;
    if (b->next)
        b->next->link = &b->next;
    dev->buffers = b;
    pthread_mutex_unlock(&dev->lock);
}

/* Address space for the buffer with guards; large ones start at 2 MiB boundaries. */
static rd_status reserve(struct rt_buffer *b, struct rt_error *err)
{
    uint64_t align = b->bytes >= HUGE ? HUGE : RT_PAGE;
    b->reserved_bytes = b->bytes + align + 2 * RT_PAGE;
    void *p = mmap(NULL, b->reserved_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return rt_fail(err, RD_E_NOMEM, "no address space for %llu bytes",
                       (unsigned long long)b->bytes);
    b->reserved = p;
    uint64_t at = ((uintptr_t)p + RT_PAGE + align - 1) & ~(align - 1);
    b->host = (void *)(uintptr_t)at;
    return RD_OK;
}

static uint32_t kernel_flags(enum rt_memory kind, unsigned flags)
{
    static const uint32_t kinds[] = {
        [RT_VRAM] = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC,
        [RT_GTT] = KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
                   KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED,
        [RT_USER] = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT |
                    KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED,
    };
    return kinds[kind] | KFD_IOC_ALLOC_MEM_FLAGS_NO_SUBSTITUTE |
           (flags & RT_READONLY ? 0 : WRITABLE) |
           (flags & RT_EXEC ? KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE : 0);
}

int rt_map_handle(struct rt_device *dev, uint64_t handle)
{
    struct kfd_ioctl_map_memory_to_gpu_args m = {.handle = handle,
                                                 .device_ids_array_ptr =
                                                     (uintptr_t)&dev->info.gpu_id,
                                                 .n_devices = 1};
    return rt_ioctl(dev, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &m);
}

/* Ask the kernel for the pages and put them at the reserved address. */
static rd_status obtain(struct rt_buffer *b, enum rt_memory kind, unsigned flags,
                        struct rt_error *err)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args a = {
        .va_addr = (uintptr_t)b->host,
        .size = b->bytes,
        .gpu_id = b->dev->info.gpu_id,
        .flags = kernel_flags(kind, flags),
        .mmap_offset = kind == RT_USER ? (uintptr_t)b->host : 0};
    int r = rt_ioctl(b->dev, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &a);
    if (r)
        return rt_fail(err, rt_from_errno(r), "cannot allocate %llu bytes of %s: %s",
                       (unsigned long long)b->bytes,
                       kind == RT_VRAM ? "VRAM" : "host memory", strerror(-r));
    b->handle = a.handle;
    if (kind != RT_USER) {
        void *p = mmap(b->host, b->bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, b->dev->render, (off_t)a.mmap_offset);
        if (p == MAP_FAILED)
            return rt_fail(err, RD_E_NOMEM, "cannot map %llu bytes: %s",
                           (unsigned long long)b->bytes, strerror(errno));
        madvise(p, b->bytes, MADV_DONTFORK);
    }
    r = rt_map_handle(b->dev, b->handle);
    if (r)
        return rt_fail(err, rt_from_errno(r),
                       "cannot map %llu bytes into the GPU's address space: %s",
                       (unsigned long long)b->bytes, strerror(-r));
    return RD_OK;
}

static rd_status back_with_pages(struct rt_buffer *b, struct rt_error *err)
{
    void *p = mmap(b->host, b->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (p == MAP_FAILED)
        return rt_fail(err, RD_E_NOMEM, "no memory for %llu bytes",
                       (unsigned long long)b->bytes);
    return RD_OK;
}

rd_status rt_alloc(struct rt_device *dev, uint64_t bytes, enum rt_memory kind,
                   unsigned flags, struct rt_buffer **out, struct rt_error *err)
{
    if (!bytes || bytes > 1ull << 46)
        return rt_fail(err, RD_E_INVALID, "a buffer of %llu bytes",
                       (unsigned long long)bytes);
    struct rt_buffer *b = calloc(1, sizeof(*b));
    if (!b)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    b->dev = dev;
    b->bytes = (bytes + RT_PAGE - 1) & ~(RT_PAGE - 1);
    link_in(dev, b);
    rd_status st = reserve(b, err);
    if (st == RD_OK && kind == RT_USER)
        st = back_with_pages(b, err);
    if (st == RD_OK)
        st = obtain(b, kind, flags, err);
    if (st != RD_OK) {
        rt_free(b);
        return st;
    }
    *out = b;
    return RD_OK;
}

rd_status rt_register(struct rt_device *dev, void *va, uint64_t bytes,
                      struct rt_buffer **out, struct rt_error *err)
{
    if (!bytes || ((uintptr_t)va | bytes) & (RT_PAGE - 1))
        return rt_fail(err, RD_E_INVALID, "memory to register must be whole pages");
    struct rt_buffer *b = calloc(1, sizeof(*b));
    if (!b)
        return rt_fail(err, RD_E_NOMEM, "out of memory");
    b->dev = dev;
    b->bytes = bytes;
    b->host = va;
    link_in(dev, b);
    rd_status st = obtain(b, RT_USER, RT_EXEC, err);
    if (st != RD_OK) {
        rt_free(b);
        return st;
    }
    *out = b;
    return RD_OK;
}

void rt_free(struct rt_buffer *b)
{
    if (!b)
        return;
    if (b->handle) {
        struct kfd_ioctl_unmap_memory_from_gpu_args u = {
            .handle = b->handle,
            .device_ids_array_ptr = (uintptr_t)&b->dev->info.gpu_id,
            .n_devices = 1};
        struct kfd_ioctl_free_memory_of_gpu_args f = {.handle = b->handle};
        (void)rt_ioctl(b->dev, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &u);
        (void)rt_ioctl(b->dev, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f);
    }
    if (b->reserved)
        munmap(b->reserved, b->reserved_bytes);
    rt_keep(b);
}

void rt_keep(struct rt_buffer *b)
{
    pthread_mutex_lock(&b->dev->lock);
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
    pthread_mutex_unlock(&b->dev->lock);
    free(b);
}

void *rt_host(const struct rt_buffer *b)
{
    return b->host;
}

uint64_t rt_gpuva(const struct rt_buffer *b)
{
    return (uintptr_t)b->host;
}

uint64_t rt_bytes(const struct rt_buffer *b)
{
    return b->bytes;
}
