// A barrier of all workgroups: who arrives has written and dropped its caches before.
// RUN: --block 64 --grid 2 --arg buf:512 --arg buf:4:zero --arg buf:512
#include "hip.h"

__global__ void kernel(int *data, int *count, int *out)
{
    int t = threadIdx_x, i = blockIdx_x * 64 + t;
    data[i] = i;
    // FIX: __threadfence();
    __builtin_amdgcn_s_barrier();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicLoad(count) < 2)
            ;
    }
    __builtin_amdgcn_s_barrier();
    out[i] = data[127 - i]; // BUG: race/stale-read
}
