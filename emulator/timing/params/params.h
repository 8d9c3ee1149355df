/* params.h: the numbers of params.def as a structure.
 * SPDX-License-Identifier: MIT
 */
#ifndef TM_PARAMS_H
#define TM_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* The largest machine that the engine's arrays hold, and what it cannot go below. */
enum {
    TM_MAX_ARRAYS = 2,
    TM_MAX_WGPS = 8, /* per array */
    TM_MAX_SLOTS = 32,
    TM_MAX_CHANNELS = 64,
    TM_MAX_BANKS = 64,
    TM_SHORT_QUEUE = 16,
    TM_MAX_WAYS = UINT16_MAX,
    TM_LEAST_PAGE = 4096, /* bytes: what one translation reaches at least */
};

/* All values are doubles, so that one table describes them. */
struct tm_params {
#define P(name, value, unit, affects, source) double name;
#include "params.def"
#undef P
};

extern const struct tm_params tm_params_gfx1100;

/* The same, fractions cut off. */
struct tm_whole {
#define P(name, value, unit, affects, source) int64_t name;
#include "params.def"
#undef P
};

struct tm_whole tm_params_whole(const struct tm_params *p);

/* Set one by name. Returns RD_E_NOT_FOUND, or RD_E_RANGE for what is no number the
 * model can work with. */
RD_CHECKED rd_status tm_params_set(struct tm_params *p, const char *name, double value);

#endif
