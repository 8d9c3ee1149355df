// A barrier of all workgroups in a function, which is left out of every second step.
// RUN: --grid 3 --block 64 --arg buf:4:zero --arg buf:768:iota=i32 --arg buf:768:zero
#include "hip.h"

__device__ static void grid(int *count, int target)
{
    __syncthreads();
    if (threadIdx_x == 0) {
        __hip_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, AGENT);
        while (loadAcquire(count) < target)
            __builtin_amdgcn_s_sleep(1);
    }
    __syncthreads();
}

__global__ void steps(int *count, int *a, int *b)
{
    int i = blockIdx_x * 64 + threadIdx_x, n = 0;
    for (int r = 0; r < 4; r++) {
        b[i] = a[i] + a[(i + 64) % 192]; // BUG: race
        grid(count, n += 3);
        a[i] = b[i] / 2; // BUG: race
        // FIX: grid(count, n += 3);
    }
}
