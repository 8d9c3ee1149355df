// RUN: --block 64 --arg buf:256:iota=i32 --arg buf:4
#include "hip.h"
__global__ void odd(const int *in, int *out)
{
    __shared__ int n;
    int t = threadIdx_x;
    if (t == 0)
        n = 0; // BUG: race
    // FIX: __syncthreads();
    if (in[t] & 1)
        __hip_atomic_fetch_add(&n, 1, __ATOMIC_RELAXED, GROUP); // BUG: race
    __syncthreads();
    if (t == 0)
        *out = n;
}
