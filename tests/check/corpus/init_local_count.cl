// Bins in local memory are counted in before they are zero.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:64
#include "gpu.h"

kernel void histogram(global const int *a, global int *b)
{
    local atomic_int bin[16];
    int i = local_id();
    // FIX: if (i < 16) atomic_store_explicit(&bin[i], 0, RELAXED, GROUP);
    barrier_local();
    atomic_fetch_add_explicit(&bin[a[i] & 15], 1, RELAXED, GROUP); // BUG: init/undefined-atomic
    barrier_local();
    if (i < 16)
        b[i] = atomic_load_explicit(&bin[i], RELAXED, GROUP);
}
