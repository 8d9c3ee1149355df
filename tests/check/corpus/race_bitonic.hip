// A sorting network that goes on to the next distance at once.
// RUN: --block 128 --arg buf:512:rand=u32,3
#include "hip.h"

__global__ void sort(unsigned *a)
{
    __shared__ unsigned s[128];
    int i = threadIdx_x;
    s[i] = a[i];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int p = i ^ j;
            if (p > i) {
                unsigned x = s[i], y = s[p]; // BUG: race
                if ((x > y) == ((i & k) == 0)) {
                    s[i] = y; // BUG: race
                    s[p] = x; // BUG: race
                }
            }
            // FIX: __syncthreads();
        }
    }
    __syncthreads();
    a[i] = s[i];
}
