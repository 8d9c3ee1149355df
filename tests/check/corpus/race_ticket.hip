// The place of a result is read again after the count that reserves it.
// RUN: --grid 2 --block 64 --arg buf:4:zero --arg buf:1024:zero
#include "hip.h"

__global__ void append(int *n, int *list)
{
    if (threadIdx_x % 2)
        return;
    atomicAdd(n, 1); // BUG: race CUT
    int at = *n - 1; // BUG: race CUT
    // FIX: int at = atomicAdd(n, 1);
    list[at & 127] = threadIdx_x; // BUG: race
}
