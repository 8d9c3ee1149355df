// A wave acquires what another workgroup has left, for its own alone, and tells the next wave in LDS.
// RUN: --grid 2 --block 128 --arg buf:8:zero --arg buf:4:zero
#include "hip.h"

__global__ void relay(int *box, int *out)
{
    __shared__ int there;
    if (threadIdx_x == 0)
        there = 0;
    __syncthreads();
    if (blockIdx_x == 0) {
        if (threadIdx_x == 0) {
            box[0] = 42; // BUG: race
            storeRelease(&box[1], 1);
        }
    } else if (threadIdx_x == 0) {
        while (!__hip_atomic_load(&box[1], __ATOMIC_ACQUIRE, GROUP)) // CUT
        // FIX: while (!loadAcquire(&box[1]))
            ;
        __hip_atomic_fetch_add(&there, 1, __ATOMIC_RELEASE, GROUP);
    } else if (threadIdx_x == 64) {
        while (!__hip_atomic_exchange(&there, 0, __ATOMIC_ACQUIRE, GROUP))
            ;
        *out = box[0]; // BUG: race
    }
}
