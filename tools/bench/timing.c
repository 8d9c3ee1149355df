/* timing.c: speed of the timing engine, and what its time goes to.
 *
 * Must not know how anything is modelled. Invariant: every measured run is checked to
 * have taken the same simulated cycles.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <time.h>

#include "launch.h"
#include "timing.h"

#define RUN_SECONDS 0.5
#define RUNS        3

/* CPU time of all threads: a rate per core, whatever else the host does. */
static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One dispatch of the matmul in the timing engine. Returns RD_E_INVALID if it takes
 * other cycles than the last one. */
static rd_status time_once(struct la *la, const struct emu_dispatch *dispatch,
                           uint64_t *cycles, struct emu_stats *stats)
{
    struct tm_config config = {.sclk_mhz = 2500};
    struct emu_fault fault;
    struct tm_engine *t;
    rd_status st = tm_create(&config, &t);
    if (st != RD_OK)
        return st;
    st = tm_run(t, la_emu(la), dispatch, &fault, stats);
    uint64_t span = tm_span_cycles(t);
    if (st == RD_OK && *cycles && span != *cycles)
        st = RD_E_INVALID;
    *cycles = span;
    tm_destroy(t);
    return st;
}

static rd_status rate(struct la *la, const struct emu_dispatch *dispatch, bool timed,
                      double *best)
{
    uint64_t cycles = 0;
    *best = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        struct emu_stats stats = {0};
        struct emu_fault fault;
        double start = cpu_seconds(), seconds = 0;
        while (seconds < RUN_SECONDS) {
            rd_status st = timed ? time_once(la, dispatch, &cycles, &stats)
                                 : emu_run(la_emu(la), dispatch, &fault, &stats);
            if (st != RD_OK)
                return st;
            seconds = cpu_seconds() - start;
        }
        double one = (double)stats.instructions / seconds;
        *best = one > *best ? one : *best;
    }
    return RD_OK;
}

static rd_status measure(bool timed, double *value)
{
    struct emu_config config = {.threads = 1};
    struct emu_dispatch dispatch;
    struct la_error err;
    struct la *la;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    st = bench_prepare_matmul(la, &dispatch);
    if (st == RD_OK)
        st = rate(la, &dispatch, timed, value);
    la_destroy(la);
    return st;
}

static rd_status measure_matmul(double *value)
{
    return measure(true, value);
}

static rd_status measure_untimed(double *value)
{
    return measure(false, value);
}

const struct bench_entry bench_timing_entries[] = {
    {"timing/matmul", "wave-inst/s", true, "LDS matmul with time; peer: without",
     measure_matmul, "untimed", measure_untimed, 0},
    {.name = NULL},
};
