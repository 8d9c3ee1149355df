/* bo.c: buffers: where their bytes live, mapping into the GPU.
 *
 * VRAM and GTT are ranges of one sparse file, the render node, so that any process can
 * map them; a range is never used twice. Mapping a buffer to the GPU puts its bytes at
 * its virtual address with host access, whatever protection the client asked for,
 * because the emulator reads through host pointers.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define PAGE       4096ull
#define VRAM_ALIGN (2ull << 20)

static uint64_t round_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

void kmd_bo_init(struct kmd *kmd)
{
    pthread_mutex_init(&kmd->bo_lock, NULL);
}

int kmd_backing_fd(struct kmd *kmd, enum kmd_bo_kind kind)
{
    return kind == KMD_DOORBELL || kind == KMD_MMIO ? kmd->kfd_fd : kmd->render_fd;
}

/* Reserve a page-aligned range of /dev/kfd's file, once per process and purpose. */
static uint64_t kfd_range(struct kmd *kmd, uint64_t *offset, uint64_t bytes)
{
    if (!*offset)
        *offset = atomic_fetch_add(&kmd->shared->next_kfd_offset,
                                   round_up(bytes, BOARD_DOORBELL_BYTES));
    return *offset;
}

rd_status kmd_doorbells(struct kmd *kmd)
{
    rd_status st = RD_OK;
    pthread_mutex_lock(&kmd->bo_lock);
    kfd_range(kmd, &kmd->doorbell_offset, BOARD_DOORBELL_BYTES);
    if (!kmd->doorbells) {
        void *p = mmap(NULL, BOARD_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                       kmd->kfd_fd, (off_t)kmd->doorbell_offset);
        if (p == MAP_FAILED) {
            st = RD_E_NOMEM;
        } else {
            madvise(p, BOARD_DOORBELL_BYTES, MADV_DONTFORK);
            kmd->doorbells = p;
        }
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

/* A free handle (never 0), growing the table. Lock held. */
static uint32_t new_handle(struct kmd *kmd)
{
    for (uint32_t i = 1; i < kmd->n_bos; i++)
        if (!kmd->bos[i].used)
            return i;
    uint32_t old = kmd->n_bos, grown = old ? old * 2 : 64;
    struct kmd_bo *bos = realloc(kmd->bos, grown * sizeof(*bos));
    if (!bos)
        return 0;
    memset(bos + old, 0, (grown - old) * sizeof(*bos));
    kmd->bos = bos;
    kmd->n_bos = grown;
    return old ? old : 1;
}

struct kmd_bo *kmd_bo_find(struct kmd *kmd, uint32_t handle)
{
    if (!handle || handle >= kmd->n_bos || !kmd->bos[handle].used)
        return NULL;
    return &kmd->bos[handle];
}

static rd_status place(struct kmd *kmd, struct kmd_bo_info *info)
{
    switch (info->kind) {
    case KMD_VRAM:
    case KMD_GTT: {
        rd_status st = kmd_reserve(kmd, info);
        if (st == RD_OK)
            info->offset = atomic_fetch_add(&kmd->shared->next_bo_offset,
                                            round_up(info->bytes, VRAM_ALIGN));
        return st;
    }
    case KMD_USERPTR:
        if (info->offset & (PAGE - 1))
            return RD_E_INVALID;
        return kmd_host_mapped(info->offset, info->bytes, info->flags & KMD_BO_WRITE)
                   ? RD_OK
                   : RD_E_FAULT;
    case KMD_DOORBELL:
        info->offset = kfd_range(kmd, &kmd->doorbell_offset, BOARD_DOORBELL_BYTES);
        return RD_OK;
    case KMD_MMIO:
        info->offset = kfd_range(kmd, &kmd->mmio_offset, PAGE);
        return RD_OK;
    case KMD_ONCHIP:
        return RD_OK;
    }
    return RD_E_INVALID;
}

/* hold: of memory that another handle owns, else 0. */
static rd_status insert(struct kmd *kmd, struct kmd_bo_info *info, int hold,
                        uint32_t *handle)
{
    pthread_mutex_lock(&kmd->bo_lock);
    rd_status st = RD_E_NOMEM;
    uint32_t h = new_handle(kmd);
    if (h)
        st = hold ? RD_OK : place(kmd, info);
    if (st == RD_OK) {
        kmd->bos[h] = (struct kmd_bo){.info = *info, .used = true, .hold = hold};
        *handle = h;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_bo_create(struct kmd *kmd, struct kmd_bo_info *info, uint32_t *handle)
{
    if (!info->bytes || info->bytes > 1ull << 46)
        return RD_E_INVALID;
    info->bytes = round_up(info->bytes, PAGE);
    if (info->flags & KMD_BO_TWICE)
        info->bytes = round_up(info->bytes / 2, PAGE);
    return insert(kmd, info, 0, handle);
}

rd_status kmd_bo_adopt(struct kmd *kmd, const struct kmd_bo_info *info, int hold,
                       uint32_t *handle)
{
    struct kmd_bo_info copy = *info;
    return insert(kmd, &copy, hold, handle);
}

void kmd_punch(struct kmd *kmd, const struct kmd_bo_info *info)
{
    (void)fallocate(kmd->render_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)info->offset, (off_t)info->bytes);
}

/* The handle is gone; its memory too, unless others hold it. */
static void drop_memory(struct kmd *kmd, const struct kmd_bo *bo)
{
    if (bo->info.kind > KMD_GTT)
        return;
    if (bo->hold > 0)
        close(bo->hold);
    else if (!bo->hold)
        kmd_release(kmd, &bo->info);
    if (bo->hold || bo->exported)
        kmd_export_leave(kmd, &bo->info, !bo->hold);
    else
        kmd_punch(kmd, &bo->info);
}

rd_status kmd_bo_info(struct kmd *kmd, uint32_t handle, struct kmd_bo_info *out)
{
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    if (bo)
        *out = bo->info;
    pthread_mutex_unlock(&kmd->bo_lock);
    return bo ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_bo_metadata(struct kmd *kmd, const struct kmd_bo_info *info, void *data,
                          bool set)
{
    _Static_assert(KMD_METADATA_BYTES == GSHARED_METADATA_BYTES, "one size");
    if (info->kind > KMD_GTT)
        return RD_E_INVALID;
    off_t at =
        GSHARED_METADATA + (off_t)(info->offset / VRAM_ALIGN) * GSHARED_METADATA_BYTES;
    if (set)
        return pwrite(kmd->shared_fd, data, KMD_METADATA_BYTES, at) ==
                       KMD_METADATA_BYTES
                   ? RD_OK
                   : RD_E_IO;
    memset(data, 0, KMD_METADATA_BYTES);
    return pread(kmd->shared_fd, data, KMD_METADATA_BYTES, at) < 0 ? RD_E_IO : RD_OK;
}

static uint64_t mapped_bytes(const struct kmd_bo_info *info)
{
    return info->flags & KMD_BO_TWICE ? 2 * info->bytes : info->bytes;
}

/* Put the buffer's bytes at its address. */
rd_status kmd_map_host(struct kmd *kmd, const struct kmd_bo_info *info, uint64_t va,
                       uint64_t offset, uint64_t bytes)
{
    void *at = (void *)(uintptr_t)va;
    if (!kmd_host_replaceable(va, bytes, kmd_backing_fd(kmd, info->kind)))
        return RD_E_INVALID;
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   kmd_backing_fd(kmd, info->kind), (off_t)offset);
    if (p == MAP_FAILED)
        return errno == EINVAL ? RD_E_INVALID : RD_E_NOMEM;
    madvise(p, bytes, MADV_DONTFORK);
    return RD_OK;
}

static const char *const kind_names[] = {"VRAM",     "GTT",  "userptr",
                                         "doorbell", "MMIO", "on chip"};

static rd_status map_locked(struct kmd *kmd, struct kmd_bo *bo)
{
    const struct kmd_bo_info *info = &bo->info;
    if (bo->mapped)
        return RD_OK;
    if (!info->va || (info->va & (PAGE - 1)))
        return RD_E_INVALID;
    rd_status st = RD_OK;
    if (info->kind != KMD_USERPTR) {
        st = kmd_map_host(kmd, info, info->va, info->offset, info->bytes);
        if (st == RD_OK && (info->flags & KMD_BO_TWICE))
            st = kmd_map_host(kmd, info, info->va + info->bytes, info->offset,
                              info->bytes);
    }
    unsigned perm = GPU_READ | (info->flags & KMD_BO_WRITE ? GPU_WRITE : 0) |
                    (info->flags & KMD_BO_EXEC ? GPU_EXEC : 0) |
                    (info->kind == KMD_VRAM ? GPU_LOCAL : 0);
    if (st == RD_OK)
        st = gpu_vm_add(kmd->gpu, info->va, mapped_bytes(info), perm,
                        kind_names[info->kind]);
    bo->mapped = st == RD_OK;
    return st;
}

rd_status kmd_bo_map(struct kmd *kmd, uint32_t handle)
{
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    rd_status st = bo ? map_locked(kmd, bo) : RD_E_NOT_FOUND;
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

bool kmd_bo_file(struct kmd *kmd, uint64_t va, struct gpu_file *out)
{
    bool found = false;
    if (pthread_mutex_trylock(&kmd->bo_lock) != 0)
        return false; /* its holder may wait for the kernel that asks */
    for (uint32_t h = 1; h < kmd->n_bos && !found; h++) {
        const struct kmd_bo_info *info = &kmd->bos[h].info;
        uint64_t in = va - info->va;
        found = kmd->bos[h].used && kmd->bos[h].mapped && info->kind <= KMD_GTT &&
                in < info->bytes;
        if (found)
            *out = (struct gpu_file){.bytes = info->bytes - in,
                                     .fd = kmd->render_fd,
                                     .offset = info->offset + in};
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return found;
}

void kmd_bo_unmapped(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    bool shown = false;
    if (!kmd_smi_heard(kmd) || !kmd_lock_soon(&kmd->bo_lock))
        return;
    for (uint32_t h = 1; h < kmd->n_bos && !shown; h++) {
        const struct kmd_bo_info *info = &kmd->bos[h].info;
        shown = kmd->bos[h].used && info->kind == KMD_USERPTR &&
                !(info->flags & KMD_BO_GEM) && info->offset < va + bytes &&
                va < info->offset + info->bytes;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    if (!shown)
        return;
    kmd_smi_evicted(kmd, KMD_EVICTION_USERPTR);
    kmd_smi_restored(kmd);
}

bool kmd_mapping_fits(struct kmd *kmd, uint64_t offset, uint64_t bytes)
{
    bool fits = true;
    if (pthread_mutex_trylock(&kmd->bo_lock) != 0)
        return true; /* the driver itself maps a buffer, or another thread changes one
                      */
    for (uint32_t h = 1; h < kmd->n_bos && fits; h++) {
        const struct kmd_bo_info *info = &kmd->bos[h].info;
        uint64_t in = offset - info->offset, whole = (info->bytes + 4095) & ~4095ull;
        if (kmd->bos[h].used && info->kind <= KMD_GTT && in < whole)
            fits = bytes <= whole - in;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return fits;
}

/* Does a queue live in the mapping? Lock held. */
static bool in_use(struct kmd *kmd, const struct kmd_bo *bo)
{
    return bo->mapped && kmd_queue_lives_in(kmd, bo->info.va, mapped_bytes(&bo->info));
}

rd_status kmd_bo_unmap(struct kmd *kmd, uint32_t handle)
{
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    rd_status st = bo ? RD_OK : RD_E_NOT_FOUND;
    if (bo && in_use(kmd, bo)) {
        st = RD_E_BUSY;
    } else if (bo && bo->mapped) {
        gpu_vm_remove(kmd->gpu, bo->info.va, mapped_bytes(&bo->info));
        bo->mapped = false;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_bo_free(struct kmd *kmd, uint32_t handle)
{
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    rd_status st = RD_OK;
    if (!bo) {
        st = RD_E_NOT_FOUND;
    } else if ((bo->mapped && bo->info.kind != KMD_USERPTR) || in_use(kmd, bo)) {
        st = RD_E_BUSY;
    } else {
        const struct kmd_bo_info *info = &bo->info;
        if (bo->kernel_va) {
            gpu_vm_remove(kmd->gpu, bo->kernel_va, info->bytes);
            munmap((void *)(uintptr_t)bo->kernel_va, info->bytes);
        }
        if (bo->mapped)
            gpu_vm_remove(kmd->gpu, info->va, mapped_bytes(info));
        kmd_va_forget(kmd, handle);
        kmd_unshare_pages(kmd, bo);
        drop_memory(kmd, bo);
        *bo = (struct kmd_bo){.used = false};
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

void kmd_bo_lose(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->bo_lock);
    uint32_t count = kmd->n_bos;
    pthread_mutex_unlock(&kmd->bo_lock);
    for (uint32_t h = 1; h < count; h++) {
        struct kmd_bo_info info;
        if (kmd_bo_info(kmd, h, &info) == RD_OK && info.flags & KMD_BO_GEM)
            (void)!kmd_bo_free(kmd, h);
    }
}

uint64_t kmd_bo_kernel_map(struct kmd *kmd, uint32_t handle, uint64_t offset)
{
    uint64_t va = 0;
    offset &= ~(PAGE - 1);
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    if (bo && bo->info.kind <= KMD_GTT && offset < bo->info.bytes) {
        if (!bo->kernel_va) {
            void *p = mmap(NULL, bo->info.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           kmd->render_fd, (off_t)bo->info.offset);
            if (p != MAP_FAILED &&
                gpu_vm_add(kmd->gpu, (uintptr_t)p, bo->info.bytes, GPU_READ | GPU_WRITE,
                           "kernel mapping") == RD_OK) {
                madvise(p, bo->info.bytes, MADV_DONTFORK);
                bo->kernel_va = (uintptr_t)p;
            } else if (p != MAP_FAILED) {
                munmap(p, bo->info.bytes);
            }
        }
        va = bo->kernel_va ? bo->kernel_va + offset : 0;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return va;
}

void kmd_bo_inherit(struct kmd *kmd, const struct kmd *from)
{
    struct kmd_bo *bos = calloc(from->n_bos ? from->n_bos : 1, sizeof(*bos));
    if (!bos)
        return;
    for (uint32_t h = 1; h < from->n_bos; h++) {
        const struct kmd_bo *bo = &from->bos[h];
        if (bo->used && bo->info.flags & KMD_BO_GEM)
            bos[h] = (struct kmd_bo){.info = bo->info,
                                     .used = true,
                                     .shared_at = bo->shared_at,
                                     .hold = bo->hold ? bo->hold : -1};
    }
    kmd->bos = bos;
    kmd->n_bos = from->n_bos;
}
