/* bench.h: what the groups of `rdna3 bench` hand to its table.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BENCH_H
#define RD_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

struct la;
struct emu_dispatch;
struct bench_kernel;

/* One measurement. name is "group/what". */
struct bench_entry {
    const char *name;
    const char *unit;
    bool higher_is_better;
    const char *what; /* one line for the table */

    /* Measure. RD_E_UNSUPPORTED: not on this host. */
    rd_status (*measure)(double *value);

    /* What the value is compared with; NULL: nothing. */
    const char *peer;
    rd_status (*measure_peer)(double *value);

    /* How often both are measured, in turn; reported is the pair with the median ratio,
     * without a peer the best. 0: once. */
    unsigned rounds;
};

#define BENCH_ROUNDS 9u /* at most */

/* Rows in the order in which they are measured: what looks at fresh processes comes
 * before what fills memory. Ends with a NULL name. */
extern const struct bench_entry bench_asm_entries[];
extern const struct bench_entry bench_emu_entries[];
extern const struct bench_entry bench_timing_entries[];
extern const struct bench_entry bench_check_entries[];
extern const struct bench_entry bench_check_memory_entries[];
extern const struct bench_entry bench_driver_entries[];   /* RDNA3_HAVE_EXEC */
extern const struct bench_entry bench_compiler_entries[]; /* RDNA3_HAVE_COMPILE */

/* A kernel with its shape and arguments: buffers first, then 32-bit numbers. */
struct bench_job {
    const struct bench_kernel *kernel;
    uint32_t groups[3];
    uint32_t block[3];
    unsigned n_buffers; /* at most 3 */
    uint64_t buffer_bytes;
    unsigned n_numbers; /* at most 2 */
    uint32_t numbers[2];
};

extern const struct bench_job bench_matmul_job, bench_stream_job;

/* Time of one dispatch of the job, of many; what observes la's emulator does so. */
RD_CHECKED rd_status bench_job_seconds(struct la *la, const struct bench_job *job,
                                       double *seconds);
/* One dispatch in a process of its own (check: of rdna3 run, or NULL): its time, and
 * its largest resident memory. */
RD_CHECKED rd_status bench_job_process(const struct bench_job *job, const char *check,
                                       double *seconds, double *peak_mib);

/* The 256 x 256 fp32 matrix multiplication through LDS, ready to dispatch. */
RD_CHECKED rd_status bench_prepare_matmul(struct la *la, struct emu_dispatch *dispatch);

#endif
