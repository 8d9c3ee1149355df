// A value and its flag are one word for who waits, two for who stores.
// RUN: --grid 4 --block 1 --arg buf:64:zero --arg buf:16:zero
#include "hip.h"

typedef unsigned long long word;

__global__ void chain(word *state, int *out)
{
    int b = blockIdx_x;
    word before = 0;
    if (b)
        do
            before = atomicLoad(&state[b - 1]); // BUG: race
        while (!(before >> 32));
    unsigned sum = (unsigned)before + b + 1;
    atomicStore((unsigned *)&state[b], sum); // BUG: race CUT
    atomicStore((unsigned *)&state[b] + 1, 1u); // BUG: race CUT
    // FIX: atomicStore(&state[b], 1ull << 32 | sum);
    out[b] = sum;
}
