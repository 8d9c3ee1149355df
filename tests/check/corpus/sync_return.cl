// RUN: --block 64 --arg buf:256 --arg i32:32
#include "gpu.h"

kernel void tail(global int *out, int n)
{
    local int box[64];
    int i = local_id();
    if (i >= n) // CUT
        return; // CUT
    box[i] = i;
    barrier_local(); // BUG: sync
    out[i] = box[i ^ 1];
}
