// Loads of four elements at a time go beyond a size that is no multiple of four.
// RUN: --block 16 --arg buf:250:zero --arg buf:256
#include "gpu.h"

kernel void copy(global const uchar *a, global uint4 *b)
{
    int i = local_id();
    b[i] = ((global const uint4 *)a)[i]; // BUG: mem/out-of-bounds CUT
    // FIX: if (i < 15) b[i] = ((global const uint4 *)a)[i];
}
