/* latency.c: how a thread waits for the next message of one that waits for each answer.
 *
 * On an idle host CPUs sleep between the three threads that wake in turn for a
 * register, and to wake those takes longer than all the rest. So while messages follow
 * one another there are two ways: to sleep, and to look for the next one for some
 * microseconds first, with Linux asked to keep its CPUs awake. Which is faster depends
 * on what else the host does: it is measured, again and again. Source: Linux's
 * Documentation/power/pm_qos_interface.rst. SPDX-License-Identifier: MIT
 */
#include "latency.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SOON_NS    100000u /* an interval that counts */
#define STREAK     16u     /* so many one after another are a conversation */
#define QUIET_MS   1       /* it has ended */
#define LOOK_NS    50000u
#define LOOK_PAUSE 20
#define IN_VAIN    16u /* a look in vain may have kept off who was to run */
#define STRETCH    64u
#define FORGET_NS  10000000u
#define OTHER_WAY                                                                      \
    16u /* so many stretches from one look at the slower way to the next */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void begin_anew(struct latency *l)
{
    l->looks = true;
    l->waits = l->stretches = l->in_vain = 0;
    l->ns = 0;
}

void latency_begin(struct latency *l, int fd, const char *device)
{
    cpu_set_t cpus;
    *l = (struct latency){.fd = fd, .device = device, .held = -1};
    begin_anew(l);
    l->off = getpriority(PRIO_PROCESS, 0) > 0 ||
             sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) < 2;
}

static void let_go(struct latency *l)
{
    if (l->held >= 0)
        close(l->held);
    l->held = -1;
}

static void hold(struct latency *l)
{
    const int32_t us = 0;
    if (l->held >= 0 || l->denied)
        return;
    l->held = open(l->device, O_WRONLY | O_CLOEXEC);
    if (l->held >= 0 && write(l->held, &us, sizeof(us)) != sizeof(us))
        let_go(l);
    l->denied = l->held < 0;
}

/* False: there is nothing yet. */
static bool look(const struct latency *l, int ms)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    return poll(&p, 1, ms) != 0;
}

static bool look_a_while(struct latency *l, uint64_t begin)
{
    if (l->in_vain) {
        l->in_vain--;
        return false;
    }
    do {
        if (look(l, 0)) {
            l->seen++;
            return true;
        }
        for (int i = 0; i < LOOK_PAUSE; i++)
            __builtin_ia32_pause();
    } while (now() - begin < LOOK_NS);
    l->in_vain = IN_VAIN;
    return false;
}

/* To look costs the host a CPU: it must be faster by an eighth. */
void latency_took(struct latency *l, uint64_t ns)
{
    l->ns += ns;
    if (++l->waits < STRETCH)
        return;
    l->cost[l->looks] = l->ns;
    l->stretches++;
    l->looks = l->stretches > 1 && l->cost[true] < l->cost[false] - l->cost[false] / 8;
    if (l->stretches % OTHER_WAY == 0)
        l->looks = !l->looks;
    l->waits = 0;
    l->ns = 0;
    if (!l->looks)
        let_go(l);
}

void latency_wait(struct latency *l)
{
    uint64_t begin = now(), took;
    bool talks = l->streak >= STREAK && !l->off, there = false;
    if (talks && l->looks) {
        hold(l);
        there = look_a_while(l, begin);
    }
    if (!there && l->held >= 0 && !(there = look(l, QUIET_MS)))
        let_go(l);
    if (!there)
        (void)!look(l, -1);
    took = now() - begin;
    if (talks)
        latency_took(l, took < SOON_NS ? took : SOON_NS);
    if (took >= FORGET_NS) /* what the host does now may be something else */
        begin_anew(l);
    if (took >= SOON_NS)
        l->streak = 0;
    else if (l->streak < STREAK)
        l->streak++;
}

void latency_work(struct latency *l)
{
    l->streak = 0;
    let_go(l);
}

int latency_flags(const struct latency *l)
{
    return l->held >= 0 ? MSG_DONTWAIT : 0;
}

bool latency_again(struct latency *l)
{
    bool held = l->held >= 0;
    latency_work(l);
    return held;
}

void latency_end(struct latency *l)
{
    let_go(l);
}
