// Peterson's lock of two waves, in LDS; the lock is given back first.
// RUN: --grid 1 --block 128 --arg buf:4:zero
#include "hip.h"
#define ld(p) __hip_atomic_load(p, __ATOMIC_SEQ_CST, GROUP)
#define st(p, v) __hip_atomic_store(p, v, __ATOMIC_SEQ_CST, GROUP)
__global__ void k(int *out)
{
    __shared__ int f[3], sum;
    int t = threadIdx_x;
    if (t < 3)
        f[t] = 0;
    if (t == 0)
        sum = 0;
    __syncthreads();
    if (t % 64 == 0) {
        int me = t / 64, he = 1 - me;
        st(&f[me], 1);
        st(&f[2], he);
        while (ld(&f[2]) == he && ld(&f[he]))
            ;
        st(&f[me], 0); // CUT
        sum += 1; // BUG: race
        // FIX: st(&f[me], 0);
    }
    __syncthreads();
    if (t == 0)
        out[0] = sum;
}
