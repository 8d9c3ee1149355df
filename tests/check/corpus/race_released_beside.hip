// Two workgroups count at a flag, one of them with a store under way that nobody reads; the
// other one's data is read behind both, so it must have been waited for.
// RUN: --grid 3 --block 1 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void count(int *begun, int *flag, int *data, int *out)
{
    int b = blockIdx_x;
    if (b == 0) {
        atomicAdd(begun, 1);
        while (atomicLoad(flag) < 1)
            ;
        out[0] = 1;
        atomicAdd(flag, 1);
    }
    if (b == 1) {
        while (atomicLoad(begun) < 1)
            ;
        data[0] = 42; // BUG: race
        // FIX: __threadfence();
        atomicAdd(flag, 1);
    }
    if (b == 2) {
        while (loadAcquire(flag) < 2)
            ;
        out[1] = data[0]; // BUG: race
    }
}
