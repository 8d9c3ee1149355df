/* port.h: OpenCL C without a device library, the same source for gfx1100 and for the
 * host. Every kernel has the parameters IN, OUT, P; WAVE is the size of a sub-group.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF

struct params {
    uint n; /* work-items in all */
    int a;
    float f;
    ulong l;
    short s;
    uchar b;
};

#define BLOCK 128 /* work-items of a group */

/* Words of input and output that belong to a work-item. */
#define WORDS 16

#ifdef __AMDGCN__
#define KERNEL    __attribute__((reqd_work_group_size(BLOCK, 1, 1))) __kernel void
#define LOCAL     __local
#define LOCAL_PTR __local
#define GROUP     __builtin_amdgcn_workgroup_id_x()
#define ITEM      __builtin_amdgcn_workitem_id_x()
static inline void barrier_lds(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline uint sub_lane(void)
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)) % WAVE;
}
/* The value of another lane, which is in the same half of 32. */
static inline uint sub_shuffle(uint x, uint lane)
{
    return (uint)__builtin_amdgcn_ds_bpermute((int)lane * 4, (int)x);
}
static inline ulong sub_ballot(bool p)
{
#if WAVE == 64
    return __builtin_amdgcn_ballot_w64(p);
#else
    return __builtin_amdgcn_ballot_w32(p);
#endif
}
static inline uint sub_first(uint x)
{
    return (uint)__builtin_amdgcn_readfirstlane((int)x);
}
static inline uint sub_read(uint x, uint lane)
{
    return (uint)__builtin_amdgcn_readlane((int)x, (int)lane);
}
/* DPP: rotations within rows of 16, quads in reverse */
static inline uint sub_row_ror5(uint x)
{
    return (uint)__builtin_amdgcn_update_dpp(0, (int)x, 0x125, 0xf, 0xf, true);
}
static inline uint sub_quad_reverse(uint x)
{
    return (uint)__builtin_amdgcn_update_dpp(0, (int)x, 0x1b, 0xf, 0xf, true);
}
static inline uint sub_row_shr1(uint x) /* zero from outside of the row */
{
    return (uint)__builtin_amdgcn_update_dpp(0, (int)x, 0x111, 0xf, 0xf, true);
}
/* The other row of 16 of the half. */
static inline uint sub_row_swap(uint x)
{
    return (uint)__builtin_amdgcn_permlanex16((int)x, (int)x, 0x76543210, 0xfedcba98,
                                              false, false);
}
#else
#define KERNEL    void
#define LOCAL     static /* one group at a time */
#define LOCAL_PTR __global
uint host_group(void);
uint host_item(void);
#define GROUP     host_group()
#define ITEM      host_item()
void barrier_lds(void);
uint sub_lane(void);
uint sub_shuffle(uint x, uint lane);
ulong sub_ballot(bool p);
uint sub_first(uint x);
uint sub_read(uint x, uint lane);
uint sub_row_ror5(uint x);
uint sub_quad_reverse(uint x);
uint sub_row_shr1(uint x);
uint sub_row_swap(uint x);
#endif

#define ID (GROUP * BLOCK + ITEM)
#define ARGS                                                                           \
    __global const uint *restrict in, __global uint *restrict out, struct params p
/* Words of this work-item. */
#define MINE_IN  __global const uint *x = in + ID * WORDS
#define MINE_OUT __global uint *y = out + ID * WORDS

/* NaNs as one: which NaN it is differs between processors. */
static inline uint f32_bits(float f)
{
    return f != f ? 0x7fc00000u : as_uint(f);
}
static inline ulong f64_bits(double d)
{
    return d != d ? 0x7ff8000000000000ul : as_ulong(d);
}
static inline uint f16_bits(half h)
{
    return h != h ? 0x7e00u : (uint)as_ushort(h);
}
static inline void put64(__global uint *y, ulong v)
{
    y[0] = (uint)v;
    y[1] = (uint)(v >> 32);
}
static inline ulong get64(__global const uint *x)
{
    return x[0] | (ulong)x[1] << 32;
}
/* Usable as float: near one, or what the random bits say. */
static inline float tame(uint u)
{
    return as_float((u & 0x80ffffffu) | 0x3f000000u | (u >> 3 & 0x00800000u));
}
static inline double tame64(ulong u)
{
    return as_double((u & 0x801ffffffffffffful) | 0x3fe0000000000000ul);
}
