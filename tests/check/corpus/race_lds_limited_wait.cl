// A flag in LDS that is waited for a while; what it tells of is stored once more behind it.
// RUN: --grid 1 --block 128 --arg buf:64:zero
#include "gpu.h"
kernel void k(global int *out)
{
    local atomic_int full;
    local int data;
    int t = local_id();
    if (t == 0)
        atomic_init(&full, 0);
    barrier_local();
    if (t == 0) {
        data = 5;
        atomic_store_explicit(&full, 1, RELEASE, GROUP);
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); // CUT
        data = 6; // BUG: race CUT
    } else if (t == 64) {
        int i;
        for (i = 0; i < 100000 && !atomic_load_explicit(&full, ACQUIRE, GROUP); i++)
            ;
        if (i < 100000)
            out[0] = data; // BUG: race
    }
}
