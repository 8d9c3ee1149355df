/* abi.c: the ioctl dispatcher: argument copies, struct sizes, logging, errno.
 *
 * Knows the shape of an ioctl but no struct. As the kernel does, it copies the smaller
 * of the client's and our struct in, clears the rest, and copies out also on failure.
 * One context serves the process; a forked child starts with none.
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

#define STACK_ARGS   256u
#define LOG_BYTES    64u /* of a struct shown in the log */
#define LOG_FD_FLOOR 700

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct abi_ctx *context;

/* The child of a fork has no device: its threads and mappings are gone. */
static void forget(void)
{
    pthread_mutex_init(&open_lock, NULL);
    __atomic_store_n(&context, NULL, __ATOMIC_RELEASE);
}

static int open_log(void)
{
    const char *path = getenv(GSHARED_ENV_LOG);
    if (!path || !*path)
        return -1;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LOG_FD_FLOOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static struct abi_ctx *open_context(const struct abi_host *host)
{
    struct abi_ctx *ctx = calloc(1, sizeof(*ctx));
    const char *state = getenv(GSHARED_ENV);
    if (!ctx || !state) {
        free(ctx);
        return NULL;
    }
    const char *no_exec = getenv(GSHARED_ENV_NO_EXEC);
    const char *timing = getenv(GSHARED_ENV_TIMING);
    struct gdev_config config = {.state_dir = state,
                                 .sclk_mhz = timing ? strtod(timing, NULL) : 0,
                                 .no_execute = no_exec && strcmp(no_exec, "1") == 0};
    if (gdev_open(&config, &ctx->dev) != RD_OK) {
        free(ctx);
        return NULL;
    }
    ctx->host = host;
    ctx->log_fd = open_log();
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
    return copy((uint64_t)(uintptr_t)to, from, bytes, true);
}

bool abi_put(uint64_t to, const void *from, size_t bytes)
{
    return copy(to, (uint64_t)(uintptr_t)from, bytes, false);
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

static size_t hex(char *text, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    if (n > LOG_BYTES)
        n = LOG_BYTES;
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return 2 * n;
}

struct log_line {
    char text[4 * LOG_BYTES + 160];
    size_t used;
};

static void log_begin(struct log_line *line, enum abi_file file, const char *name,
                      unsigned long cmd, const uint8_t *args, size_t size)
{
    int n = snprintf(line->text, sizeof(line->text),
                     "%d %ld %s %s 0x%02lx %zu in=", getpid(), syscall(SYS_gettid),
                     file == ABI_KFD ? "kfd" : "render", name, _IOC_NR(cmd), size);
    line->used = n > 0 ? (size_t)n : 0;
    line->used += hex(line->text + line->used, args, size);
}

static void log_end(struct log_line *line, int fd, const uint8_t *args, size_t size,
                    int result)
{
    memcpy(line->text + line->used, " out=", 5);
    line->used += 5;
    line->used += hex(line->text + line->used, args, size);
    int n = snprintf(line->text + line->used, sizeof(line->text) - line->used,
                     " ret=%d\n", result);
    if (n > 0)
        line->used += (size_t)n;
    (void)!write(fd, line->text, line->used);
}

static int run_call(struct abi_ctx *ctx, const struct abi_call *call,
                    enum abi_file file, unsigned long cmd, uint8_t *args, size_t size)
{
    struct log_line line = {.used = 0};
    if (ctx->log_fd >= 0)
        log_begin(&line, file, call->name ? call->name : "?", cmd, args, size);
    int r = call->fn ? call->fn(ctx, args, size) : -call->refuse;
    if (!call->fn)
        atomic_fetch_add(&gdev_proc(ctx->dev)->refused, 1);
    if (ctx->log_fd >= 0)
        log_end(&line, ctx->log_fd, args, size, r);
    return r;
}

static const struct abi_call *lookup(enum abi_file file, unsigned nr)
{
    static const struct abi_call unknown = {"?", 0, NULL, ENOTTY};
    const struct abi_call *table = file == ABI_KFD ? abi_kfd_calls : abi_drm_calls;
    unsigned count = file == ABI_KFD ? abi_kfd_count : abi_drm_count;
    return nr < count && table[nr].name ? &table[nr] : &unknown;
}

int abi_ioctl(const struct abi_host *host, enum abi_file file, unsigned long cmd,
              void *arg)
{
    struct abi_ctx *ctx = get_context(host);
    if (!ctx)
        return -ENODEV;
    atomic_fetch_add(&gdev_proc(ctx->dev)->ioctls, 1);
    const struct abi_call *call = lookup(file, _IOC_NR(cmd));
    size_t user_size = _IOC_SIZE(cmd);
    size_t size = user_size > call->size ? user_size : call->size;

    uint8_t stack[STACK_ARGS] __attribute__((aligned(16)));
    uint8_t *args = size > sizeof(stack) ? malloc(size) : stack;
    if (!args)
        return -ENOMEM;
    memset(args, 0, size);
    int r = 0;
    if ((_IOC_DIR(cmd) & _IOC_WRITE) && !abi_get(args, (uintptr_t)arg, user_size))
        r = -EFAULT;
    if (r == 0)
        r = run_call(ctx, call, file, cmd, args, size);
    if (r != -EFAULT && (_IOC_DIR(cmd) & _IOC_READ) &&
        !abi_put((uintptr_t)arg, args, user_size))
        r = -EFAULT;
    if (args != stack)
        free(args);
    gdev_kick(ctx->dev);
    return r;
}
