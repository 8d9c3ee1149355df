// One barrier a step is enough with two buffers only if they are swapped.
// RUN: --block 64 --arg buf:256:iota=i32 --arg buf:256
#include "hip.h"
__global__ void heat(const int *in, int *out)
{
    __shared__ int b[2][64];
    int t = threadIdx_x, cur = 0;
    b[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int v = b[cur][t] + b[cur][(t + 33) & 63]; // BUG: race
        b[cur][t] = v; // BUG: race CUT
        // FIX: b[cur ^= 1][t] = v;
        __syncthreads();
    }
    out[t] = b[cur][t];
}
