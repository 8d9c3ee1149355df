/* matmul_f16.cl: C = A * B with matrix instructions, 1024 a side: f16 in, B transposed,
 * f32 out: 32 x 64 of C per wave, 64 x 128 per workgroup of four.
 * SPDX-License-Identifier: MIT
 */
#include "lanes.h"

#define N 1024

__kernel BLOCK(128) void matmul_f16(__global float *restrict c,
                                    __global const half *restrict a,
                                    __global const half *restrict bt)
{
    uint lane = LANE & 31, wave = LANE >> 5, group = GROUP;
    uint row = group / (N / 128) * 64 + wave / 2 * 32;
    uint column = group % (N / 128) * 128 + wave % 2 * 64;
    __global const half *a_row = a + (row + lane % 16) * N;
    __global const half *b_row = bt + (column + lane % 16) * N;
    tile sum[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};

    for (uint k = 0; k < N; k += 16) {
        fragment fa[2], fb[4];
        for (uint i = 0; i < 2; i++)
            fa[i] = *(__global const fragment *)(a_row + i * 16 * N + k);
        for (uint j = 0; j < 4; j++)
            fb[j] = *(__global const fragment *)(b_row + j * 16 * N + k);
        for (uint i = 0; i < 2; i++)
            for (uint j = 0; j < 4; j++)
                sum[i][j] =
                    __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(fa[i], fb[j], sum[i][j]);
    }
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 4; j++)
            for (uint e = 0; e < 8; e++)
                c[(row + 16 * i + 2 * e + lane / 16) * N + column + 16 * j +
                  lane % 16] = sum[i][j][e];
}
