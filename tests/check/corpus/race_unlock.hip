// A lock is given back before what it guards has arrived.
// RUN: --grid 4 --block 1 --arg buf:8:zero
#include "hip.h"

__global__ void add(int *a)
{
    while (!try_lock(&a[0]))
        ;
    a[1] += 1; // BUG: race
    atomicStore(&a[0], 0); // BUG: race CUT
    // FIX: storeRelease(&a[0], 0);
}
