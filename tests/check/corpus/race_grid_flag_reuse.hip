// A grid barrier of one counter whose waves do not meet before it.
// RUN: --grid 2 --block 128 --arg buf:1024:zero --arg buf:4:zero --arg buf:1024
#include "hip.h"
__global__ void two(int *a, int *count, int *out)
{
    int t = threadIdx_x, g = blockIdx_x;
    a[g * 128 + t] = t; // BUG: race
    // FIX: __syncthreads();
    if (t == 0) {
        __hip_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, AGENT);
        while (loadAcquire(count) < 2)
            ;
    }
    __syncthreads();
    out[g * 128 + t] = a[(1 - g) * 128 + t]; // BUG: race
}
