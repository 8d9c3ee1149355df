/* gpu.h: what OpenCL C gets from a device library, from compiler builtins.
 * SPDX-License-Identifier: MIT
 */
#define local_id()    ((int)__builtin_amdgcn_workitem_id_x())
#define group_id()    ((int)__builtin_amdgcn_workgroup_id_x())
#define global_id(bs) (group_id() * (bs) + local_id())

__attribute__((always_inline)) static inline void barrier_local(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define DEVICE  memory_scope_device
#define GROUP   memory_scope_work_group

#define atomic_init               __opencl_atomic_init
#define atomic_load_explicit      __opencl_atomic_load
#define atomic_store_explicit     __opencl_atomic_store
#define atomic_exchange_explicit  __opencl_atomic_exchange
#define atomic_fetch_add_explicit __opencl_atomic_fetch_add
