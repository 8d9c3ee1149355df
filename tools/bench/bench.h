/* bench.h: what the groups of `rdna3 bench` hand to its table.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_BENCH_H
#define RD_BENCH_H

#include <stdbool.h>

#include "status.h"

struct la;
struct emu_dispatch;

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
extern const struct bench_entry bench_driver_entries[];   /* RDNA3_HAVE_EXEC */
extern const struct bench_entry bench_compiler_entries[]; /* RDNA3_HAVE_COMPILE */

/* The 256 x 256 fp32 matrix multiplication through LDS, ready to dispatch. */
RD_CHECKED rd_status bench_prepare_matmul(struct la *la, struct emu_dispatch *dispatch);

#endif
