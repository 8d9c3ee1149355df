// A volatile flag in LDS without a fence between it and the data.
// RUN: --grid 1 --block 96 --arg buf:128:zero --arg buf:512:zero
#include "hip.h"

#define fence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")

__global__ void hand_over(int *out, const int *in)
{
    __shared__ int data[32];
    __shared__ volatile int flag;
    int t = threadIdx_x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = in[t]; // BUG: race
        ; // FIX: fence();
        if (t == 0)
            flag = 1; // BUG: race
    } else if (t >= 64) {
        while (flag == 0) // BUG: race
            ;
        ; // FIX: fence();
        out[t - 64] = data[t - 64]; // BUG: race
    }
}
