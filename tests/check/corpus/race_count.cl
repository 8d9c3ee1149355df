// Work-items count in memory without an atomic.
// RUN: --grid 2 --block 64 --arg buf:256:iota=u32 --arg buf:16:zero
#include "gpu.h"

kernel void count(global const int *a, global int *n)
{
    if (a[local_id()] & 1)
        n[0]++; // BUG: race CUT
        // FIX: atomic_fetch_add_explicit((global volatile atomic_int *)n, 1, RELAXED, DEVICE);
}
