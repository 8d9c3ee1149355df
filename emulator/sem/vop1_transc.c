/* vop1_transc.c: transcendental functions (manual 16.8); the schemes are in transc.h.
 *
 * MODE's rounding is ignored. The f32 forms flush denormals whatever MODE says, except
 * sin; the f16 forms follow MODE.
 * SPDX-License-Identifier: MIT
 */
#include "hosttransc.h"
#include "hostvec.h"
#include "transc.h"

/* Bit for bit as measured on gfx1100. */
LANE_OP(v_exp_f32, F32, F32 s0)
{
    return transc_exp2(s0);
}

/* Bit for bit as measured on gfx1100. */
LANE_OP(v_log_f32, F32, F32 s0)
{
    return transc_log2(s0);
}

/* Within 1 ULP of hardware, 2,761 of the 2^23 mantissas differ (measured). */
LANE_OP(v_rcp_f32, F32, F32 s0)
{
    return transc_rcp(s0);
}

/* As v_rcp_f32; only exceptions differ. */
LANE_OP(v_rcp_iflag_f32, F32, F32 s0)
{
    return transc_rcp(s0);
}

/* Correctly rounded; hardware is within 1 ULP (manual 16.8). */
LANE_OP(v_rsq_f32, F32, F32 s0)
{
    return transc_rsq(s0);
}

/* Correctly rounded; hardware is within 1 ULP (manual 16.8). */
LANE_OP(v_sqrt_f32, F32, F32 s0)
{
    return transc_sqrt(s0);
}

/* Approximate: more accurate than the hardware's tables. */
LANE_OP(v_sin_f32, F32, F32 s0, const struct lane_mode *m)
{
    return transc_sin(fp_in32(s0, m), m->denorm32);
}

/* Approximate: more accurate than the hardware's tables. */
LANE_OP(v_cos_f32, F32, F32 s0)
{
    return transc_cos(s0);
}

/* ---- f64: IEEE results, where hardware has about 2^29 ULP (manual 16.8); the division
 * and square root macros converge from either */

LANE_OP(v_rcp_f64, F64, F64 s0)
{
    return fp_nan64(s0) ? fp_quiet64(s0) : 1.0 / s0;
}

LANE_OP(v_rsq_f64, F64, F64 s0)
{
    F64 r = s0 < 0.0 ? f64_of_bits(FP_NAN64) : 1.0 / sqrt(s0);
    return fp_nan64(s0) ? fp_quiet64(s0) : r;
}

LANE_OP(v_sqrt_f64, F64, F64 s0)
{
    F64 r = s0 < 0.0 ? f64_of_bits(FP_NAN64) : sqrt(s0);
    return fp_nan64(s0) ? fp_quiet64(s0) : r;
}

/* ---- f16: the f32 mapping rounded to nearest even; exp and log correctly rounded */

LANE_OP(v_rcp_f16, F16, F16 s0, const struct lane_mode *m)
{
    return fp_narrow32(transc_rcp(fp_f32_of_f16(s0, m)), ROUND_NEAREST, m);
}

LANE_OP(v_sqrt_f16, F16, F16 s0, const struct lane_mode *m)
{
    return fp_narrow32(transc_sqrt(fp_f32_of_f16(s0, m)), ROUND_NEAREST, m);
}

LANE_OP(v_rsq_f16, F16, F16 s0, const struct lane_mode *m)
{
    return fp_narrow32(transc_rsq(fp_f32_of_f16(s0, m)), ROUND_NEAREST, m);
}

/* Approximate as v_sin_f32. */
LANE_OP(v_sin_f16, F16, F16 s0, const struct lane_mode *m)
{
    return fp_narrow32(transc_sin(fp_f32_of_f16(s0, m), 3), ROUND_NEAREST, m);
}

/* Approximate as v_cos_f32. */
LANE_OP(v_cos_f16, F16, F16 s0, const struct lane_mode *m)
{
    return fp_narrow32(transc_cos(fp_f32_of_f16(s0, m)), ROUND_NEAREST, m);
}

LANE_OP(v_exp_f16, F16, F16 s0, const struct lane_mode *m)
{
    F32 x = fp_f32_of_f16(s0, m);
    F64 in = f32_to_f64(x);
    in = in > 64.0 ? 64.0 : in > -64.0 ? in : -64.0;
    F16 r = fp_narrow64_f16(transc_exp2_f64(in), ROUND_NEAREST, m);
    r = (s0 & 0x7fffu) == 0x7c00u ? s0 & 0x8000u ? 0 : 0x7c00u : r;
    return fp_nan16(s0) ? fp_quiet16(s0) : r;
}

LANE_OP(v_log_f16, F16, F16 s0, const struct lane_mode *m)
{
    F16 h = fp_in16(s0, m);
    F64 x = f32_to_f64(f16_to_f32(h & 0x7fffu));
    bool special = (h & 0x7fffu) == 0 || h >= 0x7c00u;
    F16 r = fp_narrow64_f16(transc_log2_f64(special ? 1.0 : x), ROUND_NEAREST, m);
    r = h == 0x7c00u ? h : h & 0x8000u ? FP_NAN16 : r;
    r = (h & 0x7fffu) == 0 ? 0xfc00u : r;
    return fp_nan16(s0) ? fp_quiet16(s0) : r;
}

/* ---- the same in the host's vector registers */

#ifdef HOST_VECTORS
ROW_FORM(v_rcp_f32)
{
    (void)s1;
    return hrow_rcp(d, s0);
}

ROW_FORM(v_rcp_iflag_f32)
{
    (void)s1;
    return hrow_rcp(d, s0);
}

ROW_FORM(v_sqrt_f32)
{
    struct hrow r = hrow_kept(hrow_load(s0), false);
    (void)s1;
    if (!hrow_sqrt_nearest(&r, m->round32 == ROUND_NEAREST))
        return false;
    hrow_store(d, r);
    return true;
}
#endif

#include "vop1_transc.inc"
