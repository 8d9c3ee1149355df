// The index before 0, unsigned.
// RUN: --block 64 --arg buf:256:zero --arg buf:256:zero
#include "hip.h"

__global__ void shift(const int *in, int *out)
{
    unsigned i = (unsigned)threadIdx_x;
    out[i] = in[i - 1u]; // BUG: mem/wild-address CUT
    // FIX: out[i] = i ? in[i - 1u] : 0;
}
