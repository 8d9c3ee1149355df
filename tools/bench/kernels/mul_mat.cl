/* One column of a matrix product, as inference does it: rows of 8-bit weights in blocks
 * of 32 with an f16 scale (34 bytes), times a vector in blocks with a scale each (36
 * bytes). A workgroup of four waves sums a row: integers by dot products, lanes by
 * ds_bpermute, waves by LDS.
 *
 * weights, vector, sums; blocks of a row. SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#include "gpu.h"

#define WAVES 4
#define EACH  32

static inline int pair(__global const ushort *q, uint i)
{
    return q[2 * i] | q[2 * i + 1] << 16;
}

__kernel BLOCK(WAVES * 32, 1) void mul_mat(__global const uchar *weights,
                                           __global const uchar *vector,
                                           __global float *sums, uint blocks)
{
    __local float part[WAVES];
    uint item = ITEM_X, lane = item % 32, wave = item / 32, row = GROUP_X;
    __global const uchar *w = weights + 34ul * blocks * row;
    float sum = 0;
    for (uint b = item / 4; b < blocks; b += EACH) {
        __global const uchar *x = w + 34 * b, *y = vector + 36 * b;
        __global const ushort *q = (__global const ushort *)(x + 2);
        __global const int *r = (__global const int *)(y + 4);
        int dot = 0;
        for (uint i = 0; i < 2; i++) {
            uint at = 2 * (item % 4) + i;
            dot = __builtin_amdgcn_sudot4(true, pair(q, at), true, r[at], dot, false);
        }
        sum +=
            (float)dot * (float)*(__global const half *)x * *(__global const float *)y;
    }
    for (uint step = 16; step; step /= 2)
        sum += __builtin_bit_cast(
            float, __builtin_amdgcn_ds_bpermute(4 * (lane ^ step),
                                                __builtin_bit_cast(int, sum)));
    if (lane == 0)
        part[wave] = sum;
    barrier_lds();
    if (item == 0)
        sums[row] = part[0] + part[1] + part[2] + part[3];
}
