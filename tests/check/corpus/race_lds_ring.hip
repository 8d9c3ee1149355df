// A wave says that it has taken what another one has put into LDS before it takes it.
// RUN: --grid 1 --block 128 --arg buf:32:zero --arg buf:32:zero
#include "hip.h"

#define loadFlag(p)     __hip_atomic_load(p, __ATOMIC_ACQUIRE, GROUP)
#define storeFlag(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, GROUP)

__global__ void relay(int *out, const int *in)
{
    __shared__ int place, full, taken;
    int t = threadIdx_x;
    if (t == 0)
        full = taken = 0;
    __syncthreads();
    for (int i = 1; i <= 8; i++)
        if (t == 64) {
            place = in[i - 1]; // BUG: race
            storeFlag(&full, i);
            while (loadFlag(&taken) < i)
                ;
        } else if (t == 0) {
            while (loadFlag(&full) < i)
                ;
            storeFlag(&taken, i); // CUT
            out[i - 1] = place; // BUG: race
            ; // FIX: storeFlag(&taken, i);
        }
}
