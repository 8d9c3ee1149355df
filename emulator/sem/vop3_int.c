/* vop3_int.c: VOP3-only 32-bit and 64-bit integer operations (manual 16.12).
 *
 * Every function is one lane: values in, value out; see valu.c for the rest. Integer
 * clamp saturates the exact result to the type of the destination.
 * SPDX-License-Identifier: MIT
 */
#include "hostvec.h"
#include "lane.h"

static inline U32 clamp_u32(U64 v, const struct lane_mode *m)
{
    return m->clamp && v > UINT32_MAX ? UINT32_MAX : (U32)v;
}

static inline I32 clamp_i32(I64 v, const struct lane_mode *m)
{
    I64 sat = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return (I32)(U32)(U64)(m->clamp ? sat : v);
}

/* ---- addition */

LANE_OP(v_add_nc_i32, I32, I32 s0, I32 s1, const struct lane_mode *m)
{
    return clamp_i32((I64)s0 + s1, m);
}

LANE_OP(v_sub_nc_i32, I32, I32 s0, I32 s1, const struct lane_mode *m)
{
    return clamp_i32((I64)s0 - s1, m);
}

LANE_OP(v_add3_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return s0 + s1 + s2;
}

LANE_OP(v_lshl_add_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return (s0 << (s1 & 31)) + s2;
}

LANE_OP(v_add_lshl_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return (s0 + s1) << (s2 & 31);
}

LANE_OP(v_xad_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return (s0 ^ s1) + s2;
}

/* ---- logic and bit fields */

LANE_OP(v_lshl_or_b32, U32, U32 s0, U32 s1, U32 s2)
{
    return s0 << (s1 & 31) | s2;
}

LANE_OP(v_and_or_b32, U32, U32 s0, U32 s1, U32 s2)
{
    return (s0 & s1) | s2;
}

LANE_OP(v_or3_b32, U32, U32 s0, U32 s1, U32 s2)
{
    return s0 | s1 | s2;
}

LANE_OP(v_xor3_b32, U32, U32 s0, U32 s1, U32 s2)
{
    return s0 ^ s1 ^ s2;
}

LANE_OP(v_bfe_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return s0 >> (s1 & 31) & ((1u << (s2 & 31)) - 1);
}

/* Width 0 gives 0. */
LANE_OP(v_bfe_i32, I32, I32 s0, U32 s1, U32 s2)
{
    U32 width = s2 & 31, field = (U32)(s0 >> (s1 & 31));
    U32 sign = width ? 1u << (width - 1) : 0;
    return (I32)(((field & ((1u << width) - 1)) ^ sign) - sign);
}

LANE_OP(v_bfi_b32, U32, U32 s0, U32 s1, U32 s2)
{
    return (s0 & s1) | (~s0 & s2);
}

/* S0 bits of ones, S1 bits up. */
LANE_OP(v_bfm_b32, U32, U32 s0, U32 s1)
{
    return ((1u << (s0 & 31)) - 1) << (s1 & 31);
}

LANE_OP(v_bcnt_u32_b32, U32, U32 s0, U32 s1)
{
    U32 v = s0 - (s0 >> 1 & 0x55555555u);
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    return s1 + (v * 0x01010101u >> 24);
}

/* S0 holds the upper half of the 64 bits. */
LANE_OP(v_alignbit_b32, U32, U32 s0, U32 s1, U16 s2)
{
    return (U32)(((U64)s0 << 32 | s1) >> (s2 & 31));
}

LANE_OP(v_alignbyte_b32, U32, U32 s0, U32 s1, U16 s2)
{
    return (U32)(((U64)s0 << 32 | s1) >> (8 * (s2 & 3)));
}

/* One byte of the eight, a sign (8..11: of bytes 1, 3, 5, 7), 0x00 (12) or 0xff. */
static inline U32 permute_byte(U64 data, U32 sel)
{
    U32 byte = (U32)(data >> (8 * (sel & 7))) & 255;
    U32 sign = (U32)(data >> (16 * (sel & 3) + 15)) & 1 ? 255 : 0;
    return sel < 8 ? byte : sel < 12 ? sign : sel == 12 ? 0 : 255;
}

LANE_OP(v_perm_b32, U32, U32 s0, U32 s1, U32 s2)
{
    U64 data = (U64)s0 << 32 | s1;
    return permute_byte(data, s2 & 255) | permute_byte(data, s2 >> 8 & 255) << 8 |
           permute_byte(data, s2 >> 16 & 255) << 16 |
           permute_byte(data, s2 >> 24) << 24;
}

/* Byte averages; the low bit of each byte of S2 rounds up. */
LANE_OP(v_lerp_u8, U32, U32 s0, U32 s1, U32 s2)
{
    U32 even = (s0 & 0x00ff00ffu) + (s1 & 0x00ff00ffu) + (s2 & 0x00010001u);
    U32 odd =
        (s0 >> 8 & 0x00ff00ffu) + (s1 >> 8 & 0x00ff00ffu) + (s2 >> 8 & 0x00010001u);
    return (even >> 1 & 0x00ff00ffu) | (odd >> 1 & 0x00ff00ffu) << 8;
}

/* ---- 64-bit shifts */

LANE_OP(v_lshlrev_b64, U64, U32 s0, U64 s1)
{
    return s1 << (s0 & 63);
}

LANE_OP(v_lshrrev_b64, U64, U32 s0, U64 s1)
{
    return s1 >> (s0 & 63);
}

LANE_OP(v_ashrrev_i64, I64, U32 s0, I64 s1)
{
    return s1 >> (s0 & 63);
}

/* ---- multiplication. Clamped multiply-adds saturate the exact sum (for the
 * 24-bit forms manual 7.2.3.1 is not precise). */

LANE_OP(v_mul_lo_u32, U32, U32 s0, U32 s1)
{
    return s0 * s1;
}

LANE_OP(v_mul_hi_u32, U32, U32 s0, U32 s1)
{
    return (U32)((U64)s0 * s1 >> 32);
}

LANE_OP(v_mul_hi_i32, I32, I32 s0, I32 s1)
{
    return (I32)((I64)s0 * s1 >> 32);
}

LANE_OP(v_mad_i32_i24, I32, I32 s0, I32 s1, I32 s2, const struct lane_mode *m)
{
    I64 a = (I32)((U32)s0 << 8) >> 8, b = (I32)((U32)s1 << 8) >> 8;
    return clamp_i32(a * b + s2, m);
}

LANE_OP(v_mad_u32_u24, U32, U32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)(s0 & 0xffffff) * (s1 & 0xffffff) + s2, m);
}

LANE_OP(v_mad_u32_u16, U32, U16 s0, U16 s1, U32 s2, const struct lane_mode *m)
{
    return clamp_u32((U64)s0 * s1 + s2, m);
}

LANE_OP(v_mad_i32_i16, I32, I16 s0, I16 s1, I32 s2, const struct lane_mode *m)
{
    return clamp_i32((I64)s0 * s1 + s2, m);
}

/* The carry is bit 64 of the sum. */
LANE_OP(v_mad_u64_u32, struct carry64, U32 s0, U32 s1, U64 s2,
        const struct lane_mode *m)
{
    U64 sum = (U64)s0 * s1 + s2;
    bool carry = sum < s2;
    return (struct carry64){.value = m->clamp && carry ? UINT64_MAX : sum,
                            .carry = carry};
}

/* Bit 64 of the 65-bit sum is its sign. */
LANE_OP(v_mad_i64_i32, struct carry64, I32 s0, I32 s1, I64 s2,
        const struct lane_mode *m)
{
    U64 product = (U64)((I64)s0 * s1), sum = product + (U64)s2;
    U64 overflow = ((product ^ sum) & ((U64)s2 ^ sum)) >> 63, negative = sum >> 63;
    negative ^= overflow;
    U64 sat = (U64)INT64_MAX + negative, cut = 0u - (overflow & m->clamp);
    return (struct carry64){.value = (sat & cut) | (sum & ~cut), .carry = negative};
}

/* ---- minimum, maximum, median */

static inline I32 min_i32(I32 a, I32 b)
{
    return a < b ? a : b;
}
static inline I32 max_i32(I32 a, I32 b)
{
    return a < b ? b : a;
}
static inline U32 min_u32(U32 a, U32 b)
{
    return a < b ? a : b;
}
static inline U32 max_u32(U32 a, U32 b)
{
    return a < b ? b : a;
}

LANE_OP(v_min3_i32, I32, I32 s0, I32 s1, I32 s2)
{
    return min_i32(min_i32(s0, s1), s2);
}

LANE_OP(v_min3_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return min_u32(min_u32(s0, s1), s2);
}

LANE_OP(v_max3_i32, I32, I32 s0, I32 s1, I32 s2)
{
    return max_i32(max_i32(s0, s1), s2);
}

LANE_OP(v_max3_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return max_u32(max_u32(s0, s1), s2);
}

LANE_OP(v_med3_i32, I32, I32 s0, I32 s1, I32 s2)
{
    return max_i32(min_i32(s0, s1), min_i32(max_i32(s0, s1), s2));
}

LANE_OP(v_med3_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return max_u32(min_u32(s0, s1), min_u32(max_u32(s0, s1), s2));
}

LANE_OP(v_maxmin_i32, I32, I32 s0, I32 s1, I32 s2)
{
    return min_i32(max_i32(s0, s1), s2);
}

LANE_OP(v_maxmin_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return min_u32(max_u32(s0, s1), s2);
}

LANE_OP(v_minmax_i32, I32, I32 s0, I32 s1, I32 s2)
{
    return max_i32(min_i32(s0, s1), s2);
}

LANE_OP(v_minmax_u32, U32, U32 s0, U32 s1, U32 s2)
{
    return max_u32(min_u32(s0, s1), s2);
}

/* ---- the same in the host's vector registers */

#ifdef HOST_VECTORS
/* Without the selectors of signs (8 to 11), eight dwords at a time. */
static inline __m256i eight_lanes(const uint32_t *s, unsigned i)
{
    __m256i v;
    memcpy(&v, s + (size_t)8 * i, sizeof v);
    return v;
}

ROW_FORM(v_perm_b32)
{
    const __m256i place = _mm256_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0,
                                           0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    const __m256i zero = _mm256_set1_epi8(12), ones = _mm256_set1_epi8(13);
    __m256i r[4], signs = _mm256_setzero_si256();
    (void)m;
    for (unsigned i = 0; i < 4; i++) {
        __m256i hi = eight_lanes(s0, i);
        __m256i lo = eight_lanes(s1, i);
        __m256i sel = eight_lanes(s2, i);
        __m256i at = _mm256_and_si256(sel, _mm256_set1_epi8(3));
        at = _mm256_or_si256(at, place);
        __m256i byte =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(lo, at), _mm256_shuffle_epi8(hi, at),
                               _mm256_slli_epi16(sel, 5)); /* bit 2 */
        __m256i constant = _mm256_cmpeq_epi8(_mm256_max_epu8(sel, zero), sel);
        __m256i full = _mm256_cmpeq_epi8(_mm256_max_epu8(sel, ones), sel);
        r[i] = _mm256_or_si256(_mm256_andnot_si256(constant, byte), full);
        __m256i kind = _mm256_and_si256(sel, _mm256_set1_epi8((char)0xfc));
        signs = _mm256_or_si256(signs, _mm256_cmpeq_epi8(kind, _mm256_set1_epi8(8)));
    }
    if (!_mm256_testz_si256(signs, signs))
        return false;
    for (unsigned i = 0; i < 4; i++)
        memcpy(d + 8 * i, &r[i], sizeof r[i]);
    return true;
}
#endif

#include "vop3_int.inc"
