/* log.c: the transcript of `rdna3 exec --log`: one line for each ioctl, complete enough
 * to be issued again (tools/replay.c).
 *
 *     PID TID kfd NAME 0xCMD in=HEX get=ADDRESS:HEX put=ADDRESS:HEX out=HEX ret=N
 *
 * in and out are the struct as the client passed it and as it went back; get and put
 * are what else was read from and written to the client's memory, in order; "in=?" and
 * "get=ADDRESS:!" are memory that could not be read. file=N:KIND is what a descriptor
 * in the struct was. A line that begins with # is for people: what the GPU has met that
 * nobody models. Must not know any struct. Invariant: one write per line, so that
 * processes can share the file; calls that do not sleep are logged in the order of
 * their effects. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx.h"

#define LOG_FD_FLOOR 700

static _Atomic int note_fd = -1; /* of this process */
static atomic_bool lost;         /* the log is not whole: told once */

int abi_log_open(const char *path, uint64_t vram_bytes)
{
    if (!path)
        return -1;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LOG_FD_FLOOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    char text[96];
    int n = snprintf(text, sizeof(text), "# rdna3 ioctls 1: pid %d vram %llu\n",
                     getpid(), (unsigned long long)vram_bytes);
    (void)!write(fd, text, (size_t)n);
    note_fd = fd;
    return fd;
}

void abi_log_note(const char *text)
{
    char line[200];
    int n = snprintf(line, sizeof(line), "# %d: %s\n", getpid(), text);
    int fd = note_fd;
    if (fd >= 0 && n > 0 && (size_t)n < sizeof(line))
        (void)!write(fd, line, (size_t)n);
}

/* Room for n more bytes; false: the line is given up. */
static bool room(struct abi_line *line, size_t n)
{
    if (line->used + n <= line->cap)
        return true;
    size_t cap = 2 * (line->used + n);
    char *text = realloc(line->text, cap);
    if (!text)
        return false;
    line->text = text;
    line->cap = cap;
    return true;
}

static void hex(struct abi_line *line, const void *data, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = data;
    if (!room(line, 2 * n))
        return;
    for (size_t i = 0; i < n; i++) {
        line->text[line->used++] = digits[bytes[i] >> 4];
        line->text[line->used++] = digits[bytes[i] & 15];
    }
}

__attribute__((format(printf, 2, 3))) static void put(struct abi_line *line,
                                                      const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (n <= 0 || !room(line, sizeof(text)))
        return;
    size_t bytes = (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    memcpy(line->text + line->used, text, bytes);
    line->used += bytes;
}

void abi_log_begin(struct abi_line *line, enum abi_file file, const char *name,
                   unsigned long cmd, const void *args, size_t size)
{
    put(line, "%d %ld %s %s 0x%08lx in=", getpid(), syscall(SYS_gettid),
        file == ABI_KFD    ? "kfd"
        : file == ABI_CARD ? "card"
                           : "render",
        name, cmd);
    if (args)
        hex(line, args, size);
    else
        put(line, "?");
}

void abi_log_memory(struct abi_line *line, bool get, uint64_t address, const void *data,
                    size_t bytes, bool ok)
{
    put(line, " %s=0x%llx:", get ? "get" : "put", (unsigned long long)address);
    if (ok)
        hex(line, data, bytes);
    else
        put(line, "!");
}

void abi_log_file(struct abi_line *line, int fd, enum abi_file kind)
{
    static const char *const names[] = {[ABI_NONE] = "none",
                                        [ABI_KFD] = "kfd",
                                        [ABI_RENDER] = "render",
                                        [ABI_CARD] = "card"};
    put(line, " file=%d:%s", fd, names[kind]);
}

void abi_log_end(struct abi_line *line, int fd, const void *args, size_t size,
                 int result)
{
    put(line, " out=");
    hex(line, args, size);
    put(line, " ret=%d\n", result);
    ssize_t n = write(fd, line->text, line->used);
    if (n != (ssize_t)line->used && !atomic_exchange(&lost, true))
        fprintf(stderr, "rdna3: --log misses ioctls: %s\n",
                n < 0 ? strerror(errno) : "it is full");
    free(line->text);
    *line = (struct abi_line){.used = 0};
}
