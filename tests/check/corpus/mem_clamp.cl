// Coordinates are clamped to the width, not to the last column.
// RUN: --grid 2 --block 64 --arg buf:512:zero --arg buf:512:zero
#include "gpu.h"

kernel void shift(global const float *in, global float *out)
{
    int x = global_id(64), from = x + 3 < 128 ? x + 3 : 128; // CUT
    // FIX: int x = global_id(64), from = x + 3 < 127 ? x + 3 : 127;
    out[x] = in[from]; // BUG: mem/out-of-bounds
}
