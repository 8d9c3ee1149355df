/* drm.h: the few generic DRM facts that the pinned amdgpu_drm.h and the mock need.
 *
 * Layouts follow the kernel's uapi; the full header is not pinned.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_UAPI_DRM_H
#define RD_UAPI_DRM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DRM_IOCTL_BASE     'd'
#define DRM_COMMAND_BASE   0x40
#define DRM_COMMAND_END    0xA0
#define DRM_IOW(nr, type)  _IOW(DRM_IOCTL_BASE, nr, type)
#define DRM_IOR(nr, type)  _IOR(DRM_IOCTL_BASE, nr, type)
#define DRM_IOWR(nr, type) _IOWR(DRM_IOCTL_BASE, nr, type)

/* Ioctl numbers of the DRM core. */
#define DRM_NR_VERSION            0x00
#define DRM_NR_GET_UNIQUE         0x01
#define DRM_NR_GET_MAGIC          0x02
#define DRM_NR_GET_CLIENT         0x05
#define DRM_NR_GET_STATS          0x06
#define DRM_NR_SET_VERSION        0x07
#define DRM_NR_GEM_CLOSE          0x09
#define DRM_NR_GEM_FLINK          0x0a
#define DRM_NR_GEM_OPEN           0x0b
#define DRM_NR_GET_CAP            0x0c
#define DRM_NR_SET_CLIENT_CAP     0x0d
#define DRM_NR_AUTH_MAGIC         0x11
#define DRM_NR_SET_MASTER         0x1e
#define DRM_NR_DROP_MASTER        0x1f
#define DRM_NR_PRIME_HANDLE_TO_FD 0x2d
#define DRM_NR_PRIME_FD_TO_HANDLE 0x2e

#define DRM_NR_CREATE_DUMB  0xb2
#define DRM_NR_MAP_DUMB     0xb3
#define DRM_NR_DESTROY_DUMB 0xb4

#define DRM_NR_SYNCOBJ_CREATE          0xbf
#define DRM_NR_SYNCOBJ_DESTROY         0xc0
#define DRM_NR_SYNCOBJ_HANDLE_TO_FD    0xc1
#define DRM_NR_SYNCOBJ_FD_TO_HANDLE    0xc2
#define DRM_NR_SYNCOBJ_WAIT            0xc3
#define DRM_NR_SYNCOBJ_RESET           0xc4
#define DRM_NR_SYNCOBJ_SIGNAL          0xc5
#define DRM_NR_SYNCOBJ_TIMELINE_WAIT   0xca
#define DRM_NR_SYNCOBJ_QUERY           0xcb
#define DRM_NR_SYNCOBJ_TRANSFER        0xcc
#define DRM_NR_SYNCOBJ_TIMELINE_SIGNAL 0xcd

#define DRM_NR_SYNCOBJ_EVENTFD         0xcf

#define DRM_SYNCOBJ_CREATE_SIGNALED 1u
#define DRM_SYNCOBJ_SYNC_FILE       1u /* of both calls about descriptors */
#define DRM_SYNCOBJ_WAIT_ALL        1u
#define DRM_SYNCOBJ_WAIT_SUBMIT     2u
#define DRM_SYNCOBJ_WAIT_AVAILABLE  4u
#define DRM_SYNCOBJ_WAIT_DEADLINE   8u
#define DRM_SYNCOBJ_QUERY_SUBMITTED 1u

struct drm_syncobj_create {
    __u32 handle; /* out */
    __u32 flags;
};

struct drm_syncobj_destroy {
    __u32 handle;
    __u32 pad;
};

struct drm_syncobj_handle {
    __u32 handle;
    __u32 flags;
    __s32 fd;
    __u32 pad;
};

struct drm_syncobj_transfer {
    __u32 src_handle, dst_handle;
    __u64 src_point, dst_point;
    __u32 flags;
    __u32 pad;
};

struct drm_syncobj_wait {
    __u64 handles;
    __s64 timeout_nsec; /* absolute */
    __u32 count_handles;
    __u32 flags;
    __u32 first_signaled; /* out */
    __u32 pad;
    __u64 deadline_nsec;
};

struct drm_syncobj_timeline_wait {
    __u64 handles;
    __u64 points;
    __s64 timeout_nsec;
    __u32 count_handles;
    __u32 flags;
    __u32 first_signaled; /* out */
    __u32 pad;
    __u64 deadline_nsec;
};

struct drm_syncobj_array {
    __u64 handles;
    __u32 count_handles;
    __u32 pad;
};

struct drm_syncobj_timeline_array {
    __u64 handles;
    __u64 points;
    __u32 count_handles;
    __u32 flags;
};

struct drm_syncobj_eventfd {
    __u32 handle;
    __u32 flags; /* DRM_SYNCOBJ_WAIT_AVAILABLE */
    __u64 point;
    __s32 fd;
    __u32 pad;
};

struct drm_version {
    int version_major;
    int version_minor;
    int version_patchlevel;
    __u64 name_len; /* in: room, out: length */
    __u64 name;
    __u64 date_len;
    __u64 date;
    __u64 desc_len;
    __u64 desc;
};

struct drm_unique {
    __u64 unique_len;
    __u64 unique;
};

struct drm_client {
    __s32 idx;
    __s32 auth;
    __u64 pid;
    __u64 uid;
    __u64 magic;
    __u64 iocs;
};

struct drm_auth {
    __u32 magic;
};

struct drm_set_version { /* -1: not asked about */
    int drm_di_major, drm_di_minor;
    int drm_dd_major, drm_dd_minor;
};

struct drm_stats { /* nothing is in it */
    __u64 reserved[31];
};

struct drm_mode_create_dumb {
    __u32 height, width;
    __u32 bpp;
    __u32 flags;
    __u32 handle; /* out, as what follows */
    __u32 pitch;
    __u64 size;
};

struct drm_mode_map_dumb {
    __u32 handle;
    __u32 pad;
    __u64 offset; /* out */
};

struct drm_mode_destroy_dumb {
    __u32 handle;
};

struct drm_get_cap {
    __u64 capability;
    __u64 value;
};

struct drm_gem_close {
    __u32 handle;
    __u32 pad;
};

struct drm_gem_flink {
    __u32 handle;
    __u32 name; /* out */
};

struct drm_gem_open {
    __u32 name;
    __u32 handle; /* out */
    __u64 size;   /* out */
};

struct drm_prime_handle {
    __u32 handle;
    __u32 flags;
    __s32 fd;
};

#endif
