/* wire.h: what a process under `rdna3 debug` and its debugger tell each other, for each
 * dispatch on a connection of its own: the process offers it, and serves its memory
 * until the debugger has declined or done it.
 *
 * Both are of one build: structures go as they are.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WIRE_H
#define RD_WIRE_H

#include "emu.h"

#define WIRE_SOCKET "debugger" /* in the state folder */

enum wire_type {
    WIRE_OFFER = 1, /* struct wire_dispatch, then its regions */
    WIRE_DECLINE,   /* run it yourself */
    WIRE_READ,      /* va, bytes: wanted */
    WIRE_DATA,      /* the answer; bytes 0: there is no such memory */
    WIRE_WRITE,     /* va; the bytes follow */
    WIRE_INTERRUPT, /* struct wire_interrupt: to the host */
    WIRE_DONE       /* struct wire_done */
};

struct wire_head {
    uint32_t type, zero;
    uint64_t va, bytes; /* bytes: that follow, but of WIRE_READ */
};

struct wire_dispatch {
    uint64_t size; /* of this structure: is it one build? */
    int32_t pid;
    uint32_t n_regions;
    struct emu_dispatch dispatch; /* its pointers say nothing */
    struct emu_queue queue;
    uint64_t image; /* 0: not known */
    char kernel[256];
};

struct wire_interrupt {
    struct emu_interrupt interrupt;
    struct emu_fault cause;
};

struct wire_done {
    int32_t status, zero; /* rd_status */
    struct emu_fault fault;
    struct emu_stats stats;
};

#define WIRE_LARGEST (1u << 26) /* bytes of a message */

/* False: the other one has gone. */
bool wire_send(int fd, const struct wire_head *head, const void *data);
bool wire_get(int fd, void *to, uint64_t bytes);

#endif
