/* model.h: a launch of a capture in the timing model.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_MODEL_H
#define RD_TIMING_MODEL_H

#include "run/run.h"
#include "truth.h"

/* What the command line says beside the capture. */
struct model_options {
    struct run_options run; /* run.timing: what `rdna3 run --timing` takes */
    bool have_grid, have_warm, have_first, have_mask;
};

/* Run the launch, the index-th of its process.
 *
 * out  its waves, in order of start, with all instructions that a trace would show.
 *      Owner: truth_free.
 * Prints the error; returns an exit status. */
int model_run(const struct model_options *o, const struct truth *t,
              const struct capture_launch *l, size_t index, struct truth *out);

#endif
