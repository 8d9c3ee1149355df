// A reduction over more of local memory than there are work-items.
// RUN: --block 48 --arg buf:192:iota=u32 --arg buf:4
#include "gpu.h"

kernel void sum(global const int *a, global int *b)
{
    local int s[64];
    int i = local_id();
    s[i] = a[i];
    // FIX: if (i < 16) s[48 + i] = 0;
    barrier_local();
    for (int n = 32; n; n /= 2) {
        if (i < n)
            s[i] += s[i + n];
        barrier_local();
    }
    if (i == 0)
        b[0] = s[0]; // BUG: init/undefined-store
}
