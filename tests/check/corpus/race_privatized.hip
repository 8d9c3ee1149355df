// Histograms of waves in LDS are added before all waves have counted.
// RUN: --grid 2 --block 64 --arg buf:512:rand=u32,5 --arg buf:64:zero
#include "hip.h"

__global__ void histogram(const unsigned *in, int *bins)
{
    __shared__ int own[2][16];
    int i = threadIdx_x;
    if (i < 32)
        own[i / 16][i % 16] = 0;
    __syncthreads();
    __hip_atomic_fetch_add(&own[i / 32][in[64 * blockIdx_x + i] % 16], 1, __ATOMIC_RELAXED, GROUP); // BUG: race
    // FIX: __syncthreads();
    if (i < 16)
        atomicAdd(&bins[i], own[0][i] + own[1][i]); // BUG: race
}
