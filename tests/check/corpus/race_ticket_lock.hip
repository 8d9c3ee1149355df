// A ticket lock that is given back without waiting for what was done under it.
// RUN: --grid 3 --block 1 --arg buf:12:zero
#include "hip.h"

__global__ void count(int *lock)
{
    int mine = atomicAdd(&lock[0], 1);
    while (loadAcquire(&lock[1]) != mine)
        ;
    lock[2] += 1; // BUG: race
    __hip_atomic_fetch_add(&lock[1], 1, __ATOMIC_RELAXED, AGENT); // CUT
    // FIX: __hip_atomic_fetch_add(&lock[1], 1, __ATOMIC_RELEASE, AGENT);
}
