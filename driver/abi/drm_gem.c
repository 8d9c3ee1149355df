/* drm_gem.c: render node ioctls about buffers and their GPU addresses.
 *
 * A GEM handle is the device model's buffer handle. Arguments are judged here as the
 * kernel judges them, before the model sees them; there is one address space.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

#define PAGE 4096ull

/* Domains that are no memory: a buffer is of one of them, or of memory alone. */
#define ONCHIP (AMDGPU_GEM_DOMAIN_GDS | AMDGPU_GEM_DOMAIN_GWS | AMDGPU_GEM_DOMAIN_OA)
#define MEMORY (AMDGPU_GEM_DOMAIN_CPU | AMDGPU_GEM_DOMAIN_GTT | AMDGPU_GEM_DOMAIN_VRAM)
#define CREATE_FLAGS                                                                   \
    (AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED | AMDGPU_GEM_CREATE_NO_CPU_ACCESS |         \
     AMDGPU_GEM_CREATE_CPU_GTT_USWC | AMDGPU_GEM_CREATE_VRAM_CLEARED |                 \
     AMDGPU_GEM_CREATE_VM_ALWAYS_VALID | AMDGPU_GEM_CREATE_EXPLICIT_SYNC |             \
     AMDGPU_GEM_CREATE_DISCARDABLE)

/* GPU addresses: a hole in the middle, and ends that the kernel keeps. */
#define VA_FIRST (1ull << 16)
#define VA_HOLE  0x800000000000ull
#define VA_UPPER 0xffff800000000000ull
#define VA_END   0x1000000000000ull
#define VA_KEPT  (2ull << 20)
#define MAP_FLAGS                                                                      \
    (AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_READABLE | AMDGPU_VM_PAGE_WRITEABLE |     \
     AMDGPU_VM_PAGE_EXECUTABLE | AMDGPU_VM_MTYPE_MASK | AMDGPU_VM_PAGE_NOALLOC)
#define PRT_FLAGS (AMDGPU_VM_DELAY_UPDATE | AMDGPU_VM_PAGE_PRT)

int abi_gem_close(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_gem_close *args = argp;
    (void)size;
    return abi_errno(kmd_bo_free(ctx->kmd, args->handle));
}

/* Is the buffer there, and can others have it? */
static int exportable(struct abi_ctx *ctx, uint32_t handle)
{
    struct kmd_bo_info bo;
    if (kmd_bo_info(ctx->kmd, handle, &bo) != RD_OK)
        return -ENOENT;
    return bo.kind == KMD_USERPTR ? -EPERM : 0;
}

int abi_gem_flink(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_gem_flink *args = argp;
    struct kmd_bo_info bo;
    (void)size;
    if (kmd_bo_info(ctx->kmd, args->handle, &bo) != RD_OK)
        return -ENOENT;
    return abi_errno(kmd_bo_name(ctx->kmd, args->handle, &args->name));
}

int abi_gem_open(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_gem_open *args = argp;
    (void)size;
    rd_status st =
        kmd_bo_open(ctx->kmd, args->name, &args->handle, (uint64_t *)&args->size);
    return st == RD_E_NOT_FOUND ? -ENOENT : abi_errno(st);
}

int abi_prime_to_fd(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_prime_handle *args = argp;
    int fd;
    (void)size;
    if (args->flags & ~(uint32_t)(O_CLOEXEC | O_RDWR))
        return -EINVAL;
    int err = exportable(ctx, args->handle);
    if (!err)
        err = abi_errno(
            kmd_bo_export(ctx->kmd, args->handle, args->flags & O_CLOEXEC, &fd));
    if (!err)
        args->fd = fd;
    return err;
}

int abi_prime_from_fd(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_prime_handle *args = argp;
    (void)size;
    if (!abi_is_open(args->fd))
        return -EBADF;
    return abi_errno(kmd_bo_import_gem(ctx->kmd, args->fd, &args->handle));
}

static bool domains_valid(uint64_t domains)
{
    uint64_t special = domains & ONCHIP;
    return !(domains & ~(uint64_t)(ONCHIP | MEMORY)) &&
           (!special || (!(domains & MEMORY) && !(special & (special - 1))));
}

/* What there is of GDS in bytes, of GWS and OA in pieces. */
static uint64_t onchip_size(uint64_t domains)
{
    return domains & AMDGPU_GEM_DOMAIN_GDS   ? ABI_GDS_BYTES
           : domains & AMDGPU_GEM_DOMAIN_GWS ? ABI_GWS
                                             : ABI_OA;
}

static rd_status create_memory(struct abi_ctx *ctx, uint64_t domains,
                               struct kmd_bo_info *bo, uint32_t *handle)
{
    bo->kind = domains & AMDGPU_GEM_DOMAIN_VRAM ? KMD_VRAM : KMD_GTT;
    rd_status st = kmd_bo_create(ctx->kmd, bo, handle);
    if (st == RD_E_NOMEM && bo->kind == KMD_VRAM) { /* as the kernel tries again */
        bo->kind = KMD_GTT;
        st = kmd_bo_create(ctx->kmd, bo, handle);
    }
    return st;
}

int abi_gem_create(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_gem_create *args = argp;
    uint64_t domains = args->in.domains, flags = args->in.domain_flags;
    struct kmd_bo_info bo = {.bytes = args->in.bo_size,
                             .flags = KMD_BO_WRITE | KMD_BO_EXEC | KMD_BO_GRAPHICS |
                                      KMD_BO_GEM,
                             .abi_flags = (uint32_t)flags};
    uint32_t handle;
    rd_status st;
    (void)size;
    if (flags & ~(uint64_t)CREATE_FLAGS || !domains_valid(domains) || !domains)
        return -EINVAL;
    if (!(flags & AMDGPU_GEM_CREATE_NO_CPU_ACCESS))
        bo.flags |= KMD_BO_PUBLIC;
    if (domains & ONCHIP) {
        if (flags & AMDGPU_GEM_CREATE_VM_ALWAYS_VALID)
            return -EINVAL;
        bo.kind = KMD_ONCHIP;
        bo.flags &= ~KMD_BO_PUBLIC;
        bool fits = bo.bytes <= onchip_size(domains);
        if (!(domains & AMDGPU_GEM_DOMAIN_GDS))
            bo.bytes *= PAGE; /* as the kernel counts them */
        st = fits ? kmd_bo_create(ctx->kmd, &bo, &handle) : RD_E_NOMEM;
    } else {
        st = create_memory(ctx, domains, &bo, &handle);
    }
    if (st != RD_OK)
        return abi_errno(st);
    memset(args, 0, sizeof(*args));
    args->out.handle = handle;
    return 0;
}

/* Memory of the client's own. */
int abi_gem_userptr(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_amdgpu_gem_userptr *args = argp;
    bool read_only = args->flags & AMDGPU_GEM_USERPTR_READONLY;
    struct kmd_bo_info bo = {.kind = KMD_USERPTR,
                             .bytes = args->size,
                             .offset = args->addr,
                             .flags = KMD_BO_EXEC | KMD_BO_GEM |
                                      (read_only ? 0 : KMD_BO_WRITE)};
    (void)size;
    if ((args->addr | args->size) & (PAGE - 1))
        return -EINVAL;
    if (args->flags &
        ~(uint32_t)(AMDGPU_GEM_USERPTR_READONLY | AMDGPU_GEM_USERPTR_ANONONLY |
                    AMDGPU_GEM_USERPTR_VALIDATE | AMDGPU_GEM_USERPTR_REGISTER))
        return -EINVAL;
    if (!read_only && !(args->flags & AMDGPU_GEM_USERPTR_REGISTER))
        return -EACCES;
    return abi_errno(kmd_bo_create(ctx->kmd, &bo, &args->handle));
}

int abi_gem_mmap(struct abi_ctx *ctx, void *argp, size_t size)
{
    union drm_amdgpu_gem_mmap *args = argp;
    struct kmd_bo_info bo;
    (void)size;
    if (kmd_bo_info(ctx->kmd, args->in.handle, &bo) != RD_OK)
        return -ENOENT;
    if (bo.kind > KMD_GTT ||
        (bo.flags & KMD_BO_GRAPHICS && !(bo.flags & KMD_BO_PUBLIC)))
        return -EPERM;
    args->out.addr_ptr = bo.offset;
    return 0;
}

/* ---- buffers for pictures that the CPU draws ---- */

/* Rows begin where the display wants them to, as amdgpu has it. */
int abi_dumb_create(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_mode_create_dumb *args = argp;
    uint64_t pixel = ((uint64_t)args->bpp + 7) / 8;
    uint64_t row = pixel == 1                 ? 256
                   : pixel == 2               ? 128
                   : pixel == 3 || pixel == 4 ? 64
                                              : 1;
    struct kmd_bo_info bo = {.flags = KMD_BO_WRITE | KMD_BO_EXEC | KMD_BO_GRAPHICS |
                                      KMD_BO_GEM | KMD_BO_PUBLIC,
                             .abi_flags = AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED |
                                          AMDGPU_GEM_CREATE_CPU_GTT_USWC};
    (void)size;
    if (!args->width || !args->height || !args->bpp ||
        pixel * args->width * args->height > UINT32_MAX)
        return -EINVAL;
    uint64_t pitch = (args->width + row - 1) / row * row * pixel;
    bo.bytes = (pitch * args->height + PAGE - 1) / PAGE * PAGE;
    uint32_t handle;
    rd_status st = create_memory(ctx, AMDGPU_GEM_DOMAIN_VRAM, &bo, &handle);
    if (st != RD_OK)
        return abi_errno(st);
    args->handle = handle;
    args->pitch = (uint32_t)pitch;
    args->size = bo.bytes;
    return 0;
}

int abi_dumb_map(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_mode_map_dumb *args = argp;
    union drm_amdgpu_gem_mmap map = {.in = {.handle = args->handle}};
    int err = abi_gem_mmap(ctx, &map, size);
    if (!err)
        args->offset = map.out.addr_ptr;
    return err;
}

int abi_dumb_destroy(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_mode_destroy_dumb *args = argp;
    (void)size;
    return abi_errno(kmd_bo_free(ctx->kmd, args->handle));
}

static bool va_allowed(uint64_t va, uint64_t bytes)
{
    if (va < VA_FIRST || (va >= VA_HOLE && va < VA_UPPER))
        return false;
    va &= VA_END - 1;
    return va + bytes >= va && va + bytes <= VA_END - VA_KEPT;
}

static rd_status change_mapping(struct abi_ctx *ctx,
                                const struct drm_amdgpu_gem_va *args)
{
    bool write = args->flags & AMDGPU_VM_PAGE_WRITEABLE;
    switch (args->operation) {
    case AMDGPU_VA_OP_UNMAP:
        return kmd_bo_unmap_at(ctx->kmd, args->handle, args->va_address);
    case AMDGPU_VA_OP_CLEAR:
        return kmd_va_clear(ctx->kmd, args->va_address, args->map_size);
    default:
        return kmd_bo_map_at(ctx->kmd, args->handle, args->va_address,
                             args->offset_in_bo, args->map_size, write,
                             args->operation == AMDGPU_VA_OP_REPLACE);
    }
}

int abi_gem_va(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_amdgpu_gem_va *args = argp;
    struct kmd_bo_info bo;
    (void)size;
    if (!va_allowed(args->va_address, args->map_size))
        return -EINVAL;
    if (args->flags & ~(uint32_t)MAP_FLAGS && args->flags & ~(uint32_t)PRT_FLAGS)
        return -EINVAL;
    if (args->operation < AMDGPU_VA_OP_MAP || args->operation > AMDGPU_VA_OP_REPLACE)
        return -EINVAL;
    if (args->flags & AMDGPU_VM_PAGE_PRT) {
        /* Pages that read zeros: nothing here touches them, so nothing is mapped. */
        if (args->operation == AMDGPU_VA_OP_MAP)
            return 0;
        return abi_errno(kmd_va_clear(ctx->kmd, args->va_address, args->map_size));
    }
    if (args->operation != AMDGPU_VA_OP_CLEAR &&
        kmd_bo_info(ctx->kmd, args->handle, &bo) != RD_OK)
        return -ENOENT;
    rd_status st = change_mapping(ctx, args);
    return st == RD_E_NOT_FOUND ? -ENOENT : abi_errno(st);
}

/* Tiling and application metadata; ROCr recognises by it what it shares. */
int abi_gem_metadata(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_amdgpu_gem_metadata *args = argp;
    struct kmd_bo_info bo;
    (void)size;
    if (kmd_bo_info(ctx->kmd, args->handle, &bo) != RD_OK)
        return -ENOENT;
    _Static_assert(sizeof(args->data) == KMD_METADATA_BYTES, "of the interface");
    if (args->op != AMDGPU_GEM_METADATA_OP_SET_METADATA &&
        args->op != AMDGPU_GEM_METADATA_OP_GET_METADATA)
        return -EINVAL;
    bool set = args->op == AMDGPU_GEM_METADATA_OP_SET_METADATA;
    if (set && args->data.data_size_bytes > sizeof(args->data.data))
        return -EINVAL;
    return abi_errno(kmd_bo_metadata(ctx->kmd, &bo, &args->data, set));
}

static uint32_t domain_of(const struct kmd_bo_info *bo)
{
    return bo->kind == KMD_VRAM ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
}

int abi_gem_op(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_amdgpu_gem_op *args = argp;
    struct kmd_bo_info bo;
    (void)size;
    if (kmd_bo_info(ctx->kmd, args->handle, &bo) != RD_OK)
        return -ENOENT;
    if (args->op == AMDGPU_GEM_OP_SET_PLACEMENT) /* which nobody can see */
        return bo.kind == KMD_USERPTR ? -EPERM : 0;
    if (args->op != AMDGPU_GEM_OP_GET_GEM_CREATE_INFO)
        return -EINVAL;
    struct drm_amdgpu_gem_create_in out = {
        .bo_size = bo.bytes,
        .alignment = PAGE,
        .domains = domain_of(&bo),
        .domain_flags = bo.flags & KMD_BO_GRAPHICS ? bo.abi_flags : 0,
    };
    return abi_put(args->value, &out, sizeof(out)) ? 0 : -EFAULT;
}

/* There is one address space, which nobody else's VMID can be taken for. */
int abi_drm_vm(struct abi_ctx *ctx, void *argp, size_t size)
{
    const union drm_amdgpu_vm *args = argp;
    (void)ctx, (void)size;
    if (args->in.flags || (args->in.op != AMDGPU_VM_OP_RESERVE_VMID &&
                           args->in.op != AMDGPU_VM_OP_UNRESERVE_VMID))
        return -EINVAL;
    return 0;
}
