// Several atomic flags are stored behind one fence; the last datum is written again behind it.
// RUN: --grid 4 --block 32 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"

__global__ void kernel(int *data, int *flag, int *out)
{
    int b = blockIdx_x;
    if (threadIdx_x)
        return;
    if (b == 0) {
        data[0] = 1;
        data[1] = 2;
        data[2] = 3;
        __threadfence();
        atomicStore(&flag[0], 1);
        data[2] = 4; // BUG: race CUT
        atomicStore(&flag[1], 1);
        atomicStore(&flag[2], 1);
    } else {
        while (!atomicLoad(&flag[b - 1]))
            ;
        __threadfence();
        out[b] = data[b - 1]; // BUG: race
    }
}
