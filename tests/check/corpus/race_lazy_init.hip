// What is set up once is marked as ready before it is.
// RUN: --grid 3 --block 1 --arg buf:16:zero --arg buf:12:zero
#include "hip.h"

__global__ void use(int *state, int *out)
{
    if (blockIdx_x == 0) {
        atomicStore(&state[0], 1); // CUT
        state[1] = 17; // BUG: race
        // FIX: storeRelease(&state[0], 1);
    } else {
        while (!loadAcquire(&state[0]))
            ;
        out[blockIdx_x] = state[1]; // BUG: race
    }
}
