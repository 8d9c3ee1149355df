// RUN: --grid 2 --block 1 --arg buf:8:zero --arg buf:4:zero
#include "hip.h"
__global__ void relay(int *box, int *out)
{
    if (blockIdx_x == 0) {
        box[0] = 42; // BUG: race
        atomicExch(&box[1], 1); // CUT
        // FIX: storeRelease(&box[1], 1);
    } else {
        while (!loadAcquire(&box[1]))
            ;
        *out = box[0]; // BUG: race
    }
}
