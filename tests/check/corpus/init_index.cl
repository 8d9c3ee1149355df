// An index out of a list that is shorter than the number of work-items.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
#include "gpu.h"

kernel void gather(global const int *a, global int *b)
{
    local int index[32];
    int i = local_id();
    if (i < 30) // CUT
        // FIX: if (i < 32)
        index[i] = 31 - i;
    barrier_local();
    b[i] = a[index[i] & 31]; // BUG: init/undefined-address
}
