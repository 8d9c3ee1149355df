/* softmax.cl: softmax of rows of 1024 floats: a wave for each row, four rows per
 * workgroup, 32 elements per lane in registers.
 * SPDX-License-Identifier: MIT
 */
#include "lanes.h"

#define N    1024
#define EACH (N / 128)

__kernel BLOCK(128) void softmax(__global float4 *restrict out,
                                 __global const float4 *restrict in)
{
    uint lane = LANE & 31, row = GROUP * 4 + (LANE >> 5);
    uint at = row * (N / 4) + lane;
    float4 x[EACH];
    float top = -INFINITY, sum = 0;

    for (uint i = 0; i < EACH; i++) {
        x[i] = in[at + 32 * i];
        for (uint j = 0; j < 4; j++)
            top = __builtin_fmaxf(top, x[i][j]);
    }
    for (uint step = 16; step > 0; step /= 2)
        top = __builtin_fmaxf(top, other_lane(top, step));
    for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < 4; j++) {
            x[i][j] = __builtin_amdgcn_exp2f((x[i][j] - top) * 1.44269504F);
            sum += x[i][j];
        }
    for (uint step = 16; step > 0; step /= 2)
        sum += other_lane(sum, step);
    float scale = __builtin_amdgcn_rcpf(sum);
    for (uint i = 0; i < EACH; i++)
        out[at + 32 * i] = x[i] * scale;
}
