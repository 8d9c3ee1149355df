/* hsa_kernels.cl: kernels of hsa_suite.c; no library, no hidden arguments.
 * SPDX-License-Identifier: MIT
 */
static uint global_x(void)
{
    return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
           __builtin_amdgcn_workitem_id_x();
}

kernel void scale(global uint *out, global const uint *in, uint factor)
{
    uint i = global_x();
    out[i] = in[i] * factor + 1;
}

/* The wave's own width, as the ballot of all its lanes shows it. */
kernel void wave_width(global uint *out)
{
    ulong lanes = __builtin_amdgcn_read_exec();
    out[global_x()] = (uint)__builtin_popcountl(lanes);
}

kernel void scratch(global uint *out, uint n)
{
    volatile uint local_values[64];
    uint i = global_x();
    for (uint k = 0; k < 64; k++)
        local_values[k] = i * 64 + k;
    uint sum = 0;
    for (uint k = 0; k < n; k++)
        sum += local_values[(k * 5 + i) & 63];
    out[i] = sum;
}

kernel void increment(global uint *counter)
{
    if (__builtin_amdgcn_workitem_id_x() == 0)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

kernel void count(global uint *counter, uint n)
{
    for (uint k = 0; k < n; k++)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

kernel void forever(volatile global uint *flag)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(1);
}
