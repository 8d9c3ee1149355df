// A field of a struct in LDS that nobody writes, beside padding.
// RUN: --grid 1 --block 32 --arg buf:512
#include "hip.h"

struct s { char a; int b; };
extern "C" __global__ void kernel(int *out)
{
    __shared__ struct s t[32];
    int i = threadIdx_x;
    t[i].a = (char)i; // CUT
// FIX:     t[i].a = (char)i; t[i].b = i;
    __syncthreads();
    if (t[31 - i].b > 3) // BUG: init
        out[i] = 1;
    else
        out[i] = 0;
}
