// RUN: --block 64 --arg buf:256:iota=u32
#include "gpu.h"

kernel void scan(global int *data)
{
    local int a[64];
    int i = local_id();
    a[i] = data[i];
    barrier_local();
    for (int d = 1; d < 64; d *= 2) {
        int left = i >= d ? a[i - d] : 0; // BUG: race
        // FIX: barrier_local();
        a[i] += left; // BUG: race
        barrier_local();
    }
    data[i] = a[i];
}
