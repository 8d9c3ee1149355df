// A second sum begins in the room of the first before all have read that.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:512:zero
#include "hip.h"

__device__ static int total(int *room, int v)
{
    int i = threadIdx_x, sum = 0;
    room[i] = v; // BUG: race
    __syncthreads();
    for (int k = 0; k < 64; k++)
        sum += room[k]; // BUG: race
    // FIX: __syncthreads();
    return sum;
}

__global__ void moments(const int *in, int *out)
{
    __shared__ int room[64];
    int v = in[threadIdx_x];
    out[threadIdx_x] = total(room, v);
    out[64 + threadIdx_x] = total(room, v * v);
}
