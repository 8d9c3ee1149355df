// The wave that has no items leaves its slot alone.
// RUN: --block 96 --arg buf:256:iota=i32 --arg buf:4 --arg i32:64
#include "hip.h"
__global__ void maximum(const int *in, int *out, int n)
{
    __shared__ int m[3];
    int t = threadIdx_x;
    // FIX: if (t < 3) m[t] = 0;
    // FIX: __syncthreads();
    if (t < n && t % 32 == 0)
        m[t / 32] = in[t];
    __syncthreads();
    if (t == 0)
        *out = m[0] + m[1] + m[2]; // BUG: init
}
