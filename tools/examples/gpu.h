/* gpu.h: what OpenCL C gets from a device library, here from compiler builtins, so that
 * clang alone compiles the examples.
 * SPDX-License-Identifier: MIT
 */
#define GROUP_X     __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y     __builtin_amdgcn_workgroup_id_y()
#define ITEM_X      __builtin_amdgcn_workitem_id_x()
#define ITEM_Y      __builtin_amdgcn_workitem_id_y()
#define BLOCK(x, y) __attribute__((reqd_work_group_size(x, y, 1)))

/* Workgroups in x: a hidden kernel argument (code object v5). */
#define GROUP_COUNT_X (*(__constant uint *)__builtin_amdgcn_implicitarg_ptr())

static inline void barrier_lds(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
