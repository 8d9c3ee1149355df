/* vopc_int.c: integer comparisons (manual 16.9); v_cmpx_* shares these functions.
 *
 * The result is this lane's bit of the mask; valu.c collects the bits and clears those
 * of inactive lanes.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

/* ---- i16 */

LANE_OP(v_cmp_lt_i16, bool, I16 s0, I16 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_i16, bool, I16 s0, I16 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_i16, bool, I16 s0, I16 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_i16, bool, I16 s0, I16 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_i16, bool, I16 s0, I16 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_i16, bool, I16 s0, I16 s1)
{
    return s0 >= s1;
}

/* ---- u16 */

LANE_OP(v_cmp_lt_u16, bool, U16 s0, U16 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_u16, bool, U16 s0, U16 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_u16, bool, U16 s0, U16 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_u16, bool, U16 s0, U16 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_u16, bool, U16 s0, U16 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_u16, bool, U16 s0, U16 s1)
{
    return s0 >= s1;
}

/* ---- i32 */

LANE_OP(v_cmp_f_i32, bool, I32 s0, I32 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_i32, bool, I32 s0, I32 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_i32, bool, I32 s0, I32 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_i32, bool, I32 s0, I32 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_i32, bool, I32 s0, I32 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_i32, bool, I32 s0, I32 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_i32, bool, I32 s0, I32 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_t_i32, bool, I32 s0, I32 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* ---- u32 */

LANE_OP(v_cmp_f_u32, bool, U32 s0, U32 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_u32, bool, U32 s0, U32 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_u32, bool, U32 s0, U32 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_u32, bool, U32 s0, U32 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_u32, bool, U32 s0, U32 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_u32, bool, U32 s0, U32 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_u32, bool, U32 s0, U32 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_t_u32, bool, U32 s0, U32 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* ---- i64 */

LANE_OP(v_cmp_f_i64, bool, I64 s0, I64 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_i64, bool, I64 s0, I64 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_i64, bool, I64 s0, I64 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_i64, bool, I64 s0, I64 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_i64, bool, I64 s0, I64 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_i64, bool, I64 s0, I64 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_i64, bool, I64 s0, I64 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_t_i64, bool, I64 s0, I64 s1)
{
    (void)s0, (void)s1;
    return true;
}

/* ---- u64 */

LANE_OP(v_cmp_f_u64, bool, U64 s0, U64 s1)
{
    (void)s0, (void)s1;
    return false;
}

LANE_OP(v_cmp_lt_u64, bool, U64 s0, U64 s1)
{
    return s0 < s1;
}

LANE_OP(v_cmp_eq_u64, bool, U64 s0, U64 s1)
{
    return s0 == s1;
}

LANE_OP(v_cmp_le_u64, bool, U64 s0, U64 s1)
{
    return s0 <= s1;
}

LANE_OP(v_cmp_gt_u64, bool, U64 s0, U64 s1)
{
    return s0 > s1;
}

LANE_OP(v_cmp_ne_u64, bool, U64 s0, U64 s1)
{
    return s0 != s1;
}

LANE_OP(v_cmp_ge_u64, bool, U64 s0, U64 s1)
{
    return s0 >= s1;
}

LANE_OP(v_cmp_t_u64, bool, U64 s0, U64 s1)
{
    (void)s0, (void)s1;
    return true;
}

#include "vopc_int.inc"
