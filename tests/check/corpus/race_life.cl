// A cellular automaton that writes where others still read.
// RUN: --block 128 --arg buf:520:rand=u32,9 --arg buf:520:zero
#include "gpu.h"

kernel void step(global uint *now, global uint *next)
{
    int i = local_id() + 1;
    uint v = now[i - 1] ^ now[i + 1]; // BUG: race
    now[i] = v; // BUG: race CUT
    // FIX: next[i] = v;
}
