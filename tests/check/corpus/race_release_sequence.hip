// An atomic that adds to a flag hands on what was released there; who reads must acquire.
// RUN: --grid 3 --block 32 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"

__global__ void relay(int *data, int *flag, int *out)
{
    if (threadIdx_x)
        return;
    if (blockIdx_x == 0) {
        *data = 42;
        storeRelease(flag, 1);
    } else if (blockIdx_x == 1) {
        while (!atomicLoad(flag))
            __builtin_amdgcn_s_sleep(1);
        atomicAdd(flag, 1);
    } else {
        while (atomicLoad(flag) != 2) // FIX:         while (loadAcquire(flag) != 2)
            __builtin_amdgcn_s_sleep(1);
        *out = *data; // BUG: race
    }
}
