// A minimum that one block sets first, maybe behind others that have found theirs already.
// RUN: --grid 4 --block 32 --arg buf:4:zero --arg buf:512:iota=u32
#include "hip.h"

__global__ void least(int *min, const int *in)
{
    int i = blockIdx_x * 32 + threadIdx_x;
    if (i == 0) {
        *min = 99999; // BUG: race CUT
    }
    __syncthreads();
    __hip_atomic_fetch_min(min, in[i], __ATOMIC_RELAXED, AGENT); // BUG: race
}
