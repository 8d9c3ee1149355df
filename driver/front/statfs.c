/* statfs.c: the file systems that programs find the mocked files on: those of the
 * places, not of the state folder. Must not know ioctls or the GPU.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vfs.h"

#define EXPORT __attribute__((visibility("default")))

#define MAGIC_SYSFS   0x62656572
#define MAGIC_PROC    0x9fa0
#define MAGIC_TMPFS   0x01021994 /* of /dev too */
#define MAGIC_OVERLAY 0x794c7630
#define VALID_FLAG    0x20 /* of statfs's f_flags, for libc alone */

static const struct place {
    const char *path;
    long magic;
} places[] = {{"/sys", MAGIC_SYSFS}, {"/proc", MAGIC_PROC}, {"/dev", MAGIC_TMPFS}};

/* What the host says of the place; what it would say if the host has no such place. */
static void of_place(const struct place *p, struct statfs *out)
{
    if (syscall(SYS_statfs, p->path, out) == 0 && out->f_type == p->magic)
        return;
    memset(out, 0, sizeof(*out));
    out->f_type = p->magic;
    out->f_bsize = out->f_frsize = 4096;
    out->f_namelen = 255;
}

/* An open file; those that are mounted over the place have its path. */
static int of_file(int fd, struct statfs *out)
{
    char path[PATH_MAX];
    if (syscall(SYS_fstatfs, fd, out) != 0)
        return -1;
    bool ours = vfs_place_of_fd(fd, path);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t n = strlen(places[i].path);
        if (strncmp(path, places[i].path, n) != 0 || (path[n] && path[n] != '/'))
            continue;
        if (ours || (out->f_type == MAGIC_OVERLAY && places[i].magic == MAGIC_SYSFS))
            of_place(&places[i], out);
    }
    return 0;
}

static int of_path(const char *path, struct statfs *out)
{
    char buf[PATH_MAX];
    path = vfs_path(path, buf);
    int saved = errno;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    if (fd < 0)
        return (int)syscall(SYS_statfs, path, out);
    int r = of_file(fd, out);
    int err = errno;
    syscall(SYS_close, fd);
    errno = r ? err : saved;
    return r;
}

/* On x86-64 the structs with and without 64 have one layout. */
_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64), "one layout");
_Static_assert(sizeof(struct statvfs) == sizeof(struct statvfs64), "one layout");

static int convert(int r, const struct statfs *from, struct statvfs *to)
{
    if (r)
        return r;
    memset(to, 0, sizeof(*to));
    to->f_bsize = (unsigned long)from->f_bsize;
    to->f_frsize = (unsigned long)(from->f_frsize ? from->f_frsize : from->f_bsize);
    to->f_blocks = from->f_blocks;
    to->f_bfree = from->f_bfree;
    to->f_bavail = from->f_bavail;
    to->f_files = from->f_files;
    to->f_ffree = to->f_favail = from->f_ffree;
    memcpy(&to->f_fsid, &from->f_fsid, sizeof(to->f_fsid));
    to->f_flag = (unsigned long)from->f_flags & ~(unsigned long)VALID_FLAG;
    to->f_namemax = (unsigned long)from->f_namelen;
    to->__f_spare[0] = (int)from->f_type; /* f_type of later libraries */
    return 0;
}

EXPORT int statfs(const char *path, struct statfs *out)
{
    return of_path(path, out);
}

EXPORT int statfs64(const char *path, struct statfs64 *out)
{
    return of_path(path, (struct statfs *)out);
}

EXPORT int fstatfs(int fd, struct statfs *out)
{
    return of_file(fd, out);
}

EXPORT int fstatfs64(int fd, struct statfs64 *out)
{
    return of_file(fd, (struct statfs *)out);
}

EXPORT int statvfs(const char *restrict path, struct statvfs *restrict out)
{
    struct statfs s;
    return convert(of_path(path, &s), &s, out);
}

EXPORT int statvfs64(const char *restrict path, struct statvfs64 *restrict out)
{
    struct statfs s;
    return convert(of_path(path, &s), &s, (struct statvfs *)out);
}

EXPORT int fstatvfs(int fd, struct statvfs *out)
{
    struct statfs s;
    return convert(of_file(fd, &s), &s, out);
}

EXPORT int fstatvfs64(int fd, struct statvfs64 *out)
{
    struct statfs s;
    return convert(of_file(fd, &s), &s, (struct statvfs *)out);
}
