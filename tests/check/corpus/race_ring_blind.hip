// A ring in LDS without atomics that bring values back: who takes does not look what is made.
// RUN: --block 128 --arg buf:1K:iota=u32 --arg buf:1K
#include "hip.h"

#define load(p, order)     __hip_atomic_load(p, order, GROUP)
#define store(p, v, order) __hip_atomic_store(p, v, order, GROUP)

extern "C" __global__ void ring(const int *in, int *out)
{
    __shared__ int slot[4], made, taken;
    if (threadIdx_x < 4)
        slot[threadIdx_x] = 0;
    if (threadIdx_x == 0)
        made = taken = 0;
    __syncthreads();
    if (threadIdx_x == 0)
        for (int i = 0; i < 256; i++) {
            while (i - load(&taken, __ATOMIC_ACQUIRE) >= 4)
                __builtin_amdgcn_s_sleep(1);
            slot[i & 3] = in[i]; // BUG: race
            store(&made, i + 1, __ATOMIC_RELEASE);
        }
    if (threadIdx_x == 64)
        for (int i = 0; i < 256; i++) {
            // FIX: while (load(&made, __ATOMIC_ACQUIRE) <= i)
            __builtin_amdgcn_s_sleep(1);
            out[i] = slot[i & 3] * 2; // BUG: race
            store(&taken, i + 1, __ATOMIC_RELEASE);
        }
}
