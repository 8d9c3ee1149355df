/* whole.h: all bytes of a message to or from a descriptor, however many calls it takes.
 * System calls alone: also for signal handlers. SPDX-License-Identifier: MIT
 */
#ifndef RD_WHOLE_H
#define RD_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/* To a file or a pipe; a socket whose other end has gone (no SIGPIPE); from a socket.
 * False: an error in errno, the time that the socket waits is over, or nobody is left
 * there; some bytes may have gone. */
bool whole_write(int fd, const void *data, uint64_t bytes);
bool whole_send(int fd, const void *data, uint64_t bytes);
bool whole_receive(int fd, void *data, uint64_t bytes);

#endif
