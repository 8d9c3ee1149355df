/* drm_card.c: who may ask for what on which DRM node; masters and their clients.
 *
 * Rules and error numbers are those of Linux' drm_ioctl_permit, drm_auth.c and
 * drm_ioctl.c. The render node answers what is about rendering alone; the primary node
 * wants clients that its master has admitted, or the system's administrator's.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

enum { RENDER = 1, AUTHENTIC = 2, MASTER = 4 };

/* What a call asks of the node and of the client. */
static unsigned wants(unsigned nr)
{
    if (nr == DRM_COMMAND_BASE + DRM_AMDGPU_SCHED)
        return MASTER;
    if (nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END)
        return RENDER | AUTHENTIC;
    if (nr >= DRM_NR_SYNCOBJ_CREATE)
        return RENDER;
    switch (nr) {
    case DRM_NR_VERSION:
    case DRM_NR_GET_CAP:
    case DRM_NR_GEM_CLOSE:
    case DRM_NR_PRIME_HANDLE_TO_FD:
    case DRM_NR_PRIME_FD_TO_HANDLE:
        return RENDER;
    case DRM_NR_GEM_FLINK:
    case DRM_NR_GEM_OPEN:
        return AUTHENTIC;
    case DRM_NR_SET_VERSION:
    case DRM_NR_AUTH_MAGIC:
        return MASTER;
    default:
        return 0;
    }
}

static struct kmd_client who(void)
{
    return (struct kmd_client){.fd = abi_fd(), .privileged = geteuid() == 0};
}

static int status(rd_status st)
{
    return st == RD_E_FAULT ? -EACCES : abi_errno(st);
}

void abi_card_opened(struct abi_ctx *ctx, int fd)
{
    struct kmd_client c = who();
    c.fd = fd;
    (void)!kmd_client_open(ctx->kmd, &c);
}

int abi_drm_permit(struct abi_ctx *ctx, enum abi_file file, unsigned nr)
{
    unsigned need = wants(nr);
    if (abi_fd() < 0)
        return 0;
    if (file == ABI_RENDER)
        return need & RENDER ? 0 : -EACCES;
    if (!(need & (AUTHENTIC | MASTER)))
        return 0;
    struct kmd_client c = who();
    struct kmd_client_rights has;
    rd_status st = kmd_client_rights(ctx->kmd, &c, &has);
    if (st != RD_OK)
        return abi_errno(st);
    return (need & AUTHENTIC && !has.authentic) || (need & MASTER && !has.master)
               ? -EACCES
               : 0;
}

/* By their numbers in drm.h: modes, vertical blanks, leases, what clients know of. */
bool abi_of_display(unsigned nr)
{
    return nr == 0x0d || (nr >= 0x3a && nr <= 0x3c) || (nr >= 0xa0 && nr <= 0xbe) ||
           (nr >= 0xc6 && nr <= 0xc9) || nr == 0xce || nr == 0xd0;
}

/* The kernel tells nobody more than this any longer. */
#define NOBODY 65534u

int abi_get_client(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_client *client = argp;
    struct kmd_client_rights has = {true, false};
    struct kmd_client c = who();
    (void)size;
    if (client->idx != 0)
        return -EINVAL;
    rd_status st = c.fd < 0 ? RD_OK : kmd_client_rights(ctx->kmd, &c, &has);
    if (st != RD_OK)
        return abi_errno(st);
    *client = (struct drm_client){
        .auth = has.authentic, .pid = (__u64)getpid(), .uid = NOBODY};
    return 0;
}

int abi_get_magic(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_auth *args = argp;
    struct kmd_client c = who();
    (void)size;
    return abi_errno(kmd_client_magic(ctx->kmd, &c, &args->magic));
}

int abi_auth_magic(struct abi_ctx *ctx, void *argp, size_t size)
{
    const struct drm_auth *args = argp;
    struct kmd_client c = who();
    (void)size;
    return status(kmd_client_admit(ctx->kmd, &c, args->magic));
}

int abi_set_master(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kmd_client c = who();
    (void)argp, (void)size;
    return status(kmd_client_set_master(ctx->kmd, &c));
}

int abi_drop_master(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct kmd_client c = who();
    (void)argp, (void)size;
    return status(kmd_client_drop_master(ctx->kmd, &c));
}

/* What a client was written for must be what there is: version 1.4 of the core, and the
 * driver's. */
int abi_set_version(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_set_version *v = argp;
    int di = v->drm_di_major, di_minor = v->drm_di_minor;
    int dd = v->drm_dd_major, dd_minor = v->drm_dd_minor;
    (void)ctx, (void)size;
    *v = (struct drm_set_version){1, 4, DRM_MAJOR, DRM_MINOR};
    if (di != -1 && (di != 1 || di_minor < 0 || di_minor > 4))
        return -EINVAL;
    if (dd != -1 && (dd != DRM_MAJOR || dd_minor < 0 || dd_minor > DRM_MINOR))
        return -EINVAL;
    return 0;
}

/* The master changes how urgent others' contexts are: priorities among the hidden rings
 * order nothing here, as they share no hardware. */
int abi_drm_sched(struct abi_ctx *ctx, void *argp, size_t size)
{
    const union drm_amdgpu_sched *args = argp;
    (void)size;
    if (args->in.op != AMDGPU_SCHED_OP_PROCESS_PRIORITY_OVERRIDE &&
        args->in.op != AMDGPU_SCHED_OP_CONTEXT_PRIORITY_OVERRIDE)
        return -EINVAL;
    switch (args->in.priority) {
    case AMDGPU_CTX_PRIORITY_VERY_LOW:
    case AMDGPU_CTX_PRIORITY_LOW:
    case AMDGPU_CTX_PRIORITY_NORMAL:
    case AMDGPU_CTX_PRIORITY_HIGH:
    case AMDGPU_CTX_PRIORITY_VERY_HIGH:
        break;
    default:
        return -EINVAL;
    }
    enum abi_file kind = abi_file_of(ctx, (int)args->in.fd);
    return kind == ABI_RENDER || kind == ABI_CARD ? 0 : -EINVAL;
}
