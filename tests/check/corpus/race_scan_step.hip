// A scan in place: everybody reads and writes between the same two barriers.
// RUN: --block 128 --arg buf:512:iota=u32
#include "hip.h"

__global__ void scan(int *a)
{
    __shared__ int s[128];
    int i = threadIdx_x;
    s[i] = a[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int v = i >= d ? s[i - d] : 0; // BUG: race
        // FIX: __syncthreads();
        s[i] += v; // BUG: race
        __syncthreads();
    }
    a[i] = s[i];
}
