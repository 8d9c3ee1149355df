/* export.c: buffers as descriptors that any process under the mock can import.
 *
 * Memory that is shared lives as long as anybody holds it: the exporter's handle, a
 * descriptor wherever it was passed, an importer's handle. A shared buffer has a file
 * in the state folder, named by its place in the render node; a descriptor is an open
 * description of that file with a shared lock on it, which goes with the last copy of
 * the descriptor, however that ends. Importers keep a copy. Once the exporter has freed
 * the buffer, whoever gets the lock exclusively gives the memory back.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define RECORD_MAGIC 0x6675626d64336473ull
#define PLACE_BYTES  (2ull << 20) /* buffers begin at multiples of it */
#define HOLD_FLOOR   700 /* descriptors above those that programs close by habit */

struct record {
    uint64_t magic;
    uint64_t left; /* the exporter has freed it */
    struct kmd_bo_info info;
    struct kmd_share share; /* key 0: never shared by a key */
};

static bool path_of(struct kmd *kmd, uint64_t offset, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/" GSHARED_EXPORTS "/%" PRIx64,
                     kmd->config.state_dir, offset);
    return n > 0 && n < PATH_MAX;
}

static bool read_record(int fd, struct record *r)
{
    return pread(fd, r, sizeof(*r), 0) == (ssize_t)sizeof(*r) &&
           r->magic == RECORD_MAGIC && r->info.kind <= KMD_GTT;
}

rd_status kmd_export_info(int fd, struct kmd_bo_info *info)
{
    struct record r;
    if (!read_record(fd, &r))
        return RD_E_INVALID;
    *info = r.info;
    return RD_OK;
}

static rd_status make_record(const char *path, const struct kmd_bo_info *info)
{
    struct record r = {.magic = RECORD_MAGIC, .info = *info};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == EEXIST ? RD_OK : RD_E_IO;
    bool ok = fchmod(fd, 0666) == 0 && write(fd, &r, sizeof(r)) == (ssize_t)sizeof(r);
    close(fd);
    return ok ? RD_OK : RD_E_IO;
}

/* A held description of the buffer's file, which is made if need be. Lock held. */
static rd_status describe(struct kmd *kmd, struct kmd_bo *bo, bool cloexec, int *fd)
{
    char path[PATH_MAX];
    rd_status st = !bo || bo->info.kind > KMD_GTT         ? RD_E_INVALID
                   : !path_of(kmd, bo->info.offset, path) ? RD_E_IO
                                                          : RD_OK;
    if (st == RD_OK)
        st = make_record(path, &bo->info);
    if (st == RD_OK) {
        *fd = open(path, O_RDONLY | (cloexec ? O_CLOEXEC : 0));
        if (*fd < 0)
            st = errno == EMFILE || errno == ENFILE ? RD_E_NOMEM : RD_E_IO;
    }
    if (st == RD_OK && flock(*fd, LOCK_SH) != 0) {
        close(*fd);
        st = RD_E_IO;
    }
    if (st == RD_OK)
        bo->exported = true;
    return st;
}

rd_status kmd_bo_export(struct kmd *kmd, uint32_t handle, bool cloexec, int *fd)
{
    pthread_mutex_lock(&kmd->bo_lock);
    rd_status st = describe(kmd, kmd_bo_find(kmd, handle), cloexec, fd);
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

/* A handle for what a descriptor names, which it keeps a copy of. */
static rd_status adopt(struct kmd *kmd, int fd, struct kmd_bo_info *info,
                       uint32_t *handle)
{
    int hold = fcntl(fd, F_DUPFD_CLOEXEC, HOLD_FLOOR);
    if (hold < 0)
        return RD_E_NOMEM;
    rd_status st = kmd_bo_adopt(kmd, info, hold, handle);
    if (st != RD_OK)
        close(hold);
    return st;
}

rd_status kmd_bo_import(struct kmd *kmd, int fd, uint64_t va, uint32_t *handle)
{
    struct record r;
    if (!read_record(fd, &r))
        return RD_E_INVALID;
    r.info.va = va;
    r.info.flags &= ~KMD_BO_GEM;
    return adopt(kmd, fd, &r.info, handle);
}

/* The handle of the render node for memory at an offset, or 0. */
static uint32_t gem_of(struct kmd *kmd, uint64_t offset)
{
    uint32_t found = 0;
    pthread_mutex_lock(&kmd->bo_lock);
    for (uint32_t h = 1; h < kmd->n_bos && !found; h++) {
        const struct kmd_bo *bo = kmd_bo_find(kmd, h);
        if (bo && bo->info.kind <= KMD_GTT && bo->info.flags & KMD_BO_GEM &&
            bo->info.offset == offset)
            found = h;
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return found;
}

rd_status kmd_bo_import_gem(struct kmd *kmd, int fd, uint32_t *handle)
{
    struct record r;
    if (!read_record(fd, &r))
        return RD_E_INVALID;
    uint32_t known = gem_of(kmd, r.info.offset);
    if (known) {
        *handle = known;
        return RD_OK;
    }
    r.info.va = 0;
    r.info.flags |= KMD_BO_GEM;
    return adopt(kmd, fd, &r.info, handle);
}

rd_status kmd_bo_name(struct kmd *kmd, uint32_t handle, uint32_t *name)
{
    int fd;
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    rd_status st = describe(kmd, bo, true, &fd);
    if (st == RD_OK) {
        *name = (uint32_t)(bo->info.offset / PLACE_BYTES);
        close(fd);
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_bo_open(struct kmd *kmd, uint32_t name, uint32_t *handle, uint64_t *bytes)
{
    char path[PATH_MAX];
    struct record r;
    if (!path_of(kmd, name * PLACE_BYTES, path))
        return RD_E_IO;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    rd_status st = RD_E_NOT_FOUND;
    if (fd >= 0 && flock(fd, LOCK_SH) == 0 && read_record(fd, &r)) {
        r.info.va = 0;
        r.info.flags |= KMD_BO_GEM;
        *bytes = r.info.bytes;
        st = adopt(kmd, fd, &r.info, handle);
    }
    if (fd >= 0)
        close(fd);
    return st;
}

/* The record's key, made once however many processes ask at a time. */
static rd_status key_of(const char *path, struct kmd_share *share)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct record r;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return RD_E_IO;
    /* Not the lock of those who hold the memory: they stand beside each other. */
    rd_status st =
        fcntl(fd, F_OFD_SETLKW, &whole) == 0 && read_record(fd, &r) ? RD_OK : RD_E_IO;
    if (st == RD_OK && !r.share.key[0]) {
        size_t random = sizeof(share->key) - sizeof(share->key[0]);
        share->key[0] = (uint32_t)(r.info.offset / PLACE_BYTES) + 1;
        if (getrandom(share->key + 1, random, 0) != (ssize_t)random ||
            pwrite(fd, share, sizeof(*share), offsetof(struct record, share)) !=
                (ssize_t)sizeof(*share))
            st = RD_E_IO;
    } else if (st == RD_OK) {
        *share = r.share;
    }
    close(fd);
    return st;
}

rd_status kmd_bo_share(struct kmd *kmd, uint32_t handle, struct kmd_share *share)
{
    char path[PATH_MAX];
    int fd;
    pthread_mutex_lock(&kmd->bo_lock);
    struct kmd_bo *bo = kmd_bo_find(kmd, handle);
    rd_status st = describe(kmd, bo, true, &fd);
    if (st == RD_OK) {
        st = path_of(kmd, bo->info.offset, path) ? key_of(path, share) : RD_E_IO;
        close(fd);
    }
    pthread_mutex_unlock(&kmd->bo_lock);
    return st;
}

rd_status kmd_bo_shared(struct kmd *kmd, struct kmd_share *share, uint64_t va,
                        struct kmd_bo_info *info, uint32_t *handle)
{
    char path[PATH_MAX];
    struct record r;
    if (!share->key[0] || !path_of(kmd, (share->key[0] - 1) * PLACE_BYTES, path))
        return RD_E_INVALID;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    rd_status st = RD_E_INVALID;
    if (fd >= 0 && flock(fd, LOCK_SH) == 0 && read_record(fd, &r) && !r.left &&
        memcmp(r.share.key, share->key, sizeof(share->key)) == 0) {
        r.info.va = va;
        r.info.flags &= ~KMD_BO_GEM;
        share->note = r.share.note;
        *info = r.info;
        st = adopt(kmd, fd, &r.info, handle);
    }
    if (fd >= 0)
        close(fd);
    return st;
}

/* Give the memory back if nobody holds it. With left, its owner frees it just now. */
static void give_back(struct kmd *kmd, const char *path, bool left)
{
    struct record r;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read_record(fd, &r) && (left || r.left)) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            kmd_punch(kmd, &r.info);
            if (unlink(path) == 0 && !left)
                kmd_count_orphan(kmd, &r.info, false);
        } else if (left) {
            r.left = 1;
            kmd_count_orphan(kmd, &r.info, true);
            (void)!pwrite(fd, &r, sizeof(r), 0);
        }
    }
    close(fd);
}

void kmd_export_leave(struct kmd *kmd, const struct kmd_bo_info *info, bool owner)
{
    char path[PATH_MAX];
    if (path_of(kmd, info->offset, path))
        give_back(kmd, path, owner);
}

/* A descriptor was closed, or a process has ended: nobody tells. */
void kmd_export_sweep(struct kmd *kmd)
{
    char path[PATH_MAX];
    if (!atomic_load(&kmd->shared->orphans))
        return;
    snprintf(path, sizeof(path), "%s/" GSHARED_EXPORTS, kmd->config.state_dir);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/" GSHARED_EXPORTS "/%s",
                     kmd->config.state_dir, e->d_name);
            give_back(kmd, path, false);
        }
    if (d)
        closedir(d);
}
