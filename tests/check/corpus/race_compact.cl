// Places in a list are counted without atomics.
// RUN: --grid 2 --block 64 --arg buf:512:iota=u32 --arg buf:4:zero --arg buf:512:zero
#include "gpu.h"

kernel void select(global const uint *in, global uint *n, global uint *out)
{
    uint v = in[global_id(64)];
    if (v % 3 == 0) {
        uint at = (*n)++; // BUG: race CUT
        // FIX: uint at = atomic_fetch_add_explicit((global volatile atomic_uint *)n, 1, RELAXED, DEVICE);
        out[at & 127] = v; // BUG: race
    }
}
