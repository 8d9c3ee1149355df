/* cc_bench.h: the kernels that the compiler's code is judged by, in two languages.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CC_BENCH_H
#define RD_CC_BENCH_H

#include "cc_opt.h"

struct cc_bench_arg {
    enum cc_dtype dtype;
    int64_t count;
};

/* One computation: argument 0 is the result. */
struct cc_bench_kernel {
    const char *name;
    cc_ref (*make)(struct cc_graph *g); /* the SINK */
    size_t n_opts;
    struct cc_opt opts[CC_MAX_OPTS]; /* how it is cut up */
    unsigned n_args;
    struct cc_bench_arg arg[4];
    const char *opencl; /* includes "lanes.h" */
    uint32_t opencl_groups, opencl_block;
    double bound; /* on the difference of results, relative to the largest */
};

extern const struct cc_bench_kernel cc_bench_kernels[];
extern const size_t cc_bench_count;
extern const char *const cc_bench_lanes_h;

/* A small product of matrices, for searches. */
extern const struct cc_bench_kernel cc_bench_small;

/* A graph of n elementwise nodes over one argument, for compile times. */
cc_ref cc_bench_chain(struct cc_graph *g, unsigned n);

#endif
