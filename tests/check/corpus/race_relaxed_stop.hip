// A hint that all load and store by relaxed atomics orders nothing, and need not.
// RUN: --grid 2 --block 64 --arg buf:64:zero --arg buf:512:zero
#include "hip.h"

__global__ void work(int *stop, int *out)
{
    int i = blockIdx_x * 64 + threadIdx_x;
    out[i] = i; // BUG: race
    if (atomicLoad(stop) == 0)
        out[i] += 1;
    atomicStore(stop, 1);
    out[(i + 64) % 128] = i; // BUG: race CUT
}
