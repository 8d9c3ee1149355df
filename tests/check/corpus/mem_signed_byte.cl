// Bytes above 127 are negative indices.
// RUN: --block 64 --arg buf:64:fill=200 --arg buf:1024:zero
#include "gpu.h"

kernel void count(global const char *text, global int *bins)
{
    int v = text[local_id()]; // CUT
    // FIX: int v = (uchar)text[local_id()];
    __opencl_atomic_fetch_add((global atomic_int *)&bins[v], 1, RELAXED, DEVICE); // BUG: mem/out-of-bounds
}
