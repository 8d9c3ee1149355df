/* C = A * B for square row-major matrices of n floats a side, n a multiple of 16.
 *
 * A workgroup makes a 16x16 tile of C from tiles of A and B that it keeps in LDS.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

#define TILE 16

__kernel BLOCK(TILE, TILE) void matmul(__global const float *a, __global const float *b,
                                       __global float *c, uint n)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    uint x = ITEM_X, y = ITEM_Y;
    uint row = GROUP_Y * TILE + y, column = GROUP_X * TILE + x;
    float sum = 0;

    for (uint k = 0; k < n; k += TILE) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        barrier_lds();
        for (uint i = 0; i < TILE; i++)
            sum = __builtin_fmaf(tile_a[y][i], tile_b[i][x], sum);
        barrier_lds();
    }
    c[row * n + column] = sum;
}
