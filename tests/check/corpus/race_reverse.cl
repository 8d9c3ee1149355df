// An array is turned round in place, by everybody.
// RUN: --block 128 --arg buf:512:iota=u32
#include "gpu.h"

kernel void reverse(global int *a)
{
    int i = local_id(), v = a[127 - i]; // BUG: race
    // FIX: barrier_local();
    a[i] = v; // BUG: race
}
