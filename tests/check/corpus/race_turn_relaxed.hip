// Workgroups take turns by a number that they wait for. It is atomic, but orders nothing else.
// RUN: --grid 4 --block 32 --arg buf:4:zero --arg buf:16:zero
#include "hip.h"

__global__ void kernel(int *turn, int *out)
{
    int b = blockIdx_x, at = 0;
    // FIX: at = b;
    if (threadIdx_x == 0) {
        while (atomicLoad(turn) != b)
            ;
        out[at] += b; // BUG: race
        atomicStore(turn, b + 1);
    }
}
