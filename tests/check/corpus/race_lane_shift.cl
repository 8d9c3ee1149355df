// A shift in place.
// RUN: --block 32 --arg buf:132:iota=u32
#include "gpu.h"

kernel void shift(global int *a)
{
    int i = local_id();
    int v = a[i + 1]; // BUG: race
    // FIX: barrier_local();
    a[i] = v; // BUG: race
}
