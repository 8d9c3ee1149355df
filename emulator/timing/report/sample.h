/* sample.h: what follows for the whole grid from the part that was simulated.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_SAMPLE_H
#define TM_SAMPLE_H

#include "engine.h"

double tm_sample_span(const struct tm_engine *t); /* of what was simulated */
double tm_sample_part(const struct tm_engine *t);

/* What is left of a launch that was cut. law: from which part of their number at first
 * on workgroups of a CU that leave for good take their share of its pace along; 0:
 * never, as something is busy all the time, 1: all do, as each waits for itself.
 * few: instead, those of tm_only_left_over by themselves. */
double tm_rest_cycles(const struct tm_engine *t, double law, bool few);
/* Are all workgroups there that there are? */
bool tm_rest_all_there(const struct tm_engine *t);

void tm_sample_estimate(const struct tm_engine *t, double *span, double *error);

#endif
