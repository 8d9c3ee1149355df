/* hostvec.h: a row of 32 floats in the host's vector registers, for ROW_FORMs.
 *
 * Exists at the AVX-512 and AVX2 levels (HOST_VECTORS); the operations follow MXCSR as
 * the scalar ones do. Which NaN comes out of several is the host's and the compiler's
 * choice, so whoever uses these leaves rows with NaNs to the lane function.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_HOSTVEC_H
#define RD_HOSTVEC_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define HOST_VECTORS 1
#define HV_LANES     16
#define HV_(op)      _mm512_##op
typedef __m512 hv;
typedef __mmask16 hv_mask;
#define hv_unordered(a, b) _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q)
#define hv_equal(a, b)     _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define hv_below(a, b)     _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
/* m ? b : a */
#define hv_select(m, a, b) _mm512_mask_blend_ps(m, a, b)
#define hv_or_mask(a, b)   ((__mmask16)((a) | (b)))
#define hv_any(m)          ((m) != 0)

#elif defined(__AVX2__)
#include <immintrin.h>
#define HOST_VECTORS       1
#define HV_LANES           8
#define HV_(op)            _mm256_##op
typedef __m256 hv;
typedef __m256 hv_mask;
#define hv_unordered(a, b) _mm256_cmp_ps(a, b, _CMP_UNORD_Q)
#define hv_equal(a, b)     _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define hv_below(a, b)     _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define hv_select(m, a, b) _mm256_blendv_ps(a, b, m)
#define hv_or_mask(a, b)   _mm256_or_ps(a, b)
#define hv_any(m)          (_mm256_movemask_ps(m) != 0)
#endif

#ifdef HOST_VECTORS
#define HV_PARTS (32 / HV_LANES)
#define HV_EACH  _Pragma("GCC unroll 4") for (unsigned i = 0; i < HV_PARTS; i++)

/* 32 lanes */
struct hrow {
    hv v[HV_PARTS];
};

static inline struct hrow hrow_load(const uint32_t *s)
{
    struct hrow r;
    HV_EACH r.v[i] = HV_(loadu_ps)((const void *)(s + i * HV_LANES));
    return r;
}

static inline void hrow_store(uint32_t *d, struct hrow r)
{
    HV_EACH HV_(storeu_ps)((void *)(d + i * HV_LANES), r.v[i]);
}

/* Is there a NaN in a or b? */
static inline bool hrow_unordered(struct hrow a, struct hrow b)
{
    hv_mask m = hv_unordered(a.v[0], b.v[0]);
    for (unsigned i = 1; i < HV_PARTS; i++)
        m = hv_or_mask(m, hv_unordered(a.v[i], b.v[i]));
    return hv_any(m);
}

static inline bool hrow_nan(struct hrow a)
{
    return hrow_unordered(a, a);
}

/* The row with its denormals kept, or as zeros of their sign. */
static inline struct hrow hrow_kept(struct hrow a, bool keep)
{
    const hv sign = HV_(set1_ps)(-0.0f), least = HV_(set1_ps)(0x1p-126f);
    if (keep)
        return a;
    HV_EACH a.v[i] = hv_select(hv_below(HV_(andnot_ps)(sign, a.v[i]), least), a.v[i],
                               HV_(and_ps)(sign, a.v[i]));
    return a;
}

static inline struct hrow hrow_add(struct hrow a, struct hrow b)
{
    HV_EACH a.v[i] = HV_(add_ps)(a.v[i], b.v[i]);
    return a;
}

static inline struct hrow hrow_sub(struct hrow a, struct hrow b)
{
    HV_EACH a.v[i] = HV_(sub_ps)(a.v[i], b.v[i]);
    return a;
}

static inline struct hrow hrow_mul(struct hrow a, struct hrow b)
{
    HV_EACH a.v[i] = HV_(mul_ps)(a.v[i], b.v[i]);
    return a;
}

static inline struct hrow hrow_fma(struct hrow a, struct hrow b, struct hrow c)
{
    HV_EACH a.v[i] = HV_(fmadd_ps)(a.v[i], b.v[i], c.v[i]);
    return a;
}

/* Square roots to nearest, whatever MXCSR says (nearest: it says so). False: the host
 * cannot. */
static inline bool hrow_sqrt_nearest(struct hrow *a, bool nearest)
{
#if HV_LANES == 16
    (void)nearest;
    HV_EACH a->v[i] =
        _mm512_sqrt_round_ps(a->v[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return true;
#else
    if (nearest)
        HV_EACH a->v[i] = _mm256_sqrt_ps(a->v[i]);
    return nearest;
#endif
}

/* -0 is below +0. No operand is a NaN. */
static inline struct hrow hrow_min(struct hrow a, struct hrow b)
{
    HV_EACH a.v[i] = hv_select(hv_equal(a.v[i], b.v[i]), HV_(min_ps)(a.v[i], b.v[i]),
                               HV_(or_ps)(a.v[i], b.v[i]));
    return a;
}

static inline struct hrow hrow_max(struct hrow a, struct hrow b)
{
    HV_EACH a.v[i] = hv_select(hv_equal(a.v[i], b.v[i]), HV_(max_ps)(a.v[i], b.v[i]),
                               HV_(and_ps)(a.v[i], b.v[i]));
    return a;
}
#endif

#endif
