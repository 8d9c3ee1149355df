// Tiles of a product: the next one is loaded while others still read.
// RUN: --block 16,16 --arg buf:4096:zero --arg buf:4096:zero --arg buf:1024:zero
#include "hip.h"

__global__ void product(const float *a, const float *b, float *c)
{
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx_x, y = threadIdx_y;
    float sum = 0;
    for (int t = 0; t < 4; t++) {
        ta[y][x] = a[y * 64 + t * 16 + x]; // BUG: race
        tb[y][x] = b[(t * 16 + y) * 16 + x]; // BUG: race
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += ta[y][k] * tb[k][x]; // BUG: race
        // FIX: __syncthreads();
    }
    c[y * 16 + x] = sum;
}
