/* ipc.h: ioctls by which processes share buffers, which Linux does not have and the
 * kernel module that AMD publishes with ROCm has. Source: libhsakmt, kfd_ioctl.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_ABI_IPC_H
#define RD_ABI_IPC_H

#include <stdint.h>
#include <sys/ioctl.h>

struct abi_ipc_import_args {
    uint64_t handle;          /* out */
    uint64_t va_addr;         /* in */
    uint64_t mmap_offset;     /* out: in the render node */
    uint32_t share_handle[4]; /* in */
    uint32_t gpu_id;          /* in */
    uint32_t flags;           /* out: as exported */
};

struct abi_ipc_export_args {
    uint64_t handle;          /* in */
    uint32_t share_handle[4]; /* out */
    uint32_t gpu_id;          /* in */
    uint32_t flags;           /* in: the driver keeps them for importers */
};

#define ABI_IPC_IMPORT _IOWR('K', 0x80, struct abi_ipc_import_args)
#define ABI_IPC_EXPORT _IOWR('K', 0x81, struct abi_ipc_export_args)

#endif
