// The flag is an atomic store behind a fence for the workgroup, and another one waits for it.
// RUN: --block 32 --grid 2 --arg buf:4:zero --arg buf:4:zero --arg buf:4
#include "hip.h"

extern "C" __global__ void hand_over(int *data, int *flag, int *out)
{
    if (threadIdx_x)
        return;
    if (blockIdx_x == 0) {
        *data = 42; // BUG: race/write-read
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); // FIX: __threadfence();
        atomicStore(flag, 1);
    } else {
        while (!atomicLoad(flag))
            ;
        __threadfence();
        *out = *data; // BUG: race/write-read
    }
}
