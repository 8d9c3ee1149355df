/* whole.c: see whole.h. SPDX-License-Identifier: MIT
 */
#include "whole.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum way { WRITE, SEND, RECEIVE };

static ssize_t step(enum way way, int fd, char *at, uint64_t bytes)
{
    return way == WRITE  ? write(fd, at, bytes)
           : way == SEND ? send(fd, at, bytes, MSG_NOSIGNAL)
                         : recv(fd, at, bytes, 0);
}

static bool whole(enum way way, int fd, char *at, uint64_t bytes)
{
    while (bytes) {
        ssize_t n = step(way, fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (uint64_t)n;
    }
    return true;
}

bool whole_write(int fd, const void *data, uint64_t bytes)
{
    return whole(WRITE, fd, (char *)(uintptr_t)data, bytes);
}

bool whole_send(int fd, const void *data, uint64_t bytes)
{
    return whole(SEND, fd, (char *)(uintptr_t)data, bytes);
}

bool whole_receive(int fd, void *data, uint64_t bytes)
{
    return whole(RECEIVE, fd, data, bytes);
}
