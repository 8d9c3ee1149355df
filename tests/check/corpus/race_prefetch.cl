// The next tile comes into the buffer that others still work on.
// RUN: --block 64 --arg buf:1280:iota=u32 --arg buf:256:zero
#include "gpu.h"

kernel void tiles(global const int *in, global int *out)
{
    local int tile[64];
    int i = local_id(), sum = 0, next = in[i];
    for (int t = 0; t < 4; t++) {
        // FIX: barrier_local();
        tile[i] = next; // BUG: race
        next = in[(t + 1) * 64 + i];
        barrier_local();
        sum += tile[(i + 33) & 63]; // BUG: race
    }
    out[i] = sum;
}
