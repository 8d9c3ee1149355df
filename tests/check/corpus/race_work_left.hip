// Workgroups take pieces of work by a counter; two pieces have the same place for their result.
// RUN: --grid 3 --block 32 --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void work(int *next, int *result)
{
    int k;
    if (threadIdx_x)
        return;
    while ((k = atomicAdd(next, 1)) < 16) {
        result[k % 4] += k + 1; // BUG: race CUT
        // FIX: result[k] += k + 1;
    }
}
