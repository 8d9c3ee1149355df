// Each end of a ring has its own index; one stores nothing else.
// RUN: --grid 2 --block 1 --arg buf:64:zero --arg buf:8:zero --arg buf:4:zero
#include "hip.h"

__global__ void ring(int *slot, unsigned *ends, int *out)
{
    if (blockIdx_x == 0) {
        for (unsigned k = 0; k < 40; k++) {
            while (k - loadAcquire(&ends[1]) >= 16)
                ;
            slot[k % 16] = (int)k; // BUG: race
            atomicStore(&ends[0], k + 1); // CUT
            ; // FIX: storeRelease(&ends[0], k + 1);
        }
    } else {
        int sum = 0;
        for (unsigned k = 0; k < 40; k++) {
            while (loadAcquire(&ends[0]) == k)
                ;
            sum += slot[k % 16]; // BUG: race
            storeRelease(&ends[1], k + 1);
        }
        *out = sum;
    }
}
