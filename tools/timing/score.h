/* score.h: how far the model's times are from the board's.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_SCORE_H
#define RD_TIMING_SCORE_H

#include "truth.h"

/* Percent; negative: the trace does not say. */
struct score {
    double g; /* gaps between instructions that are exact, of those that no memory,
                 LDS or fetch decides */
    double t; /* mean error of an instruction's time after its wave's start, of the
                 duration of the wave */
    double w; /* mean error of the duration of a wave */
    double k; /* error of the span of the longest engine */
    int64_t span, model_span; /* cycles */
    size_t waves, model_waves, gaps;
};

/* Pair the waves and compare; both get sorted. false: out of memory. */
bool score_compare(struct truth *board, struct truth *model, struct score *out);

#endif
