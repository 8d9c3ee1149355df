// A step of diffusion in place, over the borders of blocks.
// RUN: --grid 4 --block 64 --arg buf:1028:zero --arg buf:1028:zero
#include "hip.h"

__global__ void step(float *a, float *b)
{
    int i = blockIdx_x * 64 + threadIdx_x;
    float right = a[i + 1]; // BUG: race
    a[i] = 0.5f * right; // BUG: race CUT
    // FIX: b[i] = 0.5f * right;
}
