/* drm_sync.c: ioctls about synchronisation objects, and a submission's use of them.
 *
 * Knows their structs; what an object holds is kmd's. Error numbers differ by call, as
 * the kernel's do.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

#define MAX_HANDLES 4096u
#define SUBMIT_NS   5000000000ull /* the kernel's patience with a point to come */

static const struct kmd_fences nothing; /* has ended */

/* An unknown handle is this call's error, everything else as always. */
static int unknown_is(int error, rd_status st)
{
    return st == RD_E_NOT_FOUND ? -error : abi_errno(st);
}

int abi_sync_create(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_syncobj_create *args = argp;
    (void)size;
    if (args->flags & ~DRM_SYNCOBJ_CREATE_SIGNALED)
        return -EINVAL;
    return abi_errno(
        kmd_syncobj_create(ctx->kmd, args->flags ? &nothing : NULL, &args->handle));
}

int abi_sync_destroy(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_syncobj_destroy *args = argp;
    (void)size;
    return args->pad ? -EINVAL : abi_errno(kmd_syncobj_destroy(ctx->kmd, args->handle));
}

/* The fence of a point, after waiting for it if flags say so. */
static int find_fence(struct abi_ctx *ctx, uint32_t handle, uint64_t point,
                      uint64_t flags, struct kmd_fences *out)
{
    uint64_t end = abi_now() + SUBMIT_NS;
    unsigned turns = 0;
    if (flags & ~(uint64_t)DRM_SYNCOBJ_WAIT_SUBMIT) {
        rd_status st = kmd_syncobj_find(ctx->kmd, handle, 0, out);
        return st == RD_E_NOT_FOUND ? -ENOENT : -EINVAL;
    }
    for (;;) {
        rd_status st = kmd_syncobj_find(ctx->kmd, handle, point, out);
        if (st != RD_E_INVALID || !flags)
            return unknown_is(ENOENT, st);
        if (abi_late(end))
            return -ETIME;
        abi_nap(&turns);
    }
}

int abi_sync_to_fd(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_syncobj_handle *args = argp;
    struct kmd_fences fences;
    int fd;
    (void)size;
    if (args->pad || args->flags & ~DRM_SYNCOBJ_SYNC_FILE)
        return -EINVAL;
    int r = 0;
    if (!args->flags)
        r = abi_errno(kmd_syncobj_export(ctx->kmd, args->handle, &fd));
    else if ((r = find_fence(ctx, args->handle, 0, 0, &fences)) == 0)
        r = abi_errno(kmd_fences_export(ctx->kmd, &fences, &fd));
    if (!r)
        args->fd = fd;
    return r;
}

int abi_sync_from_fd(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_syncobj_handle *args = argp;
    struct kmd_fences fences;
    (void)size;
    if (args->pad || args->flags & ~DRM_SYNCOBJ_SYNC_FILE)
        return -EINVAL;
    if (!args->flags)
        return abi_errno(kmd_syncobj_import(ctx->kmd, args->fd, &args->handle));
    if (kmd_fences_import(ctx->kmd, args->fd, &fences) != RD_OK)
        return -EINVAL;
    return unknown_is(ENOENT, kmd_syncobj_set(ctx->kmd, args->handle, &fences));
}

int abi_sync_transfer(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_syncobj_transfer *args = argp;
    struct kmd_fences fences;
    (void)size;
    if (args->pad)
        return -EINVAL;
    rd_status st = kmd_syncobj_find(ctx->kmd, args->dst_handle, 0, &fences);
    if (st == RD_E_NOT_FOUND)
        return -ENOENT;
    int r = find_fence(ctx, args->src_handle, args->src_point, args->flags, &fences);
    if (r)
        return r;
    st = args->dst_point
             ? kmd_syncobj_add(ctx->kmd, args->dst_handle, args->dst_point, &fences)
             : kmd_syncobj_set(ctx->kmd, args->dst_handle, &fences);
    return unknown_is(ENOENT, st);
}

/* ---- arrays of objects ---- */

struct list {
    uint32_t count;
    uint32_t *handles;
    uint64_t *points;
    /* What a wait has found: what is in the objects later does not matter to it. */
    struct kmd_fences *fences;
    bool *found;
};

static void free_list(struct list *l)
{
    free(l->handles);
    free(l->points);
    free(l->fences);
    free(l->found);
}

/* Read a client's arrays; every handle must exist. points 0: all of them 0. */
static int read_list(struct abi_ctx *ctx, struct list *l, uint64_t handles,
                     uint64_t points, uint32_t count)
{
    *l = (struct list){.count = count};
    if (count > MAX_HANDLES)
        return -ENOMEM;
    l->handles = calloc(count, sizeof(*l->handles));
    l->points = calloc(count, sizeof(*l->points));
    l->fences = calloc(count, sizeof(*l->fences));
    l->found = calloc(count, sizeof(*l->found));
    int r = l->handles && l->points && l->fences && l->found ? 0 : -ENOMEM;
    if (!r && !abi_get(l->handles, handles, count * sizeof(*l->handles)))
        r = -EFAULT;
    for (uint32_t i = 0; i < count && !r; i++) {
        struct kmd_fences f;
        if (kmd_syncobj_find(ctx->kmd, l->handles[i], 0, &f) == RD_E_NOT_FOUND)
            r = -ENOENT;
    }
    if (!r && points && !abi_get(l->points, points, count * sizeof(*l->points)))
        r = -EFAULT;
    if (r)
        free_list(l);
    return r;
}

/* How many of the list are as they are waited for; -EINVAL: one is not there, and is
 * not waited for. */
static int look_at(struct abi_ctx *ctx, struct list *l, uint32_t flags, uint32_t *first)
{
    bool later = flags & (DRM_SYNCOBJ_WAIT_SUBMIT | DRM_SYNCOBJ_WAIT_AVAILABLE);
    int done = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        struct kmd_fences *f = &l->fences[i];
        l->found[i] = l->found[i] || kmd_syncobj_find(ctx->kmd, l->handles[i],
                                                      l->points[i], f) == RD_OK;
        if (!l->found[i]) {
            if (!later)
                return -EINVAL;
            continue;
        }
        bool is = flags & DRM_SYNCOBJ_WAIT_AVAILABLE ||
                  kmd_fences_state(ctx->kmd, f) != KMD_FENCE_BUSY;
        if (is && !done++)
            *first = i;
    }
    return done;
}

static int wait_for(struct abi_ctx *ctx, struct list *l, uint32_t flags,
                    int64_t deadline, uint32_t *first)
{
    unsigned turns = 0;
    *first = UINT32_MAX;
    for (;;) {
        int done = look_at(ctx, l, flags, first);
        if (done < 0)
            return done;
        if (flags & DRM_SYNCOBJ_WAIT_ALL ? done == (int)l->count : done > 0)
            return 0;
        if (deadline <= 0 || abi_late((uint64_t)deadline))
            return -ETIME;
        abi_nap(&turns);
    }
}

int abi_sync_wait(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_syncobj_wait *args = argp;
    struct list l;
    (void)size;
    if (args->flags &
        ~(DRM_SYNCOBJ_WAIT_ALL | DRM_SYNCOBJ_WAIT_SUBMIT | DRM_SYNCOBJ_WAIT_DEADLINE))
        return -EINVAL;
    if (!args->count_handles)
        return 0;
    int r = read_list(ctx, &l, args->handles, 0, args->count_handles);
    if (r)
        return r;
    r = wait_for(ctx, &l, args->flags, args->timeout_nsec, &args->first_signaled);
    free_list(&l);
    return r;
}

int abi_sync_timeline_wait(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_syncobj_timeline_wait *args = argp;
    struct list l;
    (void)size;
    if (args->flags & ~(DRM_SYNCOBJ_WAIT_ALL | DRM_SYNCOBJ_WAIT_SUBMIT |
                        DRM_SYNCOBJ_WAIT_AVAILABLE | DRM_SYNCOBJ_WAIT_DEADLINE))
        return -EINVAL;
    if (!args->count_handles)
        return 0;
    int r = read_list(ctx, &l, args->handles, args->points, args->count_handles);
    if (r)
        return r;
    r = wait_for(ctx, &l, args->flags, args->timeout_nsec, &args->first_signaled);
    free_list(&l);
    return r;
}

/* Empty objects, or let them have ended. */
static int set_all(struct abi_ctx *ctx, const struct drm_syncobj_array *args,
                   const struct kmd_fences *fences)
{
    struct list l;
    if (args->pad || !args->count_handles)
        return -EINVAL;
    int r = read_list(ctx, &l, args->handles, 0, args->count_handles);
    if (r)
        return r;
    for (uint32_t i = 0; i < l.count && !r; i++)
        r = abi_errno(kmd_syncobj_set(ctx->kmd, l.handles[i], fences));
    free_list(&l);
    return r;
}

int abi_sync_reset(struct abi_ctx *ctx, void *argp, size_t size)
{
    (void)size;
    return set_all(ctx, argp, NULL);
}

int abi_sync_signal(struct abi_ctx *ctx, void *argp, size_t size)
{
    (void)size;
    return set_all(ctx, argp, &nothing);
}

int abi_sync_timeline_signal(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_syncobj_timeline_array *args = argp;
    struct list l;
    (void)size;
    if (args->flags || !args->count_handles)
        return -EINVAL;
    int r = read_list(ctx, &l, args->handles, args->points, args->count_handles);
    if (r)
        return r;
    for (uint32_t i = 0; i < l.count && !r; i++)
        r = abi_errno(kmd_syncobj_add(ctx->kmd, l.handles[i], l.points[i], &nothing));
    free_list(&l);
    return r;
}

int abi_sync_query(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_syncobj_timeline_array *args = argp;
    struct list l;
    (void)size;
    if (args->flags & ~DRM_SYNCOBJ_QUERY_SUBMITTED || !args->count_handles)
        return -EINVAL;
    int r = read_list(ctx, &l, args->handles, 0, args->count_handles);
    if (r)
        return r;
    for (uint32_t i = 0; i < l.count && !r; i++)
        r = abi_errno(
            kmd_syncobj_query(ctx->kmd, l.handles[i], args->flags != 0, &l.points[i]));
    if (!r && !abi_put(args->points, l.points, l.count * sizeof(*l.points)))
        r = -EFAULT;
    free_list(&l);
    return r;
}

int abi_sync_eventfd(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_syncobj_eventfd *args = argp;
    struct kmd_fences f;
    (void)size;
    if (args->pad || args->flags & ~DRM_SYNCOBJ_WAIT_AVAILABLE)
        return -EINVAL;
    if (kmd_syncobj_find(ctx->kmd, args->handle, 0, &f) == RD_E_NOT_FOUND)
        return -ENOENT;
    if (!abi_is_open(args->fd))
        return -EBADF;
    return unknown_is(ENOENT, kmd_syncobj_eventfd(ctx->kmd, args->handle, args->point,
                                                  args->flags != 0, args->fd));
}

int abi_fence_to_handle(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_fence_to_handle *args = argp;
    struct kmd_fences fences = {.number = {0}};
    enum kmd_engine engine;
    (void)size;
    int r = abi_fence_of(ctx, &args->in.fence, &engine);
    if (r)
        return r;
    fences.number[engine] = args->in.fence.seq_no;
    uint32_t what = args->in.what, handle = 0;
    int fd = -1;
    if (what == AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD) {
        r = abi_errno(kmd_fences_export(ctx->kmd, &fences, &fd));
    } else if (what > AMDGPU_FENCE_TO_HANDLE_GET_SYNC_FILE_FD) {
        return -EINVAL;
    } else {
        r = abi_errno(kmd_syncobj_create(ctx->kmd, &fences, &handle));
        if (!r && what == AMDGPU_FENCE_TO_HANDLE_GET_SYNCOBJ_FD) {
            r = abi_errno(kmd_syncobj_export(ctx->kmd, handle, &fd));
            (void)!kmd_syncobj_destroy(ctx->kmd, handle);
        }
    }
    if (!r)
        args->out.handle = fd >= 0 ? (uint32_t)fd : handle;
    return r;
}

/* ---- of a submission ---- */

int abi_sync_before(struct abi_ctx *ctx, const void *data, size_t bytes, bool timeline,
                    struct kmd_fences *out)
{
    const struct drm_amdgpu_cs_chunk_syncobj *points = data;
    const struct drm_amdgpu_cs_chunk_sem *handles = data;
    size_t n = bytes / (timeline ? sizeof(*points) : sizeof(*handles));
    for (size_t i = 0; i < n; i++) {
        struct kmd_fences f;
        int r = timeline ? find_fence(ctx, points[i].handle, points[i].point,
                                      points[i].flags, &f)
                         : find_fence(ctx, handles[i].handle, 0, 0, &f);
        if (r)
            return r;
        kmd_fences_merge(ctx->kmd, out, &f);
    }
    return 0;
}

int abi_sync_after(struct abi_ctx *ctx, const void *data, size_t bytes, bool timeline,
                   const struct kmd_fences *fences)
{
    const struct drm_amdgpu_cs_chunk_syncobj *points = data;
    const struct drm_amdgpu_cs_chunk_sem *handles = data;
    size_t n = bytes / (timeline ? sizeof(*points) : sizeof(*handles));
    for (size_t i = 0; i < n; i++) {
        uint32_t handle = timeline ? points[i].handle : handles[i].handle;
        uint64_t point = timeline ? points[i].point : 0;
        struct kmd_fences f;
        rd_status st;
        if (!fences) /* only look whether it is there */
            st = kmd_syncobj_find(ctx->kmd, handle, 0, &f) == RD_E_NOT_FOUND
                     ? RD_E_INVALID
                     : RD_OK;
        else
            st = point ? kmd_syncobj_add(ctx->kmd, handle, point, fences)
                       : kmd_syncobj_set(ctx->kmd, handle, fences);
        if (st != RD_OK)
            return abi_errno(st);
    }
    return 0;
}
