// Work-items count before the counter is zero. The first wave counts, too: that those who
// come later read its count does not order them behind the zero.
// RUN: --block 128 --arg buf:512:iota=u32 --arg buf:512:zero --arg buf:4
#include "hip.h"

__global__ void kernel(int *in, int *out, int *n)
{
    __shared__ int count;
    int t = threadIdx_x, at = -1;
    if (t == 0)
        count = 0; // BUG: race/write-atomic
    // FIX: __syncthreads();
    if (in[t] % 3 == 0)
        at = __hip_atomic_fetch_add(&count, 1, __ATOMIC_RELAXED, GROUP);
    __syncthreads();
    if (at >= 0)
        out[at] = t;
    if (t == 0)
        *n = count;
}
