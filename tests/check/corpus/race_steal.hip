// Blocks take work from a list that the first block fills; the count is no atomic there.
// RUN: --grid 2 --block 32 --arg buf:8:zero --arg buf:128:zero
#include "hip.h"

__global__ void work(int *n, int *out)
{
    if (blockIdx_x == 0) {
        if (threadIdx_x == 0)
            n[0] = 32; // BUG: race CUT
        // FIX: atomicExch(&n[0], 32);
    } else if (threadIdx_x == 0) {
        int have = atomicAdd(&n[0], -1); // BUG: race
        out[0] = have;
    }
}
