/* sop2.c: two-operand scalar operations (manual 16.1).
 *
 * Every function is values in, value (and SCC) out; reading SGPRs and writing them
 * back lives in the core. Arithmetic sets SCC to carry or overflow, bit operations to
 * "result is not zero", min and max to "the first operand was chosen".
 * SPDX-License-Identifier: MIT
 */
#include "lane.h"

static inline struct scc32 nonzero32(U32 v)
{
    return (struct scc32){.value = v, .scc = v != 0};
}

static inline struct scc64 nonzero64(U64 v)
{
    return (struct scc64){.value = v, .scc = v != 0};
}

/* SCC is bit 32 of a sum, or the borrow of a difference taken in 64 bits. */
static inline struct scc32 with_carry(U64 v)
{
    return (struct scc32){.value = (U32)v, .scc = v >> 32 & 1};
}

SCALAR_OP(s_add_u32, struct scc32, U32 s0, U32 s1)
{
    return with_carry((U64)s0 + s1);
}

SCALAR_OP(s_sub_u32, struct scc32, U32 s0, U32 s1)
{
    return with_carry((U64)s0 - s1);
}

SCALAR_OP(s_add_i32, struct scc32, U32 s0, U32 s1)
{
    U32 sum = s0 + s1;
    return (struct scc32){.value = sum, .scc = (~(s0 ^ s1) & (s0 ^ sum)) >> 31};
}

SCALAR_OP(s_sub_i32, struct scc32, U32 s0, U32 s1)
{
    U32 diff = s0 - s1;
    return (struct scc32){.value = diff, .scc = ((s0 ^ s1) & (s0 ^ diff)) >> 31};
}

SCALAR_OP(s_addc_u32, struct scc32, U32 s0, U32 s1, bool scc)
{
    return with_carry((U64)s0 + s1 + scc);
}

SCALAR_OP(s_subb_u32, struct scc32, U32 s0, U32 s1, bool scc)
{
    return with_carry((U64)s0 - s1 - scc);
}

/* The difference wraps to 32 bits before its sign is looked at. */
SCALAR_OP(s_absdiff_i32, struct scc32, U32 s0, U32 s1)
{
    U32 diff = s0 - s1;
    return nonzero32(diff >> 31 ? 0u - diff : diff);
}

SCALAR_OP(s_lshl_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 << (s1 & 31));
}

SCALAR_OP(s_lshl_b64, struct scc64, U64 s0, U32 s1)
{
    return nonzero64(s0 << (s1 & 63));
}

SCALAR_OP(s_lshr_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 >> (s1 & 31));
}

SCALAR_OP(s_lshr_b64, struct scc64, U64 s0, U32 s1)
{
    return nonzero64(s0 >> (s1 & 63));
}

SCALAR_OP(s_ashr_i32, struct scc32, I32 s0, U32 s1)
{
    return nonzero32((U32)(s0 >> (s1 & 31)));
}

SCALAR_OP(s_ashr_i64, struct scc64, I64 s0, U32 s1)
{
    return nonzero64((U64)(s0 >> (s1 & 63)));
}

/* Bits shifted out count as overflow too. */
static inline struct scc32 shift_add(U32 s0, unsigned shift, U32 s1)
{
    U64 sum = ((U64)s0 << shift) + s1;
    return (struct scc32){.value = (U32)sum, .scc = sum >> 32 != 0};
}

SCALAR_OP(s_lshl1_add_u32, struct scc32, U32 s0, U32 s1)
{
    return shift_add(s0, 1, s1);
}

SCALAR_OP(s_lshl2_add_u32, struct scc32, U32 s0, U32 s1)
{
    return shift_add(s0, 2, s1);
}

SCALAR_OP(s_lshl3_add_u32, struct scc32, U32 s0, U32 s1)
{
    return shift_add(s0, 3, s1);
}

SCALAR_OP(s_lshl4_add_u32, struct scc32, U32 s0, U32 s1)
{
    return shift_add(s0, 4, s1);
}

static inline struct scc32 choose(bool first, U32 s0, U32 s1)
{
    return (struct scc32){.value = first ? s0 : s1, .scc = first};
}

SCALAR_OP(s_min_i32, struct scc32, I32 s0, I32 s1)
{
    return choose(s0 < s1, (U32)s0, (U32)s1);
}

SCALAR_OP(s_min_u32, struct scc32, U32 s0, U32 s1)
{
    return choose(s0 < s1, s0, s1);
}

SCALAR_OP(s_max_i32, struct scc32, I32 s0, I32 s1)
{
    return choose(s0 > s1, (U32)s0, (U32)s1);
}

SCALAR_OP(s_max_u32, struct scc32, U32 s0, U32 s1)
{
    return choose(s0 > s1, s0, s1);
}

SCALAR_OP(s_and_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 & s1);
}

SCALAR_OP(s_and_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(s0 & s1);
}

SCALAR_OP(s_or_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 | s1);
}

SCALAR_OP(s_or_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(s0 | s1);
}

SCALAR_OP(s_xor_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 ^ s1);
}

SCALAR_OP(s_xor_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(s0 ^ s1);
}

SCALAR_OP(s_nand_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(~(s0 & s1));
}

SCALAR_OP(s_nand_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(~(s0 & s1));
}

SCALAR_OP(s_nor_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(~(s0 | s1));
}

SCALAR_OP(s_nor_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(~(s0 | s1));
}

SCALAR_OP(s_xnor_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(~(s0 ^ s1));
}

SCALAR_OP(s_xnor_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(~(s0 ^ s1));
}

SCALAR_OP(s_and_not1_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 & ~s1);
}

SCALAR_OP(s_and_not1_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(s0 & ~s1);
}

SCALAR_OP(s_or_not1_b32, struct scc32, U32 s0, U32 s1)
{
    return nonzero32(s0 | ~s1);
}

SCALAR_OP(s_or_not1_b64, struct scc64, U64 s0, U64 s1)
{
    return nonzero64(s0 | ~s1);
}

/* Bit fields: offset in S1[4:0] (64 bit: [5:0]), size in S1[22:16]. A size past the
 * register selects everything that is left; size 0 gives 0. The manual's masks leave
 * sizes of 32 (64) and more open; this is its intent, bits above being sign or zero. */
static inline unsigned field_size(U32 s1)
{
    return s1 >> 16 & 127;
}

SCALAR_OP(s_bfe_u32, struct scc32, U32 s0, U32 s1)
{
    unsigned size = field_size(s1);
    U32 v = s0 >> (s1 & 31);
    return nonzero32(size < 32 ? v & ((1u << size) - 1) : v);
}

SCALAR_OP(s_bfe_i32, struct scc32, I32 s0, U32 s1)
{
    unsigned size = field_size(s1);
    I32 v = s0 >> (s1 & 31);
    if (size == 0)
        return nonzero32(0);
    return nonzero32(size < 32 ? (U32)((I32)((U32)v << (32 - size)) >> (32 - size))
                               : (U32)v);
}

SCALAR_OP(s_bfe_u64, struct scc64, U64 s0, U32 s1)
{
    unsigned size = field_size(s1);
    U64 v = s0 >> (s1 & 63);
    return nonzero64(size < 64 ? v & (((U64)1 << size) - 1) : v);
}

SCALAR_OP(s_bfe_i64, struct scc64, I64 s0, U32 s1)
{
    unsigned size = field_size(s1);
    I64 v = s0 >> (s1 & 63);
    if (size == 0)
        return nonzero64(0);
    return nonzero64(size < 64 ? (U64)((I64)((U64)v << (64 - size)) >> (64 - size))
                               : (U64)v);
}

SCALAR_OP(s_bfm_b32, U32, U32 s0, U32 s1)
{
    return ((1u << (s0 & 31)) - 1) << (s1 & 31);
}

SCALAR_OP(s_bfm_b64, U64, U32 s0, U32 s1)
{
    return (((U64)1 << (s0 & 63)) - 1) << (s1 & 63);
}

SCALAR_OP(s_mul_i32, U32, U32 s0, U32 s1)
{
    return s0 * s1;
}

SCALAR_OP(s_mul_hi_u32, U32, U32 s0, U32 s1)
{
    return (U32)((U64)s0 * s1 >> 32);
}

SCALAR_OP(s_mul_hi_i32, U32, I32 s0, I32 s1)
{
    return (U32)((I64)s0 * s1 >> 32);
}

SCALAR_OP(s_cselect_b32, U32, U32 s0, U32 s1, bool scc)
{
    return scc ? s0 : s1;
}

SCALAR_OP(s_cselect_b64, U64, U64 s0, U64 s1, bool scc)
{
    return scc ? s0 : s1;
}

SCALAR_OP(s_pack_ll_b32_b16, U32, U16 s0, U16 s1)
{
    return (U32)s1 << 16 | s0;
}

SCALAR_OP(s_pack_lh_b32_b16, U32, U16 s0, U32 s1)
{
    return (s1 & 0xffff0000u) | s0;
}

SCALAR_OP(s_pack_hh_b32_b16, U32, U32 s0, U32 s1)
{
    return (s1 & 0xffff0000u) | s0 >> 16;
}

SCALAR_OP(s_pack_hl_b32_b16, U32, U32 s0, U16 s1)
{
    return (U32)s1 << 16 | s0 >> 16;
}

#include "sop2.inc"
