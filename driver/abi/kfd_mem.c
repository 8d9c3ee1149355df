/* kfd_mem.c: /dev/kfd ioctls about memory.
 *
 * A client's handle is the GPU's id over the device model's. Sizes and flags are
 * checked as the kernel checks them before the model sees them.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <string.h>

#include "ctx.h"
#include "ipc.h"

#define PAGE 4096ull
/* KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE, which the header shifts into the sign bit */
#define ALLOC_WRITABLE 0x80000000u

static uint64_t make_handle(uint32_t bo)
{
    return (uint64_t)BOARD_GPU_ID << 32 | bo;
}

static bool split_handle(uint64_t handle, uint32_t *bo)
{
    *bo = (uint32_t)handle;
    return abi_gpu((uint32_t)(handle >> 32));
}

static int memory_kind(const struct kfd_ioctl_alloc_memory_of_gpu_args *args,
                       enum kmd_bo_kind *kind)
{
    switch (args->flags & 0x1f) {
    case KFD_IOC_ALLOC_MEM_FLAGS_VRAM:
        *kind = KMD_VRAM;
        return 0;
    case KFD_IOC_ALLOC_MEM_FLAGS_GTT:
        *kind = KMD_GTT;
        return 0;
    case KFD_IOC_ALLOC_MEM_FLAGS_USERPTR:
        *kind = KMD_USERPTR;
        /* GPU addresses are host addresses here: no second address for host memory */
        return args->mmap_offset & (PAGE - 1) || args->va_addr != args->mmap_offset
                   ? -EINVAL
                   : 0;
    case KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL:
        *kind = KMD_DOORBELL;
        return args->size == BOARD_DOORBELL_BYTES ? 0 : -EINVAL;
    case KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP:
        *kind = KMD_MMIO;
        return args->size == PAGE ? 0 : -EINVAL;
    default:
        return -EINVAL;
    }
}

static uint32_t model_flags(uint32_t flags)
{
    return (flags & ALLOC_WRITABLE ? KMD_BO_WRITE : 0) |
           (flags & KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE ? KMD_BO_EXEC : 0) |
           (flags & KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC ? KMD_BO_PUBLIC : 0) |
           (flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM ? KMD_BO_TWICE : 0);
}

/* A buffer at an address that the client has reserved. */
int abi_alloc_memory(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args *args = argp;
    struct kmd_bo_info info = {.va = args->va_addr,
                               .bytes = args->size,
                               .offset = args->mmap_offset,
                               .flags = model_flags(args->flags),
                               .abi_flags = args->flags};
    uint32_t bo;
    (void)size;
    if (args->size == 0)
        return -EINVAL;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    int err = memory_kind(args, &info.kind);
    if (err)
        return err;
    rd_status st = kmd_bo_create(ctx->kmd, &info, &bo);
    if (st != RD_OK)
        return abi_errno(st);
    args->handle = make_handle(bo);
    args->mmap_offset = info.offset;
    return 0;
}

int abi_free_memory(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct kfd_ioctl_free_memory_of_gpu_args *args = argp;
    uint32_t bo;
    (void)size;
    if (!split_handle(args->handle, &bo))
        return -EINVAL;
    return abi_errno(kmd_bo_free(ctx->kmd, bo));
}

/* Walk the client's list of GPUs, resuming after the first n_success ones. */
static int each_gpu(struct abi_ctx *ctx, struct kfd_ioctl_map_memory_to_gpu_args *args,
                    rd_status (*apply)(struct kmd *, uint32_t))
{
    uint32_t bo;
    struct kmd_bo_info info;
    if (args->n_devices == 0 || args->n_success > args->n_devices)
        return -EINVAL;
    if (args->n_devices > 1024)
        return -ENOMEM;
    if (!split_handle(args->handle, &bo))
        return -EINVAL;
    if (kmd_bo_info(ctx->kmd, bo, &info) != RD_OK)
        return -ENOMEM; /* sic: what the kernel says of an unknown handle */
    while (args->n_success < args->n_devices) {
        uint32_t gpu_id;
        if (!abi_get(&gpu_id, args->device_ids_array_ptr + 4ull * args->n_success, 4))
            return -EFAULT;
        if (!abi_gpu(gpu_id))
            return -EINVAL;
        rd_status st = apply(ctx->kmd, bo);
        if (st != RD_OK)
            return abi_errno(st);
        args->n_success++;
    }
    return 0;
}

int abi_map_memory(struct abi_ctx *ctx, void *argp, size_t size)
{
    (void)size;
    return each_gpu(ctx, argp, kmd_bo_map);
}

int abi_unmap_memory(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_map_memory_to_gpu_args copy; /* same layout as the unmap struct */
    _Static_assert(sizeof(copy) == sizeof(struct kfd_ioctl_unmap_memory_from_gpu_args),
                   "map and unmap share a layout");
    (void)size;
    memcpy(&copy, argp, sizeof(copy));
    int r = each_gpu(ctx, &copy, kmd_bo_unmap);
    memcpy(argp, &copy, sizeof(copy));
    return r;
}

int abi_available_memory(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_available_memory_args *args = argp;
    (void)size;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    args->available = kmd_vram_available(ctx->kmd);
    return 0;
}

#define SVM_FLAGS 0xffu

/* Fold one attribute into the range's; false if it makes no sense. */
static bool svm_apply(struct kmd_svm *svm, bool *map,
                      const struct kfd_ioctl_svm_attribute *attr)
{
    switch (attr->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        svm->preferred_loc = attr->value;
        return attr->value == 0 || attr->value == UINT32_MAX || abi_gpu(attr->value);
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        svm->prefetch_loc = attr->value;
        return attr->value == 0 || attr->value == UINT32_MAX || abi_gpu(attr->value);
    case KFD_IOCTL_SVM_ATTR_ACCESS:
        svm->access = true;
        svm->access_in_place = false;
        *map = true;
        return abi_gpu(attr->value);
    case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
        svm->access = false;
        svm->access_in_place = true;
        *map = true;
        return abi_gpu(attr->value);
    case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
        svm->access = svm->access_in_place = false;
        *map = false;
        return abi_gpu(attr->value);
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        svm->flags |= attr->value;
        return !(attr->value & ~SVM_FLAGS);
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        svm->flags &= ~attr->value;
        return true;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        svm->granularity = attr->value & 0x3f;
        return true;
    default:
        return false;
    }
}

static void svm_read(const struct kmd_svm *svm, struct kfd_ioctl_svm_attribute *attr)
{
    switch (attr->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        attr->value = svm->preferred_loc;
        break;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        attr->value = svm->prefetch_loc;
        break;
    case KFD_IOCTL_SVM_ATTR_ACCESS:
        if (svm->access_in_place)
            attr->type = KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE;
        else if (!svm->access)
            attr->type = KFD_IOCTL_SVM_ATTR_NO_ACCESS;
        break;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        attr->value = svm->flags;
        break;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        attr->value = ~svm->flags;
        break;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        attr->value = svm->granularity;
        break;
    default:
        break;
    }
}

/* Attributes of shared virtual memory. The struct ends in an array of the client's
 * length, all of it inside the size that the command word carries. */
int abi_svm(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_svm_args *args = argp;
    struct kmd_svm svm = {
        .preferred_loc = UINT32_MAX, .prefetch_loc = UINT32_MAX, .granularity = 9};
    svm.flags = KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT;
    if (!args->start_addr || !args->size ||
        ((args->start_addr | args->size) & (PAGE - 1)))
        return -EINVAL;
    if (args->nattr > (size - sizeof(*args)) / sizeof(args->attrs[0]))
        return -EINVAL;
    if (args->start_addr + args->size < args->start_addr ||
        !kmd_host_mapped(args->start_addr, args->size, false))
        return -EFAULT;
    bool known = kmd_svm_get(ctx->kmd, args->start_addr, args->size, &svm);
    if (args->op == KFD_IOCTL_SVM_OP_GET_ATTR) {
        for (uint32_t i = 0; i < args->nattr; i++)
            svm_read(&svm, &args->attrs[i]);
        return 0;
    }
    if (args->op != KFD_IOCTL_SVM_OP_SET_ATTR)
        return -EINVAL;
    bool map = known && (svm.access || svm.access_in_place), prefetch = false;
    for (uint32_t i = 0; i < args->nattr; i++) {
        if (!svm_apply(&svm, &map, &args->attrs[i]))
            return -EINVAL;
        prefetch |= args->attrs[i].type == KFD_IOCTL_SVM_ATTR_PREFETCH_LOC;
    }
    return abi_errno(
        kmd_svm_set(ctx->kmd, args->start_addr, args->size, &svm, map, prefetch));
}

int abi_dmabuf_export(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_export_dmabuf_args *args = argp;
    uint32_t bo;
    int fd;
    (void)size;
    if (!split_handle(args->handle, &bo))
        return -EINVAL;
    int err = abi_errno(kmd_bo_export(ctx->kmd, bo, true, &fd));
    if (!err)
        args->dmabuf_fd = (uint32_t)fd;
    return err;
}

int abi_dmabuf_info(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_get_dmabuf_info_args *args = argp;
    struct kmd_bo_info info;
    struct { /* as drm_amdgpu_gem_metadata has it */
        uint64_t flags, tiling;
        uint32_t bytes, data[65];
    } metadata;
    _Static_assert(sizeof(metadata) == KMD_METADATA_BYTES, "of the interface");
    (void)size;
    if (!abi_is_open((int)args->dmabuf_fd))
        return -EBADF;
    int err = abi_errno(kmd_export_info((int)args->dmabuf_fd, &info));
    if (!err)
        err = abi_errno(kmd_bo_metadata(ctx->kmd, &info, &metadata, false));
    if (err)
        return err;
    if (args->metadata_size && args->metadata_ptr && metadata.bytes) {
        if (args->metadata_size < metadata.bytes)
            return -EINVAL;
        if (!abi_put(args->metadata_ptr, metadata.data, metadata.bytes))
            return -EFAULT;
    }
    args->size = info.bytes;
    args->metadata_size = metadata.bytes;
    args->gpu_id = BOARD_GPU_ID;
    args->flags = info.kind == KMD_VRAM ? KFD_IOC_ALLOC_MEM_FLAGS_VRAM
                                        : KFD_IOC_ALLOC_MEM_FLAGS_GTT;
    if (info.flags & KMD_BO_PUBLIC)
        args->flags |= KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
    return 0;
}

int abi_dmabuf_import(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kfd_ioctl_import_dmabuf_args *args = argp;
    uint32_t bo;
    (void)size;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    if (!abi_is_open((int)args->dmabuf_fd))
        return -EBADF;
    rd_status st = kmd_bo_import(ctx->kmd, (int)args->dmabuf_fd, args->va_addr, &bo);
    if (st != RD_OK)
        return abi_errno(st);
    args->handle = make_handle(bo);
    return 0;
}

int abi_ipc_export(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct abi_ipc_export_args *args = argp;
    struct kmd_share share = {.note = args->flags};
    uint32_t bo;
    (void)size;
    if (!abi_gpu(args->gpu_id) || !split_handle(args->handle, &bo))
        return -EINVAL;
    int err = abi_errno(kmd_bo_share(ctx->kmd, bo, &share));
    if (!err)
        memcpy(args->share_handle, share.key, sizeof(share.key));
    return err;
}

int abi_ipc_import(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct abi_ipc_import_args *args = argp;
    struct kmd_share share = {.note = 0};
    struct kmd_bo_info info;
    uint32_t bo;
    (void)size;
    if (!abi_gpu(args->gpu_id))
        return -EINVAL;
    memcpy(share.key, args->share_handle, sizeof(share.key));
    int err = abi_errno(kmd_bo_shared(ctx->kmd, &share, args->va_addr, &info, &bo));
    if (err)
        return err;
    args->handle = make_handle(bo);
    args->mmap_offset = info.offset;
    args->flags = share.note;
    return 0;
}
