// A fast transform without a barrier between its stages.
// RUN: --block 64 --arg buf:512:iota=u32
#include "gpu.h"

kernel void hadamard(global int *a)
{
    local int s[128];
    int i = local_id();
    s[i] = a[i];
    s[i + 64] = a[i + 64];
    barrier_local();
    for (int h = 1; h < 128; h *= 2) {
        int at = i / h * 2 * h + i % h;
        int x = s[at], y = s[at + h]; // BUG: race
        s[at] = x + y; // BUG: race
        s[at + h] = x - y; // BUG: race
        // FIX: barrier_local();
    }
    barrier_local();
    a[i] = s[i];
    a[i + 64] = s[i + 64];
}
