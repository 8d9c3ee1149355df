// Two workgroups write the element at their border.
// RUN: --grid 2 --block 32 --arg buf:264
#include "gpu.h"

kernel void border(global int *a)
{
    int i = global_id(32);
    a[i] = i; // BUG: race
    if (local_id() == 31)
        a[i + 1] = -1; // BUG: race CUT
        // FIX: a[64 + group_id()] = -1;
}
