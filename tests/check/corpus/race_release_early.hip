// What tells another block comes in front of the barrier that the other waves' data wait at.
// RUN: --grid 2 --block 128 --arg buf:4:zero --arg buf:512:zero --arg buf:512:zero
#include "hip.h"

__global__ void relay(int *flag, int *data, int *out)
{
    int t = threadIdx_x;
    if (blockIdx_x == 0) {
        data[t] = t + 1; // BUG: race
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
        // FIX: __syncthreads();
        if (t == 0)
            storeRelease(flag, 1);
        return;
    }
    if (t == 0)
        while (!loadAcquire(flag))
            ;
    __syncthreads();
    out[t] = data[t]; // BUG: race
}
