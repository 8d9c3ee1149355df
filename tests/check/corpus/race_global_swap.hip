// Neighbours swap in memory, in pairs across blocks.
// RUN: --grid 2 --block 32 --arg buf:260:iota=i32
#include "hip.h"
__global__ void shift(int *a)
{
    int i = blockIdx_x * 32 + threadIdx_x;
    int v = a[i + 1]; // BUG: race CUT
    // FIX: int v = 1;
    a[i] = v; // BUG: race
}
