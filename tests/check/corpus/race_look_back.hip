// Decoupled look-back: a sum is published before it is there.
// RUN: --grid 4 --block 32 --arg buf:512:iota=u32 --arg buf:16:zero --arg buf:16:zero
#include "hip.h"

__global__ void scan(const int *in, int *sum, int *ready)
{
    __shared__ int s[32];
    int i = threadIdx_x, b = blockIdx_x;
    s[i] = in[32 * b + i];
    __syncthreads();
    if (i == 0) {
        int total = 0;
        for (int k = 0; k < 32; k++)
            total += s[k];
        for (; b > 0 && !loadAcquire(&ready[b - 1]);)
            ;
        if (b > 0)
            total += sum[b - 1]; // BUG: race
        atomicExch(&ready[b], 1); // CUT
        sum[b] = total; // BUG: race
        // FIX: storeRelease(&ready[b], 1);
    }
}
