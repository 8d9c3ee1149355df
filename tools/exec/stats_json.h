/* stats_json.h: the counters of `rdna3 exec --stats` for machines.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_EXEC_STATS_JSON_H
#define RD_EXEC_STATS_JSON_H

#include <stdbool.h>

struct gshared;

/* Write what the processes did to a file.
 *
 * timing  the timing model ran: also how long kernels took by it
 * Returns the exit status.
 */
int stats_json(const char *path, const struct gshared *shared, bool timing);

#endif
