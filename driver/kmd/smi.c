/* smi.c: system management events: text lines on a descriptor.
 *
 * The client's descriptor is one end of a socket: it reads event lines and writes the
 * mask of events that it wants, which is looked at when an event occurs. Must not know
 * who causes events. Invariant: nothing here blocks; a client that does not read loses
 * events, as it would with the kernel's queue full.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

#define FD_FLOOR 700 /* above the numbers that programs close by habit */

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
    if (list) {
        kmd->smi = list;
        list[kmd->n_smi++] = (struct kmd_smi){.fd = ends[1]};
    }
    pthread_mutex_unlock(&kmd->smi_lock);
    if (!list) {
        close(ends[0]);
        close(ends[1]);
        return RD_E_NOMEM;
    }
    *fd = ends[0];
    return RD_OK;
}

/* Take what the client has written: masks, the last of which counts.
 * Returns false if the client has closed its end. */
static bool update_mask(struct kmd_smi *s)
{
    uint64_t mask;
    for (;;) {
        ssize_t n = recv(s->fd, &mask, sizeof(mask), MSG_DONTWAIT);
        if (n == (ssize_t)sizeof(mask))
            s->mask = mask;
        else if (n <= 0)
            return n < 0 && errno == EAGAIN;
    }
}

void kmd_smi_event(struct kmd *kmd, unsigned event, const char *fmt, ...)
{
    char text[128];
    int n = snprintf(text, sizeof(text), "%x ", event);
    va_list ap;
    va_start(ap, fmt);
    n += vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
    va_end(ap);
    size_t bytes = (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;
    pthread_mutex_lock(&kmd->smi_lock);
    for (unsigned i = 0; i < kmd->n_smi;) {
        struct kmd_smi *s = &kmd->smi[i];
        if (!update_mask(s)) {
            close(s->fd);
            *s = kmd->smi[--kmd->n_smi];
            continue;
        }
        if (s->mask >> (event - 1) & 1)
            (void)!send(s->fd, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        i++;
    }
    pthread_mutex_unlock(&kmd->smi_lock);
}
