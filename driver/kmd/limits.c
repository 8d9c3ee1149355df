/* limits.c: how much memory there is, who uses it, and what is refused.
 *
 * As the kernel keeps it: compute memory is pinned as long as its queues may run, so
 * what does not fit is refused, whatever graphics uses; buffers of graphics move to GTT
 * when the VRAM is full, and are refused when that is full as well. Which of them have
 * moved is not kept, only how much. Sums are over all processes; one that has died has
 * given everything back.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>

#include "internal.h"

#define AVAILABLE_ALIGN (2ull << 20)

struct usage {
    uint64_t compute, compute_aligned; /* VRAM of buffers from /dev/kfd; in 2 MiB */
    uint64_t graphics;                 /* VRAM of buffers from the render node */
    uint64_t gtt;
};

static uint64_t align_up(uint64_t bytes)
{
    return (bytes + AVAILABLE_ALIGN - 1) & ~(AVAILABLE_ALIGN - 1);
}

static void clear_dead(struct gshared_proc *proc)
{
    atomic_store(&proc->vram_bytes, 0);
    atomic_store(&proc->vram_aligned, 0);
    atomic_store(&proc->graphics_bytes, 0);
    atomic_store(&proc->gtt_bytes, 0);
}

static struct usage sum(struct kmd *kmd)
{
    struct usage u = {.compute = 0};
    for (unsigned i = 0; i < GSHARED_PROCS; i++) {
        struct gshared_proc *proc = &kmd->shared->procs[i];
        int32_t pid = atomic_load(&proc->pid);
        if (!pid)
            break;
        struct usage p = {
            atomic_load(&proc->vram_bytes), atomic_load(&proc->vram_aligned),
            atomic_load(&proc->graphics_bytes), atomic_load(&proc->gtt_bytes)};
        if (!(p.compute | p.graphics | p.gtt))
            continue;
        if (proc != kmd->proc && kill(pid, 0) != 0 && errno == ESRCH) {
            clear_dead(proc);
            continue;
        }
        u.compute += p.compute;
        u.compute_aligned += p.compute_aligned;
        u.graphics += p.graphics;
        u.gtt += p.gtt;
    }
    return u;
}

rd_status kmd_reserve(struct kmd *kmd, const struct kmd_bo_info *info)
{
    const struct board_memory *m = &kmd->shared->memory;
    struct gshared_proc *proc = kmd->proc;
    struct usage u = sum(kmd);
    uint64_t bytes = info->bytes;
    bool graphics = info->flags & KMD_BO_GRAPHICS, vram = info->kind == KMD_VRAM;
    if (bytes > (vram ? m->vram_bytes : m->gtt_bytes) ||
        u.compute + u.graphics + u.gtt + bytes > m->vram_bytes + m->gtt_bytes)
        return RD_E_NOMEM;
    if (vram && !graphics && u.compute + bytes > m->vram_bytes - m->reserved_bytes)
        return RD_E_NOMEM;
    if (!vram && u.gtt + bytes > m->gtt_bytes)
        return RD_E_NOMEM;
    if (vram && !graphics)
        atomic_fetch_add(&proc->vram_aligned, align_up(bytes));
    atomic_fetch_add(!vram      ? &proc->gtt_bytes
                     : graphics ? &proc->graphics_bytes
                                : &proc->vram_bytes,
                     bytes);
    return RD_OK;
}

void kmd_release(struct kmd *kmd, const struct kmd_bo_info *info)
{
    struct gshared_proc *proc = kmd->proc;
    bool graphics = info->flags & KMD_BO_GRAPHICS, vram = info->kind == KMD_VRAM;
    if (vram && !graphics)
        atomic_fetch_sub(&proc->vram_aligned, align_up(info->bytes));
    atomic_fetch_sub(!vram      ? &proc->gtt_bytes
                     : graphics ? &proc->graphics_bytes
                                : &proc->vram_bytes,
                     info->bytes);
}

uint64_t kmd_vram_size(struct kmd *kmd)
{
    return kmd->shared->memory.vram_bytes;
}

uint64_t kmd_vram_available(struct kmd *kmd)
{
    const struct board_memory *m = &kmd->shared->memory;
    uint64_t used = sum(kmd).compute_aligned + m->reserved_bytes;
    return used >= m->vram_bytes ? 0 : (m->vram_bytes - used) & ~(AVAILABLE_ALIGN - 1);
}

void kmd_memory(struct kmd *kmd, struct kmd_memory *out)
{
    const struct board_memory *m = &kmd->shared->memory;
    struct usage u = sum(kmd);
    uint64_t wanted = u.compute + u.graphics;
    uint64_t moved = wanted > m->vram_bytes ? wanted - m->vram_bytes : 0;
    *out = (struct kmd_memory){.vram_bytes = m->vram_bytes,
                               .vram_reserved = m->reserved_bytes,
                               .vram_used = wanted - moved,
                               .gtt_bytes = m->gtt_bytes,
                               .gtt_used = u.gtt + moved};
}
