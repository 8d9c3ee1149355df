// A buffer that callers may leave out.
// RUN: --block 32 --arg buf:128:zero --arg u64:0
#include "hip.h"

__global__ void bias(float *a, const float *b)
{
    int i = threadIdx_x;
    float add = b[i]; // BUG: mem/null-pointer CUT
    // FIX: float add = b ? b[i] : 0.0f;
    a[i] += add;
}
