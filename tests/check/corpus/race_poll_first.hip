// Who waits has looked at the flag before it is stored, which is no race; the data is one.
// RUN: --grid 2 --block 64 --arg buf:256:zero --arg buf:64:zero --arg buf:256:zero
#include "hip.h"

__global__ void relay(int *data, int *flag, int *out)
{
    int i = threadIdx_x;
    if (blockIdx_x == 1) {
        data[i] = i;
        __syncthreads();
        if (i == 0) {
            __threadfence();
            atomicStore(flag, 1);
        }
    } else {
        if (i == 0) {
            while (!atomicLoad(flag))
                __builtin_amdgcn_s_sleep(1);
            // FIX: __threadfence();
        }
        __syncthreads();
        out[i] = data[i]; // BUG: race
    }
}
