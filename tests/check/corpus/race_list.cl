// An element is put at the head of a list before it points to the rest.
// RUN: --grid 2 --block 1 --arg buf:4:zero --arg buf:16:zero --arg buf:8:zero
#include "gpu.h"

kernel void push(global int *head, global int *next, global int *out)
{
    global volatile atomic_int *h = (global volatile atomic_int *)head;
    int me = group_id() + 1;
    if (me == 1) {
        atomic_exchange_explicit(h, me, RELAXED, DEVICE); // CUT
        next[me] = 77; // BUG: race
        // FIX: atomic_exchange_explicit(h, me, RELEASE, DEVICE);
    } else {
        while (!atomic_load_explicit(h, ACQUIRE, DEVICE))
            ;
        out[1] = next[1]; // BUG: race
    }
}
