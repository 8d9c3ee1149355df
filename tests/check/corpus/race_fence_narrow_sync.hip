// A fence of the block and a barrier of it stand before what tells another block.
// RUN: --grid 2 --block 32 --arg buf:4:zero --arg buf:128:zero --arg buf:128:zero
#include "hip.h"

__global__ void relay(int *flag, int *data, int *out)
{
    int t = threadIdx_x;
    if (blockIdx_x == 0) {
        data[t] = t + 1; // BUG: race
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
        // FIX: __threadfence();
        __syncthreads();
        if (t == 0)
            atomicExch(flag, 1);
        return;
    }
    if (t == 0)
        while (!atomicAdd(flag, 0))
            ;
    __syncthreads();
    __threadfence();
    out[t] = data[t]; // BUG: race
}
