// RUN: --block 64 --arg buf:240 --arg i32:60
#include "gpu.h"

kernel void fill(global int *out, int n)
{
    int i = local_id();
    if (i <= n) // CUT
    // FIX: if (i < n)
        out[i] = i; // BUG: mem/out-of-bounds
}
