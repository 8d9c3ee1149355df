// RUN: --grid 2 --block 64 --arg buf:400:iota=i32 --arg buf:400 --arg i32:100
#include "hip.h"
__global__ void rev(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx_x, i = blockIdx_x * 64 + t;
    if (i >= n) // CUT
        return; // CUT
    // FIX: if (i < n)
    s[t] = in[i];
    __syncthreads(); // BUG: sync
    if (i < n)
        out[i] = s[t];
}
