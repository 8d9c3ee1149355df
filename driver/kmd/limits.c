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

void kmd_use_clear(struct gshared_use *use)
{
    atomic_store(&use->vram_bytes, 0);
    atomic_store(&use->vram_aligned, 0);
    atomic_store(&use->graphics_bytes, 0);
    atomic_store(&use->gtt_bytes, 0);
}

/* Returns whether it is anything. */
static bool add(struct usage *u, const struct gshared_use *use)
{
    struct usage p = {atomic_load(&use->vram_bytes), atomic_load(&use->vram_aligned),
                      atomic_load(&use->graphics_bytes), atomic_load(&use->gtt_bytes)};
    u->compute += p.compute;
    u->compute_aligned += p.compute_aligned;
    u->graphics += p.graphics;
    u->gtt += p.gtt;
    return p.compute || p.graphics || p.gtt;
}

static struct usage sum(struct kmd *kmd)
{
    struct usage u = {.compute = 0};
    kmd_export_sweep(kmd);
    (void)add(&u, &kmd->shared->orphan_use);
    for (unsigned i = 0; i < GSHARED_PROCS; i++) {
        struct gshared_proc *proc = &kmd->shared->procs[i];
        struct usage with = u;
        int32_t pid = atomic_load(&proc->pid);
        if (!pid)
            break;
        if (add(&with, &proc->use) && proc != kmd->proc && kill(pid, 0) != 0 &&
            errno == ESRCH && atomic_load(&proc->pid) == pid)
            kmd_use_clear(&proc->use);
        else
            u = with;
    }
    return u;
}

static void count(struct gshared_use *use, const struct kmd_bo_info *info, bool more)
{
    bool graphics = info->flags & KMD_BO_GRAPHICS, vram = info->kind == KMD_VRAM;
    uint64_t sign = more ? 1 : UINT64_MAX;
    if (vram && !graphics)
        atomic_fetch_add(&use->vram_aligned, sign * align_up(info->bytes));
    atomic_fetch_add(!vram      ? &use->gtt_bytes
                     : graphics ? &use->graphics_bytes
                                : &use->vram_bytes,
                     sign * info->bytes);
}

rd_status kmd_reserve(struct kmd *kmd, const struct kmd_bo_info *info)
{
    const struct board_memory *m = &kmd->shared->memory;
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
    count(&kmd->proc->use, info, true);
    return RD_OK;
}

void kmd_release(struct kmd *kmd, const struct kmd_bo_info *info)
{
    count(&kmd->proc->use, info, false);
}

void kmd_count_orphan(struct kmd *kmd, const struct kmd_bo_info *info, bool more)
{
    count(&kmd->shared->orphan_use, info, more);
    atomic_fetch_add(&kmd->shared->orphans, more ? 1u : UINT32_MAX);
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

uint64_t kmd_process_vram(struct kmd *kmd)
{
    return atomic_load(&kmd->proc->use.vram_bytes);
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
