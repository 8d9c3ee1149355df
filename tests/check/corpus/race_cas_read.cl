// The winner looks at what it has left; losers change nothing, but a store does.
// RUN: --block 32 --arg buf:128:zero
#include "gpu.h"

kernel void race(global int *out)
{
    local int token;
    int i = local_id(), expected = -1, seen = 0;
    if (i == 0)
        token = -1;
    barrier_local();
    if (__opencl_atomic_compare_exchange_strong((local volatile atomic_int *)&token, &expected, i, RELAXED, RELAXED, GROUP))
        seen = *(local volatile int *)&token; // BUG: race
    else
        token = 100; // BUG: race CUT
    // FIX: seen = 1;
    out[i] = seen;
}
