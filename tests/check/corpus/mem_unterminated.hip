// Words without a byte of 0 behind them.
// RUN: --block 4 --arg buf:64:fill=65 --arg buf:16:zero
#include "hip.h"

__global__ void lengths(const char *text, int *out)
{
    int i = threadIdx_x, n = 0;
    while (text[i * 16 + n] && n < 60) // BUG: mem/out-of-bounds CUT
    // FIX: while (n < 16 && text[i * 16 + n])
        n++;
    out[i] = n;
}
