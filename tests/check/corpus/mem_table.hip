// A table of constants is changed by way of a cast.
// RUN: --block 32 --arg buf:128:zero
#include "hip.h"

__attribute__((device, used)) extern const int table[32] = {1, 2, 3};

__global__ void twice(int *out)
{
    int i = threadIdx_x;
    *(volatile int *)&table[i] = i; // BUG: mem/read-only CUT
    out[i] = table[i];
}
