// The last steps of a sum in volatile LDS, of lanes that are taken to run in step.
// RUN: --block 128 --arg buf:512:iota=i32 --arg buf:4:zero
#include "hip.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ volatile int s[128];
    int t = threadIdx_x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 64; d >= 1; d /= 2) {
        if (t < d)
            s[t] = s[t] + s[t + d]; // BUG: race
        if (d > 32) // CUT
            __syncthreads();
    }
    if (t == 0)
        *out = s[0];
}
