// An array of the workgroup is indexed by the number in the whole.
// RUN: --grid 2 --block 64 --arg buf:512:zero
#include "gpu.h"

kernel void keep(global int *a)
{
    local int box[64];
    int i = global_id(64), at = i; // CUT
    // FIX: int i = global_id(64), at = local_id();
    box[at] = a[i]; // BUG: mem/lds-out-of-bounds
    barrier_local();
    a[i] = box[at ^ 1]; // BUG: mem/lds-out-of-bounds
}
