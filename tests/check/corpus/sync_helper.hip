// A function with a barrier in it is called by half of the block.
// RUN: --block 128 --arg buf:512:iota=u32
#include "hip.h"

__device__ static int neighbour(int *s, int v)
{
    s[threadIdx_x] = v;
    __syncthreads(); // BUG: sync
    return s[threadIdx_x ^ 1];
}

__global__ void swap(int *a)
{
    __shared__ int s[128];
    int i = threadIdx_x, v = a[i];
    if (v < 64) // CUT
        v = neighbour(s, v);
    a[i] = v;
}
