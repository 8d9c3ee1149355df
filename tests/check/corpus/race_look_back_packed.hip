// A scan whose sums travel in the atomics themselves needs no fence; what lies beside does.
// RUN: --grid 4 --block 32 --arg buf:512:zero --arg buf:128
#include "hip.h"

__global__ void scan(unsigned long *state, int *value)
{
    if (threadIdx_x)
        return;
    int g = blockIdx_x;
    unsigned long before = 0;
    if (g) {
        unsigned long s;
        do
            s = __hip_atomic_load(&state[g - 1], __ATOMIC_RELAXED, AGENT);
        while (!(s >> 32));
        before = (unsigned)s;
        before += value[g - 1]; // BUG: race CUT
    }
    value[g] = (int)before + 1;
    __hip_atomic_store(&state[g], 1ul << 32 | (before + 1), __ATOMIC_RELAXED, AGENT);
}
