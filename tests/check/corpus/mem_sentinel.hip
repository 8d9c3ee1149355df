// The end of a list is marked by -1, which nobody looks for.
// RUN: --block 32 --arg buf:128:fill=255 --arg buf:128:zero --arg buf:128:zero
#include "hip.h"

__global__ void follow(const int *next, const int *value, int *out)
{
    int i = threadIdx_x;
    int at = next[i];
    out[i] = value[at]; // BUG: mem/out-of-bounds CUT
    // FIX: out[i] = at < 0 ? 0 : value[at];
}
