// Who takes the lock first has no fence behind it: only had it come second, it would miss it.
// RUN: --block 32 --grid 2 --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

extern "C" __global__ void add(int *lock, int *sum)
{
    if (threadIdx_x)
        return;
    for (int i = 0; blockIdx_x && i < 1000; i++) // comes second
        __builtin_amdgcn_s_sleep(1);
    while (atomicExch(lock, 1))
        ;
    if (blockIdx_x) // CUT
        __threadfence();
    *sum += 1; // BUG: race/unfenced-lock
    __threadfence();
    atomicExch(lock, 0);
}
