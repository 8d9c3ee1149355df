/* vop2_fp.c: VOP2 and VOP3 single-precision arithmetic (manual 16.7, 16.12).
 *
 * The host's float mode carries MODE's f32 rounding and denormal fields; NaNs follow
 * the rule in fp.h. Source modifiers, omod and float clamp live in valu.c.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"
#include "hostvec.h"

LANE_OP(v_add_f32, F32, F32 s0, F32 s1)
{
    return fp_add32(s0, s1);
}

LANE_OP(v_sub_f32, F32, F32 s0, F32 s1)
{
    return fp_sub32(s0, s1);
}

LANE_OP(v_subrev_f32, F32, F32 s0, F32 s1)
{
    return fp_nan32(s0) ? fp_quiet32(s0) : s1 - s0;
}

LANE_OP(v_mul_f32, F32, F32 s0, F32 s1)
{
    return fp_mul32(s0, s1);
}

/* DX9 rule: zero times anything is +0. Denormals count as zero if they are flushed. */
LANE_OP(v_mul_dx9_zero_f32, F32, F32 s0, F32 s1)
{
    return s0 == 0.0f || s1 == 0.0f ? 0.0f : fp_mul32(s0, s1);
}

LANE_OP(v_fma_f32, F32, F32 s0, F32 s1, F32 s2)
{
    return fp_fma32(s0, s1, s2);
}

LANE_OP(v_fmac_f32, F32, F32 s0, F32 s1, F32 d)
{
    return fp_fma32(s0, s1, d);
}

/* Operand order of the text: the literal comes second. */
LANE_OP(v_fmamk_f32, F32, F32 s0, F32 k, F32 s1)
{
    return fp_fma32(s0, k, s1);
}

LANE_OP(v_fmaak_f32, F32, F32 s0, F32 s1, F32 k)
{
    return fp_fma32(s0, s1, k);
}

LANE_OP(v_fma_dx9_zero_f32, F32, F32 s0, F32 s1, F32 s2)
{
    return s0 == 0.0f || s1 == 0.0f ? s2 : fp_fma32(s0, s1, s2);
}

LANE_OP(v_fmac_dx9_zero_f32, F32, F32 s0, F32 s1, F32 d)
{
    return s0 == 0.0f || s1 == 0.0f ? d : fp_fma32(s0, s1, d);
}

/* ---- minimum, maximum, median */

LANE_OP(v_min_f32, F32, F32 s0, F32 s1, const struct lane_mode *m)
{
    return fp_min32(s0, s1, m);
}

LANE_OP(v_max_f32, F32, F32 s0, F32 s1, const struct lane_mode *m)
{
    return fp_max32(s0, s1, m);
}

LANE_OP(v_min3_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fp_min32(fp_min32(s0, s1, m), s2, m);
}

LANE_OP(v_max3_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fp_max32(fp_max32(s0, s1, m), s2, m);
}

LANE_OP(v_maxmin_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fp_min32(fp_max32(s0, s1, m), s2, m);
}

LANE_OP(v_minmax_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    return fp_max32(fp_min32(s0, s1, m), s2, m);
}

/* Of two numbers, denormals flushed. */
static inline F32 larger(F32 a, F32 b)
{
    return fp_key32(a) > fp_key32(b) ? a : b;
}

/* With a NaN the minimum; else drop the first operand that equals the maximum. */
LANE_OP(v_med3_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    F32 least = fp_min32(fp_min32(s0, s1, m), s2, m);
    F32 a = fp_in32(s0, m), b = fp_in32(s1, m), c = fp_in32(s2, m);
    F32 most = larger(larger(a, b), c);
    U32 r = bits_of_f32(larger(a, b));
    r = fp_sel32(most == b, bits_of_f32(larger(a, c)), r);
    r = fp_sel32(most == a, bits_of_f32(larger(b, c)), r);
    r = fp_sel32(fp_nan32(s0), bits_of_f32(least), r);
    r = fp_sel32(fp_nan32(s1), bits_of_f32(least), r);
    r = fp_sel32(fp_nan32(s2), bits_of_f32(least), r);
    return f32_of_bits(r);
}

/* ---- cube maps: (x, y, z); the largest axis wins, z before y before x */

static inline bool major_z(F32 x, F32 y, F32 z)
{
    return fp_abs32(z) >= fp_abs32(x) && fp_abs32(z) >= fp_abs32(y);
}

LANE_OP(v_cubeid_f32, F32, F32 x, F32 y, F32 z)
{
    bool by_y = fp_abs32(y) >= fp_abs32(x);
    F32 face_z = z < 0.0f ? 5.0f : 4.0f, face_y = y < 0.0f ? 3.0f : 2.0f;
    F32 face_x = x < 0.0f ? 1.0f : 0.0f;
    return major_z(x, y, z) ? face_z : by_y ? face_y : face_x;
}

LANE_OP(v_cubesc_f32, F32, F32 x, F32 y, F32 z)
{
    bool by_y = fp_abs32(y) >= fp_abs32(x);
    F32 on_z = z < 0.0f ? fp_neg32(x) : x, on_x = x < 0.0f ? z : fp_neg32(z);
    return major_z(x, y, z) ? on_z : by_y ? x : on_x;
}

LANE_OP(v_cubetc_f32, F32, F32 x, F32 y, F32 z)
{
    bool by_y = fp_abs32(y) >= fp_abs32(x);
    F32 on_y = y < 0.0f ? fp_neg32(z) : z;
    return !major_z(x, y, z) && by_y ? on_y : fp_neg32(y);
}

LANE_OP(v_cubema_f32, F32, F32 x, F32 y, F32 z)
{
    bool by_y = fp_abs32(y) >= fp_abs32(x);
    F32 major = major_z(x, y, z) ? z : by_y ? y : x;
    return fp_nan32(major) ? fp_quiet32(major) : major * 2.0f;
}

/* Lighting: the smallest number stands for "off" (manual 16.12); zero wins as in DX9.
 */
LANE_OP(v_mullit_f32, F32, F32 s0, F32 s1, F32 s2)
{
    bool lit = s1 > -0x1.fffffep127f && s2 > 0.0f; /* false for NaNs */
    F32 r = s0 == 0.0f || s1 == 0.0f ? 0.0f : fp_mul32(s0, s1);
    return lit ? r : -0x1.fffffep127f;
}

/* One rounding: the power of two is exact in f64, the conversion rounds. */
LANE_OP(v_ldexp_f32, F32, F32 s0, I32 s1, const struct lane_mode *m)
{
    I32 n = s1 > 400 ? 400 : s1 < -400 ? -400 : s1;
    F64 scale = f64_of_bits((U64)(n + 1023) << 52);
    F32 x = fp_in32(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : (F32)(f32_to_f64(x) * scale);
}

/* ---- the same for rows without NaNs, in the host's vector registers */

#ifdef HOST_VECTORS
ROW_FORM(v_add_f32)
{
    struct hrow r = hrow_add(hrow_load(s0), hrow_load(s1));
    if (hrow_nan(r))
        return false;
    hrow_store(d, r);
    return true;
}

ROW_FORM(v_sub_f32)
{
    struct hrow r = hrow_sub(hrow_load(s0), hrow_load(s1));
    if (hrow_nan(r))
        return false;
    hrow_store(d, r);
    return true;
}

ROW_FORM(v_subrev_f32)
{
    struct hrow r = hrow_sub(hrow_load(s1), hrow_load(s0));
    if (hrow_nan(r))
        return false;
    hrow_store(d, r);
    return true;
}

ROW_FORM(v_mul_f32)
{
    struct hrow r = hrow_mul(hrow_load(s0), hrow_load(s1));
    if (hrow_nan(r))
        return false;
    hrow_store(d, r);
    return true;
}

__attribute__((always_inline)) static inline bool
row_fma(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    struct hrow r = hrow_fma(hrow_load(a), hrow_load(b), hrow_load(c));
    if (hrow_nan(r))
        return false;
    hrow_store(d, r);
    return true;
}

ROW_FORM(v_fma_f32)
{
    return row_fma(d, s0, s1, s2);
}

ROW_FORM(v_fmac_f32)
{
    return row_fma(d, s0, s1, s2);
}

ROW_FORM(v_fmamk_f32)
{
    return row_fma(d, s0, s1, s2);
}

ROW_FORM(v_fmaak_f32)
{
    return row_fma(d, s0, s1, s2);
}

ROW_FORM(v_min_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b))
        return false;
    hrow_store(d, hrow_min(a, b));
    return true;
}

ROW_FORM(v_max_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b))
        return false;
    hrow_store(d, hrow_max(a, b));
    return true;
}

ROW_FORM(v_min3_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1), c = hrow_load(s2);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b) || hrow_nan(c))
        return false;
    hrow_store(d, hrow_min(hrow_min(a, b), c));
    return true;
}

ROW_FORM(v_max3_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1), c = hrow_load(s2);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b) || hrow_nan(c))
        return false;
    hrow_store(d, hrow_max(hrow_max(a, b), c));
    return true;
}

ROW_FORM(v_maxmin_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1), c = hrow_load(s2);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b) || hrow_nan(c))
        return false;
    hrow_store(d, hrow_min(hrow_max(a, b), c));
    return true;
}

ROW_FORM(v_minmax_f32)
{
    struct hrow a = hrow_load(s0), b = hrow_load(s1), c = hrow_load(s2);
    if (!(m->denorm32 & 1) || hrow_unordered(a, b) || hrow_nan(c))
        return false;
    hrow_store(d, hrow_max(hrow_min(a, b), c));
    return true;
}
#endif

#include "vop2_fp.inc"
