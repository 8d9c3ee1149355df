// The total is read outside of the lock.
// RUN: --grid 4 --block 1 --arg buf:4:zero --arg buf:4:zero --arg buf:16:zero
#include "hip.h"

__global__ void count(int *lock, int *sum, int *out)
{
    while (!try_lock(lock))
        ;
    *sum += 1; // BUG: race
    // FIX: out[blockIdx_x] = *sum;
    storeRelease(lock, 0);
    out[blockIdx_x] = *sum; // BUG: race CUT
}
