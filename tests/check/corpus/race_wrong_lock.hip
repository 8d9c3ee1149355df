// Two locks guard one counter: who has one of them does not exclude who has the other.
// RUN: --grid 4 --block 1 --arg buf:8:zero --arg buf:4:zero
#include "hip.h"

__global__ void count(int *lock, int *sum)
{
    int *mine = &lock[blockIdx_x & 1]; // CUT
    // FIX: int *mine = lock;
    while (!try_lock(mine))
        ;
    *sum += 1; // BUG: race
    storeRelease(mine, 0);
}
