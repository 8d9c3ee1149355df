// RUN: --grid 4 --block 64 --arg buf:1024:iota=u32 --arg buf:64:zero
#include "gpu.h"

kernel void histogram(global const uint *in, global uint *bins)
{
    local atomic_uint mine[16];
    int i = local_id();
    if (i < 16)
        atomic_init(&mine[i], 0); // BUG: race
    // FIX: barrier_local();
    atomic_fetch_add_explicit(&mine[in[global_id(64)] % 16], 1, RELAXED, GROUP); // BUG: race
    barrier_local();
    if (i < 16)
        atomic_fetch_add_explicit((global volatile atomic_uint *)&bins[i],
                                  ((local uint *)mine)[i], RELAXED, DEVICE);
}
