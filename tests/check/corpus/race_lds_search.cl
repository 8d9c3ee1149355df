// A search through LDS that another wave still fills: a loop that ends by what it loads,
// and waits for nobody.
// RUN: --grid 1 --block 128 --arg buf:512:zero --arg buf:512:zero
// CHECK: mem race sync
#include "gpu.h"

kernel void search(global int *out, global const int *in)
{
    local int name[128];
    int t = local_id(), i = 0;
    name[t] = in[t] + t; // BUG: race
    ; // FIX: barrier_local();
    while (i < 127 && name[i] != 127 - t) // BUG: race
        i++;
    out[t] = i;
}
