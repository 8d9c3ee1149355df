/* sample.h: what follows for the whole grid from the part that was simulated.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_SAMPLE_H
#define TM_SAMPLE_H

#include "engine.h"

double tm_sample_span(const struct tm_engine *t); /* of what was simulated */
double tm_sample_part(const struct tm_engine *t);
void tm_sample_estimate(const struct tm_engine *t, double *span, double *error);

#endif
