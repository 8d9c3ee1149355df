// Flags of several work-items are bits of one word.
// RUN: --block 128 --arg buf:512:iota=u32 --arg buf:16:zero
#include "gpu.h"

kernel void mark(global const uint *in, global uint *set)
{
    uint i = (uint)local_id(), bit = 1u << i % 32;
    if (in[i] % 5)
        set[i / 32] |= bit; // BUG: race CUT
    // FIX: __opencl_atomic_fetch_or((global volatile atomic_uint *)&set[i / 32], bit, RELAXED, DEVICE);
}
