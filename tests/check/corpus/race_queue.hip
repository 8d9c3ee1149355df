// A queue in LDS whose count is seen before the item behind it is there.
// RUN: --block 64 --arg buf:128:zero
#include "hip.h"

__global__ void queue(int *out)
{
    __shared__ int items[32], n;
    int i = threadIdx_x;
    if (i == 0)
        n = 0;
    __syncthreads();
    if (i < 32)
        items[__hip_atomic_fetch_add(&n, 1, __ATOMIC_RELAXED, GROUP)] = i; // BUG: race
    // FIX: __syncthreads();
    if (i >= 32) {
        int have = __hip_atomic_load(&n, __ATOMIC_RELAXED, GROUP);
        out[i - 32] = i - 32 < have ? items[i - 32] : -1; // BUG: race
    }
}
