// A binary search looks at the element behind the last one.
// RUN: --block 32 --arg buf:400:iota=u32 --arg buf:128:zero --arg i32:100
#include "gpu.h"

kernel void find(global const int *sorted, global int *out, int n)
{
    int key = local_id() * 4, lo = 0, hi = n; // CUT
    // FIX: int key = local_id() * 4, lo = 0, hi = n - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (sorted[mid] <= key) // BUG: mem/out-of-bounds
            lo = mid;
        else
            hi = mid - 1;
    }
    out[local_id()] = lo;
}
