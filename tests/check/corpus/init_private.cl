// An element of a private array is read that no loop has written.
// RUN: --block 32 --arg buf:128:iota=u32 --arg buf:128
#include "gpu.h"

kernel void pick(global const int *a, global int *b)
{
    volatile int v[8];
    int i = local_id();
    for (int k = 0; k < 7; k++)  // CUT
        // FIX: for (int k = 0; k < 8; k++)
        v[k] = a[i] + k;
    b[i] = v[i & 7]; // BUG: init
}
