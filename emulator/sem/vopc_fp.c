/* vopc_fp.c: f32 and f64 comparisons and classes (manual 16.9); v_cmpx_* shares these
 * functions.
 *
 * Input denormals are flushed as MODE says, by the host's float mode; classes see them
 * as they are. clamp only asks for exceptions (excp.c). The manual's table 112
 * misprints U: it is true if either operand is a NaN. SPDX-License-Identifier: MIT
 */
#include "fp.h"

/* ---- f32 */

LANE_OP(v_cmp_f_f32, bool, F32 s0, F32 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_f32, bool, F32 s0, F32 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_f32, bool, F32 s0, F32 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_f32, bool, F32 s0, F32 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_f32, bool, F32 s0, F32 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_lg_f32, bool, F32 s0, F32 s1)
{
    return s0 < s1 || s0 > s1;
}

LANE_OP(v_cmp_ge_f32, bool, F32 s0, F32 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_o_f32, bool, F32 s0, F32 s1)
{
    return !(fp_nan32(s0) || fp_nan32(s1));
}

LANE_OP(v_cmp_u_f32, bool, F32 s0, F32 s1)
{
    return fp_nan32(s0) || fp_nan32(s1);
}

LANE_OP(v_cmp_nge_f32, bool, F32 s0, F32 s1)
{
    return !(s0 >= s1);
}

LANE_OP(v_cmp_nlg_f32, bool, F32 s0, F32 s1)
{
    return !(s0 < s1 || s0 > s1);
}

LANE_OP(v_cmp_ngt_f32, bool, F32 s0, F32 s1)
{
    return !(s0 > s1);
}

LANE_OP(v_cmp_nle_f32, bool, F32 s0, F32 s1)
{
    return !(s0 <= s1);
}

LANE_OP(v_cmp_neq_f32, bool, F32 s0, F32 s1)
{
    return !(s0 == s1);
}

LANE_OP(v_cmp_nlt_f32, bool, F32 s0, F32 s1)
{
    return !(s0 < s1);
}

LANE_OP(v_cmp_t_f32, bool, F32 s0, F32 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* ---- f64 */

LANE_OP(v_cmp_f_f64, bool, F64 s0, F64 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_f64, bool, F64 s0, F64 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_f64, bool, F64 s0, F64 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_f64, bool, F64 s0, F64 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_f64, bool, F64 s0, F64 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_lg_f64, bool, F64 s0, F64 s1)
{
    return s0 < s1 || s0 > s1;
}

LANE_OP(v_cmp_ge_f64, bool, F64 s0, F64 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_o_f64, bool, F64 s0, F64 s1)
{
    return !(fp_nan64(s0) || fp_nan64(s1));
}

LANE_OP(v_cmp_u_f64, bool, F64 s0, F64 s1)
{
    return fp_nan64(s0) || fp_nan64(s1);
}

LANE_OP(v_cmp_nge_f64, bool, F64 s0, F64 s1)
{
    return !(s0 >= s1);
}

LANE_OP(v_cmp_nlg_f64, bool, F64 s0, F64 s1)
{
    return !(s0 < s1 || s0 > s1);
}

LANE_OP(v_cmp_ngt_f64, bool, F64 s0, F64 s1)
{
    return !(s0 > s1);
}

LANE_OP(v_cmp_nle_f64, bool, F64 s0, F64 s1)
{
    return !(s0 <= s1);
}

LANE_OP(v_cmp_neq_f64, bool, F64 s0, F64 s1)
{
    return !(s0 == s1);
}

LANE_OP(v_cmp_nlt_f64, bool, F64 s0, F64 s1)
{
    return !(s0 < s1);
}

LANE_OP(v_cmp_t_f64, bool, F64 s0, F64 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* ---- classes: S1 selects sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal,
 * +normal, +inf (bits 0..9) */

static inline bool class_bit(U32 mask, bool nan, bool quiet, bool neg, unsigned kind)
{
    unsigned bit = nan ? quiet : neg ? 2 + kind : 9 - kind;
    return mask >> bit & 1;
}

/* kind: 0 infinity, 1 normal, 2 denormal, 3 zero */
LANE_OP(v_cmp_class_f32, bool, F32 s0, U32 s1)
{
    U32 u = bits_of_f32(s0), e = fp_exponent32(s0);
    unsigned kind = e == 255 ? 0 : e ? 1 : u << 9 ? 2 : 3;
    return class_bit(s1, fp_nan32(s0), u >> 22 & 1, u >> 31, kind);
}

/* The manual compares the exponent with 1023; 2047 is meant. */
LANE_OP(v_cmp_class_f64, bool, F64 s0, U32 s1)
{
    U64 u = bits_of_f64(s0);
    U32 e = fp_exponent64(s0);
    unsigned kind = e == 2047 ? 0 : e ? 1 : u << 12 ? 2 : 3;
    return class_bit(s1, fp_nan64(s0), u >> 51 & 1, u >> 63, kind);
}

#include "vopc_fp.inc"
