/* smi.c: system management events: text lines on a descriptor.
 *
 * The client's descriptor is one end of a socket: it reads event lines and writes the
 * mask of events that it wants, which is looked at when an event occurs. Events of this
 * process are delivered where they occur; those of others lie in memory that all
 * processes share, from where a thread of who listens takes them; it is there while
 * anybody listens in its process, and says so again and again, since a process may be
 * killed. Invariant: nothing that causes events blocks; a client that does not read
 * loses events, as it would with the kernel's queue full, and so does a process that is
 * stopped for long or while more of them come than there are places. Lines come whole.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define FD_FLOOR 700            /* above the numbers that programs close by habit */
#define NAP_NS   500000000L     /* while nothing comes */
#define SHORT_NS 1000000L       /* while a place is being written ... */
#define SHORTS   1000u          /* ... after which its writer has died */
#define HEARD_NS 30000000000ull /* that long after its last sign somebody listens */
#define ALL      (1ull << 63)   /* in a mask: of all processes */
#define WRITING  (1ull << 63)   /* with an event's number: it is being written */

struct line {
    uint32_t event;
    int32_t pid;
    char text[GSHARED_EVENT_BYTES];
};

/* As the kernel's capable(CAP_SYS_ADMIN). */
static bool is_super(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    return syscall(SYS_capget, &head, data) == 0 &&
           data[0].effective >> CAP_SYS_ADMIN & 1u;
}

/* Take what the client has written: masks, the last of which counts.
 * Returns false if the client has closed its end. */
static bool update_mask(struct kmd_smi *s)
{
    uint64_t mask;
    for (;;) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): does not block */
        ssize_t n = recv(s->fd, &mask, sizeof(mask), MSG_DONTWAIT);
        if (n == (ssize_t)sizeof(mask))
            s->mask = mask;
        else if (n <= 0)
            return n < 0 && errno == EAGAIN;
    }
}

/* Those about a process' memory and queues are for that process, and for who may have
 * all and asks for them. */
static bool wants(const struct kmd_smi *s, const struct line *line)
{
    bool shown = line->event < KMD_SMI_MIGRATE_START || line->event > KMD_SMI_UNMAP ||
                 line->pid == getpid() || (s->super && s->mask & ALL);
    return shown && s->mask >> (line->event - 1) & 1;
}

/* Let go of those that clients have closed. Lock held. */
static void sweep(struct kmd *kmd)
{
    for (unsigned i = 0; i < kmd->n_smi;) {
        struct kmd_smi *s = &kmd->smi[i];
        if (update_mask(s)) {
            i++;
        } else {
            close(s->fd);
            *s = kmd->smi[--kmd->n_smi];
        }
    }
}

static void deliver(struct kmd *kmd, const struct line *line)
{
    pthread_mutex_lock(&kmd->smi_lock);
    sweep(kmd);
    for (unsigned i = 0; i < kmd->n_smi; i++)
        if (wants(&kmd->smi[i], line))
            (void)!send(kmd->smi[i].fd, line->text, strlen(line->text),
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    pthread_mutex_unlock(&kmd->smi_lock);
}

/* ---- between processes ---- */

static struct gshared_event *place(struct kmd *kmd, uint64_t number)
{
    return &kmd->shared->events[number % GSHARED_EVENTS];
}

/* Tells words that belong together from those of two events. */
static uint64_t sum_of(uint64_t number, const struct line *line)
{
    uint64_t sum = number ^ (uint64_t)line->event << 32 ^ (uint32_t)line->pid;
    for (unsigned i = 0; i < GSHARED_EVENT_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, line->text + 8ul * i, sizeof(word));
        sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
        sum ^= sum >> 29;
    }
    return sum;
}

/* A place is claimed by the newest event. Who claims it and is stopped for so long that
 * all places come round sees that at its next word; the one it may still spoil gives no
 * sum, and that event is lost. */
static void put(struct gshared_event *e, uint64_t number, const struct line *line)
{
    uint64_t before = atomic_load(&e->number), mine = number | WRITING;
    do {
        if ((before & ~WRITING) >= number)
            return;
    } while (!atomic_compare_exchange_weak(&e->number, &before, mine));
    atomic_store(&e->event, line->event);
    atomic_store(&e->pid, line->pid);
    for (unsigned i = 0; i < GSHARED_EVENT_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, line->text + 8ul * i, sizeof(word));
        if (atomic_load(&e->number) != mine)
            return;
        atomic_store(&e->text[i], word);
    }
    atomic_store(&e->sum, sum_of(number, line));
    (void)atomic_compare_exchange_strong(&e->number, &mine, number);
}

static void publish(struct kmd *kmd, const struct line *line)
{
    uint64_t number = atomic_fetch_add(&kmd->shared->last_event, 1) + 1;
    put(place(kmd, number), number, line);
    kmd_news(&kmd->shared->event_news);
}

enum taken { TAKEN, LOST, NOT_YET };

static enum taken take(struct kmd *kmd, uint64_t number, struct line *line)
{
    struct gshared_event *e = place(kmd, number);
    uint64_t now = atomic_load(&e->number);
    if (now != number)
        return (now & ~WRITING) > number ? LOST : NOT_YET;
    line->event = atomic_load(&e->event);
    line->pid = atomic_load(&e->pid);
    for (unsigned i = 0; i < GSHARED_EVENT_BYTES / 8; i++) {
        uint64_t word = atomic_load(&e->text[i]);
        memcpy(line->text + 8ul * i, &word, sizeof(word));
    }
    bool whole = atomic_load(&e->sum) == sum_of(number, line) && line->event - 1 < 63 &&
                 !line->text[sizeof(line->text) - 1];
    return whole && atomic_load(&e->number) == number ? TAKEN : LOST;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nothing comes: is there anybody yet to wait for? */
static bool wanted(struct kmd *kmd)
{
    pthread_mutex_lock(&kmd->smi_lock);
    sweep(kmd);
    kmd->smi_listens = kmd->n_smi != 0;
    bool listens = kmd->smi_listens;
    pthread_mutex_unlock(&kmd->smi_lock);
    return listens;
}

static void *listen_to_others(void *ctx)
{
    struct kmd *kmd = ctx;
    uint64_t next = kmd->smi_next;
    unsigned shorts = 0;
    for (;;) {
        struct line line;
        uint32_t seen = atomic_load(&kmd->shared->event_news);
        uint64_t last = atomic_load(&kmd->shared->last_event);
        bool there = next <= last;
        atomic_store(&kmd->shared->heard_ns, now_ns());
        if (!there) {
            if (!wanted(kmd))
                return NULL;
            kmd_news_wait(&kmd->shared->event_news, seen, NAP_NS);
            continue;
        }
        enum taken taken = take(kmd, next, &line);
        if (taken == NOT_YET && last - next < GSHARED_EVENTS && shorts < SHORTS) {
            shorts++;
            kmd_news_wait(&kmd->shared->event_news, seen, SHORT_NS);
            continue;
        }
        if (taken == TAKEN && line.pid != getpid())
            deliver(kmd, &line);
        shorts = 0;
        next++;
    }
}

/* Lock held. */
static bool listening(struct kmd *kmd)
{
    if (kmd->smi_listens)
        return true;
    atomic_store(&kmd->shared->heard_ns, now_ns());
    kmd->smi_next = atomic_load(&kmd->shared->last_event) + 1;
    kmd->smi_listens = kmd_thread(listen_to_others, kmd);
    return kmd->smi_listens;
}

/* ---- calls ---- */

rd_status kmd_smi_open(struct kmd *kmd, int *fd)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return RD_E_NOMEM;
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, FD_FLOOR);
    if (high >= 0) {
        close(ends[1]);
        ends[1] = high;
    }
    pthread_mutex_lock(&kmd->smi_lock);
    sweep(kmd);
    struct kmd_smi *list = realloc(kmd->smi, (kmd->n_smi + 1) * sizeof(*list));
    if (list)
        kmd->smi = list;
    bool ok = list && listening(kmd);
    if (ok)
        list[kmd->n_smi++] = (struct kmd_smi){.fd = ends[1], .super = is_super()};
    pthread_mutex_unlock(&kmd->smi_lock);
    if (!ok) {
        close(ends[0]);
        close(ends[1]);
        return RD_E_NOMEM;
    }
    *fd = ends[0];
    return RD_OK;
}

bool kmd_smi_heard(struct kmd *kmd)
{
    uint64_t last = atomic_load(&kmd->shared->heard_ns);
    return last && now_ns() < last + HEARD_NS;
}

void kmd_smi_event(struct kmd *kmd, unsigned event, const char *fmt, ...)
{
    struct line line = {.event = event, .pid = (int32_t)getpid()};
    if (!kmd_smi_heard(kmd))
        return;
    int n = snprintf(line.text, sizeof(line.text), "%x ", event);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(line.text + n, sizeof(line.text) - (size_t)n, fmt, ap);
    va_end(ap);
    deliver(kmd, &line);
    publish(kmd, &line);
}

/* ---- who causes them ---- */

void kmd_smi_evicted(struct kmd *kmd, enum kmd_eviction why)
{
    struct kmd_clocks now;
    kmd_clocks(kmd, &now);
    kmd_smi_event(kmd, KMD_SMI_EVICTION, "%" PRIu64 " -%d %x %d\n", now.system_ns,
                  (int)getpid(), BOARD_GPU_ID, (int)why);
}

void kmd_smi_restored(struct kmd *kmd)
{
    struct kmd_clocks now;
    kmd_clocks(kmd, &now);
    kmd_smi_event(kmd, KMD_SMI_RESTORE, "%" PRIu64 " -%d %x 0\n", now.system_ns,
                  (int)getpid(), BOARD_GPU_ID);
}

void kmd_process_begins(struct kmd *kmd)
{
    if (!atomic_exchange(&kmd->began, true))
        kmd_smi_event(kmd, KMD_SMI_PROCESS_START, "%x %s\n", (unsigned)getpid(),
                      kmd->proc->comm);
}

void kmd_process_ends(struct kmd *kmd)
{
    if (atomic_exchange(&kmd->began, false))
        kmd_smi_event(kmd, KMD_SMI_PROCESS_END, "%x %s\n", (unsigned)getpid(),
                      kmd->proc->comm);
}
