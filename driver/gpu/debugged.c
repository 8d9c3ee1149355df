/* debugged.c: dispatches under `rdna3 debug -- COMMAND`: each is offered to the
 * debugger, which runs it in its own process or leaves it to this one.
 *
 * While the debugger has it, this thread serves the process's memory: by
 * /proc/self/mem, so that what is not there is no fault. A debugger that goes away
 * leaves a dispatch that is cancelled. Must not know what it does with it.
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cp.h"
#include "wire.h"

#define LOOK_MS 100 /* between looks whether the queue goes away */

struct service {
    struct gpu_queue *q;
    const struct emu_dispatch *d;
    int fd, memory;
    void *buffer;
    uint64_t room;
};

static int call(const struct gpu *gpu)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int n = snprintf(to.sun_path, sizeof to.sun_path, "%s/" WIRE_SOCKET, gpu->debugger);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (n > 0 && (size_t)n < sizeof to.sun_path && fd >= 0 &&
        connect(fd, (const struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool offer(struct gpu_queue *q, struct emu *emu, const struct emu_dispatch *d,
                  int fd)
{
    struct emu_mem m;
    uint32_t n = 0;
    for (uint64_t va = 0; emu_mem_next(emu, va, &m); va = m.va + 1)
        n++;
    uint64_t bytes = sizeof(struct wire_dispatch) + n * sizeof m;
    struct wire_dispatch *out = calloc(1, bytes);
    if (!out)
        return false;
    struct emu_mem *region = (struct emu_mem *)(out + 1);
    *out = (struct wire_dispatch){.size = sizeof *out,
                                  .pid = (int32_t)getpid(),
                                  .dispatch = *d,
                                  .queue = *d->queue,
                                  .image = gpu_image(q->gpu, d->entry)};
    (void)gpu_kernel_name(q->gpu, d->entry, out->kernel, sizeof out->kernel);
    for (uint64_t va = 0; out->n_regions < n && emu_mem_next(emu, va, &m);
         va = m.va + 1)
        region[out->n_regions++] = m;
    bytes = sizeof *out + out->n_regions * sizeof m;
    const struct wire_head head = {.type = WIRE_OFFER, .bytes = bytes};
    bool ok = wire_send(fd, &head, out);
    free(out);
    return ok;
}

static bool have_room(struct service *s, uint64_t bytes)
{
    if (bytes > WIRE_LARGEST)
        return false;
    if (bytes <= s->room)
        return true;
    void *bigger = realloc(s->buffer, bytes);
    if (bigger) {
        s->buffer = bigger;
        s->room = bytes;
    }
    return bigger != NULL;
}

static bool serve_read(struct service *s, const struct wire_head *h)
{
    if (!have_room(s, h->bytes))
        return false;
    ssize_t n = pread(s->memory, s->buffer, h->bytes, (off_t)h->va);
    const struct wire_head answer = {.type = WIRE_DATA,
                                     .bytes = n == (ssize_t)h->bytes ? h->bytes : 0};
    return wire_send(s->fd, &answer, s->buffer);
}

static bool serve_write(struct service *s, const struct wire_head *h)
{
    if (!have_room(s, h->bytes) || !wire_get(s->fd, s->buffer, h->bytes))
        return false;
    return pwrite(s->memory, s->buffer, h->bytes, (off_t)h->va) == (ssize_t)h->bytes;
}

static bool serve_interrupt(struct service *s, const struct wire_head *h)
{
    struct wire_interrupt i;
    if (h->bytes != sizeof i || !wire_get(s->fd, &i, sizeof i))
        return false;
    i.interrupt.cause = &i.cause;
    s->d->queue->interrupt(s->d->queue->ctx, &i.interrupt);
    return true;
}

/* The next message; false: the debugger or the queue goes away. */
static bool next(struct service *s, struct wire_head *h)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    while (poll(&p, 1, LOOK_MS) == 0)
        if (atomic_load(&s->q->stop))
            return false;
    return wire_get(s->fd, h, sizeof *h);
}

/* Until it is done. *declined: this process is to run it. */
static rd_status serve(struct service *s, struct wire_done *done, bool *declined)
{
    struct wire_head h;
    bool ok = true;
    while (ok && next(s, &h)) {
        if (h.type == WIRE_DECLINE) {
            *declined = true;
            return RD_OK;
        }
        if (h.type == WIRE_DONE)
            return h.bytes == sizeof *done && wire_get(s->fd, done, sizeof *done)
                       ? (rd_status)done->status
                       : RD_E_IO;
        ok = h.type == WIRE_READ        ? serve_read(s, &h)
             : h.type == WIRE_WRITE     ? serve_write(s, &h)
             : h.type == WIRE_INTERRUPT ? serve_interrupt(s, &h)
                                        : false;
    }
    return RD_E_TIMEOUT;
}

rd_status cp_debugged_run(struct gpu_queue *q, struct emu *emu,
                          const struct emu_dispatch *d, struct emu_fault *fault,
                          struct emu_stats *stats)
{
    struct service s = {.q = q, .d = d, .fd = call(q->gpu), .memory = -1};
    struct wire_done done = {.status = 0};
    bool declined = s.fd < 0; /* the debugger has ended: nobody stops anything */
    rd_status st = RD_OK;
    if (!declined) {
        s.memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
        st = s.memory >= 0 && offer(q, emu, d, s.fd) ? serve(&s, &done, &declined)
                                                     : RD_E_IO;
        close(s.fd);
        if (s.memory >= 0)
            close(s.memory);
        free(s.buffer);
    }
    if (declined)
        return emu_run(emu, d, fault, stats);
    *fault = done.fault;
    *stats = done.stats;
    return st;
}
