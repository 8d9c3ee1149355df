// One work-item takes a token that another one is reading; in the twin it does not find
// what it expects, and only reads.
// RUN: --grid 1 --block 128 --arg buf:512:zero
#include "hip.h"
__global__ void take(int *out)
{
    __shared__ int token;
    int t = threadIdx_x, seen = 0;
    int expected = 5; // FIX: int expected = 7;
    if (t == 0)
        token = 5;
    __syncthreads();
    if (t == 0) {
        seen = token; // BUG: race
        __asm__ volatile("" : "+v"(seen));
    }
    if (t == 64)
        seen = __hip_atomic_compare_exchange_strong(&token, &expected, 1, __ATOMIC_ACQ_REL, // BUG: race
                                                    __ATOMIC_RELAXED, GROUP);
    out[t] = seen;
}
