// Who finds a slot in LDS full owns it, and gives it back by an exchange for nothing; it
// is filled by who finds nothing there. The owner looks at it too late.
// RUN: --grid 1 --block 128 --arg buf:512:zero
#include "hip.h"
__global__ void pass(int *out)
{
    __shared__ int slot;
    int t = threadIdx_x;
    if (t == 0)
        slot = 5;
    __syncthreads();
    if (t == 0) {
        // FIX: out[0] = slot;
        __hip_atomic_exchange(&slot, 0, __ATOMIC_ACQ_REL, GROUP);
        out[0] = slot; // BUG: race CUT
    }
    for (int i = 0, done = 0; t == 64 && i < 100 && !done; i++) {
        int expected = 0;
        done = __hip_atomic_compare_exchange_strong(&slot, &expected, 7, __ATOMIC_ACQ_REL, // BUG: race
                                                    __ATOMIC_RELAXED, GROUP);
    }
}
