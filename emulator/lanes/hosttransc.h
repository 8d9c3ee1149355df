/* hosttransc.h: transcendental functions of transc.h in the host's vector registers,
 * for ROW_FORMs: the same bits, by the same tables.
 *
 * Sixteen lanes: a table of 32 entries is two registers, from which one instruction
 * looks up. Products of more than 32 bits are two vectors: of the even lanes and of the
 * odd ones. SPDX-License-Identifier: MIT
 */
#ifndef RD_HOSTTRANSC_H
#define RD_HOSTTRANSC_H

#include <string.h>

#include "hostvec.h"
#include "transc.h"

#if defined(HOST_VECTORS) && HV_LANES == 16
#define HT_ODD 0xaaaau

/* t[i & 31] */
static inline __m512i ht_lookup(const U32 t[32], __m512i i)
{
    return _mm512_permutex2var_epi32(_mm512_loadu_si512(t), i,
                                     _mm512_loadu_si512(t + 16));
}

static inline __m512i ht_odd(__m512i v)
{
    return _mm512_srli_epi64(v, 32);
}

/* Products of the even lanes, of the odd ones. */
static inline __m512i ht_mul(__m512i a, __m512i b)
{
    return _mm512_mul_epu32(a, b);
}
static inline __m512i ht_mul_odd(__m512i a, __m512i b)
{
    return _mm512_mul_epu32(ht_odd(a), ht_odd(b));
}

/* The lower dwords of both. */
static inline __m512i ht_low(__m512i even, __m512i odd)
{
    return _mm512_mask_blend_epi32(HT_ODD, even, _mm512_slli_epi64(odd, 32));
}

static inline __m512i ht_set(U32 v)
{
    return _mm512_set1_epi32((int)v);
}

/* p >> 38 != 0 ? rne(p, 15) << 1 : rne(p, 14) of products: hi is p >> 14, lo what that
 * cuts off, at the top of a dword. */
static inline __m512i ht_rcp_linear(__m512i hi, __m512i lo)
{
    const __m512i one = ht_set(1), two = ht_set(2);
    __mmask16 big = _mm512_test_epi32_mask(hi, ht_set(0x1000000));
    __m512i bit = _mm512_and_si512(hi, one), even = _mm512_xor_si512(hi, bit);
    __mmask16 up =
        _mm512_cmpgt_epu32_mask(_mm512_add_epi32(lo, bit), ht_set(0x80000000));
    __m512i more = _mm512_or_si512(lo, _mm512_and_si512(hi, two));
    __mmask16 up_big =
        _mm512_mask_test_epi32_mask(_mm512_test_epi32_mask(hi, one), more, more);
    hi = _mm512_mask_add_epi32(hi, up, hi, one);
    hi = _mm512_mask_mov_epi32(hi, big, even);
    return _mm512_mask_add_epi32(hi, big & up_big, hi, two);
}

/* inner * square >> 49: bits of a sum with 2^101, rounded down. */
static inline __m512i ht_rcp_square(__m512i inner, __m512i square)
{
    __m512d s = _mm512_fmadd_round_pd(
        _mm512_cvtepi64_pd(inner), _mm512_cvtepi64_pd(square), _mm512_set1_pd(0x1p101),
        _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return _mm512_castpd_si512(s);
}

static inline __m512i ht_rcp(__m512i u)
{
    const __m512i inf = ht_set(0x7f800000), least = ht_set(0x800000);
    __m512i a = _mm512_and_si512(u, ht_set(0x7fffffff));
    __m512i row = _mm512_srli_epi32(a, 18), f = _mm512_and_si512(a, ht_set(0x3ffff));
    __m512i slope = _mm512_slli_epi32(ht_lookup(rcp_linear, row), 4);
    __m512i at = _mm512_slli_epi32(f, 14); /* the product's upper dword is p >> 14 */
    __m512i even = ht_mul(slope, at), odd = ht_mul_odd(slope, at);
    __m512i hi = _mm512_mask_blend_epi32(HT_ODD, ht_odd(even), odd);
    __m512i linear = ht_rcp_linear(hi, ht_low(even, odd));

    __m512i quadratic = ht_lookup(rcp_quadratic, row),
            cubic = ht_lookup(rcp_cubic, row);
    __m512i h = _mm512_srli_epi32(f, 1), unit = ht_set(1u << 18);
    even = _mm512_sub_epi64(ht_mul(quadratic, unit), ht_mul(cubic, f));
    odd = _mm512_sub_epi64(ht_mul_odd(quadratic, unit), ht_mul_odd(cubic, f));
    even = ht_rcp_square(even, ht_mul(h, h));
    odd = ht_rcp_square(odd, ht_mul_odd(h, h));
    __m512i q = ht_low(even, odd);

    __m512i sum = _mm512_slli_epi32(ht_lookup(rcp_constant, row), 4);
    sum = _mm512_sub_epi32(_mm512_add_epi32(sum, ht_set(32)), linear);
    sum = _mm512_add_epi32(sum, _mm512_add_epi32(q, q));
    __m512i r = _mm512_add_epi32(_mm512_srli_epi32(sum, 6), ht_set(0x7e000000));
    r = _mm512_sub_epi32(r, _mm512_and_si512(a, inf)); /* may be negative */
    r = _mm512_maskz_mov_epi32(_mm512_cmpge_epi32_mask(r, least), r);
    r = _mm512_mask_mov_epi32(r, _mm512_cmplt_epu32_mask(a, least), inf);
    r = _mm512_maskz_mov_epi32(_mm512_cmplt_epu32_mask(a, inf), r);
    r = _mm512_or_si512(r, _mm512_andnot_si512(ht_set(0x7fffffff), u));
    return _mm512_mask_or_epi32(r, _mm512_cmpgt_epu32_mask(a, inf), u,
                                ht_set(0x400000));
}

/* Mostly compilers divide by one number in all lanes. */
static inline bool hrow_rcp(uint32_t *d, const uint32_t *s)
{
    __m512i lower = _mm512_loadu_si512(s), upper = _mm512_loadu_si512(s + 16);
    __m512i lo = ht_rcp(lower), hi = lo;
    if (_mm512_cmpneq_epi32_mask(lower, upper))
        hi = ht_rcp(upper);
    _mm512_storeu_si512(d, lo);
    _mm512_storeu_si512(d + 16, hi);
    return true;
}

#elif defined(HOST_VECTORS)
/* The compiler's vectors are as good. Lanes that repeat the first eight are copied. */
static inline bool hrow_rcp(uint32_t *d, const uint32_t *s)
{
    const unsigned n = memcmp(s, s + 8, 24 * sizeof *s) ? 32 : 8;
#if defined(__clang__)
    _Pragma("clang loop vectorize(assume_safety)")
#else
    _Pragma("GCC ivdep")
#endif
        for (unsigned l = 0; l < n; l++) d[l] =
            bits_of_f32(transc_rcp(f32_of_bits(s[l])));
    for (unsigned l = n; l < 32; l += 8)
        memcpy(d + l, d, 8 * sizeof *d);
    return true;
}
#endif

#endif
