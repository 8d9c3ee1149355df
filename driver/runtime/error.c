/* error.c: error texts, ioctls and their status.
 *
 * Must not know any object. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "internal.h"

rd_status rt_fail(struct rt_error *err, rd_status st, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(err->text, sizeof(err->text), fmt, ap);
        va_end(ap);
    }
    return st;
}

int rt_ioctl(const struct rt_device *dev, unsigned long cmd, void *args)
{
    int r;
    do
        r = ioctl(dev->kfd, cmd, args);
    while (r < 0 && (errno == EINTR || errno == EAGAIN));
    return r < 0 ? -errno : 0;
}

rd_status rt_from_errno(int err)
{
    switch (-err) {
    case 0:
        return RD_OK;
    case ENOMEM:
    case ENOSPC:
        return RD_E_NOMEM;
    case EINVAL:
        return RD_E_INVALID;
    case EBUSY:
        return RD_E_BUSY;
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return RD_E_NOT_FOUND;
    case ENOTTY:
    case EOPNOTSUPP:
        return RD_E_UNSUPPORTED;
    default:
        return RD_E_IO;
    }
}
