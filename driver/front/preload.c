/* preload.c: the libc functions that stand between a program and the mocked files.
 *
 * Knows libc and descriptors, no ioctl number. Each wrapper translates paths, does the
 * work by system call (or by the next definition, where libc keeps state), and repairs
 * what comes back. Exports nothing but the names it replaces; the constructor does
 * nothing, so that short-lived children cost nothing.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi.h"
#include "alloc.h"
#include "config.h"
#include "hooks.h"
#include "process.h"
#include "vfs.h"

#define EXPORT __attribute__((visibility("default")))

/* The definition that would have been used without us. */
#define NEXT(name)                                                                     \
    ({                                                                                 \
        static __typeof__(&name) next_;                                                \
        if (!__atomic_load_n(&next_, __ATOMIC_RELAXED)) {                              \
            __typeof__(&name) found_;                                                  \
            *(void **)&found_ = shim_dlsym()(RTLD_NEXT, #name);                        \
            __atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
        }                                                                              \
        next_;                                                                         \
    })

/* libc's own names for the same functions, which no header declares. */
EXPORT int open64(const char *path, int flags, ...);
EXPORT int openat64(int dir, const char *path, int flags, ...);
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int dir, const char *path, int flags);
EXPORT int __openat64_2(int dir, const char *path, int flags);
EXPORT FILE *fopen64(const char *path, const char *mode);
EXPORT void *mmap64(void *at, size_t bytes, int prot, int flags, int fd, off64_t off);
EXPORT int stat64(const char *path, struct stat64 *st);
EXPORT int lstat64(const char *path, struct stat64 *st);
EXPORT int fstat64(int fd, struct stat64 *st);
EXPORT int fstatat64(int dir, const char *path, struct stat64 *st, int flags);
EXPORT int __xstat(int version, const char *path, struct stat *st);
EXPORT int __xstat64(int version, const char *path, struct stat64 *st);
EXPORT int __lxstat(int version, const char *path, struct stat *st);
EXPORT int __lxstat64(int version, const char *path, struct stat64 *st);
EXPORT int __fxstat(int version, int fd, struct stat *st);
EXPORT int __fxstat64(int version, int fd, struct stat64 *st);
EXPORT char *__realpath_chk(const char *path, char *resolved, size_t size);
EXPORT ssize_t __readlink_chk(const char *path, char *buf, size_t n, size_t size);

static const struct abi_host host;

/* ---- opening ---- */

/* What the program has opened is a new timeline. Its number stays. */
static void become_timeline(int fd)
{
    int flags = fcntl(fd, F_GETFD), timeline = abi_new_timeline(&host);
    if (timeline < 0)
        return;
    (void)dup3(timeline, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(timeline);
}

/* Whoever opens the primary node first is its master; Linux resets the board when the
 * file of that name is read, which is what it is opened for. */
static void opened(int fd)
{
    int saved = errno;
    enum vfs_node node = vfs_node_of_fd(fd);
    if (node == VFS_CARD)
        abi_opened(&host, ABI_CARD, fd);
    else if (node == VFS_RECOVER)
        abi_recover(&host);
    else if (node == VFS_TIMELINE)
        become_timeline(fd);
    errno = saved;
}

/* Could a file be one of those? Cheap, as every opening asks. */
static bool may_matter(const char *path)
{
    return strstr(path, "card") || strstr(path, "/fd/") ||
           strstr(path, "gpu_recover") || strstr(path, "sw_sync");
}

/* What was written to these is seen by the next call that could tell. */
static bool is_control(const char *path)
{
    static const char *const names[] = {"/remove", "/rescan", "/reset", "/unbind",
                                        "/bind"};
    const char *name = strrchr(path, '/');
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name ? strcmp(name, names[i]) == 0 : strcmp(path, names[i] + 1) == 0)
            return true;
    return false;
}

static int do_open(int dir, const char *path, int flags, mode_t mode)
{
    char buf[PATH_MAX];
    int fd = (int)syscall(SYS_openat, dir, vfs_path(path, buf), flags, mode);
    if (fd >= 0 && !(flags & O_PATH) && may_matter(path))
        opened(fd);
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY && is_control(path))
        vfs_watch_control(fd);
    return fd;
}

static bool needs_mode(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE_ARGUMENT(last)                                                            \
    mode_t mode = 0;                                                                   \
    if (needs_mode(last)) {                                                            \
        va_list ap;                                                                    \
        va_start(ap, last);                                                            \
        mode = va_arg(ap, mode_t);                                                     \
        va_end(ap);                                                                    \
    }

EXPORT int open(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return do_open(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return do_open(dir, path, flags, mode);
}

int __open_2(const char *path, int flags)
{
    return do_open(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return do_open(AT_FDCWD, path, flags, 0);
}

int __openat_2(int dir, const char *path, int flags)
{
    return do_open(dir, path, flags, 0);
}

int __openat64_2(int dir, const char *path, int flags)
{
    return do_open(dir, path, flags, 0);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    char buf[PATH_MAX];
    return NEXT(fopen)(vfs_path(path, buf), mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    char buf[PATH_MAX];
    return NEXT(fopen64)(vfs_path(path, buf), mode);
}

EXPORT DIR *opendir(const char *path)
{
    char buf[PATH_MAX];
    return NEXT(opendir)(vfs_path(path, buf));
}

EXPORT int scandir(const char *path, struct dirent ***names,
                   int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    char buf[PATH_MAX];
    return NEXT(scandir)(vfs_path(path, buf), names, filter, compare);
}

EXPORT int scandir64(const char *path, struct dirent64 ***names,
                     int (*filter)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    char buf[PATH_MAX];
    return NEXT(scandir64)(vfs_path(path, buf), names, filter, compare);
}

/* ---- looking ---- */

static int do_stat(int dir, const char *path, struct stat *st, int flags)
{
    char buf[PATH_MAX];
    if ((long)syscall(SYS_newfstatat, dir, vfs_path(path, buf), st, flags) != 0)
        return -1;
    vfs_fix_stat(st);
    return 0;
}

/* On x86-64 both stat structs have one layout. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
               "one layout of struct stat");

EXPORT int stat(const char *path, struct stat *st)
{
    return do_stat(AT_FDCWD, path, st, 0);
}

int stat64(const char *path, struct stat64 *st)
{
    return do_stat(AT_FDCWD, path, (struct stat *)st, 0);
}

EXPORT int lstat(const char *path, struct stat *st)
{
    return do_stat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int lstat64(const char *path, struct stat64 *st)
{
    return do_stat(AT_FDCWD, path, (struct stat *)st, AT_SYMLINK_NOFOLLOW);
}

EXPORT int fstat(int fd, struct stat *st)
{
    return do_stat(fd, "", st, AT_EMPTY_PATH);
}

int fstat64(int fd, struct stat64 *st)
{
    return do_stat(fd, "", (struct stat *)st, AT_EMPTY_PATH);
}

EXPORT int fstatat(int dir, const char *path, struct stat *st, int flags)
{
    return do_stat(dir, path, st, flags);
}

int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
    return do_stat(dir, path, (struct stat *)st, flags);
}

int __xstat(int version, const char *path, struct stat *st)
{
    (void)version;
    return do_stat(AT_FDCWD, path, st, 0);
}

int __xstat64(int version, const char *path, struct stat64 *st)
{
    (void)version;
    return do_stat(AT_FDCWD, path, (struct stat *)st, 0);
}

int __lxstat(int version, const char *path, struct stat *st)
{
    (void)version;
    return do_stat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int __lxstat64(int version, const char *path, struct stat64 *st)
{
    (void)version;
    return do_stat(AT_FDCWD, path, (struct stat *)st, AT_SYMLINK_NOFOLLOW);
}

int __fxstat(int version, int fd, struct stat *st)
{
    (void)version;
    return do_stat(fd, "", st, AT_EMPTY_PATH);
}

int __fxstat64(int version, int fd, struct stat64 *st)
{
    (void)version;
    return do_stat(fd, "", (struct stat *)st, AT_EMPTY_PATH);
}

EXPORT int statx(int dir, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict stx)
{
    char buf[PATH_MAX];
    unsigned need = mask | STATX_INO | STATX_TYPE | STATX_MODE;
    if ((long)syscall(SYS_statx, dir, vfs_path(path, buf), flags, need, stx) != 0)
        return -1;
    vfs_fix_statx(stx);
    return 0;
}

EXPORT int access(const char *path, int mode)
{
    char buf[PATH_MAX];
    return (int)syscall(SYS_faccessat, AT_FDCWD, vfs_path(path, buf), mode);
}

EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
    char buf[PATH_MAX];
    return NEXT(faccessat)(dir, vfs_path(path, buf), mode, flags);
}

static ssize_t do_readlink(int dir, const char *path, char *out, size_t size)
{
    char buf[PATH_MAX], text[PATH_MAX];
    long n = syscall(SYS_readlinkat, dir, vfs_path(path, buf), text, sizeof(text));
    if (n < 0)
        return -1;
    size_t length = vfs_unpath(text, (size_t)n);
    if (length > size)
        length = size;
    memcpy(out, text, length);
    return (ssize_t)length;
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict out, size_t size)
{
    return do_readlink(AT_FDCWD, path, out, size);
}

EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict out,
                          size_t size)
{
    return do_readlink(dir, path, out, size);
}

ssize_t __readlink_chk(const char *path, char *out, size_t n, size_t size)
{
    return do_readlink(AT_FDCWD, path, out, n < size ? n : size);
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
    char buf[PATH_MAX];
    char *r = NEXT(realpath)(vfs_path(path, buf), resolved);
    if (r)
        r[vfs_unpath(r, strlen(r))] = '\0';
    return r;
}

char *__realpath_chk(const char *path, char *resolved, size_t size)
{
    if (resolved && size < PATH_MAX)
        abort(); /* as libc does on a buffer too small for any path */
    return realpath(path, resolved);
}

EXPORT char *canonicalize_file_name(const char *path)
{
    return realpath(path, NULL);
}

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    char buf[PATH_MAX];
    return syscall(SYS_getxattr, vfs_path(path, buf), name, value, size);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    char buf[PATH_MAX];
    return syscall(SYS_lgetxattr, vfs_path(path, buf), name, value, size);
}

EXPORT ssize_t listxattr(const char *path, char *list, size_t size)
{
    char buf[PATH_MAX];
    return syscall(SYS_listxattr, vfs_path(path, buf), list, size);
}

EXPORT ssize_t llistxattr(const char *path, char *list, size_t size)
{
    char buf[PATH_MAX];
    return syscall(SYS_llistxattr, vfs_path(path, buf), list, size);
}

/* ---- the devices ---- */

static enum abi_file fd_kind(int fd)
{
    switch (vfs_node_of_fd(fd)) {
    case VFS_KFD:
        return ABI_KFD;
    case VFS_RENDER:
        return ABI_RENDER;
    case VFS_CARD:
        return ABI_CARD;
    default:
        return ABI_NONE;
    }
}

static bool configure(struct abi_config *out)
{
    if (!front_config(out))
        return false;
    out->kmd.heap = alloc_heap();
    return true;
}

static const struct abi_host host = {.fd_kind = fd_kind, .config = configure};

static bool device_used; /* an ioctl of ours has come */

EXPORT int ioctl(int fd, unsigned long cmd, ...)
{
    va_list ap;
    va_start(ap, cmd);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    enum abi_file file = abi_claims(cmd) ? fd_kind(fd) : ABI_NONE;
    vfs_settle();
    int saved = errno, r;
    if (file == ABI_NONE) {
        if (!abi_claims_fence(cmd) || !abi_fence_ioctl(&host, fd, cmd, arg, &r))
            return (int)syscall(SYS_ioctl, fd, cmd, arg);
    } else {
        __atomic_store_n(&device_used, true, __ATOMIC_RELAXED);
        r = abi_ioctl(&host, file, fd, cmd, arg);
        if (file == ABI_KFD)
            process_show();
    }
    errno = r < 0 ? -r : saved;
    return r < 0 ? -1 : r;
}

/* The thread sanitizer's own runtime maps memory before it can follow functions. */
#define UNFOLLOWED __attribute__((no_sanitize("thread")))

UNFOLLOWED static void *do_mmap(void *at, size_t bytes, int prot, int flags, int fd,
                                off_t off)
{
    if (fd >= 0 && !(flags & MAP_ANONYMOUS)) {
        uint64_t pages = ((uint64_t)bytes + 4095) & ~4095ull, place = (uint64_t)off;
        fd = vfs_mapped_fd(fd);
        int memory = vfs_memory_beside(fd);
        if (memory >= 0 && abi_buffer_place(fd, pages, &place)) {
            fd = memory; /* by a descriptor that was exported */
            off = (off_t)place;
        }
        if (fd_kind(fd) == ABI_RENDER && !abi_mapping_fits((uint64_t)off, pages)) {
            errno = EINVAL;
            return MAP_FAILED;
        }
    }
    return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, off);
}

EXPORT UNFOLLOWED void *mmap(void *at, size_t bytes, int prot, int flags, int fd,
                             off_t off)
{
    return do_mmap(at, bytes, prot, flags, fd, off);
}

UNFOLLOWED void *mmap64(void *at, size_t bytes, int prot, int flags, int fd,
                        off64_t off)
{
    return do_mmap(at, bytes, prot, flags, fd, off);
}

/* Linux forgets what was said of the memory. */
EXPORT UNFOLLOWED int munmap(void *at, size_t bytes)
{
    if (__atomic_load_n(&device_used, __ATOMIC_RELAXED) && bytes &&
        !((uintptr_t)at & 4095))
        abi_unmapped((uintptr_t)at, bytes);
    return (int)syscall(SYS_munmap, at, bytes);
}

/* ---- lookup by name ---- */

/* clang-format off */
#define HOOKS(X) \
    X(open) X(open64) X(openat) X(openat64) X(__open_2) X(__open64_2) X(__openat_2) \
    X(__openat64_2) X(fopen) X(fopen64) X(opendir) X(scandir) X(scandir64) X(stat) \
    X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) X(fstatat) X(fstatat64) \
    X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64) X(__fxstat) X(__fxstat64) \
    X(statx) X(access) X(faccessat) X(readlink) X(readlinkat) X(__readlink_chk) \
    X(realpath) X(__realpath_chk) X(canonicalize_file_name) X(getxattr) X(lgetxattr) \
    X(listxattr) X(llistxattr) X(ioctl) X(mmap) X(mmap64) X(munmap) X(sigaction) X(signal) \
    X(statfs) X(statfs64) X(fstatfs) X(fstatfs64) X(statvfs) X(statvfs64) X(fstatvfs) \
    X(fstatvfs64)
/* clang-format on */

struct hook {
    const char *name;
    void (*fn)(void);
};

void *shim_hook(const char *name)
{
    static const struct hook hooks[] = {
#define X(f) {#f, (void (*)(void))f},
        HOOKS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        if (strcmp(name, hooks[i].name) == 0) {
            void *p;
            memcpy(&p, &hooks[i].fn, sizeof(p));
            return p;
        }
    return NULL;
}
