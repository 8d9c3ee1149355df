/* dmabuf.c: buffers as file descriptors that any process under the mock can import.
 *
 * The descriptor is a sealed memory file that names a range of the render node's file;
 * it holds no data of the buffer.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctx.h"

#define DMABUF_MAGIC 0x6675626d64336472ull

struct dmabuf {
    uint64_t magic;
    struct kmd_bo_info info;
};

int abi_dmabuf_create(struct abi_ctx *ctx, uint32_t bo, bool cloexec, int *fd)
{
    struct dmabuf d = {.magic = DMABUF_MAGIC};
    if (kmd_bo_info(ctx->kmd, bo, &d.info) != RD_OK)
        return -EINVAL;
    if (d.info.kind > KMD_GTT)
        return -EINVAL;
    int file = memfd_create("dmabuf", MFD_ALLOW_SEALING | (cloexec ? MFD_CLOEXEC : 0));
    if (file < 0)
        return -errno;
    if (write(file, &d, sizeof(d)) != (ssize_t)sizeof(d) ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
        close(file);
        return -ENOMEM;
    }
    *fd = file;
    return 0;
}

int abi_dmabuf_read(int fd, struct kmd_bo_info *info)
{
    struct dmabuf d;
    ssize_t n = pread(fd, &d, sizeof(d), 0);
    if (n < 0 && errno == EBADF)
        return -EBADF;
    if (n != (ssize_t)sizeof(d) || d.magic != DMABUF_MAGIC || d.info.kind > KMD_GTT)
        return -EINVAL;
    *info = d.info;
    return 0;
}
