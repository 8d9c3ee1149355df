// The flag's fence is one for the workgroup, who reads is in another.
// RUN: --grid 2 --block 1 --arg buf:8:zero --arg buf:4:zero --arg buf:4:zero
#include "hip.h"

__global__ void relay(int *box, int *flag, int *out)
{
    if (blockIdx_x == 0) {
        box[0] = 42; // BUG: race
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
        // FIX: __threadfence();
        atomicExch(flag, 1);
    } else {
        while (!atomicAdd(flag, 0))
            ;
        __threadfence();
        *out = box[0]; // BUG: race
    }
}
