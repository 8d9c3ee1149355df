// Jacobi in place: neighbours of other workgroups are read while those write them.
// RUN: --grid 4 --block 64 --arg buf:1024:iota=u32 --arg buf:1024
#include "gpu.h"

kernel void smooth(global int *a, global int *b)
{
    int i = global_id(64), left = i ? i - 1 : i, right = i < 255 ? i + 1 : i;
    int v = (a[left] + 2 * a[i] + a[right]) / 4; // BUG: race
    a[i] = v; // BUG: race CUT
    // FIX: b[i] = v;
}
