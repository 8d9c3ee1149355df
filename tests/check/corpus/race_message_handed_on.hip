// A message goes from workgroup to workgroup. The last one reads what the first has written, when
// all others have ended; one of those has passed it on without an acquire.
// RUN: --grid 4 --block 32 --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"

__global__ void kernel(int *data, int *flag, int *out)
{
    int b = blockIdx_x;
    if (threadIdx_x)
        return;
    for (int i = 0; i < 300 * b; i++)
        __builtin_amdgcn_s_sleep(1);
    if (b == 0)
        data[0] = 5; // BUG: race
    else if (b == 2)
        while (!atomicLoad(&flag[b - 1])) // CUT
            // FIX: while (!loadAcquire(&flag[b - 1]))
            ;
    else
        while (!loadAcquire(&flag[b - 1]))
            ;
    if (b < 3)
        storeRelease(&flag[b], 1);
    else
        out[b] = data[0]; // BUG: race
}
