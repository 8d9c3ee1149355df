// Half of a block's waves wait at a barrier of a helper that the others do not call.
// RUN: --block 64 --arg buf:256:zero
#include "hip.h"

__global__ void halves(int *out)
{
    __shared__ int s[64];
    int i = threadIdx_x;
    s[i] = i;
    if (i < 48) { // CUT
        __syncthreads(); // BUG: sync CUT
    } // CUT
    // FIX: __syncthreads();
    out[i] = s[i];
}
