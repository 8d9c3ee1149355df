// Turns 64 numbers around through LDS, but takes the wrong lane's: 62 - i, not 63 - i.
#include "gpu.h"

static inline __attribute__((always_inline)) int partner(int i)
{
    return (62 - i) & 63;
}

kernel void turn(global const int *in, global int *out)
{
    local int tile[64];
    int i = local_id();
    tile[i] = in[i];
    barrier_local();
    int from = partner(i);
    out[i] = tile[from];
}
