// Waves sum by shuffles; the first adds what the others have left in LDS too soon.
// CHECK: race sync
// RUN: --block 128 --arg buf:512:iota=u32 --arg buf:4:zero
#include "hip.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ int part[4];
    int i = threadIdx_x, v = in[i];
    for (int step = 16; step; step /= 2)
        v += __builtin_amdgcn_ds_bpermute(4 * ((i & 31) ^ step), v);
    if (i % 32 == 0)
        part[i / 32] = v; // BUG: race
    // FIX: __syncthreads();
    if (i == 0)
        *out = part[0] + part[1] + part[2] + part[3]; // BUG: race
}
