// An offset that does not fit into 32 bits.
// RUN: --block 32 --arg buf:128:zero --arg i32:65536
#include "gpu.h"

kernel void far(global char *a, int rows)
{
    int i = local_id();
    long at = (long)i * rows * rows; // CUT
    // FIX: long at = (int)((unsigned)i * (unsigned)rows * (unsigned)rows) + i;
    a[at] = 1; // BUG: mem/wild-address
}
