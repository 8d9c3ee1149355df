// The neighbour of a tile's last row.
// RUN: --block 16,16 --arg buf:1024:zero --arg buf:1024:zero
#include "hip.h"

__global__ void gradient(const float *in, float *out)
{
    __shared__ float tile[16][16];
    int x = threadIdx_x, y = threadIdx_y;
    tile[y][x] = in[y * 16 + x];
    __syncthreads();
    float below = tile[y + 1][x]; // BUG: mem/lds-out-of-bounds CUT
    // FIX: float below = tile[y < 15 ? y + 1 : y][x];
    out[y * 16 + x] = below - tile[y][x]; // BUG: mem/lds-out-of-bounds
}
