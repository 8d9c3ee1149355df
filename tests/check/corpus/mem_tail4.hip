// Copies in vectors of four, whose number is rounded up.
// RUN: --block 64 --arg buf:1004:zero --arg buf:1004:zero --arg i32:251
#include "hip.h"

typedef float float4 __attribute__((ext_vector_type(4)));

__global__ void copy(const float4 *in, float4 *out, int n)
{
    int i = threadIdx_x;
    if (i < (n + 3) / 4) // CUT
    // FIX: if (i < n / 4)
        out[i] = in[i]; // BUG: mem/out-of-bounds
}
