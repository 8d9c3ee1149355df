/* cost.cl: a kernel whose time is in proportion to n. SPDX-License-Identifier: MIT */
kernel void work(global uint *out, uint n)
{
    uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
             __builtin_amdgcn_workitem_id_x();
    uint v = i;
    float f = (float)i;
    for (uint k = 0; k < n; k++) {
        v = v * 1664525u + 1013904223u;
        f = f * 0.5f + (float)(v >> 20);
    }
    out[i] = v ^ as_uint(f);
}
