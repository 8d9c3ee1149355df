// Who waits looks at a half of the word; then it takes the whole, which two stores make.
// RUN: --grid 4 --block 1 --arg buf:64:zero --arg buf:16:zero
#include "hip.h"

typedef unsigned long long word;

__global__ void chain(word *state, int *out)
{
    int b = blockIdx_x;
    word before = 0;
    if (b) {
        while (!atomicLoad((unsigned *)&state[b - 1] + 1))
            ;
        before = atomicLoad(&state[b - 1]); // BUG: race
    }
    unsigned sum = (unsigned)before + b + 1;
    atomicStore((unsigned *)&state[b] + 1, 1u); // BUG: race CUT
    atomicStore((unsigned *)&state[b], sum); // BUG: race CUT
    // FIX: atomicStore(&state[b], 1ull << 32 | sum);
    out[b] = sum;
}
