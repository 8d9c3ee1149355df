/* vopc_f16.c: f16 comparisons and classes (manual 16.9); v_cmpx_* shares these
 * functions.
 *
 * Numbers are compared as integers of the same order.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"

static inline bool unordered(F16 a, F16 b)
{
    return fp_nan16(a) || fp_nan16(b);
}

/* Monotonic in the number; both zeros, and denormals if flushed, are 0. */
static inline I32 value(F16 h, const struct lane_mode *m)
{
    I32 magnitude = fp_in16(h, m) & 0x7fff;
    return h & 0x8000 ? -magnitude : magnitude;
}

/* ---- f16 */

LANE_OP(v_cmp_f_f16, bool, F16 s0, F16 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) < value(s1, m);
}

LANE_OP(v_cmp_eq_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) == value(s1, m);
}

LANE_OP(v_cmp_le_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) <= value(s1, m);
}

LANE_OP(v_cmp_gt_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) > value(s1, m);
}

LANE_OP(v_cmp_lg_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) != value(s1, m);
}

LANE_OP(v_cmp_ge_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return !unordered(s0, s1) && value(s0, m) >= value(s1, m);
}

LANE_OP(v_cmp_o_f16, bool, F16 s0, F16 s1)
{
    return !unordered(s0, s1);
}

LANE_OP(v_cmp_u_f16, bool, F16 s0, F16 s1)
{
    return unordered(s0, s1);
}

LANE_OP(v_cmp_nge_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) < value(s1, m);
}

LANE_OP(v_cmp_nlg_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) == value(s1, m);
}

LANE_OP(v_cmp_ngt_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) <= value(s1, m);
}

LANE_OP(v_cmp_nle_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) > value(s1, m);
}

LANE_OP(v_cmp_neq_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) != value(s1, m);
}

LANE_OP(v_cmp_nlt_f16, bool, F16 s0, F16 s1, const struct lane_mode *m)
{
    return unordered(s0, s1) || value(s0, m) >= value(s1, m);
}

LANE_OP(v_cmp_t_f16, bool, F16 s0, F16 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* S1 selects sNaN, qNaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf
 * (bits 0..9); denormals are never flushed here. */
LANE_OP(v_cmp_class_f16, bool, F16 s0, U16 s1)
{
    U32 e = s0 & 0x7c00u;
    unsigned kind = e == 0x7c00u ? 0 : e ? 1 : s0 & 0x3ffu ? 2 : 3;
    unsigned bit = fp_nan16(s0) ? s0 >> 9 & 1 : s0 & 0x8000u ? 2 + kind : 9 - kind;
    return s1 >> bit & 1;
}

#include "vopc_f16.inc"
