// The rows of a matrix that is not square, by the wrong side's length.
// RUN: --grid 24 --block 8 --arg buf:768:zero
#include "hip.h"

__global__ void clear(int *m)
{
    int row = threadIdx_x, column = blockIdx_x; // 8 rows of 24
    m[column * 24 + row] = 1; // BUG: mem CUT
    // FIX: m[row * 24 + column] = 1;
}
