// A barrier in a loop that work-items run unequally often.
// RUN: --block 128 --arg buf:512:zero --arg i32:200
#include "hip.h"

__global__ void chunks(int *out, int n)
{
    __shared__ int s;
    for (int i = threadIdx_x; i < n; i += 128) { // CUT
    // FIX: for (int k = 0; k < n; k += 128) { int i = k + threadIdx_x;
        if (threadIdx_x == 0)
            s = i;
        __syncthreads(); // BUG: sync
        if (i < n)
            out[threadIdx_x] += s;
        __syncthreads(); // BUG: sync
    }
}
