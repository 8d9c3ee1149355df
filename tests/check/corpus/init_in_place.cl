// Results are added to a buffer that holds none yet.
// RUN: --block 32 --arg buf:128:iota=f32 --arg buf:128
#include "gpu.h"

kernel void accumulate(global const float *a, global float *b)
{
    int i = local_id();
    b[i] += a[i] * 2; // BUG: init/undefined-store CUT
    // FIX: b[i] = a[i] * 2;
}
