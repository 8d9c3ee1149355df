/* C = A * B with matrix instructions: A and B transposed are n x n of f16, C of f32, n
 * a multiple of 64. A wave makes 16 rows and 64 columns of C. SPDX-License-Identifier:
 * MIT
 */
#include "gpu.h"
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef half fragment __attribute__((ext_vector_type(16)));
typedef float tile __attribute__((ext_vector_type(8)));

__kernel BLOCK(128, 1) void wmma_gemm(__global const half *a, __global const half *bt,
                                      __global float *c, uint n)
{
    uint lane = ITEM_X & 31, wave = ITEM_X >> 5;
    uint row = (GROUP_Y * 4 + wave) * 16, column = GROUP_X * 64;
    __global const half *a_row = a + (row + (lane & 15)) * n;
    __global const half *b_row = bt + (column + (lane & 15)) * n;
    tile sum[4] = {0, 0, 0, 0};

    for (uint k = 0; k < n; k += 16) {
        fragment fa = *(__global const fragment *)(a_row + k);
        for (uint i = 0; i < 4; i++) {
            fragment fb = *(__global const fragment *)(b_row + i * 16 * n + k);
            sum[i] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(fa, fb, sum[i]);
        }
    }
    for (uint i = 0; i < 4; i++)
        for (uint e = 0; e < 8; e++)
            c[(row + 2 * e + (lane >> 4)) * n + column + 16 * i + (lane & 15)] =
                sum[i][e];
}
