/* The Mandelbrot set as bytes: a character for the number of steps to leave the circle
 * of radius 2, a line feed at the end of each line.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

__kernel BLOCK(32, 1) void mandelbrot(__global uchar *text, uint width, uint height,
                                      uint limit)
{
    uint x = GROUP_X * 32 + ITEM_X, y = GROUP_Y;
    if (x >= width || y >= height)
        return;
    float cr = -2.2f + 3.2f * (float)x / (float)(width - 1);
    float ci = -1.2f + 2.4f * (float)y / (float)(height - 1);
    float zr = 0, zi = 0;
    uint steps = 0;

    while (steps < limit && zr * zr + zi * zi < 4) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        steps++;
    }
    uint shade = steps == limit ? 7 : steps < 3 ? 0 : steps < 5 ? 1 : steps < 8 ? 2
               : steps < 12 ? 3 : steps < 20 ? 4 : steps < 40 ? 5 : 6;
    ulong shades = 0x402a25232b3a2e20; /* " .:+#%*@", lowest byte first */
    uchar c = (uchar)(shades >> 8 * shade);
    text[y * width + x] = x == width - 1 ? '\n' : c;
}
