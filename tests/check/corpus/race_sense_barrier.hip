// A barrier of the grid: who comes last says so without a fence, behind what it has counted.
// RUN: --grid 3 --block 64 --arg buf:8:zero --arg buf:4096:zero
#include "hip.h"

__global__ void kernel(int *bar, int *data)
{
    int t = threadIdx_x, b = blockIdx_x, n = 3;
    for (int r = 1; r <= 3; r++) {
        int *mine = &data[r * 192 + b * 64 + t];
        *mine = r;
        __threadfence();
        __syncthreads();
        if (t == 0) {
            if (atomicAdd(&bar[0], 1) == n * r - 1) {
                ; // FIX: __threadfence();
                atomicExch(&bar[1], r);
            } else {
                while (atomicLoad(&bar[1]) < r)
                    ;
            }
        }
        __syncthreads();
        __threadfence();
        for (int k = 1; k < n; k++)
            *mine += data[(r - 1) * 192 + (b + k) % n * 64 + t]; // BUG: race
    }
}
