/* vop3p.c: packed 16-bit arithmetic and mixed-precision FMA (manual 16.10).
 *
 * Every function is one lane: values in, value out. Selecting halves, negation, float
 * clamp and the choice between f16 and f32 sources of FMA_MIX have happened in or are
 * left to valu.c. The two halves of a packed operand do not affect one another.
 * SPDX-License-Identifier: MIT
 */
#include "hosthalf.h"

static inline U16 low(PK16 v)
{
    return (U16)v;
}

static inline U16 high(PK16 v)
{
    return (U16)(v >> 16);
}

static inline I32 signed_low(PK16 v)
{
    return (I16)v;
}

static inline I32 signed_high(PK16 v)
{
    return (I32)v >> 16;
}

static inline PK16 pair(U32 lo, U32 hi)
{
    return (lo & 0xffff) | hi << 16;
}

static inline U32 saturate_i16(I32 v, const struct lane_mode *m)
{
    I32 limited = v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
    return (U32)(m->clamp ? limited : v);
}

/* v must not be negative unless wrapping is meant. */
static inline U32 saturate_u16(U32 v, const struct lane_mode *m)
{
    return m->clamp && v > UINT16_MAX ? UINT16_MAX : v;
}

/* ---- integers; CLAMP saturates sums, differences and products */

/* The product of two i16 fits, with a third added, in 32 bits. */
LANE_OP(v_pk_mad_i16, PK16, PK16 s0, PK16 s1, PK16 s2, const struct lane_mode *m)
{
    I32 lo = signed_low(s0) * signed_low(s1) + signed_low(s2);
    I32 hi = signed_high(s0) * signed_high(s1) + signed_high(s2);
    return pair(saturate_i16(lo, m), saturate_i16(hi, m));
}

LANE_OP(v_pk_mad_u16, PK16, PK16 s0, PK16 s1, PK16 s2, const struct lane_mode *m)
{
    U32 lo = (U32)low(s0) * low(s1) + low(s2);
    U32 hi = (U32)high(s0) * high(s1) + high(s2);
    return pair(saturate_u16(lo, m), saturate_u16(hi, m));
}

/* That CLAMP saturates here too is by analogy with V_PK_MAD_U16 (manual 7.2.3.1). */
LANE_OP(v_pk_mul_lo_u16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    U32 lo = (U32)low(s0) * low(s1), hi = (U32)high(s0) * high(s1);
    return pair(saturate_u16(lo, m), saturate_u16(hi, m));
}

LANE_OP(v_pk_add_i16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(saturate_i16(signed_low(s0) + signed_low(s1), m),
                saturate_i16(signed_high(s0) + signed_high(s1), m));
}

LANE_OP(v_pk_sub_i16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(saturate_i16(signed_low(s0) - signed_low(s1), m),
                saturate_i16(signed_high(s0) - signed_high(s1), m));
}

LANE_OP(v_pk_add_u16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(saturate_u16((U32)low(s0) + low(s1), m),
                saturate_u16((U32)high(s0) + high(s1), m));
}

LANE_OP(v_pk_sub_u16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    U32 lo = (U32)low(s0) - low(s1), hi = (U32)high(s0) - high(s1);
    return pair(m->clamp && lo >> 31 ? 0 : lo, m->clamp && hi >> 31 ? 0 : hi);
}

LANE_OP(v_pk_lshlrev_b16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)low(s1) << (s0 & 15), (U32)high(s1) << (s0 >> 16 & 15));
}

LANE_OP(v_pk_lshrrev_b16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)low(s1) >> (s0 & 15), (U32)high(s1) >> (s0 >> 16 & 15));
}

LANE_OP(v_pk_ashrrev_i16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)(signed_low(s1) >> (s0 & 15)),
                (U32)(signed_high(s1) >> (s0 >> 16 & 15)));
}

static inline I32 max_i32(I32 a, I32 b)
{
    return a > b ? a : b;
}

static inline I32 min_i32(I32 a, I32 b)
{
    return a < b ? a : b;
}

LANE_OP(v_pk_max_i16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)max_i32(signed_low(s0), signed_low(s1)),
                (U32)max_i32(signed_high(s0), signed_high(s1)));
}

LANE_OP(v_pk_min_i16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)min_i32(signed_low(s0), signed_low(s1)),
                (U32)min_i32(signed_high(s0), signed_high(s1)));
}

LANE_OP(v_pk_max_u16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)max_i32(low(s0), low(s1)), (U32)max_i32(high(s0), high(s1)));
}

LANE_OP(v_pk_min_u16, PK16, PK16 s0, PK16 s1)
{
    return pair((U32)min_i32(low(s0), low(s1)), (U32)min_i32(high(s0), high(s1)));
}

/* ---- f16: the rules of fp.h, once per half */

LANE_OP(v_pk_fma_f16, PK16, PK16 s0, PK16 s1, PK16 s2, const struct lane_mode *m)
{
    return pair(fp_fma16(low(s0), low(s1), low(s2), m),
                fp_fma16(high(s0), high(s1), high(s2), m));
}

LANE_OP(v_pk_add_f16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(fp_add16(low(s0), low(s1), m), fp_add16(high(s0), high(s1), m));
}

LANE_OP(v_pk_mul_f16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(fp_mul16(low(s0), low(s1), m), fp_mul16(high(s0), high(s1), m));
}

LANE_OP(v_pk_min_f16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(fp_min16(low(s0), low(s1), m), fp_min16(high(s0), high(s1), m));
}

LANE_OP(v_pk_max_f16, PK16, PK16 s0, PK16 s1, const struct lane_mode *m)
{
    return pair(fp_max16(low(s0), low(s1), m), fp_max16(high(s0), high(s1), m));
}

/* ---- FMA_MIX: sources have been converted to f32 */

LANE_OP(v_fma_mix_f32, F32, F32 s0, F32 s1, F32 s2)
{
    return fp_fma32(s0, s1, s2);
}

/* An f32 FMA, then a conversion: two roundings (manual 16.10). The f16 mode is active,
 * hence the explicit flush of f32 denormals; both steps round by the f16 mode, which
 * for the first is not documented and only matters where the two modes differ. */
static inline F16 fma_mix_f16(F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    F32 r = fp_fma32(fp_in32(s0, m), fp_in32(s1, m), fp_in32(s2, m));
    return f32_to_f16(fp_out32(r, m), m);
}

LANE_OP(v_fma_mixlo_f16, F16, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fma_mix_f16(s0, s1, s2, m);
}

LANE_OP(v_fma_mixhi_f16, F16, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fma_mix_f16(s0, s1, s2, m);
}

/* ---- the same for rows without NaNs, in the host's vector registers */

#ifdef HOST_VECTORS
ROW_FORM(v_pk_fma_f16)
{
    return pair_fma(d, s0, s1, s2, m);
}

__attribute__((always_inline)) static inline bool
row_pair(uint32_t *d, const uint32_t *a, const uint32_t *b, const struct lane_mode *m,
         bool multiply)
{
    struct hrow r[2];
    for (unsigned p = 0; p < 2; p++) {
        struct hrow x = pair_load(a, p, m), y = pair_load(b, p, m);
        r[p] = multiply ? hrow_mul(x, y) : hrow_add(x, y);
        if (m->fp16_ovfl || hrow_nan(r[p]))
            return false;
    }
    for (unsigned p = 0; p < 2; p++)
        pair_store(d, p, r[p], m);
    return true;
}

ROW_FORM(v_pk_add_f16)
{
    return row_pair(d, s0, s1, m, false);
}

ROW_FORM(v_pk_mul_f16)
{
    return row_pair(d, s0, s1, m, true);
}

ROW_FORM(v_pk_min_f16)
{
    return half_minmax(d, s0, s1, NULL, HALF_MIN, HALF_MIN, HALF_BOTH, m);
}

ROW_FORM(v_pk_max_f16)
{
    return half_minmax(d, s0, s1, NULL, HALF_MAX, HALF_MAX, HALF_BOTH, m);
}

/* Rounded up or down an f32 denormal makes an f16 denormal, unless the host flushes it:
 * those are the lane function's. */
__attribute__((always_inline)) static inline bool
row_mix(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
        const struct lane_mode *m)
{
    if (m->fp16_ovfl || m->round64 == ROUND_UP || m->round64 == ROUND_DOWN)
        return false;
    const bool in = m->denorm32 & 1, out = m->denorm32 & 2;
    struct hrow x = hrow_kept(hrow_load(a), in), y = hrow_kept(hrow_load(b), in);
    struct hrow r = hrow_fma(x, y, hrow_kept(hrow_load(c), in));
    if (hrow_nan(r))
        return false;
    half_store(d, hrow_kept(r, out), m);
    return true;
}

ROW_FORM(v_fma_mixlo_f16)
{
    return row_mix(d, s0, s1, s2, m);
}

ROW_FORM(v_fma_mixhi_f16)
{
    return row_mix(d, s0, s1, s2, m);
}
#endif

#include "vop3p.inc"
