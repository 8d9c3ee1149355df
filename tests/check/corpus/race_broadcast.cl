// A value for all is changed for the next round while some still read it.
// RUN: --block 128 --arg buf:512:iota=u32
#include "gpu.h"

kernel void rounds(global int *a)
{
    local int pivot;
    int i = local_id(), v = a[i];
    for (int k = 0; k < 4; k++) {
        if (i == k)
            pivot = v; // BUG: race
        barrier_local();
        v += pivot; // BUG: race
        // FIX: barrier_local();
    }
    a[i] = v;
}
