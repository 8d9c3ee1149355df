/* syncobj.c: synchronisation objects: places for fences, binary or along a timeline.
 *
 * A fence here is a number for each of the kernel's rings, all of which must have
 * ended; that rings end in order makes the numbers of a timeline's point those of all
 * points before it as well; points of software timelines (timeline.c) are added up. A
 * descriptor of an object is a file that names it; those of fences are in syncfile.c.
 * Objects belong to their process; those that have had a descriptor stay. Lock:
 * sync_lock, which nobody holds while waiting. SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define FILE_MAGIC 0x6e797364336e6472ull

struct point {
    uint64_t number;
    struct kmd_fences fences; /* of all points up to here */
};

struct kmd_syncobj {
    unsigned refs;
    uint64_t id; /* in descriptors */
    bool filled, timeline;
    struct kmd_fences fences; /* binary */
    struct point *points;     /* timeline: those that may not have ended, the last */
    unsigned n_points, cap_points;
    uint64_t ended; /* timeline: the last point that has */
};

struct name {
    uint64_t magic, id;
};

enum kmd_fence kmd_fences_state(struct kmd *kmd, const struct kmd_fences *f)
{
    enum kmd_fence all = KMD_FENCE_DONE, one;
    for (unsigned i = 0; i < KMD_ENGINES; i++) {
        if (!f->number[i])
            continue;
        one = kmd_fence_state(kmd, (enum kmd_engine)i, f->number[i]);
        if (one == KMD_FENCE_BUSY || one == KMD_FENCE_UNKNOWN)
            return KMD_FENCE_BUSY;
        all = one == KMD_FENCE_FAILED ? one : all;
    }
    if (f->soft && (one = kmd_soft_state(kmd, f->soft)) != KMD_FENCE_DONE)
        all = one;
    return all;
}

static bool ended(struct kmd *kmd, const struct kmd_fences *f)
{
    return kmd_fences_state(kmd, f) != KMD_FENCE_BUSY;
}

void kmd_fences_merge(struct kmd *kmd, struct kmd_fences *to,
                      const struct kmd_fences *more)
{
    for (unsigned i = 0; i < KMD_ENGINES; i++)
        if (more->number[i] > to->number[i])
            to->number[i] = more->number[i];
    if (more->soft)
        to->soft = kmd_soft_merge(kmd, to->soft, more->soft);
}

/* ---- handles. Lock held ---- */

static struct kmd_syncobj *find(struct kmd *kmd, uint32_t handle)
{
    return handle && handle <= kmd->n_syncobjs ? kmd->syncobjs[handle - 1] : NULL;
}

static rd_status add_handle(struct kmd *kmd, struct kmd_syncobj *s, uint32_t *handle)
{
    uint32_t i = 0;
    while (i < kmd->n_syncobjs && kmd->syncobjs[i])
        i++;
    if (i == kmd->n_syncobjs) {
        uint32_t n = 2 * i + 16;
        struct kmd_syncobj **more =
            realloc(kmd->syncobjs, n * sizeof(struct kmd_syncobj *));
        if (!more)
            return RD_E_NOMEM;
        memset(more + i, 0, (n - i) * sizeof(struct kmd_syncobj *));
        kmd->syncobjs = more;
        kmd->n_syncobjs = n;
    }
    kmd->syncobjs[i] = s;
    s->refs++;
    *handle = i + 1;
    return RD_OK;
}

static void unref(struct kmd_syncobj *s)
{
    if (--s->refs)
        return;
    free(s->points);
    free(s);
}

rd_status kmd_syncobj_create(struct kmd *kmd, const struct kmd_fences *fences,
                             uint32_t *handle)
{
    struct kmd_syncobj *s = calloc(1, sizeof(*s));
    if (!s)
        return RD_E_NOMEM;
    if (fences) {
        s->filled = true;
        s->fences = *fences;
    }
    pthread_mutex_lock(&kmd->sync_lock);
    rd_status st = add_handle(kmd, s, handle);
    pthread_mutex_unlock(&kmd->sync_lock);
    if (st != RD_OK)
        free(s);
    return st;
}

rd_status kmd_syncobj_destroy(struct kmd *kmd, uint32_t handle)
{
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    if (s) {
        kmd->syncobjs[handle - 1] = NULL;
        unref(s);
    }
    pthread_mutex_unlock(&kmd->sync_lock);
    return s ? RD_OK : RD_E_NOT_FOUND;
}

rd_status kmd_syncobj_again(struct kmd *kmd, uint32_t handle, uint32_t *again)
{
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    rd_status st = s ? add_handle(kmd, s, again) : RD_E_NOT_FOUND;
    pthread_mutex_unlock(&kmd->sync_lock);
    return st;
}

/* ---- contents ---- */

rd_status kmd_syncobj_set(struct kmd *kmd, uint32_t handle,
                          const struct kmd_fences *fences)
{
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    if (s) {
        s->filled = fences != NULL;
        s->timeline = false;
        s->n_points = 0;
        s->ended = 0;
        if (fences)
            s->fences = *fences;
    }
    pthread_mutex_unlock(&kmd->sync_lock);
    return s ? RD_OK : RD_E_NOT_FOUND;
}

/* Points that have ended, but for the last, need not be kept. Lock held. */
static void prune(struct kmd *kmd, struct kmd_syncobj *s)
{
    unsigned n = 0;
    while (n < s->n_points && ended(kmd, &s->points[n].fences))
        s->ended = s->points[n++].number;
    if (n == s->n_points && n)
        n--;
    memmove(s->points, s->points + n, (s->n_points - n) * sizeof(*s->points));
    s->n_points -= n;
}

/* Lock held. */
static rd_status add_point(struct kmd *kmd, struct kmd_syncobj *s, uint64_t number,
                           const struct kmd_fences *fences)
{
    struct point p = {.number = number, .fences = *fences};
    if (s->n_points) {
        const struct point *last = &s->points[s->n_points - 1];
        p.number = last->number > number ? last->number : number;
        kmd_fences_merge(kmd, &p.fences, &last->fences);
        prune(kmd, s);
    } else if (s->filled) {
        kmd_fences_merge(kmd, &p.fences, &s->fences);
    }
    if (s->n_points == s->cap_points) {
        unsigned cap = 2 * s->cap_points + 4;
        struct point *points = realloc(s->points, cap * sizeof(*points));
        if (!points)
            return RD_E_NOMEM;
        s->points = points;
        s->cap_points = cap;
    }
    s->points[s->n_points++] = p;
    s->filled = s->timeline = true;
    return RD_OK;
}

rd_status kmd_syncobj_add(struct kmd *kmd, uint32_t handle, uint64_t number,
                          const struct kmd_fences *fences)
{
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    rd_status st = s ? add_point(kmd, s, number, fences) : RD_E_NOT_FOUND;
    pthread_mutex_unlock(&kmd->sync_lock);
    return st;
}

/* Lock held. */
static rd_status look(const struct kmd_syncobj *s, uint64_t number,
                      struct kmd_fences *out)
{
    const struct point *last = s->n_points ? &s->points[s->n_points - 1] : NULL;
    if (!s->filled || (number && (!last || last->number < number)))
        return RD_E_INVALID;
    *out = last ? last->fences : s->fences;
    if (number && number <= s->ended) { /* it may not be kept */
        *out = (struct kmd_fences){.number = {0}};
        return RD_OK;
    }
    for (unsigned i = 0; number && i < s->n_points; i++)
        if (s->points[i].number >= number) {
            *out = s->points[i].fences;
            break;
        }
    return RD_OK;
}

rd_status kmd_syncobj_find(struct kmd *kmd, uint32_t handle, uint64_t number,
                           struct kmd_fences *out)
{
    pthread_mutex_lock(&kmd->sync_lock);
    const struct kmd_syncobj *s = find(kmd, handle);
    rd_status st = s ? look(s, number, out) : RD_E_NOT_FOUND;
    pthread_mutex_unlock(&kmd->sync_lock);
    return st;
}

rd_status kmd_syncobj_query(struct kmd *kmd, uint32_t handle, bool submitted,
                            uint64_t *number)
{
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    if (s && s->n_points) {
        prune(kmd, s);
        *number = submitted ? s->points[s->n_points - 1].number : s->ended;
    } else {
        *number = 0;
    }
    pthread_mutex_unlock(&kmd->sync_lock);
    return s ? RD_OK : RD_E_NOT_FOUND;
}

/* ---- descriptors ---- */

/* Keep the object: nobody tells when the last copy of a descriptor is closed. Lock
 * held. */
static rd_status publish(struct kmd *kmd, struct kmd_syncobj *s)
{
    if (!s)
        return RD_E_NOT_FOUND;
    if (s->id)
        return RD_OK;
    struct kmd_syncobj **all =
        realloc(kmd->published, (kmd->n_published + 1) * sizeof(struct kmd_syncobj *));
    if (!all)
        return RD_E_NOMEM;
    kmd->published = all;
    all[kmd->n_published++] = s;
    s->refs++;
    s->id = (uint64_t)(uint32_t)getpid() << 32 | kmd->n_published;
    return RD_OK;
}

rd_status kmd_syncobj_export(struct kmd *kmd, uint32_t handle, int *fd)
{
    struct name name = {.magic = FILE_MAGIC};
    pthread_mutex_lock(&kmd->sync_lock);
    struct kmd_syncobj *s = find(kmd, handle);
    rd_status st = publish(kmd, s);
    if (st == RD_OK)
        name.id = s->id;
    pthread_mutex_unlock(&kmd->sync_lock);
    if (st != RD_OK)
        return st;
    int file = memfd_create("syncobj_file", MFD_CLOEXEC);
    if (file < 0)
        return RD_E_NOMEM;
    if (pwrite(file, &name, sizeof(name), 0) != (ssize_t)sizeof(name)) {
        close(file);
        return RD_E_NOMEM;
    }
    *fd = file;
    return RD_OK;
}

rd_status kmd_syncobj_import(struct kmd *kmd, int fd, uint32_t *handle)
{
    struct name name;
    rd_status st = RD_E_INVALID;
    if (pread(fd, &name, sizeof(name), 0) != (ssize_t)sizeof(name) ||
        name.magic != FILE_MAGIC)
        return RD_E_INVALID;
    pthread_mutex_lock(&kmd->sync_lock);
    for (unsigned i = 0; i < kmd->n_published; i++)
        if (kmd->published[i]->id == name.id)
            st = add_handle(kmd, kmd->published[i], handle);
    pthread_mutex_unlock(&kmd->sync_lock);
    return st;
}
