// Slots in LDS are claimed by compare-and-swap and published by a store, which comes too
// early; who has not claimed one looks once.
// RUN: --grid 1 --block 128 --arg buf:512:zero
#include "hip.h"
__global__ void claim(int *out)
{
    __shared__ int state[16], data[16];
    int t = threadIdx_x, slot = t % 16, expected = 0;
    if (t < 16)
        state[t] = 0;
    __syncthreads();
    if (__hip_atomic_compare_exchange_strong(&state[slot], &expected, 1, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE, GROUP)) {
        data[slot] = t;
        __hip_atomic_store(&state[slot], 2, __ATOMIC_RELEASE, GROUP);
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); // CUT
        data[slot] = t + 1; // BUG: race CUT
    }
    if (__hip_atomic_load(&state[slot], __ATOMIC_ACQUIRE, GROUP) == 2)
        out[t] = data[slot]; // BUG: race
}
