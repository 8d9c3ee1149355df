// A wave raises a flag in LDS, which another one polls, before the data is there.
// RUN: --grid 1 --block 96 --arg buf:128:zero --arg buf:512:zero
#include "gpu.h"

kernel void hand_over(global int *out, global const int *in)
{
    local int data[32];
    local atomic_int flag;
    int t = local_id();
    if (t == 0)
        atomic_init(&flag, 0);
    barrier_local();
    if (t >= 64) {
        if (t == 64) // CUT
            atomic_store_explicit(&flag, 1, RELEASE, GROUP); // CUT
        data[t - 64] = in[t]; // BUG: race
        __builtin_amdgcn_wave_barrier(); // FIX: if (t == 64) atomic_store_explicit(&flag, 1, RELEASE, GROUP);
    } else if (t < 32) {
        while (atomic_load_explicit(&flag, ACQUIRE, GROUP) == 0)
            ;
        out[t] = data[t]; // BUG: race
    }
}
