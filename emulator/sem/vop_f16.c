/* vop_f16.c: half-precision arithmetic of VOP1, VOP2 and VOP3 (manual 7.4, 16.7, 16.8,
 * 16.12). Comparisons are in vopc_f16.c, transcendental functions in vop1_transc.c.
 *
 * valu.c selects the halves and keeps the other half of the destination. Results are
 * rounded once, as MODE's f64/f16 fields and FP16_OVFL say.
 * SPDX-License-Identifier: MIT
 */
#include "hosthalf.h"

#define F16_SIGN 0x8000u

LANE_OP(v_add_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    return fp_add16(s0, s1, m);
}

LANE_OP(v_sub_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    F32 a = fp_f32_of_f16(s0, m), b = fp_f32_of_f16(s1, m);
    return f32_to_f16(fp_sub32(a, b), m);
}

LANE_OP(v_subrev_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    F32 a = fp_f32_of_f16(s0, m), b = fp_f32_of_f16(s1, m);
    return (F16)fp_sel32(fp_nan16(s0), fp_quiet16(s0), f32_to_f16(b - a, m));
}

LANE_OP(v_mul_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    return fp_mul16(s0, s1, m);
}

LANE_OP(v_fma_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    return fp_fma16(s0, s1, s2, m);
}

LANE_OP(v_fmac_f16, F16, F16 s0, F16 s1, F16 d, const struct lane_mode *m)
{
    return fp_fma16(s0, s1, d, m);
}

/* Operand order of the text: the literal comes second. */
LANE_OP(v_fmamk_f16, F16, F16 s0, F16 k, F16 s1, const struct lane_mode *m)
{
    return fp_fma16(s0, k, s1, m);
}

LANE_OP(v_fmaak_f16, F16, F16 s0, F16 s1, F16 k, const struct lane_mode *m)
{
    return fp_fma16(s0, s1, k, m);
}

LANE_OP(v_pk_fmac_f16, PK16, PK16 s0, PK16 s1, PK16 d, const struct lane_mode *m)
{
    return fp_fma16((F16)s0, (F16)s1, (F16)d, m) |
           (U32)fp_fma16((F16)(s0 >> 16), (F16)(s1 >> 16), (F16)(d >> 16), m) << 16;
}

/* ---- minimum, maximum, median: as the f32 forms */

LANE_OP(v_min_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    return fp_min16(s0, s1, m);
}

LANE_OP(v_max_f16, F16, F16 s0, F16 s1, const struct lane_mode *m)
{
    return fp_max16(s0, s1, m);
}

LANE_OP(v_min3_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    return fp_min16(fp_min16(s0, s1, m), s2, m);
}

LANE_OP(v_max3_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    return fp_max16(fp_max16(s0, s1, m), s2, m);
}

LANE_OP(v_maxmin_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    return fp_min16(fp_max16(s0, s1, m), s2, m);
}

LANE_OP(v_minmax_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    return fp_max16(fp_min16(s0, s1, m), s2, m);
}

/* Equal as numbers; the callers have no NaNs. */
static inline bool same(F16 a, F16 b, const struct lane_mode *m)
{
    a = fp_in16(a, m), b = fp_in16(b, m);
    return a == b || !((a | b) & 0x7fffu);
}

LANE_OP(v_med3_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    F16 most = fp_max16(fp_max16(s0, s1, m), s2, m);
    F16 least = fp_min16(fp_min16(s0, s1, m), s2, m);
    F16 r = same(most, s0, m)   ? fp_max16(s1, s2, m)
            : same(most, s1, m) ? fp_max16(s0, s2, m)
                                : fp_max16(s0, s1, m);
    return fp_nan16(s0) || fp_nan16(s1) || fp_nan16(s2) ? least : r;
}

/* ---- integral values and parts: exact in f32 */

LANE_OP(v_trunc_f16, F16, F16 s0, const struct lane_mode *m)
{
    return f32_to_f16(fp_trunc32(fp_f32_of_f16(s0, m)), m);
}

LANE_OP(v_floor_f16, F16, F16 s0, const struct lane_mode *m)
{
    return f32_to_f16(fp_floor32(fp_f32_of_f16(s0, m)), m);
}

LANE_OP(v_ceil_f16, F16, F16 s0, const struct lane_mode *m)
{
    return f32_to_f16(fp_neg32(fp_floor32(fp_neg32(fp_f32_of_f16(s0, m)))), m);
}

LANE_OP(v_rndne_f16, F16, F16 s0, const struct lane_mode *m)
{
    return f32_to_f16(fp_rndne32(fp_f32_of_f16(s0, m)), m);
}

/* Never 1, as v_fract_f32 (the limit is missing in the manual). */
LANE_OP(v_fract_f16, F16, F16 s0, const struct lane_mode *m)
{
    F32 x = fp_f32_of_f16(s0, m);
    F16 r = f32_to_f16(fp_sub32(x, fp_floor32(x)), m);
    return r == 0x3c00u ? 0x3bffu : r;
}

/* Zero, infinity and NaN give 0 (C's frexp). */
LANE_OP(v_frexp_exp_i16_f16, I16, F16 s0, const struct lane_mode *m)
{
    U32 a = bits_of_f32(fp_abs32(fp_f32_of_f16(s0, m)));
    return (I16)(a == 0 || a >= 0x7f800000u ? 0 : (I32)(a >> 23) - 126);
}

LANE_OP(v_frexp_mant_f16, F16, F16 s0, const struct lane_mode *m)
{
    U32 a = bits_of_f32(fp_abs32(fp_f32_of_f16(s0, m)));
    U32 mant = 0x3800u | (a >> 13 & 0x3ffu);
    U32 special = fp_nan16(s0) ? s0 | 0x200u : s0;
    return (F16)(a >= 0x7f800000u ? special : (s0 & F16_SIGN) | (a ? mant : 0));
}

/* S1 is an integer. The f32 product is exact or beyond what f16 can hold. */
LANE_OP(v_ldexp_f16, F16, F16 s0, I16 s1, const struct lane_mode *m)
{
    I32 n = s1 > 64 ? 64 : s1 < -64 ? -64 : s1;
    F32 x = fp_f32_of_f16(s0, m);
    F32 r = fp_mul32(x, f32_of_bits((U32)(n + 127) << 23));
    return f32_to_f16(r, m);
}

/* S0 quotient, S1 denominator, S2 numerator. */
LANE_OP(v_div_fixup_f16, F16, F16 s0, F16 s1, F16 s2, const struct lane_mode *m)
{
    F16 sign = (F16)((s1 ^ s2) & F16_SIGN);
    F16 d = fp_in16(s1, m) & 0x7fffu, n = fp_in16(s2, m) & 0x7fffu;
    F16 q = fp_out16(fp_in16(s0, m), m);
    F16 r = (F16)((q & 0x7fffu) | sign);
    r = d == 0x7c00u || n == 0 ? sign : r;
    r = d == 0 || n == 0x7c00u ? sign | 0x7c00u : r;
    r = (d == 0 && n == 0) || (d == 0x7c00u && n == 0x7c00u) ? FP_NAN16 : r;
    r = fp_nan16(s1) ? fp_quiet16(s1) : r;
    return fp_nan16(s2) ? fp_quiet16(s2) : r;
}

/* ---- the same for rows without NaNs, in the host's vector registers */

#ifdef HOST_VECTORS
enum half_sum { HALF_ADD, HALF_SUB, HALF_MUL };

__attribute__((always_inline)) static inline bool
row_half(uint32_t *d, const uint32_t *a, const uint32_t *b, const struct lane_mode *m,
         enum half_sum what)
{
    struct hrow x = half_load(a, m), y = half_load(b, m);
    struct hrow r = what == HALF_ADD   ? hrow_add(x, y)
                    : what == HALF_SUB ? hrow_sub(x, y)
                                       : hrow_mul(x, y);
    if (m->fp16_ovfl || hrow_nan(r))
        return false;
    half_store(d, r, m);
    return true;
}

ROW_FORM(v_add_f16)
{
    return row_half(d, s0, s1, m, HALF_ADD);
}

ROW_FORM(v_sub_f16)
{
    return row_half(d, s0, s1, m, HALF_SUB);
}

ROW_FORM(v_subrev_f16)
{
    return row_half(d, s1, s0, m, HALF_SUB);
}

ROW_FORM(v_mul_f16)
{
    return row_half(d, s0, s1, m, HALF_MUL);
}

__attribute__((always_inline)) static inline bool
row_half_fma(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
             const struct lane_mode *m)
{
    struct hrow r;
    if (m->fp16_ovfl ||
        !half_fma(&r, half_load(a, m), half_load(b, m), half_load(c, m), m) ||
        hrow_nan(r))
        return false;
    half_store(d, r, m);
    return true;
}

ROW_FORM(v_fma_f16)
{
    return row_half_fma(d, s0, s1, s2, m);
}

ROW_FORM(v_fmac_f16)
{
    return row_half_fma(d, s0, s1, s2, m);
}

ROW_FORM(v_fmamk_f16)
{
    return row_half_fma(d, s0, s1, s2, m);
}

ROW_FORM(v_fmaak_f16)
{
    return row_half_fma(d, s0, s1, s2, m);
}

ROW_FORM(v_pk_fmac_f16)
{
    return pair_fma(d, s0, s1, s2, m);
}

ROW_FORM(v_min_f16)
{
    return half_minmax(d, s0, s1, NULL, HALF_MIN, HALF_MIN, HALF_LOW, m);
}

ROW_FORM(v_max_f16)
{
    return half_minmax(d, s0, s1, NULL, HALF_MAX, HALF_MAX, HALF_LOW, m);
}

ROW_FORM(v_min3_f16)
{
    return half_minmax(d, s0, s1, s2, HALF_MIN, HALF_MIN, HALF_LOW, m);
}

ROW_FORM(v_max3_f16)
{
    return half_minmax(d, s0, s1, s2, HALF_MAX, HALF_MAX, HALF_LOW, m);
}

ROW_FORM(v_maxmin_f16)
{
    return half_minmax(d, s0, s1, s2, HALF_MAX, HALF_MIN, HALF_LOW, m);
}

ROW_FORM(v_minmax_f16)
{
    return half_minmax(d, s0, s1, s2, HALF_MIN, HALF_MAX, HALF_LOW, m);
}
#endif

#include "vop_f16.inc"
