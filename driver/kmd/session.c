/* session.c: debugging sessions, in memory that all processes of one `rdna3 exec`
 * share.
 *
 * A process that debugs itself and one that debugs another have the same: a record with
 * what has been raised and what the debugger wants to hear of. The debugged process may
 * be stopped, so nothing here waits for it: it raises exceptions where it runs, a
 * thread of the debugger waits for them and writes to the debugger's descriptor. Must
 * not know ioctl structs, and of queues no more than numbers. Invariant: target is
 * written last when a session begins, and first when it ends.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define CLAIMED     -1  /* as target: being set up */
#define PATIENCE_MS 200 /* between looks whether the other process is still there */

static bool alive(int32_t pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

static void wait_change(_Atomic uint32_t *word, uint32_t seen)
{
    kmd_news_wait(word, seen, PATIENCE_MS * 1000000L);
}

static void release(struct gshared_debug *s, int32_t target)
{
    if (atomic_compare_exchange_strong(&s->target, &target, 0)) {
        kmd_news(&s->raised);
        kmd_news(&s->released);
    }
}

/* As the kernel does for processes that end, here when somebody looks. */
static bool in_use(struct gshared_debug *s)
{
    int32_t target = atomic_load(&s->target);
    if (target > 0 && (!alive(atomic_load(&s->debugger)) || !alive(target)))
        release(s, target);
    return atomic_load(&s->target) != 0;
}

static struct gshared_debug *session_of(struct kmd *kmd, int32_t pid)
{
    for (unsigned i = 0; i < GSHARED_SESSIONS; i++) {
        struct gshared_debug *s = &kmd->shared->sessions[i];
        if (atomic_load(&s->target) == pid && in_use(s))
            return s;
    }
    return NULL;
}

bool kmd_session(struct kmd *kmd, int32_t pid, bool *mine)
{
    struct gshared_debug *s = session_of(kmd, pid);
    *mine = s && atomic_load(&s->debugger) == getpid();
    return s != NULL;
}

struct notifier {
    struct gshared_debug *session;
    int32_t target;
    uint32_t serial, seen;
    int fd; /* owned */
};

/* A byte for each time that something was raised. */
static void *notify(void *ctx)
{
    struct notifier n = *(struct notifier *)ctx;
    struct gshared_debug *s = n.session;
    free(ctx);
    for (;;) {
        uint32_t now = atomic_load(&s->raised);
        if (atomic_load(&s->target) != n.target || atomic_load(&s->serial) != n.serial)
            break;
        if (now == n.seen) {
            wait_change(&s->raised, now);
            continue;
        }
        n.seen = now;
        (void)!write(n.fd, ".", 1);
    }
    close(n.fd);
    return NULL;
}

static bool start_notifier(struct gshared_debug *s, int32_t target, int fd)
{
    struct notifier *n = malloc(sizeof(*n));
    if (!n)
        return false;
    *n = (struct notifier){s, target, atomic_load(&s->serial), atomic_load(&s->raised),
                           fd};
    bool ok = kmd_thread(notify, n);
    if (!ok)
        free(n);
    return ok;
}

rd_status kmd_session_begin(struct kmd *kmd, int32_t pid, int fd, uint64_t exceptions)
{
    struct gshared_debug *s = NULL;
    for (unsigned i = 0; i < GSHARED_SESSIONS && !s; i++) {
        int32_t none = 0;
        s = &kmd->shared->sessions[i];
        if (in_use(s) || !atomic_compare_exchange_strong(&s->target, &none, CLAIMED))
            s = NULL;
    }
    if (!s) {
        close(fd);
        return RD_E_NOMEM;
    }
    atomic_store(&s->debugger, getpid());
    atomic_fetch_add(&s->serial, 1);
    atomic_store(&s->enabled, exceptions);
    atomic_store(&s->device, 0);
    atomic_store(&s->process, 0);
    for (unsigned i = 0; i < GPU_MAX_QUEUES; i++)
        atomic_store(&s->queues[i], 0);
    atomic_store(&s->watches.set, 0);
    atomic_store(&s->watches.exceptions, 0);
    atomic_store(&s->watches.instead, 0);
    atomic_store(&s->watches.halted, 0);
    atomic_store(&s->watches.stepped, 0);
    atomic_store(&s->target, pid);
    if (start_notifier(s, pid, fd))
        return RD_OK;
    release(s, pid);
    close(fd);
    return RD_E_NOMEM;
}

void kmd_session_end(struct kmd *kmd, int32_t pid)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (s)
        release(s, pid);
}

void kmd_session_mask(struct kmd *kmd, int32_t pid, uint64_t exceptions)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (s)
        atomic_store(&s->enabled, exceptions);
}

const struct gpu_watches *kmd_session_watches(void *kmd)
{
    const struct gshared_debug *s = session_of(kmd, getpid());
    return s ? &s->watches : NULL;
}

rd_status kmd_session_watch(struct kmd *kmd, int32_t pid, const struct kmd_watch *watch,
                            uint32_t *id)
{
    struct gshared_debug *s = session_of(kmd, pid);
    struct gpu_watches *w = s ? &s->watches : NULL;
    uint32_t free = w ? ~atomic_load(&w->set) & ((1u << GPU_WATCHES) - 1) : 0;
    if (!free)
        return RD_E_NOMEM;
    *id = (uint32_t)__builtin_ctz(free);
    atomic_store(&w->at[*id].address, watch->address);
    atomic_store(&w->at[*id].mask, watch->mask);
    atomic_store(&w->at[*id].mode, watch->mode);
    atomic_fetch_or(&w->set, 1u << *id);
    return RD_OK;
}

rd_status kmd_session_unwatch(struct kmd *kmd, int32_t pid, uint32_t id)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (!s || id >= GPU_WATCHES)
        return RD_E_NOT_FOUND;
    uint32_t before = atomic_fetch_and(&s->watches.set, ~(1u << id));
    return before >> id & 1u ? RD_OK : RD_E_NOT_FOUND;
}

uint32_t kmd_session_launch(struct kmd *kmd, int32_t pid, uint32_t exceptions,
                            uint32_t which, bool instead)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (!s)
        return 0;
    uint32_t before = atomic_load(&s->watches.exceptions);
    atomic_store(&s->watches.exceptions, (exceptions & which) | (before & ~which));
    atomic_store(&s->watches.instead, instead);
    return before;
}

void kmd_session_launch_mode(struct kmd *kmd, int32_t pid, bool halted, bool stepped)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (!s)
        return;
    atomic_store(&s->watches.halted, halted);
    atomic_store(&s->watches.stepped, stepped);
}

/* Take what of the bits the debugger wants; the rest only shows beside it. */
static bool take(struct gshared_debug *s, _Atomic uint64_t *raised, uint64_t clear,
                 uint64_t *exceptions)
{
    uint64_t now = atomic_load(raised);
    if (!(now & atomic_load(&s->enabled)))
        return false;
    atomic_fetch_and(raised, ~clear);
    *exceptions = now;
    return true;
}

enum kmd_source kmd_session_query(struct kmd *kmd, int32_t pid, uint64_t clear,
                                  uint64_t *exceptions, uint32_t *queue)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (!s)
        return KMD_SOURCE_NONE;
    if (pid == getpid())
        kmd_queues_hand_over(kmd);
    for (uint32_t id = 0; id < GPU_MAX_QUEUES; id++)
        if (take(s, &s->queues[id], clear, exceptions)) {
            *queue = id;
            return KMD_SOURCE_QUEUE;
        }
    if (take(s, &s->device, clear, exceptions))
        return KMD_SOURCE_DEVICE;
    return take(s, &s->process, clear, exceptions) ? KMD_SOURCE_PROCESS
                                                   : KMD_SOURCE_NONE;
}

static _Atomic uint64_t *bits_of(struct gshared_debug *s, enum kmd_source source,
                                 uint32_t queue)
{
    return source == KMD_SOURCE_DEVICE    ? &s->device
           : source == KMD_SOURCE_PROCESS ? &s->process
           : queue < GPU_MAX_QUEUES       ? &s->queues[queue]
                                          : NULL;
}

uint64_t kmd_session_clear(struct kmd *kmd, int32_t pid, enum kmd_source source,
                           uint32_t queue, uint64_t clear)
{
    struct gshared_debug *s = session_of(kmd, pid);
    _Atomic uint64_t *bits = s ? bits_of(s, source, queue) : NULL;
    return bits ? atomic_fetch_and(bits, ~clear) : 0;
}

bool kmd_session_fault(struct kmd *kmd, int32_t pid, struct kmd_memory_fault *fault)
{
    const struct gshared_debug *s = session_of(kmd, pid);
    if (!s)
        return false;
    uint32_t why = atomic_load(&s->fault_why);
    *fault = (struct kmd_memory_fault){.va = atomic_load(&s->fault_va),
                                       .not_present = why & 1,
                                       .read_only = why & 2,
                                       .no_execute = why & 4,
                                       .imprecise = why & 8};
    return true;
}

bool kmd_session_raise(struct kmd *kmd, enum kmd_source source, uint32_t queue,
                       uint64_t exceptions, uint64_t fresh)
{
    struct gshared_debug *s = session_of(kmd, getpid());
    _Atomic uint64_t *bits = s ? bits_of(s, source, queue) : NULL;
    if (!bits)
        return false;
    atomic_fetch_or(bits, exceptions);
    if (!(atomic_load(&s->enabled) & fresh))
        return false;
    kmd_news(&s->raised);
    return true;
}

bool kmd_session_memory(struct kmd *kmd, const struct kmd_memory_fault *fault)
{
    struct gshared_debug *s = session_of(kmd, getpid());
    if (!s)
        return false;
    atomic_store(&s->fault_va, fault->va);
    atomic_store(&s->fault_why, fault->not_present + 2u * fault->read_only +
                                    4u * fault->no_execute + 8u * fault->imprecise);
    uint64_t violation = KMD_EXCEPTION(KMD_MEMORY_VIOLATION);
    return kmd_session_raise(kmd, KMD_SOURCE_DEVICE, 0, violation, violation);
}

/* ---- the runtime of a debugged process ---- */

static struct gshared_proc *proc_of(struct kmd *kmd, int32_t pid)
{
    struct gshared_proc *found = NULL; /* the last: numbers are used again */
    if (atomic_load(&kmd->proc->pid) == pid)
        return kmd->proc;
    for (unsigned i = 0; i < GSHARED_PROCS; i++)
        if (atomic_load(&kmd->shared->procs[i].pid) == pid)
            found = &kmd->shared->procs[i];
    return found;
}

bool kmd_runtime_of(struct kmd *kmd, int32_t pid, struct kmd_runtime *out)
{
    const struct gshared_proc *proc = proc_of(kmd, pid);
    *out = (struct kmd_runtime){.enabled = false};
    if (proc)
        *out =
            (struct kmd_runtime){.enabled = atomic_load(&proc->runtime.enabled),
                                 .ttmp_setup = atomic_load(&proc->runtime.ttmp_setup),
                                 .r_debug = atomic_load(&proc->runtime.r_debug)};
    return proc != NULL;
}

void kmd_runtime_set(struct kmd *kmd, const struct kmd_runtime *runtime)
{
    atomic_store(&kmd->proc->runtime.enabled, runtime->enabled);
    atomic_store(&kmd->proc->runtime.ttmp_setup, runtime->ttmp_setup);
    atomic_store(&kmd->proc->runtime.r_debug, runtime->r_debug);
}

void kmd_session_hold(struct kmd *kmd)
{
    struct gshared_debug *s = session_of(kmd, getpid());
    if (!s)
        return;
    uint32_t serial = atomic_load(&s->serial), before = atomic_load(&s->released);
    uint64_t change = KMD_EXCEPTION(KMD_PROCESS_RUNTIME);
    (void)kmd_session_raise(kmd, KMD_SOURCE_PROCESS, 0, change, change);
    if (atomic_load(&s->debugger) == getpid())
        return;
    while (atomic_load(&s->released) == before && session_of(kmd, getpid()) == s &&
           atomic_load(&s->serial) == serial)
        wait_change(&s->released, before);
}

void kmd_session_release(struct kmd *kmd, int32_t pid)
{
    struct gshared_debug *s = session_of(kmd, pid);
    if (s)
        kmd_news(&s->released);
}
