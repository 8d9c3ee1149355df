/* clock.c: the device's 100 MHz counter, and the host clocks that are read with it.
 *
 * Without the timing model the counter is the host's monotonic clock. With it, time
 * that the emulation takes does not count: while any queue is at work the counter
 * stands still, except that each piece of work moves it by what the model says; while
 * all are idle it runs like the host's. Every queue keeps its own time in between, so
 * that work of two queues overlaps. The host clocks that are read together with the
 * counter are shifted alike, since clients convert one into the other.
 *
 * Invariant: the counter never goes back.
 *
 * SPDX-License-Identifier: MIT
 */
#include <time.h>

#include "internal.h"

#define TICK_NS (1000000000ull / BOARD_CLOCK_HZ)

static uint64_t host_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void gpu_clock_init(struct gpu_clock_state *clock, bool simulated)
{
    pthread_mutex_init(&clock->lock, NULL);
    clock->simulated = simulated;
    clock->boot_ns = (int64_t)(host_ns(CLOCK_BOOTTIME) - host_ns(CLOCK_MONOTONIC_RAW));
}

/* Lock held. */
static uint64_t simulated_now(const struct gpu_clock_state *clock)
{
    return clock->busy ? clock->now
                       : host_ns(CLOCK_MONOTONIC_RAW) / TICK_NS + (uint64_t)clock->skew;
}

uint64_t gpu_clock(struct gpu *gpu)
{
    struct gpu_clock_state *clock = &gpu->clock;
    if (!clock->simulated)
        return host_ns(CLOCK_MONOTONIC_RAW) / TICK_NS;
    pthread_mutex_lock(&clock->lock);
    uint64_t now = simulated_now(clock);
    pthread_mutex_unlock(&clock->lock);
    return now;
}

void gpu_clocks(struct gpu *gpu, struct gpu_clocks *out)
{
    if (!gpu->clock.simulated) {
        out->cpu_ns = host_ns(CLOCK_MONOTONIC_RAW);
        out->system_ns = host_ns(CLOCK_BOOTTIME);
        out->gpu = out->cpu_ns / TICK_NS;
        return;
    }
    out->gpu = gpu_clock(gpu);
    out->cpu_ns = out->gpu * TICK_NS;
    out->system_ns = out->cpu_ns + (uint64_t)gpu->clock.boot_ns;
}

uint64_t gpu_clock_enter(struct gpu_clock_state *clock)
{
    pthread_mutex_lock(&clock->lock);
    uint64_t now = simulated_now(clock);
    clock->now = now;
    clock->busy++;
    pthread_mutex_unlock(&clock->lock);
    return now;
}

void gpu_clock_leave(struct gpu_clock_state *clock)
{
    pthread_mutex_lock(&clock->lock);
    if (--clock->busy == 0)
        clock->skew = (int64_t)(clock->now - host_ns(CLOCK_MONOTONIC_RAW) / TICK_NS);
    pthread_mutex_unlock(&clock->lock);
}

void gpu_clock_reach(struct gpu_clock_state *clock, uint64_t ticks)
{
    pthread_mutex_lock(&clock->lock);
    if (ticks > clock->now)
        clock->now = ticks;
    pthread_mutex_unlock(&clock->lock);
}
