/* bo.c: buffers: where their bytes live, VRAM accounting, mapping into the GPU.
 *
 * VRAM and GTT are ranges of one sparse file, the render node, so that any process can
 * map them; a range is never used twice. Mapping a buffer to the GPU puts its bytes at
 * its virtual address with host access, whatever protection the client asked for,
 * because the emulator reads through host pointers.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"

#define PAGE       4096ull
#define VRAM_ALIGN (2ull << 20)

static uint64_t round_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

void dev_bo_init(struct gdev *dev)
{
    pthread_mutex_init(&dev->bo_lock, NULL);
}

int gdev_backing_fd(struct gdev *dev, enum gdev_bo_kind kind)
{
    return kind == GDEV_DOORBELL || kind == GDEV_MMIO ? dev->kfd_fd : dev->render_fd;
}

/* Slots of processes that died without freeing do not count. */
static uint64_t vram_used(struct gdev *dev)
{
    uint64_t used = 0;
    for (unsigned i = 0; i < GSHARED_PROCS; i++) {
        struct gshared_proc *proc = &dev->shared->procs[i];
        int32_t pid = atomic_load(&proc->pid);
        if (!pid)
            break;
        uint64_t bytes = atomic_load(&proc->vram_bytes);
        if (bytes && proc != dev->proc && kill(pid, 0) != 0 && errno == ESRCH)
            atomic_store(&proc->vram_bytes, 0);
        else
            used += bytes;
    }
    return used;
}

uint64_t gdev_vram_size(struct gdev *dev)
{
    return dev->shared->vram_bytes;
}

uint64_t gdev_vram_available(struct gdev *dev)
{
    uint64_t used = vram_used(dev);
    uint64_t total = dev->shared->vram_bytes;
    return used >= total ? 0 : (total - used) & ~(VRAM_ALIGN - 1);
}

/* Reserve a page-aligned range of /dev/kfd's file, once per process and purpose. */
static uint64_t kfd_range(struct gdev *dev, uint64_t *offset, uint64_t bytes)
{
    if (!*offset)
        *offset = atomic_fetch_add(&dev->shared->next_kfd_offset,
                                   round_up(bytes, BOARD_DOORBELL_BYTES));
    return *offset;
}

rd_status dev_doorbells(struct gdev *dev)
{
    rd_status st = RD_OK;
    pthread_mutex_lock(&dev->bo_lock);
    kfd_range(dev, &dev->doorbell_offset, BOARD_DOORBELL_BYTES);
    if (!dev->doorbells) {
        void *p = mmap(NULL, BOARD_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       dev->kfd_fd, (off_t)dev->doorbell_offset);
        if (p == MAP_FAILED) {
            st = RD_E_NOMEM;
        } else {
            madvise(p, BOARD_DOORBELL_BYTES, MADV_DONTFORK);
            dev->doorbells = p;
        }
    }
    pthread_mutex_unlock(&dev->bo_lock);
    return st;
}

/* A free handle (never 0), growing the table. Lock held. */
static uint32_t new_handle(struct gdev *dev)
{
    for (uint32_t i = 1; i < dev->n_bos; i++)
        if (!dev->bos[i].used)
            return i;
    uint32_t old = dev->n_bos, grown = old ? old * 2 : 64;
    struct gdev_bo *bos = realloc(dev->bos, grown * sizeof(*bos));
    if (!bos)
        return 0;
    memset(bos + old, 0, (grown - old) * sizeof(*bos));
    dev->bos = bos;
    dev->n_bos = grown;
    return old ? old : 1;
}

static struct gdev_bo *find(struct gdev *dev, uint32_t handle)
{
    if (!handle || handle >= dev->n_bos || !dev->bos[handle].used)
        return NULL;
    return &dev->bos[handle];
}

static rd_status place(struct gdev *dev, struct gdev_bo_info *info)
{
    switch (info->kind) {
    case GDEV_VRAM:
        if (info->bytes > gdev_vram_available(dev))
            return RD_E_NOMEM;
        atomic_fetch_add(&dev->proc->vram_bytes, info->bytes);
        /* fall through */
    case GDEV_GTT:
        info->offset = atomic_fetch_add(&dev->shared->next_bo_offset,
                                        round_up(info->bytes, VRAM_ALIGN));
        return RD_OK;
    case GDEV_USERPTR:
        if (info->offset & (PAGE - 1))
            return RD_E_INVALID;
        return gdev_host_mapped(info->offset, info->bytes, info->flags & GDEV_BO_WRITE)
                   ? RD_OK
                   : RD_E_FAULT;
    case GDEV_DOORBELL:
        info->offset = kfd_range(dev, &dev->doorbell_offset, BOARD_DOORBELL_BYTES);
        return RD_OK;
    case GDEV_MMIO:
        info->offset = kfd_range(dev, &dev->mmio_offset, PAGE);
        return RD_OK;
    }
    return RD_E_INVALID;
}

static rd_status insert(struct gdev *dev, struct gdev_bo_info *info, bool imported,
                        uint32_t *handle)
{
    pthread_mutex_lock(&dev->bo_lock);
    rd_status st = RD_E_NOMEM;
    uint32_t h = new_handle(dev);
    if (h)
        st = imported ? RD_OK : place(dev, info);
    if (st == RD_OK) {
        dev->bos[h] =
            (struct gdev_bo){.info = *info, .used = true, .imported = imported};
        *handle = h;
    }
    pthread_mutex_unlock(&dev->bo_lock);
    return st;
}

rd_status gdev_bo_create(struct gdev *dev, struct gdev_bo_info *info, uint32_t *handle)
{
    if (!info->bytes || info->bytes > 1ull << 46)
        return RD_E_INVALID;
    info->bytes = round_up(info->bytes, PAGE);
    if (info->flags & GDEV_BO_TWICE)
        info->bytes = round_up(info->bytes / 2, PAGE);
    return insert(dev, info, false, handle);
}

rd_status gdev_bo_import(struct gdev *dev, const struct gdev_bo_info *info,
                         uint32_t *handle)
{
    struct gdev_bo_info copy = *info;
    return insert(dev, &copy, true, handle);
}

rd_status gdev_bo_info(struct gdev *dev, uint32_t handle, struct gdev_bo_info *out)
{
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    if (bo)
        *out = bo->info;
    pthread_mutex_unlock(&dev->bo_lock);
    return bo ? RD_OK : RD_E_NOT_FOUND;
}

rd_status gdev_bo_metadata(struct gdev *dev, const struct gdev_bo_info *info,
                           void *data, bool set)
{
    _Static_assert(GDEV_METADATA_BYTES == GSHARED_METADATA_BYTES, "one size");
    if (info->kind > GDEV_GTT)
        return RD_E_INVALID;
    off_t at =
        GSHARED_METADATA + (off_t)(info->offset / VRAM_ALIGN) * GSHARED_METADATA_BYTES;
    if (set)
        return pwrite(dev->shared_fd, data, GDEV_METADATA_BYTES, at) ==
                       GDEV_METADATA_BYTES
                   ? RD_OK
                   : RD_E_IO;
    memset(data, 0, GDEV_METADATA_BYTES);
    return pread(dev->shared_fd, data, GDEV_METADATA_BYTES, at) < 0 ? RD_E_IO : RD_OK;
}

static uint64_t mapped_bytes(const struct gdev_bo_info *info)
{
    return info->flags & GDEV_BO_TWICE ? 2 * info->bytes : info->bytes;
}

/* Put the buffer's bytes at its address. */
static rd_status map_host(struct gdev *dev, const struct gdev_bo_info *info,
                          uint64_t va, uint64_t offset, uint64_t bytes)
{
    void *at = (void *)(uintptr_t)va;
    if (!dev_host_replaceable(va, bytes, gdev_backing_fd(dev, info->kind)))
        return RD_E_INVALID;
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   gdev_backing_fd(dev, info->kind), (off_t)offset);
    if (p == MAP_FAILED)
        return errno == EINVAL ? RD_E_INVALID : RD_E_NOMEM;
    madvise(p, bytes, MADV_DONTFORK);
    return RD_OK;
}

static const char *const kind_names[] = {"VRAM", "GTT", "userptr", "doorbell", "MMIO"};

static rd_status map_locked(struct gdev *dev, struct gdev_bo *bo)
{
    const struct gdev_bo_info *info = &bo->info;
    if (bo->mapped)
        return RD_OK;
    if (!info->va || (info->va & (PAGE - 1)))
        return RD_E_INVALID;
    rd_status st = RD_OK;
    if (info->kind != GDEV_USERPTR) {
        st = map_host(dev, info, info->va, info->offset, info->bytes);
        if (st == RD_OK && (info->flags & GDEV_BO_TWICE))
            st = map_host(dev, info, info->va + info->bytes, info->offset, info->bytes);
    }
    unsigned perm = GDEV_READ | (info->flags & GDEV_BO_WRITE ? GDEV_WRITE : 0) |
                    (info->flags & GDEV_BO_EXEC ? GDEV_EXEC : 0) |
                    (info->kind == GDEV_VRAM ? GDEV_LOCAL : 0);
    if (st == RD_OK)
        st = gdev_vm_add(dev, info->va, mapped_bytes(info), perm,
                         kind_names[info->kind]);
    bo->mapped = st == RD_OK;
    return st;
}

rd_status gdev_bo_map(struct gdev *dev, uint32_t handle)
{
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    rd_status st = bo ? map_locked(dev, bo) : RD_E_NOT_FOUND;
    pthread_mutex_unlock(&dev->bo_lock);
    return st;
}

rd_status gdev_bo_unmap(struct gdev *dev, uint32_t handle)
{
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    if (bo && bo->mapped) {
        gdev_vm_remove(dev, bo->info.va, mapped_bytes(&bo->info));
        bo->mapped = false;
    }
    pthread_mutex_unlock(&dev->bo_lock);
    return bo ? RD_OK : RD_E_NOT_FOUND;
}

rd_status gdev_bo_free(struct gdev *dev, uint32_t handle)
{
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    rd_status st = RD_OK;
    if (!bo) {
        st = RD_E_NOT_FOUND;
    } else if (bo->mapped && bo->info.kind != GDEV_USERPTR) {
        st = RD_E_BUSY;
    } else {
        const struct gdev_bo_info *info = &bo->info;
        if (bo->kernel_va) {
            gdev_vm_remove(dev, bo->kernel_va, info->bytes);
            munmap((void *)(uintptr_t)bo->kernel_va, info->bytes);
        }
        if (bo->mapped)
            gdev_vm_remove(dev, info->va, mapped_bytes(info));
        if (info->kind == GDEV_VRAM && !bo->imported)
            atomic_fetch_sub(&dev->proc->vram_bytes, info->bytes);
        if (info->kind <= GDEV_GTT && !bo->imported)
            (void)fallocate(dev->render_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                            (off_t)info->offset, (off_t)info->bytes);
        *bo = (struct gdev_bo){.used = false};
    }
    pthread_mutex_unlock(&dev->bo_lock);
    return st;
}

rd_status gdev_bo_map_at(struct gdev *dev, uint32_t handle, uint64_t va,
                         uint64_t offset, uint64_t bytes, bool write)
{
    if ((va | offset | bytes) & (PAGE - 1) || !va || !bytes)
        return RD_E_INVALID;
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    rd_status st = RD_E_NOT_FOUND;
    if (bo) {
        const struct gdev_bo_info *info = &bo->info;
        if (info->kind > GDEV_GTT || offset > info->bytes ||
            bytes > info->bytes - offset)
            st = RD_E_INVALID;
        else
            st = map_host(dev, info, va, info->offset + offset, bytes);
    }
    if (st == RD_OK)
        st = gdev_vm_add(dev, va, bytes,
                         GDEV_READ | (write ? GDEV_WRITE : 0) | GDEV_EXEC |
                             (bo->info.kind == GDEV_VRAM ? GDEV_LOCAL : 0),
                         "virtual memory");
    pthread_mutex_unlock(&dev->bo_lock);
    return st;
}

uint64_t gdev_bo_kernel_map(struct gdev *dev, uint32_t handle, uint64_t offset)
{
    uint64_t va = 0;
    offset &= ~(PAGE - 1);
    pthread_mutex_lock(&dev->bo_lock);
    struct gdev_bo *bo = find(dev, handle);
    if (bo && bo->info.kind <= GDEV_GTT && offset < bo->info.bytes) {
        if (!bo->kernel_va) {
            void *p = mmap(NULL, bo->info.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           dev->render_fd, (off_t)bo->info.offset);
            if (p != MAP_FAILED &&
                gdev_vm_add(dev, (uintptr_t)p, bo->info.bytes, GDEV_READ | GDEV_WRITE,
                            "kernel mapping") == RD_OK) {
                madvise(p, bo->info.bytes, MADV_DONTFORK);
                bo->kernel_va = (uintptr_t)p;
            } else if (p != MAP_FAILED) {
                munmap(p, bo->info.bytes);
            }
        }
        va = bo->kernel_va ? bo->kernel_va + offset : 0;
    }
    pthread_mutex_unlock(&dev->bo_lock);
    return va;
}

rd_status gdev_bo_unmap_at(struct gdev *dev, uint64_t va, uint64_t bytes)
{
    gdev_vm_remove(dev, va, bytes);
    return RD_OK;
}
