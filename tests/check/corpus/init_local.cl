// A tile of local memory has a border that nobody loads.
// RUN: --block 64 --arg buf:256:iota=f32 --arg buf:256
#include "gpu.h"

kernel void smooth(global const float *a, global float *b)
{
    local float tile[66];
    int i = local_id();
    tile[i + 1] = a[i];
    // FIX: if (i < 2) tile[i * 65] = 0;
    barrier_local();
    b[i] = tile[i] + tile[i + 1] + tile[i + 2]; // BUG: init/undefined-store
}
