// Locks that others try in vain while they are held, by exchange, comparison and flag.
// RUN: --block 256 --arg buf:16:zero --arg buf:12:zero
#include "hip.h"

__global__ void kernel(int *lock, int *out)
{
    __shared__ int swap, set, sum[2];
    if (threadIdx_x == 0)
        swap = set = sum[0] = sum[1] = 0;
    __syncthreads();
    if (threadIdx_x % 64 == 0) {
        while (__hip_atomic_exchange(&swap, 1, __ATOMIC_ACQUIRE, GROUP))
            ;
        for (int i = 0; i < 99; i++)
            *(volatile int *)&sum[0] += i;
        __hip_atomic_store(&swap, 0, __ATOMIC_RELEASE, GROUP);
        while (__hip_atomic_fetch_or(&set, 1, __ATOMIC_ACQUIRE, GROUP))
            ;
        for (int i = 0; i < 99; i++)
            *(volatile int *)&sum[1] += i;
        __hip_atomic_store(&set, 0, __ATOMIC_RELEASE, GROUP);
        while (!try_lock(lock))
            ;
        out[2] += 1; // BUG: race
        for (int i = 0; i < 99; i++)
            __builtin_amdgcn_s_sleep(1);
        __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, AGENT);
        out[2] += 2; // BUG: race CUT
    }
    __syncthreads();
    if (threadIdx_x < 2)
        out[threadIdx_x] = sum[threadIdx_x];
}
