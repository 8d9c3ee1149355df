// One work-item looks at a counter in LDS before all count, without waiting for the others.
// RUN: --grid 1 --block 128 --arg buf:512:zero
#include "hip.h"
__global__ void look(int *out)
{
    __shared__ int count;
    int t = threadIdx_x, seen = 0;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (t == 0) {
        seen = count; // BUG: race
        __asm__ volatile("" : "+v"(seen));
    }
    // FIX: __syncthreads();
    out[t] = seen + __hip_atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL, GROUP); // BUG: race
}
