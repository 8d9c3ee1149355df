// Work-items write overlapping pieces.
// RUN: --block 32 --arg buf:256
#include "gpu.h"

kernel void pieces(global uchar *a)
{
    int i = local_id();
    *(global ushort *)(a + 2 * (i / 2)) = (ushort)i; // BUG: race/write-write CUT
    // FIX: *(global ushort *)(a + 2 * i) = (ushort)i;
}
