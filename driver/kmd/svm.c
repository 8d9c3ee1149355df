/* svm.c: attributes of host memory ranges that the GPU shares.
 *
 * Migration has no meaning here: the attributes are kept for queries, and ranges with
 * GPU access are visible in place. Ranges are sorted and disjoint.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SVM_FLAG_GPU_RO   8u
#define SVM_FLAG_GPU_EXEC 16u

void kmd_svm_init(struct svm *svm)
{
    pthread_mutex_init(&svm->lock, NULL);
}

static bool insert(struct svm *svm, const struct svm_range *r)
{
    if (svm->count == svm->cap) {
        size_t cap = svm->cap ? svm->cap * 2 : 16;
        struct svm_range *ranges = realloc(svm->ranges, cap * sizeof(*ranges));
        if (!ranges)
            return false;
        svm->ranges = ranges;
        svm->cap = cap;
    }
    size_t at = 0;
    while (at < svm->count && svm->ranges[at].start < r->start)
        at++;
    memmove(svm->ranges + at + 1, svm->ranges + at,
            (svm->count - at) * sizeof(*svm->ranges));
    svm->ranges[at] = *r;
    svm->count++;
    return true;
}

/* Cut [start, end) out of the ranges, and out of the GPU's view. */
static bool cut(struct kmd *kmd, uint64_t start, uint64_t end)
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
        if (r.start < start && !insert(svm, &left))
            return false;
        if (r.end > end && !insert(svm, &right))
            return false;
    }
    return true;
}

rd_status kmd_svm_set(struct kmd *kmd, uint64_t va, uint64_t bytes,
                      const struct kmd_svm *attr, bool map)
{
    struct svm_range r = {.start = va, .end = va + bytes, .attr = *attr, .mapped = map};
    unsigned perm = GPU_READ | (attr->flags & SVM_FLAG_GPU_RO ? 0 : GPU_WRITE) |
                    (attr->flags & SVM_FLAG_GPU_EXEC ? GPU_EXEC : 0);
    rd_status st = RD_OK;
    pthread_mutex_lock(&kmd->svm.lock);
    if (map)
        st = gpu_vm_add(kmd->gpu, va, bytes, perm, "shared host memory");
    if (st == RD_OK && (!cut(kmd, va, va + bytes) || !insert(&kmd->svm, &r)))
        st = RD_E_NOMEM;
    pthread_mutex_unlock(&kmd->svm.lock);
    return st;
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
