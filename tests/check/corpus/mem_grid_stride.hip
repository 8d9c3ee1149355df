// A loop over the grid's stride goes one element too far.
// RUN: --grid 2 --block 32 --arg buf:1200:zero --arg i32:300
#include "hip.h"

__global__ void scale(float *a, int n)
{
    for (int i = blockIdx_x * 32 + threadIdx_x; i <= n; i += 64) // CUT
    // FIX: for (int i = blockIdx_x * 32 + threadIdx_x; i < n; i += 64)
        a[i] *= 2.0f; // BUG: mem/out-of-bounds
}
