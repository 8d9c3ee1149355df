/* level.h: what the five programs share: a board, numbers to add, the answer checked.
 *
 * Each program sums the same f32 numbers, one level of abstraction below the one before
 * it, and prints how long its kernels took by the board's clock.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_LEVEL_H
#define RD_CC_LEVEL_H

#include "cc_gpu.h"

struct level {
    struct cc_gpu *gpu;
    struct cc_context *c;
    struct cc_graph *g;     /* of c */
    struct cc_tensor *data; /* n f32 numbers */
    int64_t n;
    char error[512]; /* what went wrong, if it is not in c */
};

/* Make a tensor of one f32, the sum of l->data; or RD_E_NOT_FOUND with an error if
 * something that is needed is not installed. */
typedef rd_status level_fn(struct level *l, struct cc_tensor **sum);

/* The program: open the board, make data, run, compare with a sum in f64, print.
 * Options: [-n COUNT], a multiple of 262144.
 * Returns its exit status: 0, 1 if anything is wrong, 2 for wrong usage, 77 if
 * something is not installed. */
int level_main(int argc, char **argv, const char *title, level_fn *run);

rd_status level_fail(struct level *l, rd_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
