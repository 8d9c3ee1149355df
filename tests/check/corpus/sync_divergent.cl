// RUN: --block 64 --arg buf:256
#include "gpu.h"

kernel void rotate_up(global int *out)
{
    local int box[64];
    int i = local_id();
    box[i] = i;
    if (i < 40) // CUT
        barrier_local(); // BUG: sync/masked-lanes
    out[i] = box[(i + 1) % 64]; // BUG: race
}
