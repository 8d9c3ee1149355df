// A stencil takes its left neighbour from before the first element.
// RUN: --grid 2 --block 64 --arg buf:512:zero --arg buf:512:zero
#include "hip.h"

__global__ void blur(const float *in, float *out)
{
    int i = blockIdx_x * 64 + threadIdx_x;
    float left = in[i - 1]; // BUG: mem/out-of-bounds CUT
    // FIX: float left = in[i > 0 ? i - 1 : 0];
    out[i] = (left + in[i]) * 0.5f;
}
