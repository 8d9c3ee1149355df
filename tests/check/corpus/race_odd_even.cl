// A sort of neighbours over the borders of workgroups, with the barrier of one.
// RUN: --grid 2 --block 64 --arg buf:516:rand=u32,5
#include "gpu.h"

kernel void sort(global uint *a)
{
    int i = global_id(64);
    if (i % 2 == 0) {
        uint x = a[i], y = a[i + 1]; // BUG: race
        a[i] = x < y ? x : y; // BUG: race
        a[i + 1] = x < y ? y : x; // BUG: race
    }
    barrier_local();
    // FIX: if (local_id() < 63)
    if (i % 2 == 1) {
        uint x = a[i], y = a[i + 1]; // BUG: race
        a[i] = x < y ? x : y; // BUG: race
        a[i + 1] = x < y ? y : x; // BUG: race
    }
}
