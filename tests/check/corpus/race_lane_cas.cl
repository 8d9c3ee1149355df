// One work-item stores where the others compare and swap.
// RUN: --block 32 --arg buf:4:fill=1
#include "gpu.h"

kernel void claim(global int *slot)
{
    int expected = 0;
    if (local_id() == 0) // CUT
        *slot = 0; // BUG: race CUT
    // FIX: if (local_id() == 0) atomic_exchange_explicit((global volatile atomic_int *)slot, 0, RELAXED, DEVICE);
    else // BUG: race
        __opencl_atomic_compare_exchange_strong((global volatile atomic_int *)slot, &expected, // BUG: race
            local_id(), RELAXED, RELAXED, DEVICE); // BUG: race
}
