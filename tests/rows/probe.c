/* probe.c: the functions of gather.h and row.h of one SIMD level, for test_rows.c.
 * SPDX-License-Identifier: MIT
 */
#include "probe.h"

#include "gather.h"
#include "row.h"

const struct probe PROBE = {.gather = gather_rows,
                            .scatter = scatter_rows,
                            .gather_small = gather_small,
                            .scatter_small = scatter_small,
                            .apart = lanes_apart,
                            .store_apart = store_apart,
                            .lookup = row_lookup,
                            .permute_mask = row_permute_mask};
