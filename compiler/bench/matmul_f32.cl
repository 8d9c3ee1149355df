/* matmul_f32.cl: C = A * B, 1024 a side, f32: 64 x 64 of C per workgroup of 256 lanes,
 * 4 x 4 per lane, four steps of k at a time.
 * SPDX-License-Identifier: MIT
 */
#include "lanes.h"

#define N 1024

__kernel BLOCK(256) void matmul_f32(__global float *restrict c,
                                    __global const float *restrict a,
                                    __global const float *restrict b)
{
    uint lane = LANE, group = GROUP;
    uint row = group / (N / 64) * 64 + lane / 16 * 4;
    uint column = group % (N / 64) * 64 + lane % 16 * 4;
    float4 sum[4] = {0, 0, 0, 0};

    for (uint k = 0; k < N; k += 4) {
        float4 ra[4], rb[4];
        for (uint i = 0; i < 4; i++) {
            ra[i] = *(__global const float4 *)(a + (row + i) * N + k);
            rb[i] = *(__global const float4 *)(b + (k + i) * N + column);
        }
        for (uint i = 0; i < 4; i++)
            for (uint j = 0; j < 4; j++)
                for (uint x = 0; x < 4; x++)
                    sum[i][x] = __builtin_fmaf(ra[i][j], rb[j][x], sum[i][x]);
    }
    for (uint i = 0; i < 4; i++)
        *(__global float4 *)(c + (row + i) * N + column) = sum[i];
}
