// A loop polls a volatile flag, and looks at what the flag says is ready each time round.
// RUN: --grid 2 --block 32 --arg buf:4:zero --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

extern "C" __global__ void kernel(volatile int *flag, volatile int *data, int *out)
{
    int seen = 0;
    if (threadIdx_x)
        return;
    if (blockIdx_x == 1) {
        *data = 5; // BUG: race
        __threadfence();
        *flag = 1;
        return;
    }
    while (*flag == 0)
        seen += *data; // BUG: race CUT
    // FIX:     ;
    __threadfence();
    *out = seen + *data;
}
