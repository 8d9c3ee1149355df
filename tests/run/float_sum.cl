/* Adds numbers up with float atomics of all workgroups on one address: the result shows
 * in which order they came.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

__kernel void float_sum(__global const float *data, __global float *total)
{
    float x = data[GROUP_X * 64 + ITEM_X];
    __builtin_amdgcn_global_atomic_fadd_f32(total, x);
}
