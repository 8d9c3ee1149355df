// More work-items than elements, and nobody looks.
// RUN: --grid 2 --block 64 --arg buf:400:zero --arg i32:100
#include "gpu.h"

kernel void increment(global int *a, int n)
{
    int i = global_id(64);
    // FIX: if (i < n)
    a[i] += 1; // BUG: mem/out-of-bounds
}
