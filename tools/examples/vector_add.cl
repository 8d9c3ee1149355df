/* c = a + b for n floats.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

__kernel BLOCK(256, 1) void vector_add(__global const float *a, __global const float *b,
                                       __global float *c, uint n)
{
    uint i = GROUP_X * 256 + ITEM_X;
    if (i < n)
        c[i] = a[i] + b[i];
}
