/* sync_file.c: ioctls on descriptors of fences (Linux' sync_file).
 *
 * Layouts are those of linux/sync_file.h. A fence is of one or more of the hidden
 * rings; those that have ended are not counted, unless all have: then there is one.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/ioctl.h>
#include <linux/sync_file.h>

#include "ctx.h"

/* The newer kernels' hint when a fence will be waited for. */
struct deadline {
    __u64 ns, pad;
};
#define NR_SET_DEADLINE 5

static int state_of(enum kmd_fence state)
{
    return state == KMD_FENCE_FAILED ? -ECANCELED : state == KMD_FENCE_DONE ? 1 : 0;
}

/* Which rings are still counted. Returns how many. */
static unsigned list(struct abi_ctx *ctx, const struct kmd_fences *f,
                     struct kmd_fences parts[KMD_ENGINES])
{
    unsigned n = 0;
    for (unsigned i = 0; i < KMD_ENGINES; i++) {
        struct kmd_fences one = {.number = {0}};
        one.number[i] = f->number[i];
        if (f->number[i] && kmd_fences_state(ctx->kmd, &one) == KMD_FENCE_BUSY)
            parts[n++] = one;
    }
    if (!n)
        parts[n++] = *f;
    return n;
}

static void describe(struct abi_ctx *ctx, const struct kmd_fences *f,
                     struct sync_fence_info *out)
{
    unsigned ring = 0;
    while (ring + 1 < KMD_ENGINES && !f->number[ring])
        ring++;
    *out = (struct sync_fence_info){
        .status = state_of(kmd_fences_state(ctx->kmd, f)),
        .driver_name = "drm_sched",
    };
    out->timestamp_ns = out->status ? abi_now() : 0; /* no later than that */
    snprintf(out->obj_name, sizeof(out->obj_name), "ring %u", ring);
}

static int file_info(struct abi_ctx *ctx, const struct kmd_fences *f,
                     struct sync_file_info *info)
{
    struct kmd_fences parts[KMD_ENGINES];
    struct sync_fence_info all[KMD_ENGINES];
    unsigned n = list(ctx, f, parts);
    if (info->flags || info->pad)
        return -EINVAL;
    if (info->num_fences && info->num_fences < n)
        return -EINVAL;
    for (unsigned i = 0; i < n; i++)
        describe(ctx, &parts[i], &all[i]);
    if (info->num_fences && !abi_put(info->sync_fence_info, all, n * sizeof(all[0])))
        return -EFAULT;
    info->status = state_of(kmd_fences_state(ctx->kmd, f));
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
    kmd_fences_merge(&both, &other);
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
