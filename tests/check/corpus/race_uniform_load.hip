// All lanes of a wave read by one scalar load what the first of them writes then.
// RUN: --block 32 --arg buf:4:zero --arg buf:128
#include "hip.h"
__global__ void next(int *count, int *out)
{
    int t = threadIdx_x;
    int n = *count; // BUG: race
    out[t] = n;
    // FIX: __syncthreads();
    if (t == 0)
        *count = n + 1; // BUG: race
}
