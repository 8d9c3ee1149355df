// Who polls a volatile flag stores what it finds there each time, before it tests it.
// RUN: --grid 2 --block 32 --arg buf:4:zero --arg buf:4:zero --arg buf:1024:zero
#include "hip.h"

extern "C" __global__ void kernel(volatile int *flag, volatile int *heard, int *data)
{
    int now;
    if (threadIdx_x)
        return;
    if (blockIdx_x == 0) {
        data[0] = 5; // BUG: race
        // FIX: data[0] = 5; __threadfence();
        *flag = 1;
        return;
    }
    do {
        now = *flag;
        *heard = now;
    } while (now == 0);
    __threadfence();
    data[64] = data[0]; // BUG: race
}
