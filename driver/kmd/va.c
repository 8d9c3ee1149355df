/* va.c: GPU addresses at which clients of the render node map buffers.
 *
 * A mapping is a piece of a buffer at an address; mappings do not overlap, and go with
 * the buffer's handle. A GPU address is a host address here: the piece is mapped into
 * the process as well, where the host has such an address; beyond it a mapping is only
 * kept, and what the GPU does there is a page fault. Memory of the client's own that is
 * wanted at a second address becomes pages of the render node's file, which have as
 * many addresses as one likes, and private again with the handle's end.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define PAGE       4096ull
#define VRAM_ALIGN (2ull << 20)
#define HOST_END   0x7ffffffff000ull /* of a process's addresses, and then a hole */

static uint64_t end_of(const struct kmd_va *m)
{
    return m->va + m->bytes;
}

static bool overlaps(const struct kmd_va *m, uint64_t va, uint64_t end)
{
    return m->va < end && va < end_of(m);
}

static bool on_host(uint64_t va, uint64_t bytes)
{
    return va < HOST_END && bytes <= HOST_END - va;
}

/* Room for some more. Lock held. */
static bool room(struct kmd *kmd, unsigned more)
{
    if (kmd->n_vas + more <= kmd->cap_vas)
        return true;
    unsigned cap = 2 * kmd->cap_vas + 16;
    struct kmd_va *vas = realloc(kmd->vas, cap * sizeof(*vas));
    if (!vas)
        return false;
    kmd->vas = vas;
    kmd->cap_vas = cap;
    return true;
}

/* Take a piece of a mapping away from the GPU. */
static void remove_piece(struct kmd *kmd, const struct kmd_va *m, uint64_t va,
                         uint64_t end)
{
    if (m->placed)
        gpu_vm_remove(kmd->gpu, va, end - va);
}

/* Cut a range out of all mappings. Lock held. */
static rd_status clear(struct kmd *kmd, uint64_t va, uint64_t end)
{
    for (unsigned i = 0; i < kmd->n_vas;) {
        struct kmd_va m = kmd->vas[i], right = m;
        if (!overlaps(&m, va, end)) {
            i++;
            continue;
        }
        if (!room(kmd, 1))
            return RD_E_NOMEM;
        uint64_t lo = m.va > va ? m.va : va, hi = end_of(&m) < end ? end_of(&m) : end;
        remove_piece(kmd, &m, lo, hi);
        right.va = hi;
        right.bytes = end_of(&m) - hi;
        right.offset += hi - m.va;
        m.bytes = lo - m.va;
        kmd->vas[i] = m.bytes ? m : right;
        if (m.bytes && right.bytes)
            kmd->vas[kmd->n_vas++] = right;
        else if (!m.bytes && !right.bytes)
            kmd->vas[i] = kmd->vas[--kmd->n_vas];
    }
    return RD_OK;
}

/* The client's own memory as pages of the render node's file. Lock held. */
static rd_status share_pages(struct kmd *kmd, struct kmd_bo *bo)
{
    uint64_t from = bo->info.offset, bytes = bo->info.bytes;
    if (bo->shared_at)
        return RD_OK;
    if (!bytes)
        return RD_E_INVALID;
    uint64_t at = atomic_fetch_add(&kmd->shared->next_bo_offset,
                                   (bytes + VRAM_ALIGN - 1) & ~(VRAM_ALIGN - 1));
    for (uint64_t done = 0; done < bytes;) {
        ssize_t n = pwrite(kmd->render_fd, (const void *)(uintptr_t)(from + done),
                           bytes - done, (off_t)(at + done));
        if (n <= 0)
            return RD_E_FAULT;
        done += (uint64_t)n;
    }
    int prot = PROT_READ | (bo->info.flags & KMD_BO_WRITE ? PROT_WRITE : 0);
    if (mmap((void *)(uintptr_t)from, bytes, prot, MAP_SHARED | MAP_FIXED,
             kmd->render_fd, (off_t)at) == MAP_FAILED)
        return RD_E_NOMEM;
    bo->shared_at = at;
    return RD_OK;
}

void kmd_unshare_pages(struct kmd *kmd, struct kmd_bo *bo)
{
    uint64_t va = bo->info.offset, bytes = bo->info.bytes;
    if (!bo->shared_at || !kmd_host_shows(va, bytes, kmd->render_fd, bo->shared_at))
        return;
    void *now =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED)
        return;
    memcpy(now, (const void *)(uintptr_t)va, bytes);
    if (mremap(now, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               (void *)(uintptr_t)va) == MAP_FAILED)
        munmap(now, bytes);
    else
        kmd_punch(kmd, &(struct kmd_bo_info){.offset = bo->shared_at, .bytes = bytes});
    bo->shared_at = 0;
}

/* Put a piece of a buffer at an address of the host. Lock held. */
static rd_status place(struct kmd *kmd, struct kmd_bo *bo, uint64_t va, uint64_t offset,
                       uint64_t bytes)
{
    uint64_t base = bo->info.offset;
    if (bo->info.kind == KMD_USERPTR) {
        if (va == base + offset)
            return RD_OK;
        rd_status st = share_pages(kmd, bo);
        if (st != RD_OK)
            return st;
        base = bo->shared_at;
    }
    return kmd_map_host(kmd, &bo->info, va, base + offset, bytes);
}

/* Map what is kept of a mapping. Lock held. */
static rd_status show(struct kmd *kmd, struct kmd_bo *bo, struct kmd_va *m)
{
    m->placed = bo->info.kind != KMD_ONCHIP && on_host(m->va, m->bytes);
    if (!m->placed)
        return RD_OK;
    rd_status st = place(kmd, bo, m->va, m->offset, m->bytes);
    if (st == RD_OK)
        st = gpu_vm_add(kmd->gpu, m->va, m->bytes, m->perm, "virtual memory");
    return st;
}

static rd_status map(struct kmd *kmd, uint32_t handle, const struct kmd_va *wanted,
                     bool replace)
{
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    struct kmd_va m = *wanted;
    uint64_t end = end_of(&m);
    if (!bo)
        return RD_E_NOT_FOUND;
    bool memory = bo->info.kind <= KMD_USERPTR;
    if ((!memory && bo->info.kind != KMD_ONCHIP) || m.offset > bo->info.bytes ||
        m.bytes > bo->info.bytes - m.offset)
        return RD_E_INVALID;
    if (replace) {
        rd_status st = clear(kmd, m.va, end);
        if (st != RD_OK)
            return st;
    }
    for (unsigned i = 0; i < kmd->n_vas; i++)
        if (overlaps(&kmd->vas[i], m.va, end))
            return RD_E_INVALID;
    if (!room(kmd, 1))
        return RD_E_NOMEM;
    m.handle = handle;
    m.perm |= bo->info.kind == KMD_VRAM ? GPU_LOCAL : 0;
    rd_status st = show(kmd, bo, &m);
    if (st == RD_OK)
        kmd->vas[kmd->n_vas++] = m;
    return st;
}

rd_status kmd_bo_map_at(struct kmd *kmd, uint32_t handle, uint64_t va, uint64_t offset,
                        uint64_t bytes, bool write, bool replace)
{
    struct kmd_va m = {.va = va,
                       .offset = offset,
                       .bytes = bytes,
                       .perm = GPU_READ | GPU_EXEC | (write ? GPU_WRITE : 0)};
    if ((va | offset | bytes) & (PAGE - 1) || !va || !bytes || va + bytes - 1 < va)
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->bo_lock);
    rd_status st = map(kmd, handle, &m, replace);
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_bo_unmap_at(struct kmd *kmd, uint32_t handle, uint64_t va)
{
    rd_status st = RD_E_NOT_FOUND;
    pthread_mutex_lock(&kmd->bo_lock);
    for (unsigned i = 0; i < kmd->n_vas; i++)
        if (kmd->vas[i].handle == handle && kmd->vas[i].va == va) {
            st = clear(kmd, va, end_of(&kmd->vas[i]));
            break;
        }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_va_clear(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    if ((va | bytes) & (PAGE - 1) || va + bytes < va)
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->bo_lock);
    rd_status st = clear(kmd, va, va + bytes);
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

void kmd_va_forget(struct kmd *kmd, uint32_t handle)
{
    for (unsigned i = 0; i < kmd->n_vas;)
        if (kmd->vas[i].handle == handle) {
            remove_piece(kmd, &kmd->vas[i], kmd->vas[i].va, end_of(&kmd->vas[i]));
            kmd->vas[i] = kmd->vas[--kmd->n_vas];
        } else {
            i++;
        }
}

void kmd_va_inherit(struct kmd *kmd, const struct kmd *from)
{
    for (unsigned i = 0; i < from->n_vas && room(kmd, 1); i++) {
        struct kmd_va m = from->vas[i];
        struct kmd_bo *bo = kmd_bo_find(kmd, m.handle);
        if (bo && show(kmd, bo, &m) == RD_OK)
            kmd->vas[kmd->n_vas++] = m;
    }
}
