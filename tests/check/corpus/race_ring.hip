// A ring of two places between a wave that fills and one that drains: the place is filled again too soon.
// RUN: --block 64 --arg buf:256:zero
#include "hip.h"

__global__ void ring(int *out)
{
    __shared__ int box[2][32], done[2];
    int i = threadIdx_x % 32;
    if (threadIdx_x == 0)
        done[0] = done[1] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (threadIdx_x < 32)
            box[k % 2][i] = k + i; // BUG: race
        if (k == 0) // CUT
            __syncthreads(); // CUT
        // FIX: __syncthreads();
        if (threadIdx_x >= 32)
            out[i] += box[k % 2][i]; // BUG: race
    }
}
