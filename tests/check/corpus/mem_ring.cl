// The remainder of a negative number is negative.
// RUN: --block 64 --arg buf:256:zero --arg buf:256:zero
#include "gpu.h"

kernel void delay(global const float *ring, global float *out)
{
    int i = local_id();
    out[i] = ring[(i - 8) % 64]; // BUG: mem/out-of-bounds CUT
    // FIX: out[i] = ring[(i - 8) & 63];
}
