/* sop1.c: one-operand scalar operations that only compute (manual 16.3).
 *
 * Every function is values in, value (and SCC) out; reading SGPRs and writing them
 * back, and everything that touches PC, EXEC, M0 or MODE, lives in the core.
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

SCALAR_OP(s_mov_b32, U32, U32 s0)
{
    return s0;
}

SCALAR_OP(s_mov_b64, U64, U64 s0)
{
    return s0;
}

SCALAR_OP(s_cmov_b32, U32, U32 s0, U32 old, bool scc)
{
    return scc ? s0 : old;
}

SCALAR_OP(s_cmov_b64, U64, U64 s0, U64 old, bool scc)
{
    return scc ? s0 : old;
}

static inline U64 reverse_bits(U64 v)
{
    v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(v);
}

SCALAR_OP(s_brev_b32, U32, U32 s0)
{
    return (U32)(reverse_bits(s0) >> 32);
}

SCALAR_OP(s_brev_b64, U64, U64 s0)
{
    return reverse_bits(s0);
}

/* The counts are -1 if there is nothing to find. */
SCALAR_OP(s_ctz_i32_b32, I32, U32 s0)
{
    return s0 ? __builtin_ctz(s0) : -1;
}

SCALAR_OP(s_ctz_i32_b64, I32, U64 s0)
{
    return s0 ? __builtin_ctzll(s0) : -1;
}

SCALAR_OP(s_clz_i32_u32, I32, U32 s0)
{
    return s0 ? __builtin_clz(s0) : -1;
}

SCALAR_OP(s_clz_i32_u64, I32, U64 s0)
{
    return s0 ? __builtin_clzll(s0) : -1;
}

/* Leading bits equal to the sign bit, the sign bit included. */
SCALAR_OP(s_cls_i32, I32, I32 s0)
{
    U32 differing = (U32)(s0 ^ s0 >> 31);
    return differing ? __builtin_clz(differing) : -1;
}

SCALAR_OP(s_cls_i32_i64, I32, I64 s0)
{
    U64 differing = (U64)(s0 ^ s0 >> 63);
    return differing ? __builtin_clzll(differing) : -1;
}

SCALAR_OP(s_sext_i32_i8, I32, I16 s0)
{
    return (int8_t)s0;
}

SCALAR_OP(s_sext_i32_i16, I32, I16 s0)
{
    return s0;
}

SCALAR_OP(s_bitset0_b32, U32, U32 s0, U32 old)
{
    return old & ~(1u << (s0 & 31));
}

SCALAR_OP(s_bitset0_b64, U64, U32 s0, U64 old)
{
    return old & ~((U64)1 << (s0 & 63));
}

SCALAR_OP(s_bitset1_b32, U32, U32 s0, U32 old)
{
    return old | 1u << (s0 & 31);
}

SCALAR_OP(s_bitset1_b64, U64, U32 s0, U64 old)
{
    return old | (U64)1 << (s0 & 63);
}

/* Spread the bits to the even positions, then double each. */
SCALAR_OP(s_bitreplicate_b64_b32, U64, U32 s0)
{
    U64 v = s0;
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    v = (v | v << 1) & 0x5555555555555555u;
    return v | v << 1;
}

SCALAR_OP(s_abs_i32, struct scc32, I32 s0)
{
    return nonzero32(s0 < 0 ? 0u - (U32)s0 : (U32)s0); /* INT_MIN stays */
}

SCALAR_OP(s_bcnt0_i32_b32, struct scc32, U32 s0)
{
    return nonzero32((U32)__builtin_popcount(~s0));
}

SCALAR_OP(s_bcnt0_i32_b64, struct scc32, U64 s0)
{
    return nonzero32((U32)__builtin_popcountll(~s0));
}

SCALAR_OP(s_bcnt1_i32_b32, struct scc32, U32 s0)
{
    return nonzero32((U32)__builtin_popcount(s0));
}

SCALAR_OP(s_bcnt1_i32_b64, struct scc32, U64 s0)
{
    return nonzero32((U32)__builtin_popcountll(s0));
}

/* Bit 4*i of the result: any bit of quad i set. */
static inline U64 quad_any(U64 v)
{
    v |= v >> 1;
    v |= v >> 2;
    return v & 0x1111111111111111u;
}

static inline U64 quad_mask(U64 v)
{
    v = quad_any(v);
    v = (v | v >> 3) & 0x0303030303030303u;
    v = (v | v >> 6) & 0x000f000f000f000fu;
    v = (v | v >> 12) & 0x000000ff000000ffu;
    return (v | v >> 24) & 0xffff;
}

SCALAR_OP(s_quadmask_b32, struct scc32, U32 s0)
{
    return nonzero32((U32)quad_mask(s0));
}

SCALAR_OP(s_quadmask_b64, struct scc64, U64 s0)
{
    return nonzero64(quad_mask(s0));
}

SCALAR_OP(s_wqm_b32, struct scc32, U32 s0)
{
    return nonzero32((U32)quad_any(s0) * 15);
}

SCALAR_OP(s_wqm_b64, struct scc64, U64 s0)
{
    return nonzero64(quad_any(s0) * 15);
}

SCALAR_OP(s_not_b32, struct scc32, U32 s0)
{
    return nonzero32(~s0);
}

SCALAR_OP(s_not_b64, struct scc64, U64 s0)
{
    return nonzero64(~s0);
}

#include "sop1.inc"
