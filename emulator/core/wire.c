/* wire.c: messages between a process and its debugger. System calls alone: also for
 * signal handlers. SPDX-License-Identifier: MIT
 */
#include "wire.h"

#include "whole.h"

bool wire_send(int fd, const struct wire_head *head, const void *data)
{
    return whole_send(fd, head, sizeof *head) &&
           (!data || whole_send(fd, data, head->bytes));
}

bool wire_get(int fd, void *to, uint64_t bytes)
{
    return whole_receive(fd, to, bytes);
}
