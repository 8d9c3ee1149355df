// RUN: --grid 4 --block 64 --arg buf:1028:iota=f32 --arg buf:1028
#include "gpu.h"

kernel void blur(global float *a, global float *b)
{
    int i = global_id(64);
    float v = 0.5f * (a[i] + a[i + 1]); // BUG: race
    a[i] = v; // BUG: race CUT
    // FIX: b[i] = v;
}
