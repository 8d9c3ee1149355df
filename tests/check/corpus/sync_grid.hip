// A barrier of the grid that waits for one block more than there is.
// RUN: --grid 3 --block 32 --watchdog 4000000 --arg buf:4:zero --arg buf:12:zero
#include "hip.h"

__global__ void phases(int *arrived, int *out)
{
    if (threadIdx_x == 0) {
        atomicAdd(arrived, 1);
        while (atomicLoad(arrived) < 4) // BUG: sync CUT
        // FIX: while (atomicLoad(arrived) < 3)
            ;
        out[blockIdx_x] = 1;
    }
}
