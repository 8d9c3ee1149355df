// Two buffers take turns, but the second round goes back to the first too soon.
// RUN: --block 64 --arg buf:256:iota=u32
#include "gpu.h"

kernel void rounds(global int *a)
{
    local int box[2][64];
    int i = local_id(), v = a[i];
    for (int k = 0; k < 4; k++) {
        box[0][i] = v; // BUG: race CUT
        // FIX: box[k & 1][i] = v;
        barrier_local();
        v += box[0][63 - i]; // BUG: race CUT
        // FIX: v += box[k & 1][63 - i];
    }
    a[i] = v;
}
