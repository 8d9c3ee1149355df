// One wave waits for a flag that the other sets behind the barrier.
// RUN: --block 64 --watchdog 300000 --arg buf:4:zero --arg buf:4:zero
#include "gpu.h"

kernel void meet(global int *flag, global int *out)
{
    global volatile atomic_int *f = (global volatile atomic_int *)flag;
    // FIX: if (local_id() >= 32) atomic_fetch_add_explicit(f, 1, RELAXED, DEVICE);
    if (local_id() < 32)
        while (!atomic_load_explicit(f, ACQUIRE, DEVICE)) // BUG: sync
            ;
    barrier_local(); // BUG: sync
    if (local_id() == 63)
        atomic_fetch_add_explicit(f, 1, RELAXED, DEVICE);
}
