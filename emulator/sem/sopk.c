/* sopk.c: scalar operations with a 16-bit constant (manual 16.2).
 *
 * The constant arrives extended to 32 bits: zero-extended for the _u32 compares,
 * sign-extended otherwise. Register access, hardware registers, calls and waits live
 * in the core.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

SCALAR_OP(s_movk_i32, I32, I32 k)
{
    return k;
}

SCALAR_OP(s_cmovk_i32, I32, I32 k, I32 old, bool scc)
{
    return scc ? k : old;
}

SCALAR_OP(s_cmpk_eq_i32, bool, I32 s0, I32 k)
{
    return s0 == k;
}

SCALAR_OP(s_cmpk_lg_i32, bool, I32 s0, I32 k)
{
    return s0 != k;
}

SCALAR_OP(s_cmpk_gt_i32, bool, I32 s0, I32 k)
{
    return s0 > k;
}

SCALAR_OP(s_cmpk_ge_i32, bool, I32 s0, I32 k)
{
    return s0 >= k;
}

SCALAR_OP(s_cmpk_lt_i32, bool, I32 s0, I32 k)
{
    return s0 < k;
}

SCALAR_OP(s_cmpk_le_i32, bool, I32 s0, I32 k)
{
    return s0 <= k;
}

SCALAR_OP(s_cmpk_eq_u32, bool, U32 s0, U32 k)
{
    return s0 == k;
}

SCALAR_OP(s_cmpk_lg_u32, bool, U32 s0, U32 k)
{
    return s0 != k;
}

SCALAR_OP(s_cmpk_gt_u32, bool, U32 s0, U32 k)
{
    return s0 > k;
}

SCALAR_OP(s_cmpk_ge_u32, bool, U32 s0, U32 k)
{
    return s0 >= k;
}

SCALAR_OP(s_cmpk_lt_u32, bool, U32 s0, U32 k)
{
    return s0 < k;
}

SCALAR_OP(s_cmpk_le_u32, bool, U32 s0, U32 k)
{
    return s0 <= k;
}

/* SCC is signed overflow. */
SCALAR_OP(s_addk_i32, struct scc32, I32 k, U32 old)
{
    U32 sum = old + (U32)k;
    return (struct scc32){.value = sum, .scc = (~(old ^ (U32)k) & (old ^ sum)) >> 31};
}

SCALAR_OP(s_mulk_i32, U32, I32 k, U32 old)
{
    return old * (U32)k;
}

#include "sopk.inc"
