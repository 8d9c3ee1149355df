// The last lane of a wave sums what the others wrote to LDS; one writes after it counted.
// RUN: --grid 1 --block 32 --arg buf:4:zero
#include "hip.h"
__global__ void k(int *out)
{
    __shared__ int part[32], count;
    int t = threadIdx_x, sum = 0;
    if (t == 0)
        count = 0;
    __syncthreads();
    part[t] = t;
    int n = __hip_atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL, GROUP);
    if (n == 3) part[t] = 7; // BUG: race CUT
    if (n == 31) {
        for (int i = 0; i < 32; i++)
            sum += part[i]; // BUG: race
        out[0] = sum;
    }
}
