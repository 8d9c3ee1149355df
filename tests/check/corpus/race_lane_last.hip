// The last lane of a wave sums what the others wrote; it acquires nothing.
// RUN: --grid 1 --block 32 --arg buf:4:zero --arg buf:128:zero --arg buf:4:zero
#include "hip.h"
__global__ void k(int *count, int *part, int *out)
{
    int t = threadIdx_x, sum = 0;
    part[t] = t; // BUG: race
    int n = __hip_atomic_fetch_add(count, 1, __ATOMIC_RELAXED, AGENT); // CUT
    // FIX: int n = __hip_atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL, AGENT);
    if (n == 31) {
        for (int i = 0; i < 32; i++)
            sum += part[i]; // BUG: race
        out[0] = sum;
    }
}
