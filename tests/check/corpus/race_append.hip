// The place is taken by an atomic, the count is read plainly.
// RUN: --grid 4 --block 32 --arg buf:512 --arg buf:4:zero --arg buf:16
#include "hip.h"
__global__ void append(int *list, int *n, int *out)
{
    int at = atomicAdd(n, 1); // BUG: race
    list[at] = threadIdx_x;
    if (threadIdx_x == 0)
        out[blockIdx_x] = *n; // BUG: race CUT
        // FIX: out[blockIdx_x] = atomicLoad(n);
}
