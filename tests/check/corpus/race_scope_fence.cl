// The last workgroup sums, behind a fence that is one for its own alone.
// RUN: --grid 4 --block 32 --arg buf:16:zero --arg buf:4:zero --arg buf:4:zero
#include "gpu.h"

kernel void total(global int *partial, global int *arrived, global int *out)
{
    if (local_id() != 0)
        return;
    partial[group_id()] = group_id() + 1; // BUG: race
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    int before = atomic_fetch_add_explicit((global volatile atomic_int *)arrived, 1, RELAXED, DEVICE);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); // CUT
    // FIX: __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (before == 3)
        *out = partial[0] + partial[1] + partial[2] + partial[3]; // BUG: race
}
