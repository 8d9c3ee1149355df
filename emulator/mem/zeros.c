/* zeros.c: zeros that are put off. SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE // NOLINT: SEEK_DATA
#include "zeros.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How many instructions a page that need not exist is worth, and how many are run to
 * see whether there are any: interpreting one takes some nanoseconds more than native
 * code does, a page as many microseconds. */
#define PAGE_BYTES   4096
#define INSTS_A_PAGE 1024u
#define INSTS_TO_TRY 4096u

void zeros_begin(struct zeros *z, const struct emu_config *config)
{
    *z = (struct zeros){.find = config->sparse, .ctx = config->sparse_ctx};
}

static bool in_file(const struct zeros *z, const uint8_t *at, size_t bytes)
{
    uint64_t from = (uintptr_t)at - z->file.host;
    return from < z->file.bytes && z->file.bytes - from >= bytes;
}

bool zeros_add(struct zeros *z, uint8_t *at, size_t bytes)
{
    if (z->bytes && at == z->at + z->bytes && in_file(z, at, bytes)) {
        z->bytes += bytes;
        return true;
    }
    zeros_flush(z);
    if (!in_file(z, at, bytes) &&
        !(z->find(z->ctx, (uintptr_t)at, &z->file) && in_file(z, at, bytes))) {
        z->file.bytes = 0;
        return false;
    }
    z->at = at;
    z->bytes = bytes;
    return true;
}

/* Where data begins at an offset or behind it; end: not before that. */
static off_t find_data(int fd, off_t at, off_t end)
{
    off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : at;
    return data < end ? data : end;
}

/* Page by page where there is data: the file would also tell where the next hole is,
 * but looks at each page up to it, however many gigabytes that are, every time. */
void zeros_flush(struct zeros *z)
{
    if (!z->bytes)
        return;
    const struct emu_sparse *f = &z->file;
    off_t first = (off_t)(f->offset + ((uintptr_t)z->at - f->host));
    off_t end = first + (off_t)z->bytes;
    for (off_t at = first; at < end;) {
        off_t data = find_data(f->fd, at, end);
        off_t next = (data / PAGE_BYTES + 1) * PAGE_BYTES;
        z->left_out += (uint64_t)(data - at);
        at = next < end ? next : end;
        memset(z->at + (data - first), 0, (size_t)(at - data));
    }
    z->bytes = 0;
}

bool zeros_pay(const struct zeros *z, uint64_t insts)
{
    return insts <= INSTS_TO_TRY + z->left_out / PAGE_BYTES * INSTS_A_PAGE;
}
