// A workgroup hands a value to the next; the flag that says so is no atomic.
// RUN: --grid 2 --block 1 --arg buf:8:zero --arg buf:4
#include "gpu.h"

kernel void hand_over(global int *box, global int *out)
{
    global volatile atomic_int *flag = (global volatile atomic_int *)&box[1];
    if (group_id() == 0) {
        box[0] = 42; // BUG: race
        atomic_fetch_add_explicit(flag, 1, RELAXED, DEVICE); // CUT
        // FIX: atomic_fetch_add_explicit(flag, 1, RELEASE, DEVICE);
    } else {
        while (!atomic_load_explicit(flag, ACQUIRE, DEVICE))
            ;
        out[0] = box[0]; // BUG: race
    }
}
