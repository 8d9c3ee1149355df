// A work-item waits for a flag that nobody sets.
// RUN: --block 32 --arg buf:4:zero --arg buf:4
#include "gpu.h"

kernel void wait(global int *flag, global int *out)
{
    global volatile atomic_int *f = (global volatile atomic_int *)flag;
    // FIX: atomic_fetch_add_explicit(f, 1, RELAXED, DEVICE);
    while (!atomic_load_explicit(f, ACQUIRE, DEVICE)) // BUG: sync/endless-loop
        ;
    out[0] = 1;
}
