// Who takes the lock has no fence behind it: reads may be older than the lock.
// RUN: --grid 3 --block 1 --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

__global__ void add(int *lock, int *sum)
{
    int expected = 0;
    while (!__hip_atomic_compare_exchange_strong(lock, &expected, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT))
        expected = 0;
    // FIX: __threadfence();
    *sum += blockIdx_x; // BUG: race
    storeRelease(lock, 0);
}
