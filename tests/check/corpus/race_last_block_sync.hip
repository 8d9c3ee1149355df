// Each block's sums are written by two waves, and counted by one that has not waited for the other.
// RUN: --grid 4 --block 64 --arg buf:1024:zero --arg buf:4:zero --arg buf:256:zero
#include "hip.h"

__global__ void columns(int *part, int *done, int *out)
{
    __shared__ int last;
    int t = threadIdx_x;
    part[blockIdx_x * 64 + t] = t + blockIdx_x; // BUG: race
    __threadfence();
    // FIX: __syncthreads();
    if (t == 0)
        last = atomicAdd(done, 1) == 3;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    out[t] = part[t] + part[64 + t] + part[128 + t] + part[192 + t]; // BUG: race
}
