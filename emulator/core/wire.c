/* wire.c: messages between a process and its debugger. System calls alone: also for
 * signal handlers. SPDX-License-Identifier: MIT
 */
#include "wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static bool put(int fd, const char *from, uint64_t bytes)
{
    while (bytes) {
        ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        bytes -= (uint64_t)n;
    }
    return true;
}

bool wire_send(int fd, const struct wire_head *head, const void *data)
{
    return put(fd, (const char *)head, sizeof *head) &&
           (!data || put(fd, data, head->bytes));
}

bool wire_get(int fd, void *to, uint64_t bytes)
{
    char *at = to;
    while (bytes) {
        ssize_t n = recv(fd, at, bytes, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (uint64_t)n;
    }
    return true;
}
