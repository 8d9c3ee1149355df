/* vop1_int.c: VOP1 moves, bit operations and integer conversions (manual 16.8).
 *
 * Every function is one lane: values in, value out; see valu.c for the rest.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

/* abs and neg are valid on the source (manual 16.8); valu.c has applied them. */
LANE_OP(v_mov_b32, U32, U32 s0)
{
    return s0;
}

LANE_OP(v_mov_b16, U16, U16 s0)
{
    return s0;
}

LANE_OP(v_not_b32, U32, U32 s0)
{
    return ~s0;
}

LANE_OP(v_not_b16, U16, U16 s0)
{
    return (U16)~s0;
}

LANE_OP(v_bfrev_b32, U32, U32 s0)
{
    U32 v = (s0 >> 1 & 0x55555555u) | (s0 & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    return v >> 16 | v << 16;
}

/* Leading zeros; -1 if there is no one. */
LANE_OP(v_clz_i32_u32, I32, U32 s0)
{
    return s0 ? __builtin_clz(s0) : -1;
}

/* Trailing zeros; -1 if there is no one. */
LANE_OP(v_ctz_i32_b32, I32, U32 s0)
{
    return s0 ? __builtin_ctz(s0) : -1;
}

/* Leading bits that equal the sign bit; -1 if all do. */
LANE_OP(v_cls_i32, I32, I32 s0)
{
    U32 v = (U32)(s0 ^ s0 >> 31);
    return v ? __builtin_clz(v) : -1;
}

LANE_OP(v_cvt_i32_i16, I32, I16 s0)
{
    return s0;
}

LANE_OP(v_cvt_u32_u16, U32, U16 s0)
{
    return s0;
}

/* Two signed words, each saturated to an unsigned byte. */
LANE_OP(v_sat_pk_u8_i16, U16, U32 s0)
{
    I32 lo = (I16)s0, hi = (I16)(s0 >> 16);
    lo = lo < 0 ? 0 : lo > 255 ? 255 : lo;
    hi = hi < 0 ? 0 : hi > 255 ? 255 : hi;
    return (U16)(lo | hi << 8);
}

#include "vop1_int.inc"
