// The last steps of a sum, of a wave that is taken to run in step.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:4:zero
#include "hip.h"

__global__ void sum(const unsigned *in, unsigned *out)
{
    __shared__ volatile unsigned s[64];
    int i = threadIdx_x;
    s[i] = in[i];
    s[i + 32] = 0;
    __syncthreads();
    for (int step = 16; step > 0; step /= 2) {
        unsigned other = s[i + step]; // BUG: race
        // FIX: __syncthreads();
        s[i] += other; // BUG: race
        // FIX: __syncthreads();
    }
    if (i == 0)
        *out = s[0];
}
