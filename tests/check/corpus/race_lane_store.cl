// All work-items of a wave store something else to the same place.
// RUN: --block 32 --arg buf:128
#include "gpu.h"

kernel void last(global int *out)
{
    int i = local_id();
    out[0] = i; // BUG: race/write-write CUT
    // FIX: out[0] = 1;
}
