// The first work-item reads the other waves' sums before they are there.
// CHECK: mem race wait sync
// RUN: --block 256 --arg buf:1024:iota=u32 --arg buf:4
#include "gpu.h"

kernel void sums(global const int *a, global int *out)
{
    local int part[256];
    int i = local_id();
    part[i] = a[i] * a[i]; // BUG: race
    // FIX: barrier_local();
    if (i == 0) {
        int sum = 0;
        for (int k = 0; k < 256; k++)
            sum += part[k]; // BUG: race
        out[0] = sum;
    }
}
