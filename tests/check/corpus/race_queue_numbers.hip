// A bounded queue with numbers: an item is published before it is written.
// RUN: --grid 4 --block 1 --arg buf:8:zero --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void queue(int *end, int *number, int *item, int *out)
{
    for (int i = 0; i < 4; i++) {
        if (blockIdx_x % 2 == 0) {
            int at = atomicAdd(&end[0], 1);
            storeRelease(&number[at], 1); // CUT
            item[at] = 100 + at; // BUG: race
            // FIX: storeRelease(&number[at], 1);
        } else {
            int at = atomicAdd(&end[1], 1);
            while (loadAcquire(&number[at]) != 1)
                ;
            out[at] = item[at]; // BUG: race
        }
    }
}
