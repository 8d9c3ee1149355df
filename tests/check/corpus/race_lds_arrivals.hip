// Waves count themselves and wait, not for ever, until all are there; their data comes late.
// RUN: --grid 1 --block 256 --arg buf:1024:zero --arg buf:16:zero
#include "hip.h"

__global__ void meet(int *out, const int *in)
{
    __shared__ int arrived, data[4];
    int t = threadIdx_x, part = t / 64, tries = 0;
    if (t == 0)
        arrived = 0;
    __syncthreads();
    if (t % 64 == 0) {
        __hip_atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE, GROUP); // CUT
        data[part] = in[part] + part; // BUG: race
        ; // FIX: __hip_atomic_fetch_add(&arrived, 1, __ATOMIC_RELEASE, GROUP);
        while (__hip_atomic_load(&arrived, __ATOMIC_ACQUIRE, GROUP) < 4 && tries < 1000000)
            tries++;
        out[t] = data[(part + 1) & 3]; // BUG: race
    }
}
