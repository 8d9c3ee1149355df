// The last block adds what all have left in memory, without a fence before the count.
// RUN: --grid 4 --block 32 --arg buf:16:zero --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

__global__ void total(int *partial, int *arrived, int *out)
{
    __shared__ int last;
    if (threadIdx_x == 0) {
        partial[blockIdx_x] = blockIdx_x + 1; // BUG: race
        // FIX: __threadfence();
        last = atomicAdd(arrived, 1) == 3;
        // FIX: __threadfence();
    }
    __syncthreads();
    if (last && threadIdx_x == 0)
        *out = partial[0] + partial[1] + partial[2] + partial[3]; // BUG: race
}
