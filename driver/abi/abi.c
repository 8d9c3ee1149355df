/* abi.c: the ioctl dispatcher: argument copies, struct sizes, errno.
 *
 * Knows the shape of an ioctl but no struct. As the kernel does, it copies the smaller
 * of the client's and our struct in, clears the rest, and copies out also on failure.
 * One context serves the process; a forked child starts with none, and takes over what
 * belongs to the open DRM files when it first uses them.
 * SPDX-License-Identifier: MIT
 */
#include "abi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ctx.h"

#define STACK_ARGS 256u

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abi_ctx *context;
static struct abi_ctx *parents; /* in a child of fork: what the parent had */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

/* The call that this thread is in. */
static _Thread_local struct thread {
    const struct abi_host *host;
    struct abi_line *line; /* NULL: no log */
    int fd;                /* -1: unknown */
} thread;

/* The child of a fork has no device: its threads and mappings are gone. */
static void forget(void)
{
    pthread_mutex_init(&open_lock, NULL);
    pthread_mutex_init(&log_lock, NULL);
    parents = context ? context : parents;
    __atomic_store_n(&context, NULL, __ATOMIC_RELEASE);
}

static struct abi_ctx *open_context(const struct abi_host *host)
{
    struct abi_ctx *ctx = calloc(1, sizeof(*ctx));
    struct abi_config config;
    if (!ctx || !host->config(&config)) {
        free(ctx);
        return NULL;
    }
    config.kmd.note = config.log ? abi_log_note : NULL;
    if (kmd_open(&config.kmd, &ctx->kmd) != RD_OK) {
        free(ctx);
        return NULL;
    }
    ctx->host = host;
    if (parents) {
        kmd_inherit(ctx->kmd, parents->kmd);
        abi_cs_inherit(ctx, parents);
    }
    ctx->log_fd = abi_log_open(config.log, kmd_vram_size(ctx->kmd));
    static bool registered;
    if (!registered) {
        registered = true;
        pthread_atfork(NULL, NULL, forget);
    }
    return ctx;
}

static struct abi_ctx *get_context(const struct abi_host *host)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    if (ctx)
        return ctx;
    pthread_mutex_lock(&open_lock);
    ctx = context;
    if (!ctx) {
        ctx = open_context(host);
        __atomic_store_n(&context, ctx, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&open_lock);
    return ctx;
}

void abi_process(struct abi_process *out)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    *out = (struct abi_process){.vram_used = 0};
    if (!ctx)
        return;
    out->vram_used = kmd_process_vram(ctx->kmd);
    kmd_svm_moved(ctx->kmd, &out->pages_in, &out->pages_out);
    out->queue_changes = kmd_queue_changes(ctx->kmd);
}

unsigned abi_queues(struct abi_queue *out, unsigned room)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    struct kmd_queue_state *all = ctx ? calloc(room, sizeof(*all)) : NULL;
    unsigned n = all ? kmd_queue_list(ctx->kmd, all, room) : 0;
    for (unsigned i = 0; i < n && i < room; i++)
        out[i] = (struct abi_queue){.id = all[i].id,
                                    .type = all[i].config.kind == KMD_QUEUE_SDMA
                                                ? ABI_QUEUE_DMA
                                                : ABI_QUEUE_COMPUTE,
                                    .ring_bytes = all[i].config.ring_bytes};
    free(all);
    return n;
}

bool abi_mapping_fits(uint64_t offset, uint64_t bytes)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    return !ctx || kmd_mapping_fits(ctx->kmd, offset, bytes);
}

void abi_unmapped(uint64_t va, uint64_t bytes)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    static _Thread_local bool inside;
    /* not by a call of ours, which may hold the locks, nor by what is done here */
    if (!ctx || thread.host || inside)
        return;
    inside = true;
    kmd_svm_unmapped(ctx->kmd, va, bytes);
    kmd_bo_unmapped(ctx->kmd, va, bytes);
    inside = false;
}

void abi_ended(void)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    if (ctx)
        kmd_process_ends(ctx->kmd);
}

bool abi_buffer_place(int fd, uint64_t bytes, uint64_t *offset)
{
    struct kmd_bo_info info;
    if (kmd_export_info(fd, &info) != RD_OK)
        return false;
    uint64_t size = (info.bytes + 4095) & ~4095ull;
    if (*offset > size || bytes > size - *offset)
        return false;
    *offset += info.offset;
    return true;
}

static bool copy(uint64_t to, uint64_t from, size_t bytes, bool reading)
{
    if (!bytes)
        return true;
    uint64_t ours = reading ? to : from, theirs = reading ? from : to;
    struct iovec local = {(void *)(uintptr_t)ours, bytes};
    struct iovec remote = {(void *)(uintptr_t)theirs, bytes};
    long n = syscall(reading ? SYS_process_vm_readv : SYS_process_vm_writev, getpid(),
                     &local, 1ul, &remote, 1ul, 0ul);
    if (n < 0 && (errno == EPERM || errno == ENOSYS)) {
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
        return true;
    }
    return n == (long)bytes;
}

bool abi_get(void *to, uint64_t from, size_t bytes)
{
    const struct abi_host *host = thread.host;
    bool ok = host && host->get ? host->get(to, from, bytes)
                                : copy((uint64_t)(uintptr_t)to, from, bytes, true);
    if (thread.line)
        abi_log_memory(thread.line, true, from, to, bytes, ok);
    return ok;
}

bool abi_put(uint64_t to, const void *from, size_t bytes)
{
    const struct abi_host *host = thread.host;
    bool ok = host && host->put ? host->put(to, from, bytes)
                                : copy(to, (uint64_t)(uintptr_t)from, bytes, false);
    if (thread.line)
        abi_log_memory(thread.line, false, to, from, bytes, ok);
    return ok;
}

enum abi_file abi_file_of(struct abi_ctx *ctx, int fd)
{
    enum abi_file kind = ctx->host->fd_kind(fd);
    if (thread.line)
        abi_log_file(thread.line, fd, kind);
    return kind;
}

int abi_fd(void)
{
    return thread.fd;
}

bool abi_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

int abi_errno(rd_status st)
{
    switch (st) {
    case RD_OK:
        return 0;
    case RD_E_NOMEM:
        return -ENOMEM;
    case RD_E_IO:
        return -EIO;
    case RD_E_BUSY:
        return -EBUSY;
    case RD_E_RANGE:
        return -ENOSPC;
    case RD_E_EXISTS:
        return -EEXIST;
    case RD_E_UNSUPPORTED:
        return -EOPNOTSUPP;
    case RD_E_TIMEOUT:
        return -ETIME;
    case RD_E_FAULT:
        return -EFAULT;
    default:
        return -EINVAL;
    }
}

/* Do calls of the kind sleep? They are logged when they are over; the others under a
 * lock, so that the transcript has them in the order of their effects. */
static int run_call(struct abi_ctx *ctx, const struct abi_call *call, struct thread *t,
                    uint8_t *args, size_t size)
{
    bool in_order = t->line && !call->sleeps;
    if (in_order)
        pthread_mutex_lock(&log_lock);
    int r = call->fn ? call->fn(ctx, args, size) : -call->refuse;
    if (!call->fn)
        atomic_fetch_add(&kmd_proc(ctx->kmd)->refused, 1);
    if (t->line)
        abi_log_end(t->line, ctx->log_fd, args, size, r);
    if (in_order)
        pthread_mutex_unlock(&log_lock);
    return r;
}

bool abi_thread_is_ours(void)
{
    return kmd_thread_is_ours();
}

void abi_access_failed(uint64_t va, bool write)
{
    kmd_access_failed(va, write);
}

uint32_t abi_look(void)
{
    return kmd_look();
}

bool abi_looked(uint32_t ticket)
{
    return kmd_looked(ticket);
}

static const struct abi_call *lookup(enum abi_file file, unsigned nr)
{
    static const struct abi_call unknown = {"?", 0, NULL, ENOTTY, false};
    static const struct abi_call unknown_drm = {"?", 0, NULL, EINVAL, false};
    static const struct abi_call no_display = {"?", 0, NULL, EOPNOTSUPP, false};
    static const struct abi_call not_here = {"?", 0, NULL, EACCES, false};
    const struct abi_call *table = file == ABI_KFD ? abi_kfd_calls : abi_drm_calls;
    unsigned count = file == ABI_KFD ? abi_kfd_count : abi_drm_count;
    return nr < count && table[nr].name ? &table[nr]
           : file == ABI_KFD            ? &unknown
           : !abi_of_display(nr)        ? &unknown_drm
           : file == ABI_RENDER         ? &not_here
                                        : &no_display;
}

static int perform(struct abi_ctx *ctx, enum abi_file file, unsigned long cmd,
                   uint64_t arg)
{
    const struct abi_call *call = lookup(file, _IOC_NR(cmd));
    size_t user_size = _IOC_SIZE(cmd);
    size_t size = user_size > call->size ? user_size : call->size;

    uint8_t stack[STACK_ARGS] __attribute__((aligned(16)));
    uint8_t *args = size > sizeof(stack) ? malloc(size) : stack;
    if (!args)
        return -ENOMEM;
    memset(args, 0, size);
    int r = 0;
    if ((_IOC_DIR(cmd) & _IOC_WRITE) && !copy((uintptr_t)args, arg, user_size, true))
        r = -EFAULT;
    if (thread.line)
        abi_log_begin(thread.line, file, call->name, cmd, r ? NULL : args, size);
    if (r == 0 && kmd_absent(ctx->kmd))
        r = -ENODEV;
    if (r == 0 && file != ABI_KFD && call->fn)
        r = abi_drm_permit(ctx, file, _IOC_NR(cmd));
    if (r == 0)
        r = run_call(ctx, call, &thread, args, size);
    else if (thread.line)
        abi_log_end(thread.line, ctx->log_fd, args, 0, r);
    if (r != -EFAULT && (_IOC_DIR(cmd) & _IOC_READ) &&
        !copy(arg, (uintptr_t)args, user_size, false))
        r = -EFAULT;
    if (args != stack)
        free(args);
    return r;
}

bool abi_fence_ioctl(const struct abi_host *host, int fd, unsigned long cmd, void *arg,
                     int *result)
{
    struct abi_ctx *ctx = __atomic_load_n(&context, __ATOMIC_ACQUIRE);
    if (!ctx && (cmd >> 8 & 0xff) == 'W') /* a timeline may come from another process */
        ctx = get_context(host);
    if (!ctx)
        return false;
    thread = (struct thread){.host = host, .fd = fd};
    bool is = abi_sync_file(ctx, fd, cmd, (uintptr_t)arg, result) ||
              abi_timeline(ctx, fd, cmd, (uintptr_t)arg, result);
    thread = (struct thread){.host = NULL};
    return is;
}

int abi_new_timeline(const struct abi_host *host)
{
    struct abi_ctx *ctx = get_context(host);
    int fd, r = ctx ? abi_errno(kmd_timeline_create(ctx->kmd, &fd)) : -ENODEV;
    return r ? r : fd;
}

void abi_recover(const struct abi_host *host)
{
    struct abi_ctx *ctx = get_context(host);
    if (ctx)
        kmd_recover(ctx->kmd);
}

void abi_opened(const struct abi_host *host, enum abi_file file, int fd)
{
    struct abi_ctx *ctx = file == ABI_CARD ? get_context(host) : NULL;
    if (ctx)
        abi_card_opened(ctx, fd);
}

int abi_ioctl(const struct abi_host *host, enum abi_file file, int fd,
              unsigned long cmd, void *arg)
{
    struct abi_ctx *ctx = get_context(host);
    if (!ctx)
        return -ENODEV;
    struct abi_line line = {.used = 0};
    atomic_fetch_add(&kmd_proc(ctx->kmd)->ioctls, 1);
    thread = (struct thread){
        .host = host, .line = ctx->log_fd >= 0 ? &line : NULL, .fd = fd};
    int r = perform(ctx, file, cmd, (uintptr_t)arg);
    thread = (struct thread){.host = NULL};
    kmd_kick(ctx->kmd);
    return r;
}
