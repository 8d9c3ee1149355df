// The host has packed what the device pads to 16 bytes.
// RUN: --block 32 --arg buf:384:zero --arg buf:128:zero
#include "hip.h"

struct __attribute__((aligned(16))) particle { // CUT
// FIX: struct particle {
    float x, y, z;
};

__global__ void norm(const particle *p, float *out)
{
    int i = threadIdx_x;
    out[i] = p[i].x + p[i].y + p[i].z; // BUG: mem/out-of-bounds
}
