// The first work-item reads in front of the buffer.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:256
#include "gpu.h"

kernel void diff(global const int *a, global int *b)
{
    int i = local_id();
    b[i] = a[i] - a[i - 1]; // BUG: mem/out-of-bounds CUT
    // FIX: b[i] = a[i] - a[i ? i - 1 : 0];
}
