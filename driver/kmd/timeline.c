/* timeline.c: Linux' software timelines (sw_sync): fences that end when a program says.
 *
 * A timeline is a datagram socket with a name of its own, so that it lives as long as
 * somebody has a descriptor of it, in whatever process; its value is in the shared
 * state. A fence of it is a pair of sockets: the client has one end, the other lies as
 * a message in the timeline's own queue, from where whoever advances the timeline takes
 * it and answers; if the timeline is closed the end goes with it, which is an answer,
 * too. What else waits (merged fences, objects, submissions) looks at the values.
 * Lock: sync_lock for the sets; a byte of the shared file for the queues, which is
 * taken first. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define FD_FLOOR  700         /* descriptors above those that programs close by habit */
#define QUEUES_AT (1ll << 40) /* the byte of the shared file that is the lock */
#define NAME      "rdna3-timeline-%d-%" PRIu64
#define MAX_ENDS  1024

struct point {
    uint64_t serial; /* of the timeline */
    uint32_t number;
};

/* Points that must all have come. */
struct kmd_soft {
    unsigned n;
    struct point points[];
};

/* ---- names ---- */

static socklen_t name_of(struct kmd *kmd, uint64_t serial, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(at->sun_path + 1, sizeof(at->sun_path) - 1, NAME,
                     kmd->shared->owner, serial);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static uint64_t serial_of(struct kmd *kmd, int fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNSPEC};
    socklen_t n = sizeof(at) - 1;
    int owner;
    uint64_t serial;
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0 || at.sun_family != AF_UNIX ||
        n <= offsetof(struct sockaddr_un, sun_path) + 1 || at.sun_path[0])
        return 0;
    return sscanf(at.sun_path + 1, NAME, &owner, &serial) == 2 &&
                   owner == kmd->shared->owner
               ? serial
               : 0;
}

static struct gshared_timeline *timeline(struct kmd *kmd, uint64_t serial)
{
    return &kmd->shared->timelines[serial % GSHARED_TIMELINES];
}

rd_status kmd_timeline_create(struct kmd *kmd, int *out)
{
    struct sockaddr_un at;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), room = INT_MAX / 4;
    if (fd < 0)
        return RD_E_NOMEM;
    uint64_t serial = 1 + atomic_fetch_add(&kmd->shared->timeline_serial, 1);
    struct gshared_timeline *t = timeline(kmd, serial);
    atomic_store(&t->serial, 0);
    atomic_store(&t->value, 0);
    atomic_store(&t->closed, 0);
    atomic_store(&t->serial, serial);
    socklen_t n = name_of(kmd, serial, &at);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    if (bind(fd, (struct sockaddr *)&at, n) != 0 ||
        connect(fd, (struct sockaddr *)&at, n) != 0) {
        close(fd);
        return RD_E_NOMEM;
    }
    *out = fd;
    return RD_OK;
}

bool kmd_timeline_is(struct kmd *kmd, int fd)
{
    return serial_of(kmd, fd) != 0;
}

/* ---- has a point come? ---- */

static bool is_closed(struct kmd *kmd, uint64_t serial)
{
    struct sockaddr_un at;
    socklen_t n = name_of(kmd, serial, &at);
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    /* Its own peer, so it refuses others; without a name there is nobody to refuse. */
    bool gone = probe >= 0 && connect(probe, (struct sockaddr *)&at, n) != 0 &&
                errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return gone;
}

static enum kmd_fence state_of(struct kmd *kmd, const struct point *p)
{
    struct gshared_timeline *t = timeline(kmd, p->serial);
    if (atomic_load(&t->serial) != p->serial)
        return KMD_FENCE_DONE; /* closed long ago */
    bool closed = atomic_load(&t->closed) || is_closed(kmd, p->serial);
    if ((int32_t)(atomic_load(&t->value) - p->number) >= 0)
        return KMD_FENCE_DONE;
    if (closed)
        atomic_store(&t->closed, 1);
    return closed ? KMD_FENCE_FAILED : KMD_FENCE_BUSY;
}

static const struct kmd_soft *set_of(struct kmd *kmd, uint32_t id)
{
    pthread_mutex_lock(&kmd->soft_lock);
    const struct kmd_soft *s = id && id <= kmd->n_softs ? kmd->softs[id - 1] : NULL;
    pthread_mutex_unlock(&kmd->soft_lock);
    return s;
}

enum kmd_fence kmd_soft_state(struct kmd *kmd, uint32_t id)
{
    const struct kmd_soft *s = set_of(kmd, id);
    enum kmd_fence all = KMD_FENCE_DONE;
    for (unsigned i = 0; s && i < s->n; i++) {
        enum kmd_fence one = state_of(kmd, &s->points[i]);
        if (one == KMD_FENCE_BUSY)
            return KMD_FENCE_BUSY;
        all = one == KMD_FENCE_FAILED ? one : all;
    }
    return all;
}

unsigned kmd_soft_list(struct kmd *kmd, uint32_t id, enum kmd_fence *states,
                       unsigned room)
{
    const struct kmd_soft *s = set_of(kmd, id);
    for (unsigned i = 0; s && i < s->n && i < room; i++)
        states[i] = state_of(kmd, &s->points[i]);
    return s ? s->n : 0;
}

/* ---- sets. They stay: fences are numbers that anybody may have copied ---- */

static uint32_t keep(struct kmd *kmd, struct kmd_soft *s)
{
    pthread_mutex_lock(&kmd->soft_lock);
    struct kmd_soft **all = kmd->softs;
    if (kmd->n_softs % 64 == 0)
        all = realloc(kmd->softs, (kmd->n_softs + 64ul) * sizeof(struct kmd_soft *));
    uint32_t id = 0;
    if (all) {
        kmd->softs = all;
        all[kmd->n_softs++] = s;
        id = kmd->n_softs;
    }
    pthread_mutex_unlock(&kmd->soft_lock);
    if (!id)
        free(s);
    return id;
}

static void add(struct kmd *kmd, struct kmd_soft *to, const struct kmd_soft *from)
{
    for (unsigned i = 0; i < from->n; i++) {
        const struct point *p = &from->points[i];
        unsigned k = 0;
        while (k < to->n && to->points[k].serial != p->serial)
            k++;
        if (k == to->n && state_of(kmd, p) == KMD_FENCE_BUSY)
            to->points[to->n++] = *p;
        else if (k < to->n && (int32_t)(p->number - to->points[k].number) > 0)
            to->points[k] = *p;
    }
}

uint32_t kmd_soft_merge(struct kmd *kmd, uint32_t a, uint32_t b)
{
    const struct kmd_soft *one = set_of(kmd, a), *two = set_of(kmd, b);
    if (!one || !two || one == two)
        return one ? a : b;
    struct kmd_soft *s =
        calloc(1, sizeof(*s) + (one->n + two->n) * sizeof(s->points[0]));
    if (!s)
        return a;
    add(kmd, s, one);
    add(kmd, s, two);
    for (unsigned i = 0; i < 2; i++) {
        const struct kmd_soft *same = i ? two : one;
        if (s->n == same->n &&
            memcmp(s->points, same->points, s->n * sizeof(s->points[0])) == 0) {
            free(s);
            return i ? b : a;
        }
    }
    if (!s->n) {
        free(s);
        return a;
    }
    uint32_t id = keep(kmd, s);
    return id ? id : a;
}

/* ---- the ends in a timeline's queue ---- */

struct end {
    int fd;
    uint32_t number;
};

static bool enter(struct kmd *kmd)
{
    struct flock byte = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = QUEUES_AT, .l_len = 1};
    pthread_mutex_lock(&kmd->timeline_lock);
    if (fcntl(kmd->shared_fd, F_OFD_SETLKW, &byte) == 0)
        return true;
    pthread_mutex_unlock(&kmd->timeline_lock);
    return false;
}

static void leave(struct kmd *kmd)
{
    struct flock byte = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = QUEUES_AT, .l_len = 1};
    (void)fcntl(kmd->shared_fd, F_OFD_SETLK, &byte);
    pthread_mutex_unlock(&kmd->timeline_lock);
}

union ancillary {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

static bool put_end(int queue, struct end *e)
{
    union ancillary extra = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS}};
    struct iovec data = {&e->number, sizeof(e->number)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &extra,
                             .msg_controllen = sizeof(extra)};
    memcpy(CMSG_DATA(&extra.head), &e->fd, sizeof(int));
    return sendmsg(queue, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool take_end(int queue, struct end *e)
{
    union ancillary extra;
    struct iovec data = {&e->number, sizeof(e->number)};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &extra,
                             .msg_controllen = sizeof(extra)};
    if (recvmsg(queue, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    e->fd = -1;
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(&e->fd, CMSG_DATA(head), sizeof(int));
    return true;
}

/* A byte makes the client's end readable, and that it is closed. */
static void answer(int fd)
{
    (void)!send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(fd);
}

/* Nobody has the other end any more. */
static bool forgotten(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/* Answer those whose numbers have come; the others go back, one by one, as descriptors
 * are scarce. A message without one marks where it began; those of processes that were
 * killed meanwhile are dropped. Without room for it all are looked at twice. */
static void serve(int queue, uint32_t value, uint32_t mark)
{
    struct end e;
    bool marked = send(queue, &mark, sizeof(mark), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    for (unsigned i = 0; (marked || i < MAX_ENDS) && take_end(queue, &e); i++) {
        if (e.fd < 0) {
            if (marked && e.number == mark)
                break;
            continue;
        }
        if ((int32_t)(value - e.number) >= 0) {
            answer(e.fd);
            continue;
        }
        if (!forgotten(e.fd))
            (void)put_end(queue, &e);
        close(e.fd);
    }
}

rd_status kmd_timeline_advance(struct kmd *kmd, int fd, uint32_t count)
{
    uint64_t serial = serial_of(kmd, fd);
    if (!serial || !enter(kmd))
        return RD_E_INVALID;
    int queue = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
    uint32_t value = count + atomic_fetch_add(&timeline(kmd, serial)->value, count);
    serve(queue >= 0 ? queue : fd, value, (uint32_t)getpid());
    if (queue >= 0)
        close(queue);
    kmd_news(&kmd->shared->advances);
    leave(kmd);
    return RD_OK;
}

void kmd_timelines_wait(struct kmd *kmd, uint32_t seen, long nanoseconds)
{
    kmd_news_wait(&kmd->shared->advances, seen, nanoseconds);
}

/* The client's end and ours, which goes to the timeline. Locked. */
static rd_status make_ends(struct kmd *kmd, int queue, const struct point *p, int *out)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return RD_E_NOMEM;
    struct end ours = {.fd = ends[1], .number = p->number};
    bool ok = true;
    if ((int32_t)(atomic_load(&timeline(kmd, p->serial)->value) - p->number) >= 0) {
        answer(ends[1]);
    } else {
        ok = put_end(queue, &ours);
        close(ends[1]);
    }
    if (!ok)
        close(ends[0]);
    *out = ends[0];
    return ok ? RD_OK : RD_E_NOMEM;
}

rd_status kmd_timeline_fence(struct kmd *kmd, int fd, uint32_t number, int *out)
{
    uint64_t serial = serial_of(kmd, fd);
    struct kmd_soft *s = serial ? calloc(1, sizeof(*s) + sizeof(s->points[0])) : NULL;
    if (!s)
        return serial ? RD_E_NOMEM : RD_E_INVALID;
    s->n = 1;
    s->points[0] = (struct point){.serial = serial, .number = number};
    struct point p = s->points[0];
    struct kmd_fences fences = {.soft = keep(kmd, s)};
    if (!fences.soft || !enter(kmd))
        return RD_E_NOMEM;
    rd_status st = make_ends(kmd, fd, &p, out);
    leave(kmd);
    if (st == RD_OK && !kmd_fences_remember(kmd, *out, &fences)) {
        close(*out);
        st = RD_E_NOMEM;
    }
    return st;
}
