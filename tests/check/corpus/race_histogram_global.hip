// Bins in memory, counted without atomics.
// RUN: --grid 4 --block 64 --arg buf:1024:iota=u32 --arg buf:64:zero
#include "hip.h"

__global__ void count(const unsigned *in, unsigned *bins)
{
    unsigned v = in[blockIdx_x * 64 + threadIdx_x];
    bins[v % 16]++; // BUG: race CUT
    // FIX: atomicAdd(&bins[v % 16], 1u);
}
