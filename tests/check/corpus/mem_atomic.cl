// A histogram of values that do not all have a bin.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:240:zero
#include "gpu.h"

kernel void bins(global const int *a, global int *n)
{
    int at = a[local_id()];
    // FIX: at = at < 60 ? at : 59;
    atomic_fetch_add_explicit((global volatile atomic_int *)&n[at], 1, RELAXED, DEVICE); // BUG: mem/out-of-bounds
}
