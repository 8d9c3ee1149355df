// The barrier is behind a test for the end.
// RUN: --grid 2 --block 64 --arg buf:512:zero --arg i32:90
#include "gpu.h"

kernel void swap(global int *a, int n)
{
    local int s[64];
    int i = global_id(64), v = 0;
    if (i < n) { // CUT
    // FIX: {
        s[local_id()] = a[i];
        barrier_local(); // BUG: sync
        v = s[local_id() ^ 1];
    }
    if (i < n)
        a[i] = v;
}
