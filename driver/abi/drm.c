/* drm.c: the render node ioctls that libdrm_amdgpu and ROCr issue.
 *
 * Buffers are in drm_gem.c, submissions in drm_cs.c, what is asked about the board in
 * drm_info.c.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "ctx.h"

static int put_string(__u64 to, __u64 *len, const char *text)
{
    uint64_t room = *len;
    *len = strlen(text);
    if (room > *len)
        room = *len;
    return room && to && !abi_put(to, text, room) ? -EFAULT : 0;
}

static int version(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_version *v = argp;
    (void)ctx, (void)size;
    v->version_major = DRM_MAJOR;
    v->version_minor = DRM_MINOR;
    v->version_patchlevel = 0;
    int err = put_string(v->name, &v->name_len, "amdgpu");
    if (!err)
        err = put_string(v->date, &v->date_len, "20150101");
    if (!err)
        err = put_string(v->desc, &v->desc_len, "AMD GPU");
    return err;
}

static int get_unique(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_unique *u = argp;
    (void)ctx, (void)size;
    return put_string(u->unique, &u->unique_len, "pci:" BOARD_PCI_SLOT);
}

/* There are none any more: the kernel leaves the struct as it is. */
static int get_stats(struct abi_ctx *ctx, void *argp, size_t size)
{
    (void)ctx, (void)argp, (void)size;
    return 0;
}

static int get_cap(struct abi_ctx *ctx, void *argp, size_t size)
{
    struct drm_get_cap *cap = argp;
    (void)ctx, (void)size;
    switch (cap->capability) {
    case 0x5: /* PRIME: import and export */
        cap->value = 3;
        return 0;
    case 0x1:  /* buffers for pictures that the CPU draws */
    case 0x6:  /* monotonic timestamps */
    case 0x13: /* synchronisation objects */
    case 0x14: /* and their timelines */
        cap->value = 1;
        return 0;
    default:
        return -EINVAL;
    }
}

#define CORE(nr, type, name, fn) [nr] = {name, sizeof(struct type), fn, 0, false}
#define GPU(nr, type, name, fn)                                                        \
    [DRM_COMMAND_BASE + (nr)] = {name, sizeof(type), fn, 0, false}
#define GPU_SLEEPS(nr, type, name, fn)                                                 \
    [DRM_COMMAND_BASE + (nr)] = {name, sizeof(type), fn, 0, true}

#define CORE_SLEEPS(nr, type, name, fn) [nr] = {name, sizeof(struct type), fn, 0, true}

const struct abi_call abi_drm_calls[] = {
    CORE(DRM_NR_SYNCOBJ_CREATE, drm_syncobj_create, "SYNCOBJ_CREATE", abi_sync_create),
    CORE(DRM_NR_SYNCOBJ_DESTROY, drm_syncobj_destroy, "SYNCOBJ_DESTROY",
         abi_sync_destroy),
    CORE(DRM_NR_SYNCOBJ_HANDLE_TO_FD, drm_syncobj_handle, "SYNCOBJ_HANDLE_TO_FD",
         abi_sync_to_fd),
    CORE(DRM_NR_SYNCOBJ_FD_TO_HANDLE, drm_syncobj_handle, "SYNCOBJ_FD_TO_HANDLE",
         abi_sync_from_fd),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_WAIT, drm_syncobj_wait, "SYNCOBJ_WAIT", abi_sync_wait),
    CORE(DRM_NR_SYNCOBJ_RESET, drm_syncobj_array, "SYNCOBJ_RESET", abi_sync_reset),
    CORE(DRM_NR_SYNCOBJ_SIGNAL, drm_syncobj_array, "SYNCOBJ_SIGNAL", abi_sync_signal),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_TIMELINE_WAIT, drm_syncobj_timeline_wait,
                "SYNCOBJ_TIMELINE_WAIT", abi_sync_timeline_wait),
    CORE(DRM_NR_SYNCOBJ_QUERY, drm_syncobj_timeline_array, "SYNCOBJ_QUERY",
         abi_sync_query),
    CORE_SLEEPS(DRM_NR_SYNCOBJ_TRANSFER, drm_syncobj_transfer, "SYNCOBJ_TRANSFER",
                abi_sync_transfer),
    CORE(DRM_NR_SYNCOBJ_TIMELINE_SIGNAL, drm_syncobj_timeline_array,
         "SYNCOBJ_TIMELINE_SIGNAL", abi_sync_timeline_signal),
    CORE(DRM_NR_SYNCOBJ_EVENTFD, drm_syncobj_eventfd, "SYNCOBJ_EVENTFD",
         abi_sync_eventfd),
    GPU(DRM_AMDGPU_FENCE_TO_HANDLE, union drm_amdgpu_fence_to_handle, "FENCE_TO_HANDLE",
        abi_fence_to_handle),
    CORE(DRM_NR_VERSION, drm_version, "VERSION", version),
    CORE(DRM_NR_GET_UNIQUE, drm_unique, "GET_UNIQUE", get_unique),
    CORE(DRM_NR_GET_CLIENT, drm_client, "GET_CLIENT", abi_get_client),
    CORE(DRM_NR_GET_MAGIC, drm_auth, "GET_MAGIC", abi_get_magic),
    CORE(DRM_NR_AUTH_MAGIC, drm_auth, "AUTH_MAGIC", abi_auth_magic),
    CORE(DRM_NR_SET_VERSION, drm_set_version, "SET_VERSION", abi_set_version),
    [DRM_NR_SET_MASTER] = {"SET_MASTER", 0, abi_set_master, 0, false},
    [DRM_NR_DROP_MASTER] = {"DROP_MASTER", 0, abi_drop_master, 0, false},
    CORE(DRM_NR_GET_STATS, drm_stats, "GET_STATS", get_stats),
    CORE(DRM_NR_CREATE_DUMB, drm_mode_create_dumb, "CREATE_DUMB", abi_dumb_create),
    CORE(DRM_NR_MAP_DUMB, drm_mode_map_dumb, "MAP_DUMB", abi_dumb_map),
    CORE(DRM_NR_DESTROY_DUMB, drm_mode_destroy_dumb, "DESTROY_DUMB", abi_dumb_destroy),
    CORE(DRM_NR_GEM_FLINK, drm_gem_flink, "GEM_FLINK", abi_gem_flink),
    CORE(DRM_NR_GEM_OPEN, drm_gem_open, "GEM_OPEN", abi_gem_open),
    CORE(DRM_NR_GET_CAP, drm_get_cap, "GET_CAP", get_cap),
    CORE(DRM_NR_GEM_CLOSE, drm_gem_close, "GEM_CLOSE", abi_gem_close),
    CORE(DRM_NR_PRIME_HANDLE_TO_FD, drm_prime_handle, "PRIME_HANDLE_TO_FD",
         abi_prime_to_fd),
    CORE(DRM_NR_PRIME_FD_TO_HANDLE, drm_prime_handle, "PRIME_FD_TO_HANDLE",
         abi_prime_from_fd),
    GPU(DRM_AMDGPU_GEM_CREATE, union drm_amdgpu_gem_create, "GEM_CREATE",
        abi_gem_create),
    GPU(DRM_AMDGPU_GEM_MMAP, union drm_amdgpu_gem_mmap, "GEM_MMAP", abi_gem_mmap),
    GPU(DRM_AMDGPU_CTX, union drm_amdgpu_ctx, "CTX", abi_drm_ctx),
    GPU(DRM_AMDGPU_BO_LIST, union drm_amdgpu_bo_list, "BO_LIST", abi_drm_bo_list),
    GPU_SLEEPS(DRM_AMDGPU_CS, union drm_amdgpu_cs, "CS", abi_drm_cs),
    GPU_SLEEPS(DRM_AMDGPU_GEM_WAIT_IDLE, union drm_amdgpu_gem_wait_idle,
               "GEM_WAIT_IDLE", abi_drm_wait_idle),
    GPU_SLEEPS(DRM_AMDGPU_WAIT_CS, union drm_amdgpu_wait_cs, "WAIT_CS",
               abi_drm_wait_cs),
    GPU_SLEEPS(DRM_AMDGPU_WAIT_FENCES, union drm_amdgpu_wait_fences, "WAIT_FENCES",
               abi_drm_wait_fences),
    GPU(DRM_AMDGPU_INFO, struct drm_amdgpu_info, "INFO", abi_drm_info),
    GPU(DRM_AMDGPU_GEM_METADATA, struct drm_amdgpu_gem_metadata, "GEM_METADATA",
        abi_gem_metadata),
    GPU(DRM_AMDGPU_GEM_VA, struct drm_amdgpu_gem_va, "GEM_VA", abi_gem_va),
    GPU(DRM_AMDGPU_GEM_USERPTR, struct drm_amdgpu_gem_userptr, "GEM_USERPTR",
        abi_gem_userptr),
    GPU(DRM_AMDGPU_SCHED, union drm_amdgpu_sched, "SCHED", abi_drm_sched),
    GPU(DRM_AMDGPU_VM, union drm_amdgpu_vm, "VM", abi_drm_vm),
    GPU(DRM_AMDGPU_GEM_OP, struct drm_amdgpu_gem_op, "GEM_OP", abi_gem_op),
};
const unsigned abi_drm_count = sizeof(abi_drm_calls) / sizeof(abi_drm_calls[0]);
