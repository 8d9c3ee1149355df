/* vecrun.h: runs blocks of vectors.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_VECRUN_H
#define TEST_VECRUN_H

#include "arena.h"
#include "vecfile.h"

/* What to run on, and what came of it. */
struct vec_tally {
    const char *path;
    struct arena *arena;
    const struct engine *engines; /* scalars and control run on the first one only */
    const struct engine *exact;   /* for blocks of "dots exact"; NULL: leave them out */
    unsigned n_engines;
    unsigned long blocks, rows, checks, failures;
};

/* For vec_read; ctx is a struct vec_tally. Prints the first failures. */
void vec_run_block(void *ctx, const struct vec_block *b);

#endif
