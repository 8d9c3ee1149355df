// Waves take turns by their number, as if the first came first.
// CHECK: race sync
// RUN: --block 128 --arg buf:16:zero
#include "gpu.h"

kernel void chain(global int *out)
{
    local int sum[5];
    int wave = local_id() / 32;
    if (local_id() == 0)
        sum[0] = 1;
    barrier_local();
    for (int w = 0; w < 4; w++) {
        if (local_id() == 32 * w) {
            sum[w + 1] = sum[w] + w; // BUG: race
            out[w] = sum[w + 1];
        }
        // FIX: barrier_local();
    }
}
