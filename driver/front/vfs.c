/* vfs.c: the fake part of the file system.
 *
 * The files really exist, below the state folder; a path that a machine with the GPU
 * would have is answered from there. Knows nothing of ioctls or the GPU. Everything
 * below an owned prefix is ours, present or not; all else is the host's.
 * SPDX-License-Identifier: MIT
 */
#include "vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "shared.h"

static const char *const owned[] = {
    "/dev/kfd",
    "/dev/dri",
    "/sys/devices/virtual/kfd",
    "/sys/devices/pci0000:00/0000:00:01.1",
    "/sys/class/kfd",
    "/sys/class/drm",
    "/sys/dev/char/226:0",
    "/sys/dev/char/226:128",
    "/sys/dev/char/511:0",
    "/sys/module/amdgpu",
    "/sys/bus/pci/devices",
    "/sys/bus/pci/drivers/amdgpu",
    "/sys/bus/pci/rescan",
    "/sys/kernel/debug/dri",
    "/sys/kernel/debug/sync",
    "/sys/kernel/debug/tracing/events/amdgpu",
    "/proc/modules",
};

#define KFD_MAJOR 511
#define DRM_MAJOR 226
#define FD_FLOOR  700

struct identity {
    dev_t dev;
    ino_t ino;
};

/* Written once by whoever comes first; a race writes the same values twice. */
static struct {
    bool ready;
    bool active;
    size_t prefix_length;
    char prefix[PATH_MAX];
    struct identity kfd, render, card, recover, timeline;
} vfs;

/* Also while the device is away. */
static bool identify(const char *file, struct identity *id)
{
    char path[PATH_MAX + 32];
    struct stat st;
    snprintf(path, sizeof(path), "%s%s", vfs.prefix, file);
    if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0) {
        int n = snprintf(path, sizeof(path), "%s/../" GSHARED_AWAY "/", vfs.prefix);
        for (unsigned i = 0; file[i] && n + 1 < (int)sizeof(path); i++)
            path[n++] = file[i] == '/' ? '_' : file[i];
        path[n] = '\0';
        if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0)
            return false;
    }
    id->dev = st.st_dev;
    id->ino = st.st_ino;
    return true;
}

static bool active(void)
{
    if (__atomic_load_n(&vfs.ready, __ATOMIC_ACQUIRE))
        return vfs.active;
    const char *state = getenv(FRONT_ENV_STATE);
    bool ok = state && strlen(state) + 32 < sizeof(vfs.prefix);
    if (ok) {
        snprintf(vfs.prefix, sizeof(vfs.prefix), "%s/" GSHARED_TREE, state);
        vfs.prefix_length = strlen(vfs.prefix);
        ok = identify("/dev/kfd", &vfs.kfd) &&
             identify("/dev/dri/renderD128", &vfs.render) &&
             identify("/dev/dri/card0", &vfs.card) &&
             identify("/sys/kernel/debug/sync/sw_sync", &vfs.timeline);
        (void)identify("/sys/kernel/debug/dri/0/amdgpu_gpu_recover", &vfs.recover);
    }
    vfs.active = ok;
    __atomic_store_n(&vfs.ready, true, __ATOMIC_RELEASE);
    return ok;
}

/* "//a/./b" -> "/a/b"; ".." stays, since what precedes it may be a link. */
static bool tidy(const char *path, char *out, size_t room)
{
    size_t n = 0;
    while (*path) {
        while (*path == '/')
            path++;
        size_t len = strcspn(path, "/");
        if (len == 1 && path[0] == '.') {
            path++;
            continue;
        }
        if (!len)
            break;
        if (n + len + 2 > room)
            return false;
        out[n++] = '/';
        memcpy(out + n, path, len);
        n += len;
        path += len;
    }
    out[n] = '\0';
    return n > 0;
}

static bool is_owned(const char *path)
{
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++) {
        size_t n = strlen(owned[i]);
        if (strncmp(path, owned[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

/* Copies of descriptors, closed when others need their places. */
#define CONTROLS 8u
static _Atomic int controls[CONTROLS];
static _Atomic unsigned n_controls; /* ever opened */

void vfs_watch_control(int fd)
{
    char path[PATH_MAX];
    int saved = errno;
    int copy = vfs_place_of_fd(fd, path) ? fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR) : -1;
    if (copy >= 0) {
        int old = atomic_exchange(&controls[n_controls % CONTROLS], copy);
        if (old > 0)
            close(old);
        n_controls++;
    }
    errno = saved;
}

void vfs_settle(void)
{
    const struct timespec nap = {0, 1000000};
    struct stat st;
    if (!n_controls)
        return;
    int saved = errno;
    for (unsigned i = 0; i < CONTROLS; i++)
        for (unsigned turn = 0; turn < 1000 && controls[i] > 0; turn++) {
            if (syscall(SYS_newfstatat, controls[i], "", &st, AT_EMPTY_PATH) != 0 ||
                !st.st_size)
                break;
            nanosleep(&nap, NULL);
        }
    errno = saved;
}

const char *vfs_path(const char *path, char buf[PATH_MAX])
{
    vfs_settle();
    if (!path || path[0] != '/')
        return path;
    const char *p = path + strspn(path, "/.");
    if (strncmp(p, "dev", 3) != 0 && strncmp(p, "sys", 3) != 0 &&
        strncmp(p, "proc", 4) != 0)
        return path;
    if (!active())
        return path;
    char clean[PATH_MAX];
    if (!tidy(path, clean, sizeof(clean)) || !is_owned(clean))
        return path;
    int n = snprintf(buf, PATH_MAX, "%s%s", vfs.prefix, clean);
    return n > 0 && n < PATH_MAX ? buf : path;
}

size_t vfs_unpath(char *path, size_t length)
{
    if (!active() || length < vfs.prefix_length ||
        memcmp(path, vfs.prefix, vfs.prefix_length) != 0)
        return length;
    length -= vfs.prefix_length;
    memmove(path, path + vfs.prefix_length, length);
    return length;
}

static bool same(const struct identity *id, dev_t dev, ino_t ino)
{
    return id->ino == ino && id->dev == dev;
}

enum vfs_node vfs_node_of_fd(int fd)
{
    struct stat st;
    if (!active() || syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0)
        return VFS_NONE;
    if (same(&vfs.kfd, st.st_dev, st.st_ino))
        return VFS_KFD;
    if (same(&vfs.render, st.st_dev, st.st_ino))
        return VFS_RENDER;
    if (same(&vfs.card, st.st_dev, st.st_ino))
        return VFS_CARD;
    if (same(&vfs.timeline, st.st_dev, st.st_ino))
        return VFS_TIMELINE;
    return same(&vfs.recover, st.st_dev, st.st_ino) ? VFS_RECOVER : VFS_NONE;
}

/* The render node's file, opened once, above the numbers that programs close by habit.
 */
static int render_fd(void)
{
    static int opened = -1;
    int fd = __atomic_load_n(&opened, __ATOMIC_ACQUIRE), none = -1;
    char path[PATH_MAX + 32];
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof(path), "%s/dev/dri/renderD128", vfs.prefix);
    int low = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (low < 0)
        return -1;
    fd = fcntl(low, F_DUPFD_CLOEXEC, FD_FLOOR);
    close(low);
    if (fd < 0 || __atomic_compare_exchange_n(&opened, &none, fd, false,
                                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fd;
    close(fd);
    return none;
}

int vfs_mapped_fd(int fd)
{
    struct stat st;
    if (fd < 0 || !active() ||
        syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) != 0 ||
        !same(&vfs.card, st.st_dev, st.st_ino))
        return fd;
    int render = render_fd();
    return render < 0 ? fd : render;
}

int vfs_memory_beside(int fd)
{
    struct stat st;
    bool beside = active() &&
                  syscall(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) == 0 &&
                  st.st_dev == vfs.render.dev && st.st_ino != vfs.render.ino;
    return beside ? render_fd() : -1;
}

bool vfs_place_of_fd(int fd, char path[PATH_MAX])
{
    char link[40];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    size_t length = n > 0 ? (size_t)n : 0;
    size_t shown = vfs_unpath(path, length);
    path[shown] = '\0';
    return shown != length || (active() && is_owned(path));
}

static bool device_number(dev_t dev, ino_t ino, unsigned *maj, unsigned *min)
{
    if (!active())
        return false;
    if (same(&vfs.kfd, dev, ino)) {
        *maj = KFD_MAJOR;
        *min = 0;
    } else if (same(&vfs.render, dev, ino)) {
        *maj = DRM_MAJOR;
        *min = 128;
    } else if (same(&vfs.card, dev, ino)) {
        *maj = DRM_MAJOR;
        *min = 0;
    } else {
        return false;
    }
    return true;
}

void vfs_fix_stat(struct stat *st)
{
    unsigned maj, min;
    if (!device_number(st->st_dev, st->st_ino, &maj, &min))
        return;
    st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFCHR;
    st->st_rdev = makedev(maj, min);
    st->st_size = 0;
    st->st_blocks = 0;
}

void vfs_fix_statx(struct statx *stx)
{
    unsigned maj, min;
    dev_t dev = makedev(stx->stx_dev_major, stx->stx_dev_minor);
    if (!device_number(dev, stx->stx_ino, &maj, &min))
        return;
    stx->stx_mode = (uint16_t)((stx->stx_mode & ~S_IFMT) | S_IFCHR);
    stx->stx_rdev_major = maj;
    stx->stx_rdev_minor = min;
    stx->stx_size = 0;
    stx->stx_blocks = 0;
}
