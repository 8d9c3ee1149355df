/* kernels.h: how long each kernel took by the timing model.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TOOL_EXEC_KERNELS_H
#define RD_TOOL_EXEC_KERNELS_H

#include <stdio.h>

#include "counters.h"
#include "json.h"

/* A table, the longest first: share of all in percent, calls, microseconds in all and
 * on the average, readable name. Nothing if no kernel has run. */
void kernels_print(FILE *out, const struct gpu_kernels *k);

/* The same as the member "kernels", an array of objects. */
void kernels_json(struct json *j, const struct gpu_kernels *k);

#endif
