// Work-items behind the end leave before the barrier.
// RUN: --grid 2 --block 64 --arg buf:400:zero --arg i32:100
#include "hip.h"

__global__ void reverse(int *a, int n)
{
    __shared__ int s[64];
    int i = blockIdx_x * 64 + threadIdx_x;
    if (i >= n) // CUT
        return; // CUT
    s[threadIdx_x] = i < n ? a[i] : 0;
    __syncthreads(); // BUG: sync
    if (i < n)
        a[i] = s[threadIdx_x ^ 1];
}
