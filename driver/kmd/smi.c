/* smi.c: system management events: text lines on a descriptor.
 *
 * The client's descriptor is one end of a socket: it reads event lines and writes the
 * mask of events that it wants, which is looked at when an event occurs. Events of this
 * process are delivered where they occur; those of others lie in memory that all
 * processes share, from where a thread of who listens takes them. Invariant: nothing
 * that causes events blocks; a client that does not read loses events, as it would with
 * the kernel's queue full, and so does a process that is stopped while more of them
 * come than there are places.
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
#include <unistd.h>

#include "internal.h"

#define FD_FLOOR 700          /* above the numbers that programs close by habit */
#define NAP_NS   500000000L   /* while nothing comes */
#define SHORT_NS 1000000L     /* while a place is being written ... */
#define SHORTS   1000u        /* ... after which its writer has died */
#define ALL      (1ull << 63) /* in a mask: of all processes */

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

static void deliver(struct kmd *kmd, const struct line *line)
{
    pthread_mutex_lock(&kmd->smi_lock);
    for (unsigned i = 0; i < kmd->n_smi;) {
        struct kmd_smi *s = &kmd->smi[i];
        if (!update_mask(s)) {
            close(s->fd);
            *s = kmd->smi[--kmd->n_smi];
            continue;
        }
        if (wants(s, line))
            (void)!send(s->fd, line->text, strlen(line->text),
                        MSG_DONTWAIT | MSG_NOSIGNAL);
        i++;
    }
    pthread_mutex_unlock(&kmd->smi_lock);
}

/* ---- between processes ---- */

static struct gshared_event *place(struct kmd *kmd, uint64_t number)
{
    return &kmd->shared->events[number % GSHARED_EVENTS];
}

static void publish(struct kmd *kmd, const struct line *line)
{
    uint64_t number = atomic_fetch_add(&kmd->shared->last_event, 1) + 1;
    struct gshared_event *e = place(kmd, number);
    atomic_store(&e->number, 0);
    atomic_store(&e->event, line->event);
    atomic_store(&e->pid, line->pid);
    for (unsigned i = 0; i < GSHARED_EVENT_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, line->text + 8ul * i, sizeof(word));
        atomic_store(&e->text[i], word);
    }
    atomic_store(&e->number, number);
    kmd_news(&kmd->shared->event_news);
}

/* Returns false if the event is not there: not yet, or no longer. */
static bool take(struct kmd *kmd, uint64_t number, struct line *line)
{
    struct gshared_event *e = place(kmd, number);
    if (atomic_load(&e->number) != number)
        return false;
    line->event = atomic_load(&e->event);
    line->pid = atomic_load(&e->pid);
    for (unsigned i = 0; i < GSHARED_EVENT_BYTES / 8; i++) {
        uint64_t word = atomic_load(&e->text[i]);
        memcpy(line->text + 8ul * i, &word, sizeof(word));
    }
    line->text[sizeof(line->text) - 1] = '\0';
    return atomic_load(&e->number) == number;
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
        if (there && take(kmd, next, &line)) {
            if (line.pid != getpid())
                deliver(kmd, &line);
        } else if (there && last - next < GSHARED_EVENTS && shorts < SHORTS) {
            shorts++;
            kmd_news_wait(&kmd->shared->event_news, seen, SHORT_NS);
            continue;
        } else if (!there) {
            kmd_news_wait(&kmd->shared->event_news, seen, NAP_NS);
            continue;
        }
        shorts = 0;
        next++;
    }
    return NULL;
}

/* Lock held. */
static bool listening(struct kmd *kmd)
{
    if (kmd->smi_listens)
        return true;
    kmd->smi_next = atomic_load(&kmd->shared->last_event) + 1;
    kmd->smi_listens = kmd_thread(listen_to_others, kmd);
    if (kmd->smi_listens)
        atomic_store(&kmd->shared->listened, 1);
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
    return atomic_load(&kmd->shared->listened) != 0;
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
