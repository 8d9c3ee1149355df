// All lanes add to what one is to add to, which that one reads by a scalar load.
// RUN: --block 32 --arg buf:128:iota=i32 --arg buf:4:zero
#include "hip.h"
__global__ void sum(const int *in, int *total)
{
    int t = threadIdx_x;
    // FIX: if (t == 31)
    *total += in[t]; // BUG: race
}
