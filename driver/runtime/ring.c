/* ring.c: kernel queues: ring memory, context save area, doorbell.
 *
 * Must not know packets. The sizes of save areas follow from the topology by the
 * kernel's formula, which refuses any other. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define DOORBELL_BYTES 8192ull
#define PRIORITY       7u
#define EOP_BYTES      4096u

/* Offsets of the indices in the page, as in an amd_queue_t. */
#define PAGE_WPTR 0x38u
#define PAGE_RPTR 0x80u

/* Context of a CU: VGPRs (of this chip), SGPRs, LDS, hardware registers; of a wave: 12
 * bytes of control stack and 32 for a debugger. Source: kfd_queue.c. */
#define CU_BYTES         (0x60000u + 0x4000u + 0x10000u + 0x1000u)
#define WAVE_STACK_BYTES 12u
#define STACK_HEADER     (40u + 8u)
#define WAVE_DEBUG_BYTES 32u

static uint64_t pages(uint64_t bytes)
{
    return (bytes + RT_PAGE - 1) & ~(RT_PAGE - 1);
}

#define SVM_ATTRIBUTES 6u

/* The attributes that ROCr gives its save areas. */
static int share_save_area(struct rt_device *dev, const struct rt_ring *ring)
{
    uint32_t flags = KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_GPU_EXEC |
                     KFD_IOCTL_SVM_FLAG_GPU_ALWAYS_MAPPED;
    const struct kfd_ioctl_svm_attribute attr[SVM_ATTRIBUTES] = {
        {KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, dev->info.gpu_id},
        {KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, 0},
        {KFD_IOCTL_SVM_ATTR_CLR_FLAGS, ~flags},
        {KFD_IOCTL_SVM_ATTR_SET_FLAGS, flags},
        {KFD_IOCTL_SVM_ATTR_ACCESS, dev->info.gpu_id},
        {KFD_IOCTL_SVM_ATTR_GRANULARITY, 0xff},
    };
    /* The struct ends in the attributes; its size is in the command word. */
    union {
        struct kfd_ioctl_svm_args args;
        uint8_t bytes[sizeof(struct kfd_ioctl_svm_args) + sizeof(attr)];
    } svm = {.bytes = {0}};
    svm.args.start_addr = (uintptr_t)ring->save;
    svm.args.size = ring->save_bytes;
    svm.args.op = KFD_IOCTL_SVM_OP_SET_ATTR;
    svm.args.nattr = SVM_ATTRIBUTES;
    memcpy(svm.bytes + sizeof(struct kfd_ioctl_svm_args), attr, sizeof(attr));
    unsigned long cmd =
        _IOC(_IOC_READ | _IOC_WRITE, AMDKFD_IOCTL_BASE, 0x20, sizeof(svm));
    return rt_ioctl(dev, cmd, &svm);
}

static void unmap_save_area(struct rt_ring *ring)
{
    if (ring->save)
        munmap(ring->save, ring->save_bytes);
    ring->save = NULL;
}

/* In shared virtual memory; a kernel without it says so, and gets a buffer. */
static rd_status place_save_area(struct rt_device *dev, struct rt_ring *ring,
                                 struct rt_error *err)
{
    void *p = mmap(NULL, ring->save_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return rt_fail(err, RD_E_NOMEM, "no memory to save waves in");
    ring->save = p;
    madvise(p, ring->save_bytes, MADV_DONTFORK);
    int r = share_save_area(dev, ring);
    if (!r)
        return RD_OK;
    unmap_save_area(ring);
    if (r == -EPERM)
        return rt_alloc(dev, ring->save_bytes, RT_GTT, RT_EXEC, &ring->shared, err);
    return rt_fail(err, rt_from_errno(r), "cannot share the context save area: %s",
                   strerror(-r));
}

static rd_status make_save_area(struct rt_device *dev, struct rt_ring *ring,
                                struct kfd_ioctl_create_queue_args *args,
                                struct rt_error *err)
{
    uint32_t waves = dev->info.compute_units * dev->info.waves_per_cu;
    uint64_t stack = pages(STACK_HEADER + (uint64_t)waves * WAVE_STACK_BYTES);
    uint64_t save = stack + pages((uint64_t)dev->info.compute_units * CU_BYTES);
    uint64_t debug = ((uint64_t)waves * WAVE_DEBUG_BYTES + 63) & ~63ull;
    ring->save_bytes = pages(save + debug);
    rd_status st = place_save_area(dev, ring, err);
    if (st != RD_OK)
        return st;
    args->ctx_save_restore_address =
        ring->shared ? rt_gpuva(ring->shared) : (uintptr_t)ring->save;
    args->ctx_save_restore_size = (uint32_t)save;
    args->ctl_stack_size = (uint32_t)stack;
    return RD_OK;
}

static rd_status map_doorbell(struct rt_device *dev, struct rt_ring *ring,
                              uint64_t offset, struct rt_error *err)
{
    uint64_t page = offset & ~(DOORBELL_BYTES - 1);
    if (!dev->doorbells) {
        void *p = mmap(NULL, DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       dev->kfd, (off_t)page);
        if (p == MAP_FAILED)
            return rt_fail(err, RD_E_IO, "cannot map the doorbells: %s",
                           strerror(errno));
        madvise(p, DOORBELL_BYTES, MADV_DONTFORK);
        dev->doorbells = p;
        dev->doorbell_offset = page;
    }
    if (page != dev->doorbell_offset)
        return rt_fail(err, RD_E_FORMAT, "the doorbells have moved");
    uint8_t *bell = dev->doorbells + (offset & (DOORBELL_BYTES - 1));
    ring->doorbell = (volatile uint64_t *)(void *)bell;
    return RD_OK;
}

static rd_status allocate(struct rt_device *dev, uint64_t bytes, bool compute,
                          struct rt_ring *ring,
                          struct kfd_ioctl_create_queue_args *args,
                          struct rt_error *err)
{
    rd_status st = rt_alloc(dev, bytes, RT_GTT, RT_EXEC, &ring->memory, err);
    if (st == RD_OK)
        st = rt_alloc(dev, RT_PAGE, RT_GTT, 0, &ring->page, err);
    if (st == RD_OK && compute)
        st = rt_alloc(dev, EOP_BYTES, RT_VRAM, RT_EXEC, &ring->eop, err);
    if (st == RD_OK && compute)
        st = make_save_area(dev, ring, args, err);
    if (st != RD_OK)
        return st;
    uint8_t *page = rt_host(ring->page);
    ring->wptr = (volatile uint64_t *)(void *)(page + PAGE_WPTR);
    ring->rptr = (volatile uint64_t *)(void *)(page + PAGE_RPTR);
    args->ring_base_address = rt_gpuva(ring->memory);
    args->write_pointer_address = (uintptr_t)ring->wptr;
    args->read_pointer_address = (uintptr_t)ring->rptr;
    if (compute) {
        args->eop_buffer_address = rt_gpuva(ring->eop);
        args->eop_buffer_size = EOP_BYTES;
    }
    return RD_OK;
}

/* The caller writes what the ring and its page need before the first doorbell. */
rd_status rt_ring_create(struct rt_device *dev, uint32_t type, uint64_t bytes,
                         struct rt_ring *ring, struct rt_error *err)
{
    bool compute = type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
    struct kfd_ioctl_create_queue_args args = {.ring_size = (uint32_t)bytes,
                                               .gpu_id = dev->info.gpu_id,
                                               .queue_type = type,
                                               .queue_percentage = 100,
                                               .queue_priority = PRIORITY};
    memset(ring, 0, sizeof(*ring));
    rd_status st = allocate(dev, bytes, compute, ring, &args, err);
    if (st == RD_OK && compute)
        for (uint64_t at = 0; at < bytes; at += 64)
            ((uint8_t *)rt_host(ring->memory))[at] = 1; /* no packet yet */
    int r = st == RD_OK ? rt_ioctl(dev, AMDKFD_IOC_CREATE_QUEUE, &args) : 0;
    if (r)
        st = rt_fail(err, rt_from_errno(r), "cannot create a queue: %s", strerror(-r));
    if (st == RD_OK) {
        ring->id = args.queue_id;
        ring->live = true;
        st = map_doorbell(dev, ring, args.doorbell_offset, err);
    }
    if (st != RD_OK)
        rt_ring_destroy(dev, ring);
    return st;
}

void rt_ring_destroy(struct rt_device *dev, struct rt_ring *ring)
{
    struct kfd_ioctl_destroy_queue_args d = {.queue_id = ring->id};
    if (ring->live)
        (void)rt_ioctl(dev, AMDKFD_IOC_DESTROY_QUEUE, &d);
    rt_free(ring->eop);
    rt_free(ring->page);
    rt_free(ring->memory);
    rt_free(ring->shared);
    unmap_save_area(ring);
    memset(ring, 0, sizeof(*ring));
}
