/* sopc.c: scalar compares (manual 16.4). The result is SCC.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

SCALAR_OP(s_cmp_eq_i32, bool, I32 s0, I32 s1)
{
    return s0 == s1;
}

SCALAR_OP(s_cmp_lg_i32, bool, I32 s0, I32 s1)
{
    return s0 != s1;
}

SCALAR_OP(s_cmp_gt_i32, bool, I32 s0, I32 s1)
{
    return s0 > s1;
}

SCALAR_OP(s_cmp_ge_i32, bool, I32 s0, I32 s1)
{
    return s0 >= s1;
}

SCALAR_OP(s_cmp_lt_i32, bool, I32 s0, I32 s1)
{
    return s0 < s1;
}

SCALAR_OP(s_cmp_le_i32, bool, I32 s0, I32 s1)
{
    return s0 <= s1;
}

SCALAR_OP(s_cmp_eq_u32, bool, U32 s0, U32 s1)
{
    return s0 == s1;
}

SCALAR_OP(s_cmp_lg_u32, bool, U32 s0, U32 s1)
{
    return s0 != s1;
}

SCALAR_OP(s_cmp_gt_u32, bool, U32 s0, U32 s1)
{
    return s0 > s1;
}

SCALAR_OP(s_cmp_ge_u32, bool, U32 s0, U32 s1)
{
    return s0 >= s1;
}

SCALAR_OP(s_cmp_lt_u32, bool, U32 s0, U32 s1)
{
    return s0 < s1;
}

SCALAR_OP(s_cmp_le_u32, bool, U32 s0, U32 s1)
{
    return s0 <= s1;
}

SCALAR_OP(s_bitcmp0_b32, bool, U32 s0, U32 s1)
{
    return (s0 >> (s1 & 31) & 1) == 0;
}

SCALAR_OP(s_bitcmp1_b32, bool, U32 s0, U32 s1)
{
    return (s0 >> (s1 & 31) & 1) == 1;
}

SCALAR_OP(s_bitcmp0_b64, bool, U64 s0, U32 s1)
{
    return (s0 >> (s1 & 63) & 1) == 0;
}

SCALAR_OP(s_bitcmp1_b64, bool, U64 s0, U32 s1)
{
    return (s0 >> (s1 & 63) & 1) == 1;
}

SCALAR_OP(s_cmp_eq_u64, bool, U64 s0, U64 s1)
{
    return s0 == s1;
}

SCALAR_OP(s_cmp_lg_u64, bool, U64 s0, U64 s1)
{
    return s0 != s1;
}

#include "sopc.inc"
