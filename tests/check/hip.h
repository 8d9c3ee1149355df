/* hip.h: what HIP gets from its headers, from compiler builtins.
 * SPDX-License-Identifier: MIT
 */
#define __global__   __attribute__((global))
#define __device__   __attribute__((device))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))

#define threadIdx_x ((int)__builtin_amdgcn_workitem_id_x())
#define threadIdx_y ((int)__builtin_amdgcn_workitem_id_y())
#define blockIdx_x  ((int)__builtin_amdgcn_workgroup_id_x())
#define blockDim_x  ((int)__builtin_amdgcn_workgroup_size_x())

__attribute__((device, always_inline)) static inline void __syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#define __threadfence() __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")

#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define GROUP __HIP_MEMORY_SCOPE_WORKGROUP

#define atomicAdd(p, v)    __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, AGENT)
#define atomicMax(p, v)    __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, AGENT)
#define atomicExch(p, v)   __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, AGENT)
#define atomicLoad(p)      __hip_atomic_load(p, __ATOMIC_RELAXED, AGENT)
#define atomicStore(p, v)  __hip_atomic_store(p, v, __ATOMIC_RELAXED, AGENT)
#define loadAcquire(p)     __hip_atomic_load(p, __ATOMIC_ACQUIRE, AGENT)
#define storeRelease(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, AGENT)

/* Whether *p was 0 and is 1 now. */
__attribute__((device, always_inline)) static inline bool try_lock(int *p)
{
    int expected = 0;
    return __hip_atomic_compare_exchange_strong(p, &expected, 1, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED, AGENT);
}
