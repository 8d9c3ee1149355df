// CHECK: mem race wait sync
// RUN: --block 256 --arg buf:1024:iota=u32 --arg buf:1024
#include "gpu.h"

kernel void transpose(global const int *in, global int *out)
{
    local int tile[16][17];
    int x = local_id() % 16, y = local_id() / 16;
    tile[y][x] = in[y * 16 + x]; // BUG: race
    // FIX: barrier_local();
    out[y * 16 + x] = tile[x][y]; // BUG: race
}
