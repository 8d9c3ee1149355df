/* vop3_int16.c: VOP3-only 16-bit integer operations (manual 16.12).
 *
 * valu.c selects the halves (op_sel) and keeps the other half of the destination.
 * Integer clamp saturates the exact result to 16 bits.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

static inline U16 clamp_u16(I32 v, const struct lane_mode *m)
{
    I32 sat = v < 0 ? 0 : v > UINT16_MAX ? UINT16_MAX : v;
    return (U16)(m->clamp ? sat : v);
}

static inline I16 clamp_i16(I32 v, const struct lane_mode *m)
{
    I32 sat = v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
    return (I16)(m->clamp ? sat : v);
}

LANE_OP(v_cndmask_b16, U16, U16 s0, U16 s1, bool sel)
{
    return sel ? s1 : s0;
}

LANE_OP(v_and_b16, U16, U16 s0, U16 s1)
{
    return s0 & s1;
}

LANE_OP(v_or_b16, U16, U16 s0, U16 s1)
{
    return s0 | s1;
}

LANE_OP(v_xor_b16, U16, U16 s0, U16 s1)
{
    return s0 ^ s1;
}

LANE_OP(v_lshlrev_b16, U16, U16 s0, U16 s1)
{
    return (U16)((U32)s1 << (s0 & 15));
}

LANE_OP(v_lshrrev_b16, U16, U16 s0, U16 s1)
{
    return (U16)(s1 >> (s0 & 15));
}

LANE_OP(v_ashrrev_i16, I16, U16 s0, I16 s1)
{
    return (I16)(s1 >> (s0 & 15));
}

LANE_OP(v_add_nc_u16, U16, U16 s0, U16 s1, const struct lane_mode *m)
{
    return clamp_u16(s0 + s1, m);
}

LANE_OP(v_sub_nc_u16, U16, U16 s0, U16 s1, const struct lane_mode *m)
{
    return clamp_u16(s0 - s1, m);
}

LANE_OP(v_add_nc_i16, I16, I16 s0, I16 s1, const struct lane_mode *m)
{
    return clamp_i16(s0 + s1, m);
}

LANE_OP(v_sub_nc_i16, I16, I16 s0, I16 s1, const struct lane_mode *m)
{
    return clamp_i16(s0 - s1, m);
}

LANE_OP(v_mul_lo_u16, U16, U16 s0, U16 s1, const struct lane_mode *m)
{
    U32 p = (U32)s0 * s1;
    return m->clamp && p > UINT16_MAX ? UINT16_MAX : (U16)p;
}

LANE_OP(v_mad_u16, U16, U16 s0, U16 s1, U16 s2, const struct lane_mode *m)
{
    U32 sum = (U32)s0 * s1 + s2; /* at most 2^32 - 2^16 */
    return m->clamp && sum > UINT16_MAX ? UINT16_MAX : (U16)sum;
}

LANE_OP(v_mad_i16, I16, I16 s0, I16 s1, I16 s2, const struct lane_mode *m)
{
    return clamp_i16(s0 * s1 + s2, m);
}

LANE_OP(v_max_u16, U16, U16 s0, U16 s1)
{
    return s0 >= s1 ? s0 : s1;
}

LANE_OP(v_max_i16, I16, I16 s0, I16 s1)
{
    return s0 >= s1 ? s0 : s1;
}

LANE_OP(v_min_u16, U16, U16 s0, U16 s1)
{
    return s0 < s1 ? s0 : s1;
}

LANE_OP(v_min_i16, I16, I16 s0, I16 s1)
{
    return s0 < s1 ? s0 : s1;
}

LANE_OP(v_min3_u16, U16, U16 s0, U16 s1, U16 s2)
{
    return v_min_u16(v_min_u16(s0, s1), s2);
}

LANE_OP(v_min3_i16, I16, I16 s0, I16 s1, I16 s2)
{
    return v_min_i16(v_min_i16(s0, s1), s2);
}

LANE_OP(v_max3_u16, U16, U16 s0, U16 s1, U16 s2)
{
    return v_max_u16(v_max_u16(s0, s1), s2);
}

LANE_OP(v_max3_i16, I16, I16 s0, I16 s1, I16 s2)
{
    return v_max_i16(v_max_i16(s0, s1), s2);
}

LANE_OP(v_med3_u16, U16, U16 s0, U16 s1, U16 s2)
{
    return v_max_u16(v_min_u16(s0, s1), v_min_u16(v_max_u16(s0, s1), s2));
}

LANE_OP(v_med3_i16, I16, I16 s0, I16 s1, I16 s2)
{
    return v_max_i16(v_min_i16(s0, s1), v_min_i16(v_max_i16(s0, s1), s2));
}

#include "vop3_int16.inc"
