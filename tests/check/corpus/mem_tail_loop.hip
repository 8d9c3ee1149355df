// RUN: --grid 1 --block 64 --arg buf:400:iota=i32 --arg buf:400 --arg i32:100
#include "hip.h"
__global__ void copy(const int *in, int *out, int n)
{
    for (int i = threadIdx_x; i < n; i += 32) // CUT
    // FIX: for (int i = threadIdx_x; i + 1 < n; i += 64)
        out[i] = in[i + 1]; // BUG: mem
}
