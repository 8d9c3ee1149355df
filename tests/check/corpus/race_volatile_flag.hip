// A flag is polled by volatile loads and set by a volatile store behind a fence; what it says
// is read by a volatile load, too, but before the flag is up.
// RUN: --grid 2 --block 64 --arg buf:64:zero --arg buf:1024:zero
#include "hip.h"

extern "C" __global__ void kernel(int *flag, int *data)
{
    volatile int *f = flag, *value = data;
    int i = threadIdx_x, early;
    if (blockIdx_x == 0) {
        value[i] = i; // BUG: race
        __threadfence();
        __syncthreads();
        if (i == 0)
            *f = 1;
        return;
    }
    early = value[i]; // BUG: race CUT
    __syncthreads();
    if (i == 0)
        while (*f == 0)
            __builtin_amdgcn_s_sleep(1);
    __threadfence();
    __syncthreads();
// FIX:     early = value[i];
    data[64 + i] = early + value[i];
}
