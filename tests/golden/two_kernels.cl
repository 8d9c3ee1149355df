/* Two kernels in one code object.
 * SPDX-License-Identifier: MIT
 */
__kernel void first(__global int *out)
{
    out[0] = 1;
}

__kernel __attribute__((amdgpu_flat_work_group_size(1, 256))) void
second(__global int *out)
{
    out[0] = 2;
}
