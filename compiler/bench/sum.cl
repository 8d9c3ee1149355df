/* sum.cl: sums of 16384 floats each, a workgroup of 256 lanes for every one.
 * SPDX-License-Identifier: MIT
 */
#include "lanes.h"

#define PART 16384

__kernel BLOCK(256) void sum(__global float *restrict out,
                             __global const float4 *restrict in)
{
    __local float part[256];
    uint lane = LANE, group = GROUP;
    __global const float4 *mine = in + group * (PART / 4) + lane;
    float4 total = 0;

    for (uint i = 0; i < PART / 4; i += 256)
        total += mine[i];
    part[lane] = (total.x + total.y) + (total.z + total.w);
    barrier_lds();
    for (uint step = 128; step > 0; step /= 2) {
        if (lane < step)
            part[lane] += part[lane + step];
        barrier_lds();
    }
    if (lane == 0)
        out[group] = part[0];
}
