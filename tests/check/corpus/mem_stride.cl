// CHECK: mem
// RUN: --grid 2 --block 32 --arg buf:4096 --arg i32:33 --arg i32:32
#include "gpu.h"

kernel void column(global int *a, int width, int height)
{
    int x = global_id(32);
    for (int y = 0; y < height; y++)
        if (x < width) // CUT
        // FIX: if (x < width - 1)
            a[y * (width - 1) + x] += x; // BUG: mem/out-of-bounds
}
