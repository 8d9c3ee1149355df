// Two arrays share the dynamic LDS; the second begins at its number of bytes, not of words.
// RUN: --block 64 --dynamic-lds 512 --arg buf:256:zero
#include "hip.h"

extern __shared__ int pool[];

__global__ void both(int *out)
{
    int *first = pool, *second = pool + 64 * sizeof(int); // CUT
    // FIX: int *first = pool, *second = pool + 64;
    int i = threadIdx_x;
    first[i] = i; // BUG: mem/lds-out-of-bounds
    second[i] = 2 * i; // BUG: mem/lds-out-of-bounds
    __syncthreads();
    out[i] = first[63 - i] + second[63 - i]; // BUG: mem/lds-out-of-bounds
}
