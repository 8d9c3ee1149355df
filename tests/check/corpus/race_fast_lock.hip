// Lamport's fast lock; the last store is no release.
// RUN: --grid 4 --block 32 --arg buf:64:zero --arg buf:4:zero
#include "hip.h"
#define ld(p) __hip_atomic_load(p, __ATOMIC_SEQ_CST, AGENT)
#define st(p, v) __hip_atomic_store(p, v, __ATOMIC_SEQ_CST, AGENT)
__global__ void k(int *l, int *sum)
{
    if (threadIdx_x)
        return;
    int me = blockIdx_x + 1;
    int *x = l, *y = l + 1, *b = l + 4;
    for (;;) {
        st(&b[me], 1);
        st(x, me);
        if (ld(y)) {
            st(&b[me], 0);
            while (ld(y))
                ;
            continue;
        }
        st(y, me);
        if (ld(x) != me) {
            st(&b[me], 0);
            for (int i = 1; i <= 4; i++)
                while (ld(&b[i]))
                    ;
            if (ld(y) != me) {
                while (ld(y))
                    ;
                continue;
            }
        }
        break;
    }
    sum[0] += me; // BUG: race
    atomicStore(y, 0); // CUT
    // FIX: st(y, 0);
    atomicStore(&b[me], 0); // CUT
    // FIX: st(&b[me], 0);
}
