// What is read once and never again is data all the same: a non-temporal load is no atomic.
// RUN: --grid 2 --block 64 --arg buf:1024:iota=u32
#include "hip.h"

extern "C" __global__ void kernel(int *x)
{
    int i = threadIdx_x + blockIdx_x * 64;
    int v = __builtin_nontemporal_load(&x[(i + 64) % 128]); // BUG: race CUT
// FIX:     int v = __builtin_nontemporal_load(&x[i]);
    __builtin_nontemporal_store(v + 1, &x[i]); // BUG: race
}
