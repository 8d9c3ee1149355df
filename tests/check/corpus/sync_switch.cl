// Each half of the workgroup has a barrier of its own.
// RUN: --block 128 --arg buf:512
#include "gpu.h"

kernel void halves(global int *out)
{
    int i = local_id();
    if (i < 64) { // CUT
        out[i] = 1; // CUT
        barrier_local(); // BUG: sync/different-barriers CUT
    } else { // CUT
        out[i] = 2; // CUT
        barrier_local(); // BUG: sync/different-barriers CUT
    } // CUT
    // FIX: out[i] = i < 64 ? 1 : 2;
    // FIX: barrier_local();
}
