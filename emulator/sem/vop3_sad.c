/* vop3_sad.c: sums of absolute differences (manual 16.12).
 *
 * Every function is one lane: values in, value out; see valu.c for the rest.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

static inline U32 diff(U32 a, U32 b)
{
    return a > b ? a - b : b - a;
}

static inline U32 clamp_u32(U64 v, const struct lane_mode *m)
{
    return m->clamp && v > UINT32_MAX ? UINT32_MAX : (U32)v;
}

static inline U32 sad4(U32 a, U32 b)
{
    return diff(a & 255, b & 255) + diff(a >> 8 & 255, b >> 8 & 255) +
           diff(a >> 16 & 255, b >> 16 & 255) + diff(a >> 24, b >> 24);
}

/* Bytes whose reference (S1) is zero do not count. */
static inline U32 masked1(U32 a, U32 ref)
{
    return ref ? diff(a, ref) : 0;
}

static inline U32 msad4(U32 a, U32 ref)
{
    return masked1(a & 255, ref & 255) + masked1(a >> 8 & 255, ref >> 8 & 255) +
           masked1(a >> 16 & 255, ref >> 16 & 255) + masked1(a >> 24, ref >> 24);
}

LANE_OP(v_sad_u8, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)s2 + sad4(s0, s1), m);
}

LANE_OP(v_sad_hi_u8, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)s2 + (sad4(s0, s1) << 16), m);
}

LANE_OP(v_sad_u16, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    U32 sum = diff(s0 & 0xffff, s1 & 0xffff) + diff(s0 >> 16, s1 >> 16);
    return clamp_u32((U64)s2 + sum, m);
}

LANE_OP(v_sad_u32, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)s2 + diff(s0, s1), m);
}

LANE_OP(v_msad_u8, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)s2 + msad4(s0, s1), m);
}

/* 16-bit sums saturate if clamped, else wrap. */
static inline U64 acc16(U64 acc, unsigned i, U32 sum, const struct lane_mode *m)
{
    U32 v = (U32)(acc >> (16 * i) & 0xffff) + sum;
    v = m->clamp && v > 0xffff ? 0xffff : v & 0xffff;
    return (U64)v << (16 * i);
}

/* Four windows of S0, one byte apart, against S1. */
LANE_OP(v_qsad_pk_u16_u8, U64, U64 s0, U32 s1, U64 s2, const struct lane_mode *m)
{
    return acc16(s2, 0, sad4((U32)s0, s1), m) |
           acc16(s2, 1, sad4((U32)(s0 >> 8), s1), m) |
           acc16(s2, 2, sad4((U32)(s0 >> 16), s1), m) |
           acc16(s2, 3, sad4((U32)(s0 >> 24), s1), m);
}

LANE_OP(v_mqsad_pk_u16_u8, U64, U64 s0, U32 s1, U64 s2, const struct lane_mode *m)
{
    return acc16(s2, 0, msad4((U32)s0, s1), m) |
           acc16(s2, 1, msad4((U32)(s0 >> 8), s1), m) |
           acc16(s2, 2, msad4((U32)(s0 >> 16), s1), m) |
           acc16(s2, 3, msad4((U32)(s0 >> 24), s1), m);
}

#include "vop3_sad.inc"
