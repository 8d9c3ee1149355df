/* lanes.h: what OpenCL C gets from a device library, here from compiler builtins.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define GROUP    __builtin_amdgcn_workgroup_id_x()
#define LANE     __builtin_amdgcn_workitem_id_x()
#define BLOCK(x) __attribute__((reqd_work_group_size(x, 1, 1)))

typedef half fragment __attribute__((ext_vector_type(16)));
typedef float tile __attribute__((ext_vector_type(8)));

static inline void barrier_lds(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* x of lane ^ mask. */
static inline float other_lane(float x, uint mask)
{
    int from = (int)((LANE ^ mask) & 31) * 4;
    return __builtin_astype(
        __builtin_amdgcn_ds_bpermute(from, __builtin_astype(x, int)), float);
}
