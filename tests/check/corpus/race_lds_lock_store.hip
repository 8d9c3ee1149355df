// A lock in LDS that a store gives back, before what it guards is written.
// RUN: --grid 1 --block 256 --arg buf:4:zero
#include "hip.h"

#define unlock() __hip_atomic_store(&lock, 0, __ATOMIC_RELEASE, GROUP)

__global__ void count(int *out)
{
    __shared__ int lock, sum;
    int t = threadIdx_x;
    if (t == 0)
        lock = sum = 0;
    __syncthreads();
    if (t % 64 == 0) {
        int expected = 0;
        while (!__hip_atomic_compare_exchange_strong(&lock, &expected, 1, __ATOMIC_ACQUIRE,
                                                     __ATOMIC_RELAXED, GROUP))
            expected = 0;
        int was = sum; // BUG: race
        unlock(); // CUT
        sum = was + 1; // BUG: race
        ; // FIX: unlock();
    }
    __syncthreads();
    if (t == 0)
        out[0] = sum;
}
