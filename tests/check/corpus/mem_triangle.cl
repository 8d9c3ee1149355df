// A triangular matrix is packed, but read as a square.
// RUN: --block 16 --arg buf:544:zero --arg buf:64:zero
#include "gpu.h"

kernel void diagonal(global const float *m, global float *out)
{
    int i = local_id();
    out[i] = m[i * 16 + i]; // BUG: mem/out-of-bounds CUT
    // FIX: out[i] = m[i * (i + 1) / 2 + i];
}
