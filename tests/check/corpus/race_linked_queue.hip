// Michael and Scott's queue of nodes; the link to a node is relaxed.
// RUN: --grid 4 --block 1 --arg buf:8:zero --arg buf:64:zero --arg buf:64:zero --arg buf:64:zero
#include "hip.h"

#define PUT(order, p, old, new) \
    __hip_atomic_compare_exchange_strong(p, old, new, order, __ATOMIC_RELAXED, AGENT)

__global__ void relay(int *ends, int *next, int *value, int *out)
{
    int me = blockIdx_x + 1;
    for (; me <= 2;) {
        int tail = loadAcquire(&ends[1]), behind = loadAcquire(&next[tail]), last = tail, none = 0;
        value[me] = me * 11; // BUG: race
        if (behind)
            PUT(__ATOMIC_RELEASE, &ends[1], &last, behind);
        else if (PUT(__ATOMIC_RELAXED, &next[tail], &none, me)) { // CUT
        // FIX: else if (PUT(__ATOMIC_RELEASE, &next[tail], &none, me)) {
            PUT(__ATOMIC_RELEASE, &ends[1], &last, me);
            return;
        }
    }
    for (;;) {
        int head = loadAcquire(&ends[0]), first = head, at = loadAcquire(&next[head]);
        if (!at)
            continue;
        int taken = value[at]; // BUG: race
        if (PUT(__ATOMIC_ACQ_REL, &ends[0], &first, at)) {
            out[me] = taken;
            return;
        }
    }
}
