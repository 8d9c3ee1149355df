// RUN: --grid 2 --block 128 --arg buf:1024:iota=u32 --arg buf:8
#include "gpu.h"

kernel void reduce(global const int *in, global int *out)
{
    local int sum[128];
    int i = local_id();
    sum[i] = in[global_id(128)];
    barrier_local();
    for (int step = 64; step > 0; step /= 2) {
        if (i < step)
            sum[i] += sum[i + step]; // BUG: race
        // FIX: barrier_local();
    }
    barrier_local();
    if (i == 0)
        out[group_id()] = sum[0];
}
