// A flag in LDS between lanes of one wave; raised too early.
// RUN: --grid 1 --block 32 --arg buf:4:zero
#include "hip.h"
__global__ void k(int *out)
{
    __shared__ int full, data;
    int t = threadIdx_x;
    if (t == 0)
        full = 0;
    __syncthreads();
    if (t == 0) {
        __hip_atomic_store(&full, 1, __ATOMIC_RELEASE, GROUP); // CUT
        data = 5; // BUG: race
        // FIX: __hip_atomic_store(&full, 1, __ATOMIC_RELEASE, GROUP);
    }
    if (t == 16) {
        while (!__hip_atomic_load(&full, __ATOMIC_ACQUIRE, GROUP))
            ;
        out[0] = data; // BUG: race
    }
}
