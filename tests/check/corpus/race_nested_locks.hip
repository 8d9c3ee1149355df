// A lock and one taken inside it are given back behind one fence; what is stored between has
// not been waited for.
// RUN: --grid 4 --block 1 --arg buf:64:zero --arg buf:64:zero
#include "hip.h"
__global__ void nested(int *lock, int *data)
{
    while (!try_lock(&lock[0]))
        ;
    while (!try_lock(&lock[8 + blockIdx_x]))
        ;
    __threadfence();
    data[0] += 1;
    __threadfence();
    atomicExch(&lock[8 + blockIdx_x], 0);
    data[1] += 1; // BUG: race CUT
    atomicExch(&lock[0], 0);
}
