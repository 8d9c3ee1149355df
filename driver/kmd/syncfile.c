/* syncfile.c: descriptors of fences, and others that are told of them.
 *
 * A descriptor of a fence is a socket that becomes readable when the fence has ended;
 * an eventfd counts when a point of an object has. A thread looks for each that has
 * not. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define FD_FLOOR 700 /* descriptors above those that programs close by habit */
#define NAP_NS   200000

/* A descriptor of a fence: the client's end by its inode. */
struct kmd_sync_file {
    ino_t inode;
    struct kmd_fences fences;
};

static bool ended(struct kmd *kmd, const struct kmd_fences *f)
{
    return kmd_fences_state(kmd, f) != KMD_FENCE_BUSY;
}

/* What a thread waits for, and how it tells. */
struct watch {
    struct kmd *kmd;
    struct kmd_fences fences;
    int end;         /* a socket, which is closed, or an eventfd, which counts; -1 */
    uint64_t *gate;  /* a word that becomes 1, or NULL */
    uint32_t handle; /* of an object whose point is waited for; 0: for the fences */
    uint64_t point;
    bool available; /* that the point is there is enough */
};

static bool has_come(struct watch *w)
{
    if (w->handle) {
        if (kmd_syncobj_find(w->kmd, w->handle, w->point, &w->fences) != RD_OK)
            return false;
        if (w->available)
            return true;
    }
    return ended(w->kmd, &w->fences);
}

/* Closing our end of a socket makes the client's readable. */
static void tell(struct watch *w)
{
    static const uint64_t one = 1;
    if (w->handle) {
        (void)!write(w->end, &one, sizeof(one));
        (void)!kmd_syncobj_destroy(w->kmd, w->handle);
    }
    if (w->gate)
        __atomic_store_n(w->gate, 1, __ATOMIC_RELEASE);
    if (w->end >= 0)
        close(w->end);
    free(w);
}

/* Has the client closed its end? */
static bool unwanted(const struct watch *w)
{
    struct pollfd end = {.fd = w->end, .events = 0};
    return w->end >= 0 && !w->handle && poll(&end, 1, 0) > 0 && end.revents & POLLHUP;
}

static void *watch(void *arg)
{
    struct watch *w = arg;
    for (;;) {
        uint32_t seen = atomic_load(&w->kmd->shared->advances);
        if (has_come(w) || unwanted(w))
            break;
        kmd_timelines_wait(w->kmd, seen, w->fences.soft ? 10 * NAP_NS : NAP_NS);
    }
    tell(w);
    return NULL;
}

static bool start_watch(const struct watch *what)
{
    struct watch *w = malloc(sizeof(*w));
    if (!w)
        return false;
    *w = *what;
    bool ok = kmd_thread(watch, w);
    if (!ok)
        free(w);
    return ok;
}

bool kmd_fences_remember(struct kmd *kmd, int fd, const struct kmd_fences *fences)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    pthread_mutex_lock(&kmd->sync_lock);
    unsigned n = kmd->n_sync_files;
    struct kmd_sync_file *files = realloc(kmd->sync_files, (n + 1) * sizeof(*files));
    if (files) {
        kmd->sync_files = files;
        files[n] = (struct kmd_sync_file){st.st_ino, *fences};
        kmd->n_sync_files++;
    }
    pthread_mutex_unlock(&kmd->sync_lock);
    return files != NULL;
}

rd_status kmd_fences_export(struct kmd *kmd, const struct kmd_fences *fences, int *fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return RD_E_NOMEM;
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high >= 0) {
        close(ends[1]);
        ends[1] = high;
    }
    bool now = ended(kmd, fences);
    bool ok =
        kmd_fences_remember(kmd, ends[0], fences) &&
        (now ||
         start_watch(&(struct watch){.kmd = kmd, .fences = *fences, .end = ends[1]}));
    if (now || !ok)
        close(ends[1]);
    if (!ok) {
        close(ends[0]);
        return RD_E_NOMEM;
    }
    *fd = ends[0];
    return RD_OK;
}

rd_status kmd_fences_open(struct kmd *kmd, const struct kmd_fences *fences,
                          uint64_t *gate)
{
    return start_watch(
               &(struct watch){.kmd = kmd, .fences = *fences, .end = -1, .gate = gate})
               ? RD_OK
               : RD_E_NOMEM;
}

/* The newest: inodes of sockets that were closed come again. */
rd_status kmd_fences_import(struct kmd *kmd, int fd, struct kmd_fences *out)
{
    struct stat st;
    rd_status found = RD_E_INVALID;
    if (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode))
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->sync_lock);
    for (unsigned i = kmd->n_sync_files; i-- > 0 && found != RD_OK;)
        if (kmd->sync_files[i].inode == st.st_ino) {
            *out = kmd->sync_files[i].fences;
            found = RD_OK;
        }
    pthread_mutex_unlock(&kmd->sync_lock);
    return found;
}

/* The file of an eventfd says so; anything else with a number to write would not do. */
static bool is_eventfd(int fd)
{
    char link[40], name[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof(name) - 1);
    name[n > 0 ? n : 0] = '\0';
    return strcmp(name, "anon_inode:[eventfd]") == 0;
}

rd_status kmd_syncobj_eventfd(struct kmd *kmd, uint32_t handle, uint64_t point,
                              bool available, int fd)
{
    struct watch w = {.kmd = kmd, .point = point, .available = available, .end = -1};
    rd_status st = kmd_syncobj_again(kmd, handle, &w.handle);
    if (st != RD_OK)
        return st;
    if (is_eventfd(fd))
        w.end = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    if (w.end < 0) {
        (void)!kmd_syncobj_destroy(kmd, w.handle);
        return RD_E_INVALID;
    }
    if (has_come(&w)) {
        struct watch *now = malloc(sizeof(*now));
        if (now) {
            *now = w;
            tell(now);
            return RD_OK;
        }
    } else if (start_watch(&w)) {
        return RD_OK;
    }
    close(w.end);
    (void)!kmd_syncobj_destroy(kmd, w.handle);
    return RD_E_NOMEM;
}
