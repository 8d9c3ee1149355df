/* Sums n unsigned numbers: every workgroup adds its part up in LDS, its first work-item
 * adds that to the total with one atomic.
 * SPDX-License-Identifier: MIT
 */
#include "gpu.h"

#define ITEMS 256

__kernel BLOCK(ITEMS, 1) void reduce(__global const uint *data, __global uint *total,
                                     uint n)
{
    __local uint part[ITEMS];
    uint item = ITEM_X;
    uint sum = 0;

    for (uint i = GROUP_X * ITEMS + item; i < n; i += GROUP_COUNT_X * ITEMS)
        sum += data[i];
    part[item] = sum;
    barrier_lds();
    for (uint step = ITEMS / 2; step > 0; step /= 2) {
        if (item < step)
            part[item] += part[item + step];
        barrier_lds();
    }
    if (item == 0)
        __opencl_atomic_fetch_add((__global atomic_uint *)total, part[0],
                                  memory_order_relaxed, memory_scope_device);
}
