/* mounts.c: namespaces: another root directory, and the mocked files at their places.
 *
 * Runs in the child before it becomes the program. Folders of sysfs are overlaid with
 * the mocked tree; /dev becomes a folder of its own with the host's nodes and ours.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared.h"
#include "state.h"

#define MAX_DEVICES 1000

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text);
}

const char *mounts_begin(void)
{
    unsigned uid = getuid(), gid = getgid();
    char map[64];
    if (unshare(CLONE_NEWNS) == 0) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
            return NULL;
        /* what is mounted here could then show outside */
        return errno == EINVAL ? "/ is no mount point, as in a chroot" : "mount /";
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return "unshare";
    bool has_setgroups = access("/proc/self/setgroups", F_OK) == 0;
    if (has_setgroups && !write_text("/proc/self/setgroups", "deny"))
        return "setgroups";
    snprintf(map, sizeof(map), "%u %u 1", uid, uid);
    if (!write_text("/proc/self/uid_map", map))
        return "uid_map";
    snprintf(map, sizeof(map), "%u %u 1", gid, gid);
    return write_text("/proc/self/gid_map", map) ? NULL : "gid_map";
}

const char *mounts_enter_root(const char *dir, const struct state *state)
{
    static const char *const shared[] = {"/proc", "/sys", "/dev"};
    char root[PATH_MAX], cwd[PATH_MAX], path[2 * PATH_MAX];
    if (!realpath(dir, root))
        return "no such directory";
    if (!getcwd(cwd, sizeof(cwd)))
        cwd[0] = '\0';
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", root, shared[i]);
        if (mount(shared[i], path, NULL, MS_BIND | MS_REC, NULL) != 0)
            return "mount";
    }
    if (state->in_root[0] &&
        mount(state->dir, state->in_root, NULL, MS_BIND, NULL) != 0)
        return "mount of the state folder";
    if (chroot(root) != 0)
        return "chroot";
    size_t n = strlen(root);
    bool inside = strncmp(cwd, root, n) == 0 && (cwd[n] == '/' || cwd[n] == '\0');
    return chdir(inside && cwd[n] ? cwd + n : "/") == 0 ? NULL : "chdir";
}

/* A path in a list of overlay folders: colons separate, unless escaped. */
static size_t escape(char *out, size_t room, const char *path)
{
    size_t n = 0;
    for (; *path && n + 2 < room; path++) {
        if (*path == ':')
            out[n++] = '\\';
        out[n++] = *path;
    }
    out[n] = '\0';
    return n;
}

/* Ours above theirs, read only. */
static bool overlay(const struct state *s, const char *place)
{
    char ours[PATH_MAX], options[4 * PATH_MAX] = "lowerdir=";
    snprintf(ours, sizeof(ours), "%s/" GSHARED_TREE "%s", s->dir, place);
    size_t n = strlen(options);
    n += escape(options + n, 2 * PATH_MAX, ours);
    options[n++] = ':';
    escape(options + n, PATH_MAX, place);
    return mount("rdna3", place, "overlay", MS_RDONLY, options) == 0;
}

static bool bind_node(const char *from, const char *to, mode_t mode)
{
    char target[PATH_MAX];
    if (S_ISLNK(mode)) {
        ssize_t n = readlink(from, target, sizeof(target) - 1);
        if (n < 0)
            return false;
        target[n] = '\0';
        return symlink(target, to) == 0;
    }
    if (S_ISDIR(mode)) {
        if (mkdir(to, 0755) != 0)
            return false;
    } else {
        int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
        if (fd < 0)
            return false;
        close(fd);
    }
    return mount(from, to, NULL, MS_BIND | (S_ISDIR(mode) ? MS_REC : 0), NULL) == 0;
}

/* The host's nodes one by one, then ours, on a fresh folder that is moved over /dev. */
static bool devices(const struct state *s)
{
    char stage[PATH_MAX], from[PATH_MAX + 300], to[PATH_MAX + 300];
    snprintf(stage, sizeof(stage), "%s/dev", s->dir);
    if (mkdir(stage, 0755) != 0 && errno != EEXIST)
        return false;
    if (mount("rdna3", stage, "tmpfs", 0, "mode=755") != 0)
        return false;
    DIR *d = opendir("/dev");
    unsigned count = 0;
    bool ok = d != NULL;
    for (struct dirent *e; ok && (e = readdir(d)) != NULL;) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strcmp(e->d_name, "kfd") == 0 || strcmp(e->d_name, "dri") == 0)
            continue;
        snprintf(from, sizeof(from), "/dev/%s", e->d_name);
        snprintf(to, sizeof(to), "%s/%s", stage, e->d_name);
        if (lstat(from, &st) == 0)
            (void)bind_node(from, to, st.st_mode);
        ok = ++count < MAX_DEVICES;
    }
    if (d)
        closedir(d);
    static const char *const ours[] = {"kfd", "dri"};
    for (unsigned i = 0; ok && i < 2; i++) {
        snprintf(from, sizeof(from), "%s/" GSHARED_TREE "/dev/%s", s->dir, ours[i]);
        snprintf(to, sizeof(to), "%s/%s", stage, ours[i]);
        ok = bind_node(from, to, i == 0 ? S_IFREG : S_IFDIR);
    }
    if (ok && mount(stage, "/dev", NULL, MS_MOVE, NULL) == 0)
        return true;
    umount2(stage, MNT_DETACH);
    return false;
}

unsigned mounts_show(const struct state *state)
{
    /* The longest existing folder above each mocked one. */
    static const char *const places[] = {
        "/sys/devices/virtual", "/sys/devices/pci0000:00", "/sys/class",
        "/sys/module",          "/sys/dev/char",           "/sys/bus/pci/devices",
        "/sys/bus/pci/drivers",
    };
    char from[PATH_MAX];
    unsigned mounted = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        mounted += access(places[i], X_OK) == 0 && overlay(state, places[i]);
    snprintf(from, sizeof(from), "%s/" GSHARED_TREE "/proc/modules", state->dir);
    mounted += mount(from, "/proc/modules", NULL, MS_BIND, NULL) == 0;
    return mounted + devices(state);
}
