// Workgroups take turns by a flag without a fence. What is volatile and loaded first comes
// behind what was loaded.
// RUN: --block 32 --grid 2 --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

extern "C" __global__ void turns(volatile int *sum, int *turn)
{
    if (threadIdx_x)
        return;
    while (atomicAdd(turn, 0) != blockIdx_x)
        ;
    *sum = blockIdx_x; // BUG: race/write-write CUT
    // FIX: *sum += 1;
    __threadfence();
    atomicExch(turn, blockIdx_x + 1);
}
