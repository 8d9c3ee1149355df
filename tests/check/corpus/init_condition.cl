// A flag in local memory that is only ever set.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:256
// CHECK: init
#include "gpu.h"

kernel void any_negative(global const int *a, global int *b)
{
    volatile local int found;
    int i = local_id();
    // FIX: if (i == 0) found = 0;
    barrier_local();
    if (a[i] < 0)
        found = 1;
    barrier_local();
    if (found) // BUG: init
        b[i] = a[i];
    else
        b[i] = -1;
}
