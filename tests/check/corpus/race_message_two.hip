// One wave says that two have written.
// RUN: --grid 2 --block 128 --arg buf:1024:zero --arg buf:4:zero --arg buf:512:zero
#include "hip.h"

__global__ void pass(int *box, int *flag, int *out)
{
    int t = threadIdx_x;
    if (blockIdx_x == 0) {
        box[t] = t; // BUG: race
        // FIX: __syncthreads();
        if (t == 0) {
            storeRelease(flag, 1);
        }
    } else {
        while (!loadAcquire(flag))
            ;
        out[t] = box[t]; // BUG: race
    }
}
