// An index comes from memory and is not looked at.
// RUN: --block 64 --arg buf:256:iota=u32 --arg buf:128 --arg u32:32
#include "gpu.h"

kernel void scatter(global const uint *index, global uint *out, uint n)
{
    uint at = index[local_id()];
    if (at < 2 * n) // CUT
    // FIX: if (at < n)
        out[at] = at; // BUG: mem/out-of-bounds
}
