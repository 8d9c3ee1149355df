/* vop2_int.c: VOP2 integer and bit operations (manual 16.7).
 *
 * Every function is one lane: values in, value out. EXEC, modifiers, DPP and
 * write-back live in valu.c; the VOP3 and VOPD forms of a mnemonic share its function.
 * Integer clamp saturates the exact result to the type of the destination.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

/* abs and neg are valid on the sources (manual 16.7); valu.c has applied them. */
LANE_OP(v_cndmask_b32, U32, U32 s0, U32 s1, bool sel)
{
    return sel ? s1 : s0;
}

LANE_OP(v_lshlrev_b32, U32, U32 s0, U32 s1)
{
    return s1 << (s0 & 31); /* only S0[4:0] counts */
}

LANE_OP(v_lshrrev_b32, U32, U32 s0, U32 s1)
{
    return s1 >> (s0 & 31);
}

LANE_OP(v_ashrrev_i32, I32, U32 s0, I32 s1)
{
    return s1 >> (s0 & 31); /* lane.h asserts that the host sign-fills */
}

LANE_OP(v_and_b32, U32, U32 s0, U32 s1)
{
    return s0 & s1;
}

LANE_OP(v_or_b32, U32, U32 s0, U32 s1)
{
    return s0 | s1;
}

LANE_OP(v_xor_b32, U32, U32 s0, U32 s1)
{
    return s0 ^ s1;
}

LANE_OP(v_xnor_b32, U32, U32 s0, U32 s1)
{
    return ~(s0 ^ s1);
}

LANE_OP(v_min_i32, I32, I32 s0, I32 s1)
{
    return s0 < s1 ? s0 : s1;
}

LANE_OP(v_max_i32, I32, I32 s0, I32 s1)
{
    return s0 >= s1 ? s0 : s1;
}

LANE_OP(v_min_u32, U32, U32 s0, U32 s1)
{
    return s0 < s1 ? s0 : s1;
}

LANE_OP(v_max_u32, U32, U32 s0, U32 s1)
{
    return s0 >= s1 ? s0 : s1;
}

/* ---- 24-bit multiplication: the upper eight bits of the sources are ignored */

static inline I32 sext24(I32 v)
{
    return (I32)((U32)v << 8) >> 8;
}

/* Clamped: saturation of the 48-bit product (manual 7.2.3.1 is not precise). */
LANE_OP(v_mul_i32_i24, I32, I32 s0, I32 s1, const struct lane_mode *m)
{
    I64 p = (I64)sext24(s0) * sext24(s1);
    I64 sat = p > INT32_MAX ? INT32_MAX : p < INT32_MIN ? INT32_MIN : p;
    return (I32)(U32)(U64)(m->clamp ? sat : p);
}

LANE_OP(v_mul_hi_i32_i24, I32, I32 s0, I32 s1)
{
    return (I32)((I64)sext24(s0) * sext24(s1) >> 32);
}

/* Clamped: see v_mul_i32_i24. */
LANE_OP(v_mul_u32_u24, U32, U32 s0, U32 s1, const struct lane_mode *m)
{
    U64 p = (U64)(s0 & 0xffffff) * (s1 & 0xffffff);
    return m->clamp && p > UINT32_MAX ? UINT32_MAX : (U32)p;
}

LANE_OP(v_mul_hi_u32_u24, U32, U32 s0, U32 s1)
{
    return (U32)((U64)(s0 & 0xffffff) * (s1 & 0xffffff) >> 32);
}

/* ---- addition and subtraction */

LANE_OP(v_add_nc_u32, U32, U32 s0, U32 s1, const struct lane_mode *m)
{
    U32 sum = s0 + s1;
    return m->clamp && sum < s0 ? UINT32_MAX : sum;
}

LANE_OP(v_sub_nc_u32, U32, U32 s0, U32 s1, const struct lane_mode *m)
{
    return m->clamp && s0 < s1 ? 0 : s0 - s1;
}

LANE_OP(v_subrev_nc_u32, U32, U32 s0, U32 s1, const struct lane_mode *m)
{
    return m->clamp && s1 < s0 ? 0 : s1 - s0;
}

static inline struct carry32 add_carry(U32 a, U32 b, U32 cin, bool clamp)
{
    U32 part = a + b, sum = part + cin;
    bool carry = (part < a) | (sum < part);
    return (struct carry32){.value = clamp && carry ? UINT32_MAX : sum, .carry = carry};
}

static inline struct carry32 sub_borrow(U32 a, U32 b, U32 cin, bool clamp)
{
    bool borrow = (a < b) | ((a == b) & (cin != 0));
    return (struct carry32){.value = clamp && borrow ? 0 : a - b - cin,
                            .carry = borrow};
}

/* Carry-in is this lane's bit of VCC (VOP2) or of S2 (VOP3SD). */
LANE_OP(v_add_co_ci_u32, struct carry32, U32 s0, U32 s1, bool cin,
        const struct lane_mode *m)
{
    return add_carry(s0, s1, cin, m->clamp);
}

LANE_OP(v_sub_co_ci_u32, struct carry32, U32 s0, U32 s1, bool cin,
        const struct lane_mode *m)
{
    return sub_borrow(s0, s1, cin, m->clamp);
}

/* The manual's borrow is that of v_sub_co_ci_u32; S1 - S0 - carry is meant. */
LANE_OP(v_subrev_co_ci_u32, struct carry32, U32 s0, U32 s1, bool cin,
        const struct lane_mode *m)
{
    return sub_borrow(s1, s0, cin, m->clamp);
}

LANE_OP(v_add_co_u32, struct carry32, U32 s0, U32 s1, const struct lane_mode *m)
{
    return add_carry(s0, s1, 0, m->clamp);
}

LANE_OP(v_sub_co_u32, struct carry32, U32 s0, U32 s1, const struct lane_mode *m)
{
    return sub_borrow(s0, s1, 0, m->clamp);
}

LANE_OP(v_subrev_co_u32, struct carry32, U32 s0, U32 s1, const struct lane_mode *m)
{
    return sub_borrow(s1, s0, 0, m->clamp);
}

#include "vop2_int.inc"
