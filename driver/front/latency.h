/* latency.h: how a thread waits for the next message of one that waits for each answer.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FRONT_LATENCY_H
#define RD_FRONT_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/* Where Linux is asked to keep idle CPUs from sleeping, for as long as it is open. */
#define LATENCY_DEVICE "/dev/cpu_dma_latency"

/* Of one socket and one thread. Times in ns. */
struct latency {
    int fd;             /* the socket */
    const char *device; /* LATENCY_DEVICE */
    int held;           /* that device, or -1 */
    bool off;           /* always sleep */
    bool denied;        /* the device is not for us */
    bool looks;         /* rather look a while than sleep: the way that is in use, */
    unsigned waits;     /* for so many messages, */
    uint64_t ns;        /* which took so long */
    uint64_t cost[2];   /* what as many took without and with looking, the last time */
    unsigned stretches; /* that have been measured */
    unsigned in_vain;   /* do not look before so many messages */
    unsigned streak;    /* messages that came soon after an answer, one after another */
    uint64_t seen;      /* those that came while we looked */
};

/* The calling thread will wait for messages on socket fd. device must stay. */
void latency_begin(struct latency *l, int fd, const char *device);
/* Wait until a message is there, or the other side has gone. */
void latency_wait(struct latency *l);
/* Of messages that follow one another this one took so long: choose how to wait for the
 * next ones. For latency_wait. */
void latency_took(struct latency *l, uint64_t ns);
/* What was asked for is work for other threads: they have the CPUs. */
void latency_work(struct latency *l);
/* How to receive or send a part of a message, so that nobody keeps CPUs awake who
 * leaves us with half of one: MSG_DONTWAIT while that is so, else 0. */
int latency_flags(const struct latency *l);
/* It was not there, or had no room (EAGAIN): true, once: try again. CPUs may sleep. */
bool latency_again(struct latency *l);
void latency_end(struct latency *l);

#endif
