/* state.c: makes and removes the folder that holds the mocked files.
 *
 * The folder lies in shared memory where there is room, so that buffers are never
 * written to a disk. Its path is the same inside another root: /dev is shared, and for
 * any other place there is a folder in the root to mount it on.
 * SPDX-License-Identifier: MIT
 */
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "shared.h"
#include "sysfs.h"
#include "whole.h"

#define RENDER_FILE_BYTES (1ull << 42) /* sparse; offsets are never reused */
#define KFD_FILE_BYTES    (1ull << 32)
#define FIRST_OFFSET      (1ull << 21)
#define ROOM_WANTED       (1ull << 30)

/* Create the folders above path. */
static rd_status make_parents(char *path, size_t skip)
{
    for (char *p = path + skip; (p = strchr(p + 1, '/')) != NULL;) {
        *p = '\0';
        int r = mkdir(path, 0755);
        *p = '/';
        if (r != 0 && errno != EEXIST)
            return RD_E_IO;
    }
    return RD_OK;
}

/* Folders repeat a lot: try the file first, make its parents only if that fails. */
static int create_file(const struct state *s, const char *path)
{
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s/" GSHARED_TREE "%s", s->dir, path);
    int fd = open(full, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ENOENT && make_parents(full, strlen(s->dir)) == RD_OK)
        fd = open(full, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd;
}

static rd_status emit_file(void *ctx, const char *path, const void *data, size_t bytes)
{
    int fd = create_file(ctx, path);
    if (fd < 0)
        return RD_E_IO;
    bool ok = whole_write(fd, data, bytes);
    close(fd);
    return ok ? RD_OK : RD_E_IO;
}

static rd_status emit_sparse(void *ctx, const char *path, uint64_t bytes)
{
    int fd = create_file(ctx, path);
    if (fd < 0)
        return RD_E_IO;
    int r = ftruncate(fd, (off_t)bytes);
    fchmod(fd, 0666);
    close(fd);
    return r == 0 ? RD_OK : RD_E_IO;
}

static rd_status emit_link(void *ctx, const char *path, const char *target)
{
    const struct state *s = ctx;
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s/" GSHARED_TREE "%s", s->dir, path);
    int r = symlink(target, full);
    if (r != 0 && errno == ENOENT && make_parents(full, strlen(s->dir)) == RD_OK)
        r = symlink(target, full);
    return r == 0 ? RD_OK : RD_E_IO;
}

/* All users' processes show themselves there, and remove what dead ones left. */
static rd_status emit_folder(void *ctx, const char *path)
{
    const struct state *s = ctx;
    char full[PATH_MAX];
    snprintf(full, sizeof(full), "%s/" GSHARED_TREE "%s", s->dir, path);
    rd_status st = make_parents(full, strlen(s->dir));
    if (st == RD_OK && mkdir(full, 0777) != 0 && errno != EEXIST)
        st = RD_E_IO;
    if (st == RD_OK)
        (void)chmod(full, 0777);
    return st;
}

/* A file of unknown length (proc has no sizes), with room for more behind it. */
static char *read_all(const char *path, size_t extra, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t cap = 65536, used = 0;
    char *data = malloc(cap + extra);
    *bytes = 0;
    while (fd >= 0 && data) {
        ssize_t n = read(fd, data + used, cap - used);
        if (n <= 0)
            break;
        used += (size_t)n;
        if (used == cap) {
            char *more = realloc(data, 2 * cap + extra);
            if (!more)
                break;
            data = more;
            cap *= 2;
        }
    }
    if (fd >= 0)
        close(fd);
    *bytes = used;
    return data;
}

/* The host's modules, and the one that a machine with the GPU has. */
static rd_status emit_modules(struct state *s)
{
    static const char line[] = "amdgpu 15073280 1 - Live 0x0000000000000000\n";
    size_t bytes;
    char *all = read_all("/proc/modules", sizeof(line), &bytes);
    if (!all)
        return RD_E_NOMEM;
    memmove(all + sizeof(line) - 1, all, bytes);
    memcpy(all, line, sizeof(line) - 1);
    rd_status st = emit_file(s, "/proc/modules", all, bytes + sizeof(line) - 1);
    free(all);
    return st;
}

/* Other PCI devices of the host stay visible beside ours. */
static rd_status emit_host_pci(struct state *s)
{
    static const char folder[] = "/sys/bus/pci/devices";
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return RD_OK;
    DIR *d = fdopendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char target[PATH_MAX], path[PATH_MAX];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (realpath(path, target))
            (void)!emit_link(s, path, target);
    }
    if (d)
        closedir(d);
    else
        close(dir);
    return RD_OK;
}

static uint64_t host_memory(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static rd_status emit_tree(struct state *s)
{
    struct sysfs_host host = {
        .cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
        .memory_bytes = host_memory(),
        .board = s->shared->memory,
    };
    struct sysfs_out out = {.ctx = s,
                            .file = emit_file,
                            .link = emit_link,
                            .sparse = emit_sparse,
                            .folder = emit_folder};
    rd_status st = sysfs_emit(&host, &out);
    if (st == RD_OK)
        st = emit_sparse(s, "/dev/kfd", KFD_FILE_BYTES);
    if (st == RD_OK)
        st = emit_sparse(s, "/dev/dri/renderD128", RENDER_FILE_BYTES);
    if (st == RD_OK)
        st = emit_sparse(s, "/dev/dri/card0", 0);
    if (st == RD_OK)
        st = emit_modules(s);
    if (st == RD_OK)
        st = emit_host_pci(s);
    return st;
}

static rd_status make_shared(struct state *s, uint64_t vram)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" GSHARED_FILE, s->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    /* With its pages: an access to one that the file system has no room for ends us. */
    int err = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(struct gshared));
    if (err) {
        if (fd >= 0)
            close(fd);
        errno = err;
        return RD_E_IO;
    }
    fchmod(fd, 0666);
    void *p =
        mmap(NULL, sizeof(struct gshared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return RD_E_NOMEM;
    s->shared = p;
    s->shared->memory = board_memory(vram, host_memory());
    atomic_store(&s->shared->next_bo_offset, FIRST_OFFSET);
    atomic_store(&s->shared->next_kfd_offset, FIRST_OFFSET);
    s->shared->owner = getpid();
    s->shared->magic = GSHARED_MAGIC;
    return RD_OK;
}

static bool has_room(const char *dir)
{
    struct statvfs v;
    return access(dir, W_OK) == 0 && statvfs(dir, &v) == 0 &&
           (uint64_t)v.f_bavail * v.f_frsize >= ROOM_WANTED;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static void remove_tree(const char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Has whoever made this folder died without removing it? */
static bool is_stale(const char *dir)
{
    char path[PATH_MAX + 16];
    struct {
        uint64_t magic;
        int32_t owner;
    } head;
    snprintf(path, sizeof(path), "%s/" GSHARED_FILE, dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ours = read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
                head.magic == GSHARED_MAGIC;
    close(fd);
    return ours && head.owner > 0 && kill(head.owner, 0) != 0 && errno == ESRCH;
}

/* Folders of killed runs would keep their buffers' memory for ever. */
static void sweep(const char *base)
{
    DIR *d = opendir(base);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char dir[PATH_MAX];
        if (strncmp(e->d_name, "rdna3-", 6) != 0)
            continue;
        snprintf(dir, sizeof(dir), "%s/%s", base, e->d_name);
        if (is_stale(dir))
            remove_tree(dir);
    }
    if (d)
        closedir(d);
}

/* The loader's list of libraries cannot have every path in it (ld.so(8)). */
static bool loads_from(const char *path)
{
    return !path[strcspn(path, " :$\t\n")];
}

static const char *choose_base(void)
{
    const char *tmp = getenv("TMPDIR");
    if (has_room("/dev/shm"))
        return "/dev/shm";
    return tmp && *tmp && loads_from(tmp) && access(tmp, W_OK) == 0 ? tmp : "/tmp";
}

static rd_status make_dir(struct state *s)
{
    const char *base = choose_base();
    sweep(base);
    snprintf(s->dir, sizeof(s->dir), "%s/rdna3-XXXXXX", base);
    if (!mkdtemp(s->dir))
        return RD_E_IO;
    char exports[PATH_MAX];
    snprintf(exports, sizeof(exports), "%s/" GSHARED_EXPORTS, s->dir);
    if (mkdir(exports, 0777) != 0 || chmod(exports, 0777) != 0)
        return RD_E_IO;
    return chmod(s->dir, 0755) == 0 ? RD_OK : RD_E_IO;
}

static rd_status copy_library(struct state *s, const char *library)
{
    size_t bytes;
    char *data = read_all(library, 0, &bytes);
    snprintf(s->library, sizeof(s->library), "%s/preload.so", s->dir);
    int fd = open(s->library, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    bool ok = data && bytes && fd >= 0 && whole_write(fd, data, bytes);
    if (fd >= 0)
        close(fd);
    free(data);
    return ok ? RD_OK : RD_E_IO;
}

/* A folder in the other root to mount ours on. */
static rd_status make_place(struct state *s, const char *root)
{
    char real[PATH_MAX];
    if (strncmp(s->dir, "/dev/", 5) == 0)
        return RD_OK;
    if (!realpath(root, real))
        return RD_E_IO;
    snprintf(s->in_root, sizeof(s->in_root), "%s%s", real, s->dir);
    if (mkdir(s->in_root, 0755) == 0)
        return RD_OK;
    snprintf(s->problem, sizeof(s->problem), "%s", s->in_root);
    s->in_root[0] = '\0';
    return RD_E_IO;
}

static rd_status place_library(struct state *s, const char *library)
{
    if (!*library || loads_from(library))
        return RD_OK;
    snprintf(s->library, sizeof(s->library), "%s/preload.so", s->dir);
    return symlink(library, s->library) == 0 ? RD_OK : RD_E_IO;
}

rd_status state_create(uint64_t vram_bytes, const char *root, const char *library,
                       struct state *out)
{
    *out = (struct state){.shared = NULL};
    snprintf(out->library, sizeof(out->library), "%s", library);
    rd_status st = make_dir(out);
    if (st != RD_OK) {
        snprintf(out->problem, sizeof(out->problem), "%s: %s", out->dir,
                 strerror(errno));
        return st;
    }
    st = make_shared(out, vram_bytes);
    if (st == RD_OK)
        st = emit_tree(out);
    if (st == RD_OK)
        st = root ? copy_library(out, library) : place_library(out, library);
    if (st == RD_OK && root)
        st = make_place(out, root);
    if (st != RD_OK) {
        const char *what = out->problem[0] ? out->problem : out->dir;
        char text[sizeof(out->problem)];
        snprintf(text, sizeof(text), "%.*s: %s", PATH_MAX, what, strerror(errno));
        memcpy(out->problem, text, sizeof(text));
        state_remove(out);
    }
    return st;
}

void state_remove(struct state *state)
{
    if (state->shared)
        munmap(state->shared, sizeof(struct gshared));
    state->shared = NULL;
    if (state->in_root[0])
        rmdir(state->in_root);
    remove_tree(state->dir);
}
