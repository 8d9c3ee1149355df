// The number of rounds depends on the work-item, and there is a barrier in each.
// RUN: --block 64 --arg buf:256
#include "gpu.h"

kernel void rounds(global int *out)
{
    int n = 1 + (local_id() & 3); // CUT
    // FIX: int n = 4;
    for (int i = 0; i < n; i++)
        barrier_local(); // BUG: sync
    out[local_id()] = n;
}
