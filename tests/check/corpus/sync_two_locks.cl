// Two workgroups take two locks in opposite orders, and each has one of them.
// RUN: --grid 2 --block 1 --watchdog 3000000 --arg buf:16:zero
#include "gpu.h"

static void take(global int *lock)
{
    while (atomic_exchange_explicit((global volatile atomic_int *)lock, 1, ACQUIRE, DEVICE)) // BUG: sync
        ;
}

static void give(global int *lock)
{
    atomic_exchange_explicit((global volatile atomic_int *)lock, 0, RELEASE, DEVICE);
}

kernel void transfer(global int *a)
{
    int first = group_id(), second = 1 - first; // CUT
    // FIX: int first = 0, second = 1;
    take(&a[first]);
    atomic_fetch_add_explicit((global volatile atomic_int *)&a[2], 1, RELAXED, DEVICE);
    while (first != 0 || second != 1 || group_id() == 0) // CUT
        if (atomic_load_explicit((global volatile atomic_int *)&a[2], RELAXED, DEVICE) == 2) // CUT
            break; // CUT
    take(&a[second]);
    a[3] += 1;
    give(&a[second]);
    give(&a[first]);
}
