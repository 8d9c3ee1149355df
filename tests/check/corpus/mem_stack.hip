// A stack in scratch for a walk through a tree that is deeper.
// RUN: --block 32 --arg buf:128:zero --arg i32:4000
#include "hip.h"

__global__ void walk(int *out, int depth)
{
    volatile int stack[16];
    for (int k = 0; k < 16; k++)
        stack[k] = k;
    int top = depth; // CUT
    // FIX: int top = depth < 16 ? depth : 15;
    stack[top] = 1; // BUG: mem/scratch-out-of-bounds
    out[threadIdx_x] = stack[3];
}
