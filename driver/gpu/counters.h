/* counters.h: what the GPU counts.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_GPU_COUNTERS_H
#define RD_GPU_COUNTERS_H

#include <stdint.h>

/* What has been done. The caller's memory, perhaps shared between processes. */
struct gpu_counters {
    _Atomic uint64_t dispatches, workgroups, waves, instructions;
    _Atomic uint64_t skipped; /* dispatches completed without running */
    _Atomic uint64_t faults;
    _Atomic uint64_t copies, copy_bytes; /* by the SDMA engines */
    _Atomic uint64_t model_ticks;        /* of dispatches under a clock, 10 ns each */
    _Atomic uint64_t unrecorded;         /* dispatches that a timeline lacks */
};

#endif
