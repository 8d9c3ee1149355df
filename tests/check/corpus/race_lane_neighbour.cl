// Work-items of one wave exchange values through LDS without a barrier.
// RUN: --block 32 --arg buf:128
#include "gpu.h"

kernel void turn(global int *out)
{
    local int box[32];
    int i = local_id();
    box[i] = i; // BUG: race
    // FIX: barrier_local();
    out[i] = box[31 - i]; // BUG: race
}
