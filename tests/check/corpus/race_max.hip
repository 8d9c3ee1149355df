// A maximum that is compared and stored in two steps.
// RUN: --grid 2 --block 64 --arg buf:512:rand=u32,7 --arg buf:4:zero
#include "hip.h"

__global__ void maximum(const unsigned *in, unsigned *out)
{
    unsigned v = in[blockIdx_x * 64 + threadIdx_x];
    if (v > *out) // BUG: race CUT
        *out = v; // BUG: race CUT
    // FIX: atomicMax(out, v);
}
