// Each wave waits for the one before and adds to its sum; it raises its flag too early.
// RUN: --grid 2 --block 256 --arg buf:2048:zero --arg buf:1024:zero
#include "hip.h"

__global__ void scan(int *out, const int *in)
{
    __shared__ int sum[4], flag[4];
    int t = threadIdx_x, part = t / 64, before = 0;
    if (t < 4)
        flag[t] = 0;
    __syncthreads();
    if (t % 64 == 0) {
        if (part) {
            while (!__hip_atomic_load(&flag[part - 1], __ATOMIC_ACQUIRE, GROUP))
                __builtin_amdgcn_s_sleep(1);
            before = sum[part - 1]; // BUG: race
        }
        __hip_atomic_store(&flag[part], 1, __ATOMIC_RELEASE, GROUP); // CUT
        sum[part] = before + in[t]; // BUG: race
        ; // FIX: __hip_atomic_store(&flag[part], 1, __ATOMIC_RELEASE, GROUP);
    }
    __syncthreads();
    out[blockIdx_x * 256 + t] = sum[part];
}
