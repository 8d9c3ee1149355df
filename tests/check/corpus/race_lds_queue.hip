// A queue between two waves, whose waits begin the loops that they lie in.
// RUN: --block 128 --arg buf:128:iota=i32 --arg buf:128:zero
#include "hip.h"

#define loadFlag(p)     __hip_atomic_load(p, __ATOMIC_ACQUIRE, GROUP)
#define storeFlag(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, GROUP)

__global__ void queue(const int *in, int *out)
{
    __shared__ int q[8], head, tail;
    int t = threadIdx_x;
    if (t == 0)
        head = tail = 0;
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < 32; i++) {
            while (i - loadFlag(&tail) >= 8)
                ;
            storeFlag(&head, i + 1); // CUT
            q[i % 8] = in[i]; // BUG: race
            ; // FIX: storeFlag(&head, i + 1);
        }
    else if (t == 64)
        for (int i = 0; i < 32; i++) {
            while (loadFlag(&head) <= i)
                ;
            out[i] = q[i % 8]; // BUG: race
            storeFlag(&tail, i + 1);
        }
}
