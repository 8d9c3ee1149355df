// Work-items that have converged leave a loop with a barrier.
// RUN: --block 64 --arg buf:256:iota=u32
#include "hip.h"

__global__ void relax(int *a)
{
    __shared__ int s[64];
    int i = threadIdx_x, v = a[i];
    for (int k = 0; k < 64; k++) {
        s[i] = v;
        __syncthreads(); // BUG: sync
        int left = s[i ? i - 1 : 0];
        __syncthreads(); // BUG: sync
        if (v <= k) // CUT
            break; // CUT
        v = left;
    }
    a[i] = v;
}
