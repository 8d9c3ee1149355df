// A workgroup is told of data by another one, which was itself told of it after its store
// began: its atomics, with that under way, hand on nothing of what it has acquired since.
// RUN: --grid 3 --block 1 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void tell(int *begun, int *first, int *second, int *data, int *out)
{
    int b = blockIdx_x;
    if (b == 0) {
        data[0] = 42; // BUG: race
        while (atomicLoad(begun) < 1)
            ;
        __threadfence();
        atomicAdd(first, 1);
    }
    if (b == 1) {
        atomicAdd(begun, 1);
        out[0] = 1;
        while (loadAcquire(first) < 1)
            ;
        // FIX: __threadfence();
        atomicAdd(second + 4, 1);
        atomicAdd(second, 1);
    }
    if (b == 2) {
        while (loadAcquire(second) < 1)
            ;
        out[1] = data[0]; // BUG: race
    }
}
