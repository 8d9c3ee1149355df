// The neighbour of the last element is behind LDS.
// RUN: --block 64 --arg buf:256
#include "gpu.h"

kernel void next(global int *out)
{
    local int box[64];
    int i = local_id();
    box[i] = i;
    barrier_local();
    out[i] = box[i + 1]; // BUG: mem/lds-out-of-bounds CUT
    // FIX: out[i] = box[(i + 1) & 63];
}
