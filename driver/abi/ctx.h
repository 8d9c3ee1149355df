/* ctx.h: inside of the ioctl layer.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ABI_CTX_H
#define RD_ABI_CTX_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "kmd.h"
#include "board.h"
#include "shared.h"

/* What the driver says of itself: as Debian 13's Linux 6.12. */
#define DRM_MAJOR 3
#define DRM_MINOR 61

struct abi_ctx {
    struct kmd *kmd;
    const struct abi_host *host;
    int log_fd;           /* -1: no log */
    uint32_t debug_flags; /* KFD_DBG_TRAP_FLAG_*; kfd_debug.c */
    struct cs_tables *cs; /* drm_cs.c; NULL until somebody needs it */
};

/* One ioctl: the dispatcher copies size bytes (or what the client gave) in and out. */
struct abi_call {
    const char *name;
    size_t size; /* 0 with fn NULL: no such number */
    int (*fn)(struct abi_ctx *ctx, void *args, size_t size);
    int refuse;  /* errno when fn is NULL */
    bool sleeps; /* may block for long */
};

extern const struct abi_call abi_kfd_calls[];
extern const unsigned abi_kfd_count;
extern const struct abi_call abi_drm_calls[];
extern const unsigned abi_drm_count;

/* Copy between our memory and the client's; false if it is not accessible. */
bool abi_get(void *to, uint64_t from, size_t bytes);
bool abi_put(uint64_t to, const void *from, size_t bytes);

/* The descriptor that the call came by; -1: unknown. */
int abi_fd(void);

/* Is it a descriptor at all? */
bool abi_is_open(int fd);

/* Which of our files a descriptor in a struct is. */
enum abi_file abi_file_of(struct abi_ctx *ctx, int fd);

/* log.c: a line of the transcript, from begin to end. */
struct abi_line {
    char *text;
    size_t used, cap;
};
/* -1: nobody asked for one (path NULL), or it cannot be opened */
int abi_log_open(const char *path, uint64_t vram_bytes);
/* A line that is no call. Thread: any. */
void abi_log_note(const char *text);
void abi_log_begin(struct abi_line *line, enum abi_file file, const char *name,
                   unsigned long cmd, const void *args, size_t size);
void abi_log_memory(struct abi_line *line, bool get, uint64_t address, const void *data,
                    size_t bytes, bool ok);
void abi_log_file(struct abi_line *line, int fd, enum abi_file kind);
void abi_log_end(struct abi_line *line, int fd, const void *args, size_t size,
                 int result);

/* -errno for a status of the device model. */
int abi_errno(rd_status st);

static inline bool abi_gpu(uint32_t gpu_id)
{
    return gpu_id == BOARD_GPU_ID;
}

/* Handlers of /dev/kfd, by subject. */
#define ABI_HANDLER(name) int abi_##name(struct abi_ctx *ctx, void *argp, size_t size)
ABI_HANDLER(alloc_memory);
ABI_HANDLER(free_memory);
ABI_HANDLER(map_memory);
ABI_HANDLER(unmap_memory);
ABI_HANDLER(available_memory);
ABI_HANDLER(svm);
ABI_HANDLER(dmabuf_info);
ABI_HANDLER(dmabuf_import);
ABI_HANDLER(dmabuf_export);
ABI_HANDLER(ipc_export);
ABI_HANDLER(ipc_import);
ABI_HANDLER(create_event);
ABI_HANDLER(destroy_event);
ABI_HANDLER(set_event);
ABI_HANDLER(reset_event);
ABI_HANDLER(wait_events);
ABI_HANDLER(create_queue);
ABI_HANDLER(destroy_queue);
ABI_HANDLER(update_queue);
ABI_HANDLER(set_cu_mask);
ABI_HANDLER(queue_wave_state);
ABI_HANDLER(queue_gws);

/* Who may ask for what on which node; masters: drm_card.c. -errno: this one may not. */
int abi_drm_permit(struct abi_ctx *ctx, enum abi_file file, unsigned nr);
/* Is a call about displays, of which there is none? */
bool abi_of_display(unsigned nr);
void abi_card_opened(struct abi_ctx *ctx, int fd);
ABI_HANDLER(drm_info);
ABI_HANDLER(get_client);
ABI_HANDLER(get_magic);
ABI_HANDLER(auth_magic);
ABI_HANDLER(set_master);
ABI_HANDLER(drop_master);
ABI_HANDLER(set_version);
ABI_HANDLER(drm_sched);

/* Handlers of the render node about buffers: drm_gem.c */
ABI_HANDLER(gem_close);
ABI_HANDLER(dumb_create);
ABI_HANDLER(dumb_map);
ABI_HANDLER(dumb_destroy);
ABI_HANDLER(gem_flink);
ABI_HANDLER(gem_open);
ABI_HANDLER(prime_to_fd);
ABI_HANDLER(prime_from_fd);
ABI_HANDLER(gem_create);
ABI_HANDLER(gem_userptr);
ABI_HANDLER(gem_mmap);
ABI_HANDLER(gem_va);
ABI_HANDLER(gem_metadata);
ABI_HANDLER(gem_op);
ABI_HANDLER(drm_vm);

/* Handlers of the render node about synchronisation objects: drm_sync.c */
ABI_HANDLER(sync_create);
ABI_HANDLER(sync_destroy);
ABI_HANDLER(sync_to_fd);
ABI_HANDLER(sync_from_fd);
ABI_HANDLER(sync_transfer);
ABI_HANDLER(sync_wait);
ABI_HANDLER(sync_timeline_wait);
ABI_HANDLER(sync_reset);
ABI_HANDLER(sync_signal);
ABI_HANDLER(sync_timeline_signal);
ABI_HANDLER(sync_query);
ABI_HANDLER(sync_eventfd);
ABI_HANDLER(fence_to_handle);
/* sync_file.c: an ioctl on a descriptor of fences; false: it is none. */
bool abi_sync_file(struct abi_ctx *ctx, int fd, unsigned long cmd, uint64_t arg,
                   int *result);

/* The same on a descriptor of a software timeline. */
bool abi_timeline(struct abi_ctx *ctx, int fd, unsigned long cmd, uint64_t arg,
                  int *result);

/* What the objects of a chunk hold, before a submission; put its fence into them, after
 * it (fences NULL: are they there?). */
int abi_sync_before(struct abi_ctx *ctx, const void *data, size_t bytes, bool timeline,
                    struct kmd_fences *out);
int abi_sync_after(struct abi_ctx *ctx, const void *data, size_t bytes, bool timeline,
                   const struct kmd_fences *fences);

/* Waiting: nanoseconds of the monotonic clock; has it come (the upper half: never); a
 * short sleep that grows. */
uint64_t abi_now(void);
bool abi_late(uint64_t deadline);
void abi_nap(unsigned *turns);

/* Handlers of the render node about submission: drm_cs.c */
/* On the chip, for graphics: bytes of GDS, pieces of GWS and OA. */
#define ABI_GDS_BYTES 4096u
#define ABI_GWS       64u
#define ABI_OA        16u

#define ABI_MAX_IBS 32u /* indirect buffers for a ring, of one submission */
struct drm_amdgpu_fence;
/* The ring of a fence that a client names; -EINVAL: there is none. */
int abi_fence_of(struct abi_ctx *ctx, const struct drm_amdgpu_fence *fence,
                 enum kmd_engine *engine);
ABI_HANDLER(drm_ctx);
ABI_HANDLER(drm_bo_list);
ABI_HANDLER(drm_cs);
ABI_HANDLER(drm_wait_cs);
ABI_HANDLER(drm_wait_fences);
ABI_HANDLER(drm_wait_idle);
ABI_HANDLER(smi_events);
ABI_HANDLER(runtime_enable);
ABI_HANDLER(debug_trap);

/* drm_cs.c: a child of fork has the parent's contexts and lists. */
void abi_cs_inherit(struct abi_ctx *ctx, const struct abi_ctx *from);

struct kfd_process_device_apertures;
void abi_fill_apertures(struct kfd_process_device_apertures *a);

#endif
