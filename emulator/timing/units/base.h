/* base.h: what every unit of the model knows: the parameters, the clock, how the
 * kernel's waves are shaped. Private to emulator/timing.
 *
 * Rules for whoever edits the units and the engine:
 *  1. Time is in shader clocks, int64_t; what runs on the fabric clock is converted
 *     once, by tm_lat. Nothing is ticked: a unit is a time at which it is free again.
 *  2. Everything that a wave waits for is known when it is issued, except barriers,
 *     ports lost to other waves and vector memory that has not been accepted: those are
 *     looked at again when the wave's turn comes.
 *  3. Waves are visited in order of (time, priority, age), so the oldest wins a port
 *     and the run is deterministic.
 *  4. Addresses are made canonical before they index anything (canon.h): the host's
 *     placement of buffers and code must not change a cycle.
 *  5. A unit's state is written by its own file, through the functions of its header.
 *  6. What several shader engines share is touched by turns that tm_takes_all
 * (engine.h) names, which run alone, or between windows (queue.h): parts of a run have
 * threads of their own. SPDX-License-Identifier: MIT
 */
#ifndef TM_BASE_H
#define TM_BASE_H

#include <stdbool.h>

#include "params.h"

struct tm_base {
    int64_t now;
    struct tm_params p;
    struct tm_whole n; /* p in whole numbers */
    double ghz;
    unsigned lanes; /* of a wave: 32 or 64 */
    bool wgp_mode, fabric_low;
};

static inline int64_t tm_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t tm_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Shader clocks of so many cycles and ns. */
static inline int64_t tm_lat(const struct tm_base *b, double cycles, double ns)
{
    double sum = cycles + ns * b->ghz;
    return sum < 0 ? 0 : (int64_t)(sum + 0.5);
}

/* ns that a fabric in its low-power state adds to so many accesses beyond the GL2. */
static inline double tm_fabric_ns(const struct tm_base *b, unsigned accesses)
{
    return b->fabric_low ? accesses * b->p.fabric_low_ns : 0;
}

/* Compiled into each caller: what is known there about the instruction is not asked. */
#define TM_HOT static inline __attribute__((always_inline))

#define PARAM(b, name) ((b)->n.name)

#endif
