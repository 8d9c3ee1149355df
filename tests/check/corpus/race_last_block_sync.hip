// Each block's sums are written by several waves, and counted by one that has not waited for the others.
// RUN: --grid 4 --block 128 --arg buf:2048:zero --arg buf:4:zero --arg buf:512:zero
#include "hip.h"

__global__ void columns(int *part, int *done, int *out)
{
    __shared__ int last;
    int t = threadIdx_x;
    part[blockIdx_x * 128 + t] = t + blockIdx_x; // BUG: race
    __threadfence();
    // FIX: __syncthreads();
    if (t == 0)
        last = atomicAdd(done, 1) == 3;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    out[t] = part[t] + part[128 + t] + part[256 + t] + part[384 + t]; // BUG: race
}
