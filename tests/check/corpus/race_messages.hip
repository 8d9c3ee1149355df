// Messages are written one by one, each with its flag; the last is written once more. Who reads
// them stores in between, and asks with atomics.
// RUN: --grid 3 --block 32 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void messages(int *flag, int *data, int *out)
{
    if (threadIdx_x)
        return;
    if (blockIdx_x == 0)
        for (int k = 0; k < 4; k++) {
            data[k] = k + 1; // BUG: race
            __threadfence();
            atomicExch(&flag[k], 1);
            if (k == 3) // CUT
                data[k] = 7; // BUG: race CUT
        }
    else
        for (int k = 0; k < 4; k++) {
            while (atomicAdd(&flag[k], 0) == 0)
                ;
            __threadfence();
            out[blockIdx_x * 4 + k] = data[k]; // BUG: race
        }
}
