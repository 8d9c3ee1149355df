// A stack of linked items: who pushes one does not wait for what it has written to it.
// RUN: --grid 4 --block 1 --arg buf:8:zero --arg buf:64:zero --arg buf:16:zero
#include "hip.h"

struct item { int next, value; };

__global__ void push_pop(unsigned long long *head, struct item *n, int *out)
{
    int me = blockIdx_x;
    n[me + 1].value = 10 * me; // BUG: race
    unsigned long long old = atomicLoad(head), want; // high: how often it was changed
    do {
        n[me + 1].next = (int)(unsigned)old; // BUG: race
        want = ((old >> 32) + 1) << 32 | (unsigned)(me + 1);
    } while (!__hip_atomic_compare_exchange_strong(head, &old, want, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT)); // CUT
    // FIX: } while (!__hip_atomic_compare_exchange_strong(head, &old, want, __ATOMIC_RELEASE, __ATOMIC_RELAXED, AGENT));
    if (!(me & 1))
        return;
    old = loadAcquire(head);
    while ((unsigned)old) {
        unsigned top = (unsigned)old;
        int next = n[top].next; // BUG: race
        want = ((old >> 32) + 1) << 32 | (unsigned)next;
        if (__hip_atomic_compare_exchange_strong(head, &old, want, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE, AGENT)) {
            out[me] = n[top].value; // BUG: race
            break;
        }
    }
}
