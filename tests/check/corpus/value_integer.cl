// An integer is divided by what may be zero.
// CHECK: value
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
#include "gpu.h"

kernel void each(global const uint *a, global uint *b)
{
    int i = global_id(32);
    b[i] = 1000 / a[i]; // BUG: value/integer-division-by-zero CUT
    // FIX: b[i] = 1000 / (a[i] + 1);
}
