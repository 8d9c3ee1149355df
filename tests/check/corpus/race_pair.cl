// A minimum and where it is, of which only the first is atomic.
// RUN: --grid 2 --block 64 --arg buf:512:rand=u32,11 --arg buf:8:fill=255
#include "gpu.h"

kernel void lowest(global const uint *in, global uint *best)
{
    int i = global_id(64);
    uint v = in[i] >> 8 << 8 | (uint)i;
    if (__opencl_atomic_fetch_min((global volatile atomic_uint *)best, v, RELAXED, DEVICE) > v)
        best[1] = (uint)i; // BUG: race CUT
    // FIX: (void)v;
}
