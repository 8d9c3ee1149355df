/* svm.c: attributes of host memory ranges that the GPU shares.
 *
 * Pages stay where they are: the attributes are kept for queries, and ranges with GPU
 * access are visible in place. A prefetch is told to those who listen as the migration
 * that it is for the client, from system memory: whether the host has touched the pages
 * since they last went, which brings them back, is not known here. Those that are there
 * by that account are not counted as moved again. Ranges are sorted and disjoint.
 *
 * Source: the lines' formats and triggers in kfd_ioctl.h (Linux 6.12).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SVM_FLAG_GPU_RO   8u
#define SVM_FLAG_GPU_EXEC 16u

#define SYSTEM           0u         /* places: this, the GPU's id, or */
#define NOWHERE          UINT32_MAX /* not said */
#define TRIGGER_PREFETCH 0
#define TRIGGER_UNMAP    2 /* the client has unmapped it */
#define PAGE_BITS        12

void kmd_svm_init(struct svm *svm)
{
    pthread_mutex_init(&svm->lock, NULL);
}

/* Room for what cut() and insert() may add: halves of a range and a new one. */
static bool make_room(struct svm *svm)
{
    size_t cap = svm->count + 3;
    if (cap <= svm->cap)
        return true;
    cap = cap < 16 ? 16 : 2 * cap;
    struct svm_range *ranges = realloc(svm->ranges, cap * sizeof(*ranges));
    if (!ranges)
        return false;
    svm->ranges = ranges;
    svm->cap = cap;
    return true;
}

/* There is room. */
static void insert(struct svm *svm, const struct svm_range *r)
{
    size_t at = 0;
    while (at < svm->count && svm->ranges[at].start < r->start)
        at++;
    memmove(svm->ranges + at + 1, svm->ranges + at,
            (svm->count - at) * sizeof(*svm->ranges));
    svm->ranges[at] = *r;
    svm->count++;
}

/* Cut [start, end) out of the ranges, and out of the GPU's view. There is room. */
static void cut(struct kmd *kmd, uint64_t start, uint64_t end)
{
    struct svm *svm = &kmd->svm;
    for (size_t i = 0; i < svm->count;) {
        struct svm_range r = svm->ranges[i];
        if (r.end <= start || r.start >= end) {
            i++;
            continue;
        }
        svm->count--;
        memmove(svm->ranges + i, svm->ranges + i + 1,
                (svm->count - i) * sizeof(*svm->ranges));
        uint64_t lo = r.start > start ? r.start : start;
        uint64_t hi = r.end < end ? r.end : end;
        if (r.mapped)
            gpu_vm_remove(kmd->gpu, lo, hi - lo);
        struct svm_range left = r, right = r;
        left.end = start;
        right.start = end;
        if (r.start < start)
            insert(svm, &left);
        if (r.end > end)
            insert(svm, &right);
    }
}

/* What the GPU has mapped cannot move while queues run. */
static void tell(struct kmd *kmd, uint64_t start, uint64_t end, uint32_t from,
                 const struct kmd_svm *attr, bool mapped)
{
    const uint64_t page = start >> PAGE_BITS, pages = (end - start) >> PAGE_BITS;
    const int pid = (int)kmd->proc->pid;
    const uint32_t to = attr->prefetch_loc;
    struct kmd_clocks now;
    kmd_clocks(kmd, &now);
    kmd_smi_event(kmd, KMD_SMI_MIGRATE_START,
                  "%" PRIu64 " -%d @%" PRIx64 "(%" PRIx64 ") %x->%x %x:%x %d\n",
                  now.system_ns, pid, page, pages, from, to, to, attr->preferred_loc,
                  TRIGGER_PREFETCH);
    if (mapped)
        kmd_smi_evicted(kmd, KMD_EVICTION_SVM);
    kmd_clocks(kmd, &now);
    kmd_smi_event(kmd, KMD_SMI_MIGRATE_END,
                  "%" PRIu64 " -%d @%" PRIx64 "(%" PRIx64 ") %x->%x %d\n",
                  now.system_ns, pid, page, pages, from, to, TRIGGER_PREFETCH);
    if (mapped)
        kmd_smi_restored(kmd);
}

/* Lock held. */
static bool any_mapped(const struct svm *svm, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < svm->count; i++)
        if (svm->ranges[i].mapped && svm->ranges[i].end > start &&
            svm->ranges[i].start < end)
            return true;
    return false;
}

static bool on_board(const struct svm_range *r)
{
    return r->attr.prefetch_loc != SYSTEM && r->attr.prefetch_loc != NOWHERE;
}

/* The range goes to attr's prefetch_loc: all of it to the GPU, as far as it is not
 * there already, and back what was sent there. Lock held, old attributes in place. */
static void migrate(struct kmd *kmd, uint64_t start, uint64_t end,
                    const struct kmd_svm *attr)
{
    const bool leave = attr->prefetch_loc == SYSTEM;
    uint64_t there = 0;
    if (attr->prefetch_loc == NOWHERE)
        return;
    for (size_t i = 0; i < kmd->svm.count; i++) {
        const struct svm_range *r = &kmd->svm.ranges[i];
        uint64_t lo = r->start > start ? r->start : start;
        uint64_t hi = r->end < end ? r->end : end;
        if (lo >= hi || !on_board(r))
            continue;
        there += hi - lo;
        if (leave)
            tell(kmd, lo, hi, r->attr.prefetch_loc, attr, r->mapped);
    }
    if (leave) {
        atomic_fetch_add(&kmd->svm.pages_out, there >> PAGE_BITS);
        return;
    }
    atomic_fetch_add(&kmd->svm.pages_in, (end - start - there) >> PAGE_BITS);
    tell(kmd, start, end, SYSTEM, attr, any_mapped(&kmd->svm, start, end));
}

rd_status kmd_svm_set(struct kmd *kmd, uint64_t va, uint64_t bytes,
                      const struct kmd_svm *attr, bool map, bool prefetch)
{
    struct svm_range r = {.start = va, .end = va + bytes, .attr = *attr, .mapped = map};
    unsigned perm = GPU_READ | (attr->flags & SVM_FLAG_GPU_RO ? 0 : GPU_WRITE) |
                    (attr->flags & SVM_FLAG_GPU_EXEC ? GPU_EXEC : 0);
    rd_status st = RD_OK;
    pthread_mutex_lock(&kmd->svm.lock);
    if (!make_room(&kmd->svm))
        st = RD_E_NOMEM;
    if (st == RD_OK && map)
        st = gpu_vm_add(kmd->gpu, va, bytes, perm, "shared host memory");
    if (st == RD_OK) {
        if (prefetch)
            migrate(kmd, va, va + bytes, attr);
        cut(kmd, va, va + bytes);
        insert(&kmd->svm, &r);
    }
    pthread_mutex_unlock(&kmd->svm.lock);
    return st;
}

/* What the GPU had of memory that the client unmaps. Lock held. */
static void tell_unmapped(struct kmd *kmd, uint64_t start, uint64_t end)
{
    struct kmd_clocks now;
    kmd_clocks(kmd, &now);
    for (size_t i = 0; i < kmd->svm.count; i++) {
        const struct svm_range *r = &kmd->svm.ranges[i];
        uint64_t lo = r->start > start ? r->start : start;
        uint64_t hi = r->end < end ? r->end : end;
        if (r->mapped && lo < hi)
            kmd_smi_event(kmd, KMD_SMI_UNMAP,
                          "%" PRIu64 " -%d @%" PRIx64 "(%" PRIx64 ") %x %d\n",
                          now.system_ns, (int)kmd->proc->pid, lo >> PAGE_BITS,
                          (hi - lo) >> PAGE_BITS, BOARD_GPU_ID, TRIGGER_UNMAP);
    }
}

static bool overlaps(const struct svm *svm, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < svm->count; i++)
        if (svm->ranges[i].end > start && svm->ranges[i].start < end)
            return true;
    return false;
}

/* Whoever unmaps memory calls this, also threads of the GPU with its locks held, but
 * these have no memory in any range: so they wait for the lock for a while only. */
void kmd_svm_unmapped(struct kmd *kmd, uint64_t va, uint64_t bytes)
{
    struct svm *svm = &kmd->svm;
    uint64_t end = (va + bytes + 4095) & ~4095ull;
    if (!__atomic_load_n(&svm->count, __ATOMIC_RELAXED))
        return;
    if (!kmd_lock_soon(&svm->lock))
        return;
    if (overlaps(svm, va, end) && make_room(svm)) {
        tell_unmapped(kmd, va, end);
        cut(kmd, va, end);
    }
    pthread_mutex_unlock(&svm->lock);
}

bool kmd_svm_get(struct kmd *kmd, uint64_t va, uint64_t bytes, struct kmd_svm *out)
{
    bool any = false, same = true;
    uint64_t covered = va;
    pthread_mutex_lock(&kmd->svm.lock);
    for (size_t i = 0; i < kmd->svm.count; i++) {
        const struct svm_range *r = &kmd->svm.ranges[i];
        if (r->end <= va || r->start >= va + bytes)
            continue;
        if (!any)
            *out = r->attr;
        else {
            out->flags &= r->attr.flags;
            same = same && out->preferred_loc == r->attr.preferred_loc;
            out->access = out->access && r->attr.access;
            out->access_in_place = out->access_in_place && r->attr.access_in_place;
            if (r->attr.granularity < out->granularity)
                out->granularity = r->attr.granularity;
            if (out->prefetch_loc != r->attr.prefetch_loc)
                out->prefetch_loc = UINT32_MAX;
        }
        if (!same)
            out->preferred_loc = UINT32_MAX;
        any = true;
        if (r->start <= covered)
            covered = r->end;
    }
    pthread_mutex_unlock(&kmd->svm.lock);
    return any && covered >= va + bytes;
}

void kmd_svm_moved(struct kmd *kmd, uint64_t *in, uint64_t *out)
{
    *in = atomic_load(&kmd->svm.pages_in);
    *out = atomic_load(&kmd->svm.pages_out);
}
