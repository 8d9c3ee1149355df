/* hosthalf.h: rows of f16 in the host's vector registers, for ROW_FORMs.
 *
 * Values are f32 in registers; the host converts (F16C), by the rounding of MXCSR,
 * which is that of MODE's f16 field. Conversions ignore the host's denormal mode, so
 * MODE's is applied here. Rows that need FP16_OVFL or have NaNs are the lane
 * function's.
 *
 * A row of single halves is one hrow; a row of pairs is two, of sixteen dwords each.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOSTHALF_H
#define RD_HOSTHALF_H

#include "fp.h"
#include "hostvec.h"

#ifdef HOST_VECTORS
/* Sixteen or eight halves. */
#if HV_LANES == 16
typedef __m256i hhalf;
#define HH_(op)         _mm256_##op
#define HH_BITS(op)     _mm256_##op##_si256
#define hh_load(p)      _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define hh_store(p, v)  _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define hh_low(p)       _mm512_cvtepi32_epi16(_mm512_loadu_si512(p))
#define hh_spread(p, v) _mm512_storeu_si512(p, _mm512_cvtepu16_epi32(v))
#define hh_couple(p, l, h)                                                             \
    _mm512_storeu_si512(                                                               \
        p, _mm512_or_si512(_mm512_cvtepu16_epi32(l),                                   \
                           _mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)))
#else
typedef __m128i hhalf;
#define HH_(op)        _mm_##op
#define HH_BITS(op)    _mm_##op##_si128
#define hh_load(p)     _mm_loadu_si128((const __m128i *)(const void *)(p))
#define hh_store(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
static inline hhalf hh_low(const uint32_t *p)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    v = _mm256_and_si256(v, _mm256_set1_epi32(0xffff));
    return _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
#define hh_spread(p, v)                                                                \
    _mm256_storeu_si256((__m256i *)(void *)(p), _mm256_cvtepu16_epi32(v))
#define hh_couple(p, l, h)                                                             \
    _mm256_storeu_si256(                                                               \
        (__m256i *)(void *)(p),                                                        \
        _mm256_or_si256(_mm256_cvtepu16_epi32(l),                                      \
                        _mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)))
#endif

/* Denormals of these halves become zeros. */
static inline hhalf hh_flush(hhalf h)
{
    hhalf e = HH_BITS(and)(h, HH_(set1_epi16)(0x7c00));
    hhalf tiny = HH_(cmpeq_epi16)(e, HH_(set1_epi16)(0));
    return HH_BITS(andnot)(HH_BITS(and)(tiny, HH_(set1_epi16)(0x7fff)), h);
}

/* As operands of arithmetic: denormals as MODE says. */
static inline hv hh_widen(hhalf h, const struct lane_mode *m)
{
    return HV_(cvtph_ps)(m->denorm64 & 1 ? h : hh_flush(h));
}

static inline hhalf hh_narrow(hv v, const struct lane_mode *m)
{
    hhalf h = HV_(cvtps_ph)(v, _MM_FROUND_CUR_DIRECTION);
    return m->denorm64 & 2 ? h : hh_flush(h);
}

/* The lower halves of a row. */
static inline struct hrow half_load(const uint32_t *s, const struct lane_mode *m)
{
    struct hrow r;
    HV_EACH r.v[i] = hh_widen(hh_low(s + i * HV_LANES), m);
    return r;
}

static inline void half_store(uint32_t *d, struct hrow r, const struct lane_mode *m)
{
    HV_EACH hh_spread(d + i * HV_LANES, hh_narrow(r.v[i], m));
}

/* Pairs of both, rounded toward zero. */
static inline void half_couple_rtz(uint32_t *d, struct hrow lo, struct hrow hi,
                                   const struct lane_mode *m)
{
    HV_EACH
    {
        hhalf l = HV_(cvtps_ph)(lo.v[i], _MM_FROUND_TO_ZERO);
        hhalf h = HV_(cvtps_ph)(hi.v[i], _MM_FROUND_TO_ZERO);
        if (!(m->denorm64 & 2))
            l = hh_flush(l), h = hh_flush(h);
        hh_couple(d + i * HV_LANES, l, h);
    }
}

/* Part 0 or 1 of a row of pairs. */
static inline struct hrow pair_load(const uint32_t *s, unsigned part,
                                    const struct lane_mode *m)
{
    struct hrow r;
    HV_EACH r.v[i] = hh_widen(hh_load(s + 16 * part + i * HV_LANES / 2), m);
    return r;
}

static inline void pair_store(uint32_t *d, unsigned part, struct hrow r,
                              const struct lane_mode *m)
{
    HV_EACH hh_store(d + 16 * part + i * HV_LANES / 2, hh_narrow(r.v[i], m));
}

/* a * b + c of halves, exact but for its last bit, which is set if anything was lost:
 * whatever rounds that to a half rounds once. False: the lane function does it. */
__attribute__((always_inline)) static inline bool half_fma(struct hrow *r,
                                                           struct hrow a, struct hrow b,
                                                           struct hrow c,
                                                           const struct lane_mode *m)
{
#if HV_LANES == 16
    const bool minus = m->round64 == ROUND_DOWN; /* zero sums are -0 */
    HV_EACH
    {
        hv below = _mm512_fmadd_round_ps(a.v[i], b.v[i], c.v[i],
                                         _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        hv above = _mm512_fmadd_round_ps(a.v[i], b.v[i], c.v[i],
                                         _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        hv one = minus ? above : below, other = minus ? below : above;
        __mmask16 odd =
            _mm512_test_epi32_mask(_mm512_castps_si512(one), _mm512_set1_epi32(1));
        r->v[i] = _mm512_mask_blend_ps(odd, other, one);
    }
#else
    if (m->round64 != ROUND_NEAREST)
        return false;
    const __m256i one = _mm256_set1_epi32(1);
    HV_EACH
    {
        hv p = _mm256_mul_ps(a.v[i], b.v[i]), s = _mm256_add_ps(p, c.v[i]);
        hv part = _mm256_sub_ps(s, p); /* the error of the sum, exactly */
        hv e = _mm256_add_ps(_mm256_sub_ps(p, _mm256_sub_ps(s, part)),
                             _mm256_sub_ps(c.v[i], part));
        hv lost = _mm256_cmp_ps(e, _mm256_setzero_ps(), _CMP_NEQ_OQ);
        __m256i bits = _mm256_castps_si256(s);
        __m256i away =
            _mm256_srai_epi32(_mm256_xor_si256(bits, _mm256_castps_si256(e)), 31);
        __m256i even = _mm256_sub_epi32(_mm256_and_si256(bits, one), one);
        __m256i step = _mm256_and_si256(_mm256_or_si256(away, one), even);
        step = _mm256_and_si256(step, _mm256_castps_si256(lost));
        r->v[i] = _mm256_castsi256_ps(_mm256_add_epi32(bits, step));
    }
#endif
    return true;
}

/* A whole row of pairs. False: nothing is written. */
__attribute__((always_inline)) static inline bool
pair_fma(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
         const struct lane_mode *m)
{
    struct hrow r[2];
    for (unsigned p = 0; p < 2; p++)
        if (m->fp16_ovfl ||
            !half_fma(&r[p], pair_load(a, p, m), pair_load(b, p, m), pair_load(c, p, m),
                      m) ||
            hrow_nan(r[p]))
            return false;
    for (unsigned p = 0; p < 2; p++)
        pair_store(d, p, r[p], m);
    return true;
}

/* ---- order: halves as integers, in the places where they are; no NaNs */

#if HV_LANES == 16
typedef __m512i hbits;
#define HB_(op)        _mm512_##op
#define HB_BITS(op)    _mm512_##op##_si512
#define hb_load(p)     _mm512_loadu_si512(p)
#define hb_store(p, v) _mm512_storeu_si512(p, v)
/* Is a 16-bit element of v above limit, both not negative? */
#define hb_any_above(v, limit) (_mm512_cmpgt_epi16_mask(v, limit) != 0)
#else
typedef __m256i hbits;
#define HB_(op)                _mm256_##op
#define HB_BITS(op)            _mm256_##op##_si256
#define hb_load(p)             _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define hb_store(p, v)         _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define hb_any_above(v, limit) (_mm256_movemask_epi8(_mm256_cmpgt_epi16(v, limit)) != 0)
#endif

/* Is a half of a, of those that mask keeps, a NaN? */
static inline bool hb_nan(const uint32_t *a, uint32_t mask)
{
    hbits top = HB_(set1_epi16)(0), keep = HB_(set1_epi32)((int)(mask & 0x7fff7fffu));
    HV_EACH top = HB_(max_epi16)(top, HB_BITS(and)(hb_load(a + i * HV_LANES), keep));
    return hb_any_above(top, HB_(set1_epi16)(0x7c00));
}

/* Integers that compare as the numbers do, -0 below +0; and back. */
static inline hbits hb_key(hbits v)
{
    hbits sign = HB_(srai_epi16)(v, 15);
    return HB_BITS(xor)(v, HB_BITS(and)(sign, HB_(set1_epi16)(0x7fff)));
}

enum half_order { HALF_MIN, HALF_MAX };

static inline hbits hb_pick(hbits a, hbits b, enum half_order order)
{
    return order == HALF_MIN ? HB_(min_epi16)(a, b) : HB_(max_epi16)(a, b);
}

/* then(first(s0, s1), s2), or first(s0, s1) without s2, of the halves in mask; the
 * others become 0. */
__attribute__((always_inline)) static inline bool
half_minmax(uint32_t *d, const uint32_t *s0, const uint32_t *s1, const uint32_t *s2,
            enum half_order first, enum half_order then, uint32_t mask,
            const struct lane_mode *m)
{
    if (!(m->denorm64 & 1) || hb_nan(s0, mask) || hb_nan(s1, mask) ||
        (s2 && hb_nan(s2, mask)))
        return false;
    HV_EACH
    {
        hbits a = hb_key(hb_load(s0 + i * HV_LANES));
        hbits b = hb_key(hb_load(s1 + i * HV_LANES));
        hbits r = hb_pick(a, b, first);
        if (s2)
            r = hb_pick(r, hb_key(hb_load(s2 + i * HV_LANES)), then);
        hb_store(d + i * HV_LANES, HB_BITS(and)(hb_key(r), HB_(set1_epi32)((int)mask)));
    }
    return true;
}

#define HALF_LOW  0x0000ffffu
#define HALF_BOTH 0xffffffffu
#endif

#endif
