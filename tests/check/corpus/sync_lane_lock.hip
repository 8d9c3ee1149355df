// Each lane wants the same lock; who has it waits for the others of its wave.
// RUN: --block 32 --watchdog 200000 --arg buf:8:zero
#include "hip.h"

__global__ void add(int *a)
{
    // FIX: for (int lane = 0; lane < 32; lane++) if (threadIdx_x == lane)
    {
        while (!try_lock(&a[0])) // BUG: sync
            ;
        a[1] += 1;
        storeRelease(&a[0], 0);
    }
}
