// A lane waits for another one of its wave, which cannot go on meanwhile.
// RUN: --block 32 --watchdog 300000 --arg buf:4:zero --arg buf:128:zero
#include "gpu.h"

kernel void chain(global int *flag, global int *out)
{
    global volatile atomic_int *f = (global volatile atomic_int *)flag;
    int i = local_id();
    // FIX: atomic_fetch_add_explicit(f, 32, RELAXED, DEVICE);
    while (atomic_load_explicit(f, ACQUIRE, DEVICE) < i) // BUG: sync
        ;
    out[i] = i;
    atomic_fetch_add_explicit(f, 1, RELAXED, DEVICE);
}
