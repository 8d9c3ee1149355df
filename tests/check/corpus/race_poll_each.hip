// Some lanes wait for the data of other blocks, all read it: the barrier hands it on.
// RUN: --grid 5 --block 128 --arg buf:64:zero --arg buf:64:zero --arg buf:512:zero
#include "hip.h"

__global__ void gather(int *data, int *flag, int *out)
{
    int i = threadIdx_x;
    if (blockIdx_x < 4) {
        if (i == 0) {
            data[blockIdx_x] = 10 + blockIdx_x;
            storeRelease(&flag[blockIdx_x], 1);
        }
        return;
    }
    if (i % 64 < 2)
        while (!loadAcquire(&flag[i / 64 * 2 + i % 64]))
            __builtin_amdgcn_s_sleep(1);
    // FIX: __syncthreads();
    int s = 0;
    for (int k = 0; k < 4; k++)
        s += data[k]; // BUG: race
    out[i] = s;
}
