// A lock that is a list of who waits: it is handed on without waiting for what was done.
// RUN: --grid 5 --block 1 --arg buf:16:zero --arg buf:80:zero
#include "hip.h"

struct node { int next, wait, pad[2]; };

__global__ void count(int *s, struct node *n)
{
    int me = blockIdx_x + 1;
    struct node *my = &n[me - 1];
    my->next = 0;
    my->wait = 1;
    int before = __hip_atomic_exchange(&s[0], me, __ATOMIC_ACQ_REL, AGENT);
    if (before) {
        storeRelease(&n[before - 1].next, me);
        while (loadAcquire(&my->wait))
            ;
    }
    s[1] += me; // BUG: race
    int was = me;
    if (!loadAcquire(&my->next)) {
        if (__hip_atomic_compare_exchange_strong(&s[0], &was, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED, AGENT))
            return;
        while (!loadAcquire(&my->next))
            ;
    }
    atomicStore(&n[atomicLoad(&my->next) - 1].wait, 0); // CUT
    // FIX: storeRelease(&n[atomicLoad(&my->next) - 1].wait, 0);
}
