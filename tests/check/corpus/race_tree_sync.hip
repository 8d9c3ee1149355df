// No barrier between the steps of the tree.
// RUN: --block 128 --arg buf:512:iota=i32 --arg buf:4
#include "hip.h"
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx_x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 64; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d]; // BUG: race
        // FIX: __syncthreads();
    }
    if (t == 0)
        *out = s[0];
}
