// Who adds last reads the sum by no atomic: its own addition is not the only one.
// RUN: --block 32 --grid 2 --arg buf:4:zero --arg buf:4
#include "hip.h"

extern "C" __global__ void count(int *sum, int *out)
{
    if (threadIdx_x)
        return;
    atomicAdd(sum, 1);
    if (blockIdx_x == 1)
        *out = *sum; // BUG: race CUT
// FIX:         *out = atomicLoad(sum);
}
