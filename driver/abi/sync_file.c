/* sync_file.c: ioctls on descriptors of fences (Linux' sync_file) and on software
 * timelines (its sw_sync).
 *
 * Layouts are those of linux/sync_file.h; the timelines' are in no header. A fence is
 * of points of timelines, and of one or more of the hidden rings; those that have ended
 * are not counted, unless all have: then there is one. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/ioctl.h>
#include <linux/sync_file.h>

#include "ctx.h"

/* The newer kernels' hint when a fence will be waited for. */
struct deadline {
    __u64 ns, pad;
};
#define NR_SET_DEADLINE 5

#define MAX_POINTS 256u /* that are told of */

static int state_of(enum kmd_fence state, bool soft)
{
    static const int failed[] = {-ECANCELED, -ENOENT}; /* that of a closed timeline */
    return state == KMD_FENCE_FAILED ? failed[soft] : state == KMD_FENCE_DONE ? 1 : 0;
}

static void describe(struct sync_fence_info *out, enum kmd_fence state, bool soft,
                     unsigned which)
{
    *out = (struct sync_fence_info){.status = state_of(state, soft)};
    out->timestamp_ns = out->status ? abi_now() : 0; /* no later than that */
    snprintf(out->driver_name, sizeof(out->driver_name),
             soft ? "sw_sync" : "drm_sched");
    snprintf(out->obj_name, sizeof(out->obj_name), soft ? "timeline %u" : "ring %u",
             which);
}

/* The rings that still count, and all points of timelines. Returns how many. */
static unsigned list(struct abi_ctx *ctx, const struct kmd_fences *f,
                     struct sync_fence_info *out)
{
    enum kmd_fence points[MAX_POINTS];
    unsigned n = 0, ring = 0;
    unsigned soft = kmd_soft_list(ctx->kmd, f->soft, points, MAX_POINTS);
    for (unsigned i = 0; i < KMD_ENGINES; i++) {
        struct kmd_fences one = {.number = {0}};
        one.number[i] = f->number[i];
        if (!f->number[i])
            continue;
        ring = i;
        if (kmd_fences_state(ctx->kmd, &one) == KMD_FENCE_BUSY)
            describe(&out[n++], KMD_FENCE_BUSY, false, i);
    }
    for (unsigned i = 0; i < soft && i < MAX_POINTS; i++)
        describe(&out[n++], points[i], true, i);
    if (!n)
        describe(&out[n++], kmd_fences_state(ctx->kmd, f), false, ring);
    return n;
}

static int file_info(struct abi_ctx *ctx, const struct kmd_fences *f,
                     struct sync_file_info *info)
{
    struct sync_fence_info all[KMD_ENGINES + MAX_POINTS];
    if (info->flags || info->pad)
        return -EINVAL;
    unsigned n = list(ctx, f, all);
    if (info->num_fences && info->num_fences < n)
        return -EINVAL;
    if (info->num_fences && !abi_put(info->sync_fence_info, all, n * sizeof(all[0])))
        return -EFAULT;
    bool soft = kmd_soft_state(ctx->kmd, f->soft) == KMD_FENCE_FAILED;
    info->status = state_of(kmd_fences_state(ctx->kmd, f), soft);
    info->num_fences = n;
    memcpy(info->name, all[0].obj_name, sizeof(info->name));
    return 0;
}

static int merge(struct abi_ctx *ctx, const struct kmd_fences *f,
                 struct sync_merge_data *args)
{
    struct kmd_fences both = *f, other;
    int fd;
    if (args->flags || args->pad)
        return -EINVAL;
    if (kmd_fences_import(ctx->kmd, args->fd2, &other) != RD_OK)
        return -ENOENT;
    kmd_fences_merge(ctx->kmd, &both, &other);
    int r = abi_errno(kmd_fences_export(ctx->kmd, &both, &fd));
    if (!r)
        args->fence = fd;
    return r;
}

bool abi_sync_file(struct abi_ctx *ctx, int fd, unsigned long cmd, uint64_t arg,
                   int *result)
{
    union {
        struct sync_merge_data merge;
        struct sync_file_info info;
        struct deadline deadline;
    } args = {.info = {.flags = 0}};
    struct kmd_fences f;
    size_t size = _IOC_SIZE(cmd);
    if (_IOC_TYPE(cmd) != '>' || kmd_fences_import(ctx->kmd, fd, &f) != RD_OK)
        return false;
    bool known = cmd == SYNC_IOC_MERGE || cmd == SYNC_IOC_FILE_INFO ||
                 cmd == _IOW('>', NR_SET_DEADLINE, struct deadline);
    int r = !known ? -ENOTTY : abi_get(&args, arg, size) ? 0 : -EFAULT;
    if (!r && cmd == SYNC_IOC_MERGE)
        r = merge(ctx, &f, &args.merge);
    else if (!r && cmd == SYNC_IOC_FILE_INFO)
        r = file_info(ctx, &f, &args.info);
    else if (!r)
        r = args.deadline.pad ? -EINVAL : 0;
    if (!r && _IOC_DIR(cmd) & _IOC_READ && !abi_put(arg, &args, size))
        r = -EFAULT;
    *result = r;
    return true;
}

/* As drivers/dma-buf/sw_sync.c takes them. */
struct timeline_fence {
    __u32 value;
    char name[32];
    __s32 fence;
};
#define TIMELINE_FENCE   _IOWR('W', 0, struct timeline_fence)
#define TIMELINE_ADVANCE _IOW('W', 1, __u32)

static int timeline_fence(struct abi_ctx *ctx, int fd, uint64_t arg)
{
    struct timeline_fence args;
    int fence;
    if (!abi_get(&args, arg, sizeof(args)))
        return -EFAULT;
    int r = abi_errno(kmd_timeline_fence(ctx->kmd, fd, args.value, &fence));
    if (r)
        return r;
    args.fence = fence;
    if (abi_put(arg, &args, sizeof(args)))
        return 0;
    close(fence);
    return -EFAULT;
}

bool abi_timeline(struct abi_ctx *ctx, int fd, unsigned long cmd, uint64_t arg,
                  int *result)
{
    uint32_t count;
    if (_IOC_TYPE(cmd) != 'W' || !kmd_timeline_is(ctx->kmd, fd))
        return false;
    if (cmd == TIMELINE_FENCE)
        *result = timeline_fence(ctx, fd, arg);
    else if (cmd != TIMELINE_ADVANCE)
        *result = -ENOTTY;
    else if (!abi_get(&count, arg, sizeof(count)))
        *result = -EFAULT;
    else
        *result = abi_errno(kmd_timeline_advance(ctx->kmd, fd, count));
    return true;
}
