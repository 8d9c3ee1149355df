// Two blocks write, only one of them says so with a fence.
// RUN: --grid 3 --block 1 --arg buf:8:zero --arg buf:4:zero --arg buf:4
#include "hip.h"
__global__ void gather(int *box, int *n, int *out)
{
    int g = blockIdx_x;
    if (g < 2) {
        box[g] = 42; // BUG: race
        if (g == 1) // CUT
            __threadfence();
        atomicAdd(n, 1);
    } else {
        while (atomicAdd(n, 0) < 2)
            ;
        __threadfence();
        *out = box[0] + box[1]; // BUG: race
    }
}
