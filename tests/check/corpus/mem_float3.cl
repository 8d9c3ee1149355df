// Vectors of three take the room of four; the host has packed them.
// RUN: --block 32 --arg buf:384:zero --arg buf:128:zero
#include "gpu.h"

kernel void norm(global const float *raw, global float *out)
{
    int i = local_id();
    float3 v = ((global const float3 *)raw)[i]; // BUG: mem/out-of-bounds CUT
    // FIX: float3 v = (float3)(raw[3 * i], raw[3 * i + 1], raw[3 * i + 2]);
    out[i] = v.x + v.y + v.z; // BUG: mem/out-of-bounds
}
