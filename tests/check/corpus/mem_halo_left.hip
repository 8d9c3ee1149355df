// RUN: --grid 2 --block 32 --arg buf:256:iota=i32 --arg buf:256
#include "hip.h"
__global__ void blur(const int *in, int *out)
{
    __shared__ int tile[34];
    int t = threadIdx_x, i = blockIdx_x * 32 + t;
    tile[t + 1] = in[i];
    if (t == 0)
        tile[0] = in[i - 1]; // BUG: mem CUT
        // FIX: tile[0] = i ? in[i - 1] : 0;
    if (t == 31)
        tile[33] = i < 63 ? in[i + 1] : 0;
    __syncthreads();
    out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
