// The last halo element is never loaded.
// RUN: --grid 1 --block 32 --arg buf:128:iota=i32 --arg buf:128
#include "hip.h"
__global__ void blur(const int *in, int *out)
{
    __shared__ int tile[34];
    int t = threadIdx_x;
    tile[t + 1] = in[t];
    if (t == 0)
        tile[0] = 0;
    // FIX: if (t == 31) tile[33] = 0;
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2]; // BUG: init
}
