// What a wave of the workgroup has released for it alone is handed on for the workgroup alone.
// RUN: --grid 2 --block 128 --arg buf:8:zero --arg buf:8:zero --arg buf:4
#include "hip.h"
#define fence_group() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")
__global__ void hand_on(int *flag, int *data, int *out)
{
    int wave = blockIdx_x * 2 + threadIdx_x / 64;
    if (threadIdx_x % 64)
        return;
    if (wave == 0) {
        data[0] = 7; // BUG: race
        fence_group();
        atomicExch(&flag[0], 1);
    } else if (wave == 1) {
        while (atomicAdd(&flag[0], 0) == 0)
            ;
        data[1] = 8; // BUG: race
        fence_group(); // FIX: __threadfence();
        atomicExch(&flag[1], 1);
    } else if (wave == 2) {
        while (atomicAdd(&flag[1], 0) == 0)
            ;
        __threadfence();
        out[0] = data[0] + data[1]; // BUG: race
    }
}
