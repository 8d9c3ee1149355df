/* vop2_int.c: VOP2 integer and bit operations (manual 16.7).
 *
 * Every function is one lane: values in, value out. EXEC, modifiers, DPP and
 * write-back live in valu.c.
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

LANE_OP(v_lshlrev_b32, U32, U32 s0, U32 s1)
{
    return s1 << (s0 & 31); /* only S0[4:0] counts */
}

LANE_OP(v_xor_b32, U32, U32 s0, U32 s1)
{
    return s0 ^ s1;
}

/* Carry-in is this lane's bit of VCC (VOP2) or of S2 (VOP3SD). */
LANE_OP(v_add_co_ci_u32, struct carry32, U32 s0, U32 s1, bool cin)
{
    uint64_t sum = (uint64_t)s0 + s1 + cin;
    return (struct carry32){.value = (U32)sum, .carry = sum >> 32};
}

LANE_OP(v_add_nc_u32, U32, U32 s0, U32 s1, const struct lane_mode *m)
{
    U32 sum = s0 + s1;
    return m->clamp && sum < s0 ? UINT32_MAX : sum;
}

#include "vop2_int.inc"
