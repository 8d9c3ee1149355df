// Peterson's lock of two workgroups, given back without a release.
// RUN: --grid 2 --block 32 --arg buf:16:zero --arg buf:4:zero
#include "hip.h"
__global__ void k(int *f, int *sum)
{
    if (threadIdx_x)
        return;
    int me = blockIdx_x, he = 1 - me;
    for (int r = 0; r < 4; r++) {
        __hip_atomic_store(&f[me], 1, __ATOMIC_SEQ_CST, AGENT);
        __hip_atomic_store(&f[2], he, __ATOMIC_SEQ_CST, AGENT);
        while (__hip_atomic_load(&f[2], __ATOMIC_SEQ_CST, AGENT) == he &&
               __hip_atomic_load(&f[he], __ATOMIC_SEQ_CST, AGENT))
            ;
        sum[0] += 1; // BUG: race
        atomicStore(&f[me], 0); // CUT
        // FIX: storeRelease(&f[me], 0);
    }
}
