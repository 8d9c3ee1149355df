// RUN: --block 64 --arg buf:256:zero --arg buf:256
#include "gpu.h"

static float right_of(global const float *a, int i)
{
    return a[i + 1]; // BUG: mem/out-of-bounds CUT
    // FIX: return a[i == 63 ? i : i + 1];
}

kernel void smooth(global const float *a, global float *b)
{
    int i = local_id();
    b[i] = a[i] + right_of(a, i); // BUG: mem/out-of-bounds
}
