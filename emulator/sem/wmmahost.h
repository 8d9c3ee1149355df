/* wmmahost.h: the inner loops of WMMA in the host's vector registers: sixteen columns
 * of a row at a time. Exists where hostvec.h does (HOST_VECTORS).
 *
 * The rules of the float forms are those of dot2.h, in a form without C's sign frame.
 * With the terms' signs as they are, the sum S of rule 3 is
 *
 *     S = x0 + x1 + trunc(C / unit) + (C < 0 ? 2 : 0),
 *
 * where x is floor(product / unit) of a positive product and one less than the rounded
 * up quotient of a negative one (zeros included). A product is kept as its significand,
 * doubled, plus its sign (both halves of one VPMADDWD): that is never a multiple of the
 * doubled unit, so an arithmetic shift right gives x.
 *
 * Units are exponent fields: f stands for a unit of 2^(f - 127), 0 for "no term". So
 * that none is below 0 and nothing overflows on the way, whoever calls this
 *  - leaves infinite and NaN factors to dot2.h;
 *  - has exponents of non-zero products between DOT2_HOST_LEAST and DOT2_HOST_MOST;
 *  - has each C either zero or of a magnitude from 2^-100 to 2^120;
 *  - rounds to nearest (F32, BF16 results) or to zero (F16), and flushes nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_WMMAHOST_H
#define RD_WMMAHOST_H

#include "dot2.h"
#include "hostvec.h"

/* Sums of two factors' exponents. */
#define DOT2_HOST_LEAST (-76)
#define DOT2_HOST_MOST  90
#define DOT2_HOST_C_MIN 0x0d800000u /* 2^-100 */
#define DOT2_HOST_C_MAX 0x7b800000u /* 2^120 */

#ifdef HOST_VECTORS
#if HV_LANES == 16
typedef __m512i hvi;
#define hvi_of(v) _mm512_castps_si512(v)
#define hv_of(v)  _mm512_castsi512_ps(v)
/* v + (c < 0 ? 2 : 0); a test leaves the port alone that shifts need */
#define hvi_add_sign2(v, c)                                                            \
    _mm512_mask_add_epi32(v, _mm512_test_epi32_mask(c, _mm512_set1_epi32(INT32_MIN)),  \
                          v, _mm512_set1_epi32(2))
/* f, its lowest bit set where the integer i is not g */
#define hvi_odd_unless(f, i, g)                                                        \
    _mm512_mask_or_epi32(f, _mm512_cmpneq_epi32_mask(i, g), f, _mm512_set1_epi32(1))
#define hv_f16_round(v)                                                                \
    _mm512_cvtph_ps(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
#define hvi_and(a, b) _mm512_and_si512(a, b)
#define hvi_or(a, b)  _mm512_or_si512(a, b)
#define hvi_xor(a, b) _mm512_xor_si512(a, b)
/* v where the 16-bit z is not 0, else 0 */
#define hvi_where16(z, v) _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(z, z), v)
/* a where s is negative, else b */
#define hvi_where_negative(s, a, b) _mm512_mask_mov_epi32(b, _mm512_movepi32_mask(s), a)
#else
typedef __m256i hvi;
#define hvi_of(v) _mm256_castps_si256(v)
#define hv_of(v)  _mm256_castsi256_ps(v)
#define hvi_add_sign2(v, c)                                                            \
    _mm256_add_epi32(v,                                                                \
                     _mm256_and_si256(_mm256_srai_epi32(c, 31), _mm256_set1_epi32(2)))
#define hvi_odd_unless(f, i, g)                                                        \
    _mm256_or_si256(                                                                   \
        f, _mm256_andnot_si256(_mm256_cmpeq_epi32(i, g), _mm256_set1_epi32(1)))
#define hv_f16_round(v)                                                                \
    _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
#define hvi_and(a, b) _mm256_and_si256(a, b)
#define hvi_or(a, b)  _mm256_or_si256(a, b)
#define hvi_xor(a, b) _mm256_xor_si256(a, b)
#define hvi_where16(z, v)                                                              \
    _mm256_andnot_si256(_mm256_cmpeq_epi16(z, _mm256_setzero_si256()), v)
#define hvi_where_negative(s, a, b)                                                    \
    hvi_of(_mm256_blendv_ps(hv_of(b), hv_of(a), hv_of(s)))
#endif

/* One unaligned move each. */
static inline hvi hvi_load(const void *p)
{
    hvi v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void hvi_store(void *p, hvi v)
{
    memcpy(p, &v, sizeof v);
}

/* f32 bits on their way into the sums: denormals become zeros, and *beyond is set where
 * a magnitude is neither 0 nor in bounds. */
#if HV_LANES == 16
__attribute__((always_inline)) static inline hvi dot2_host_c(hvi v, bool *beyond)
{
    const hvi least = HV_(set1_epi32)(0x800000), sign = HV_(set1_epi32)(INT32_MIN);
    hvi a = _mm512_andnot_si512(sign, v);
    __mmask16 some = _mm512_cmpge_epi32_mask(a, least);
    hvi over = HV_(sub_epi32)(a, HV_(set1_epi32)((I32)DOT2_HOST_C_MIN));
    *beyond |= _mm512_mask_cmpgt_epu32_mask(
        some, over, HV_(set1_epi32)((I32)(DOT2_HOST_C_MAX - DOT2_HOST_C_MIN)));
    return _mm512_mask_blend_epi32(some, hvi_and(v, sign), v);
}
#else
__attribute__((always_inline)) static inline hvi dot2_host_c(hvi v, bool *beyond)
{
    const hvi sign = HV_(set1_epi32)(INT32_MIN);
    hvi a = _mm256_andnot_si256(sign, v);
    hvi none = HV_(cmpgt_epi32)(HV_(set1_epi32)(0x800000), a);
    hvi below = HV_(cmpgt_epi32)(HV_(set1_epi32)((I32)DOT2_HOST_C_MIN), a);
    hvi above = HV_(cmpgt_epi32)(a, HV_(set1_epi32)((I32)DOT2_HOST_C_MAX));
    hvi beside = hvi_or(above, _mm256_andnot_si256(none, below));
    *beyond |= !_mm256_testz_si256(beside, beside);
    return _mm256_andnot_si256(_mm256_andnot_si256(sign, none), v);
}
#endif

/* Factors of A (one column of it per row of lanes) or B (one row of it), which stay for
 * the next instruction that has the same ones. */
struct matrix_factors {
    U32 key;         /* of what they were made besides raw; 0: there are none */
    U32 most, least; /* exponent fields; least: of those that are not 0 (bf16) */
    _Alignas(64) U32 raw[8][16];
    /* for VPMADDWD: significand, scaled and signed, and the sign */
    U32 pair[16][16];
    /* the unit of a product is B's less A's; 0 and 0xffff stand for a zero factor */
    U32 align[16][16];
};
_Static_assert(sizeof(struct matrix_factors) <= 4ul * MATRIX_FACTORS_DWORDS,
               "they have their place");

/* 16-bit elements of a host vector of pairs: lanes n of elements k and k + 1. */
__attribute__((always_inline)) static inline void
dot2_host_split(struct matrix_factors *to, unsigned k, unsigned n, hvi h, bool bf16,
                bool column, hvi *most, hvi *least)
{
    const hvi one = HV_(set1_epi16)(1), upper = HV_(set1_epi32)(-0x10000);
    const int bits = bf16 ? 7 : 10, up = (bf16 ? 5 : 2) + column;
    hvi field = hvi_and(HV_(srli_epi16)(h, bits), HV_(set1_epi16)(bf16 ? 0xff : 0x1f));
    hvi normal = HV_(min_epu16)(field, one), exponent = field;
    hvi s = hvi_and(h, HV_(set1_epi16)(bf16 ? 0x7f : 0x3ff));
    s = hvi_or(s, HV_(slli_epi16)(normal, bits));
    if (bf16) /* denormals are zero */
        s = hvi_where16(field, s);
    else
        exponent = HV_(max_epu16)(field, one);
    s = HV_(slli_epi16)(s, up);
    hvi align = HV_(add_epi16)(exponent, HV_(set1_epi16)(bf16 ? 103 : 215));
    if (!column) /* the complement of 254 or 142 less the field */
        align = HV_(sub_epi16)(exponent, HV_(set1_epi16)(bf16 ? 255 : 143));
    align = hvi_where16(s, align);
    if (!column)
        align = hvi_xor(align, HV_(set1_epi16)(-1));
    hvi negative = HV_(srai_epi16)(h, 15), sign = hvi_or(negative, one);
    s = HV_(sub_epi16)(hvi_xor(s, negative), negative);
    hvi low = hvi_and(s, HV_(set1_epi32)(0xffff));
    hvi_store(&to->pair[k][n], hvi_or(low, HV_(slli_epi32)(sign, 16)));
    hvi_store(&to->pair[k + 1][n],
              hvi_or(HV_(srli_epi32)(s, 16), hvi_and(sign, upper)));
    hvi_store(&to->align[k][n], hvi_and(align, HV_(set1_epi32)(0xffff)));
    hvi_store(&to->align[k + 1][n], HV_(srli_epi32)(align, 16));
    *most = HV_(max_epu16)(*most, field);
    if (bf16)
        *least = HV_(min_epu16)(*least, HV_(sub_epi16)(field, one));
}

/* Are they those of rows? */
static inline bool dot2_host_same(const struct matrix_factors *f, const uint32_t *rows,
                                  U32 key)
{
    bool same = f->key == key;
    for (unsigned r = 0; r < 8 && same; r++)
        same = memcmp(f->raw[r], rows + 32 * r, sizeof f->raw[r]) == 0;
    return same;
}

/* rows: 8 rows of 32 lanes, 16 of which are read. flip: sign bits to turn. */
__attribute__((always_inline)) static inline void
dot2_host_load(struct matrix_factors *to, const uint32_t *rows, U32 flip, bool bf16,
               bool column)
{
    const U32 key = flip | (U32)bf16 << 1 | 1u;
    hvi most = HV_(set1_epi32)(0), least = HV_(set1_epi32)(-1);
    U16 fields[32] = {0}, lower[32];
    if (dot2_host_same(to, rows, key))
        return;
    _Pragma("GCC unroll 8") for (unsigned r = 0; r < 8; r++)
        _Pragma("GCC unroll 2") for (unsigned n = 0; n < 16; n += HV_LANES)
    {
        hvi v = hvi_load(rows + 32 * r + n);
        hvi_store(&to->raw[r][n], v);
        v = hvi_xor(v, HV_(set1_epi32)((I32)flip));
        dot2_host_split(to, 2 * r, n, v, bf16, column, &most, &least);
    }
    memset(lower, 0xff, sizeof lower);
    hvi_store(fields, most);
    hvi_store(lower, least);
    U16 m = 0, l = 0xffff;
    for (unsigned i = 0; i < 32; i++) {
        m = fields[i] > m ? fields[i] : m;
        l = lower[i] < l ? lower[i] : l;
    }
    to->most = m;
    to->least = l + 1u;
    to->key = key;
}

/* One step for the columns of a vector. p, g: products and their units' fields; c: f32
 * bits. largest collects the magnitudes of F16 results. */
__attribute__((always_inline)) static inline hvi
dot2_host_step(hvi p0, hvi p1, hvi g0, hvi g1, hvi c, enum dot2_out out, hvi *largest)
{
    /* bytes: the exponent field less 26, not below 0; the sign, gone */
    hvi field = HV_(subs_epu8)(HV_(srli_epi32)(c, 23), HV_(set1_epi32)(0xff1a));
    hvi grid = HV_(max_epi32)(HV_(max_epi32)(g0, g1), field);
    if (out == DOT2_F16)
        grid = HV_(max_epi32)(grid, HV_(set1_epi32)(113 - 26));
    hvi above = HV_(add_epi32)(grid, HV_(set1_epi32)(1));
    hvi x0 = HV_(srav_epi32)(p0, HV_(sub_epi32)(above, g0));
    hvi x1 = HV_(srav_epi32)(p1, HV_(sub_epi32)(above, g1));
    hvi unit = HV_(slli_epi32)(grid, 23); /* as a float; 0 if there is no term */
    hvi per_unit = HV_(sub_epi32)(HV_(set1_epi32)(254 << 23), unit);
    hvi cut = HV_(cvttps_epi32)(HV_(mul_ps)(hv_of(c), hv_of(per_unit)));
    hvi sum = HV_(add_epi32)(HV_(add_epi32)(x0, x1), hvi_add_sign2(cut, c));
    hvi f = hvi_of(HV_(cvtepi32_ps)(sum));
    if (out == DOT2_F16) /* cut so far: keep that something was lost */
        f = hvi_odd_unless(f, sum, HV_(cvttps_epi32)(hv_of(f)));
    hv r = HV_(fmadd_ps)(hv_of(f), hv_of(unit), HV_(setzero_ps)()); /* no -0 */
    if (out == DOT2_F16) {
        r = HV_(add_ps)(hv_f16_round(r), HV_(setzero_ps)());
        hvi magnitude = hvi_and(hvi_of(r), HV_(set1_epi32)(0x7fffffff));
        *largest = HV_(max_epi32)(*largest, magnitude);
    }
    return out == DOT2_BF16 ? hvi_and(hvi_of(r), HV_(set1_epi32)(-0x10000)) : hvi_of(r);
}

/* All steps for rows m to m + DOT2_HOST_ROWS - 1 and the columns of a vector from n on:
 * the sums stay in registers, and one row's products fill the ports while another's sum
 * waits. */
#define DOT2_HOST_ROWS 8

__attribute__((always_inline)) static inline void
dot2_host_rows(U32 (*d)[16], U32 (*c)[16], const struct matrix_factors *a,
               const struct matrix_factors *b, unsigned m, unsigned n,
               enum dot2_out out, U32 *largest)
{
    hvi sum[DOT2_HOST_ROWS], most = hvi_load(largest + n);
    _Pragma("GCC unroll 8") for (unsigned i = 0; i < DOT2_HOST_ROWS; i++) sum[i] =
        hvi_load(&c[m + i][n]);
    for (unsigned k = 0; k < 16; k += 2) {
        const U32 *a0 = a->pair[k] + m, *a1 = a->pair[k + 1] + m;
        const U32 *ga0 = a->align[k] + m, *ga1 = a->align[k + 1] + m;
        hvi vb0 = hvi_load(&b->pair[k][n]), vb1 = hvi_load(&b->pair[k + 1][n]);
        hvi vg0 = hvi_load(&b->align[k][n]), vg1 = hvi_load(&b->align[k + 1][n]);
        _Pragma("GCC unroll 8") for (unsigned i = 0; i < DOT2_HOST_ROWS; i++)
        {
            hvi p0 = HV_(madd_epi16)(vb0, HV_(set1_epi32)((I32)a0[i]));
            hvi p1 = HV_(madd_epi16)(vb1, HV_(set1_epi32)((I32)a1[i]));
            hvi g0 = HV_(subs_epu16)(vg0, HV_(set1_epi32)((I32)ga0[i]));
            hvi g1 = HV_(subs_epu16)(vg1, HV_(set1_epi32)((I32)ga1[i]));
            sum[i] = dot2_host_step(p0, p1, g0, g1, sum[i], out, &most);
        }
    }
    _Pragma("GCC unroll 8") for (unsigned i = 0; i < DOT2_HOST_ROWS; i++)
        hvi_store(&d[m + i][n], sum[i]);
    hvi_store(largest + n, most);
}

/* d = c + a * b, eight steps for each of 256 sums. */
__attribute__((always_inline)) static inline void
dot2_host_steps(U32 (*d)[16], U32 (*c)[16], const struct matrix_factors *a,
                const struct matrix_factors *b, enum dot2_out out, U32 *largest)
{
    for (unsigned n = 0; n < 16; n += HV_LANES)
        for (unsigned m = 0; m < 16; m += DOT2_HOST_ROWS)
            dot2_host_rows(d, c, a, b, m, n, out, largest);
}

/* Integer elements e, e + 4, ... of a dword (of 4 bits) or e, e + 2 (of 8): one in each
 * 16-bit half, extended. */
__attribute__((always_inline)) static inline hvi
wmma_host_elements(hvi v, int e, int bits, bool is_signed)
{
    v = HV_(slli_epi16)(v, 16 - bits - e * bits);
    return is_signed ? HV_(srai_epi16)(v, 16 - bits) : HV_(srli_epi16)(v, 16 - bits);
}

/* Rows of `bits`-bit elements as pairs for VPMADDWD: to[p] has 16 lanes. */
__attribute__((always_inline)) static inline void
wmma_host_integers(U32 (*to)[16], const uint32_t *rows, unsigned bits, bool is_signed)
{
    const unsigned per_row = 16 / bits;
    for (unsigned p = 0; p < 8; p++)
        for (unsigned n = 0; n < 16; n += HV_LANES) {
            hvi v = hvi_load(rows + p / per_row * 32 + n);
            v = wmma_host_elements(v, (int)(p % per_row), (int)bits, is_signed);
            hvi_store(&to[p][n], v);
        }
}

/* c + s of signed numbers that overflow to the limit on c's side. */
__attribute__((always_inline)) static inline hvi wmma_host_clamped(hvi c, hvi s)
{
    hvi r = HV_(add_epi32)(c, s);
    hvi over = hvi_and(hvi_xor(s, r), hvi_xor(c, r));
    hvi limit =
        hvi_xor(HV_(srai_epi32)(c, 31), HV_(set1_epi32)(INT32_MAX)); /* or INT32_MIN */
    return hvi_where_negative(over, limit, r);
}

/* c plus the products of row m of A and the columns of b. */
__attribute__((always_inline)) static inline hvi
wmma_host_integer_row(hvi c, U32 (*a)[16], unsigned m, const hvi b[8], bool clamp)
{
    hvi s = HV_(set1_epi32)(0), t = s; /* two chains of sums */
    _Pragma("GCC unroll 4") for (unsigned p = 0; p < 8; p += 2)
    {
        hvi q = HV_(madd_epi16)(b[p], HV_(set1_epi32)((I32)a[p][m]));
        hvi r = HV_(madd_epi16)(b[p + 1], HV_(set1_epi32)((I32)a[p + 1][m]));
        s = HV_(add_epi32)(s, q);
        t = HV_(add_epi32)(t, r);
    }
    s = HV_(add_epi32)(s, t);
    return clamp ? wmma_host_clamped(c, s) : HV_(add_epi32)(c, s);
}
#endif

#endif
