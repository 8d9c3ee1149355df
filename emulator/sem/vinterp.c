/* vinterp.c: parameter interpolation (manual 12.3, 16.13).
 *
 * The fixed DPP8 selection of sources 0 and 2, which ignores EXEC, has been applied
 * (predecode.c, set_interp); so has op_sel. Everything is an f32 FMA under the f32
 * float mode, with rounding toward zero in the RTZ forms; a 16-bit result is rounded
 * once more. SPDX-License-Identifier: MIT
 */
#include "fp.h"

/* P10: P0 + I * (P1 - P0) */
LANE_OP(v_interp_p10_f32, F32, F32 p10, F32 i, F32 p0)
{
    return fp_fma32(p10, i, p0);
}

/* P2: the above + J * (P2 - P0) */
LANE_OP(v_interp_p2_f32, F32, F32 p20, F32 j, F32 sum)
{
    return fp_fma32(p20, j, sum);
}

LANE_OP(v_interp_p10_f16_f32, F32, F16 p10, F32 i, F16 p0, const struct lane_mode *m)
{
    return fp_fma32(fp_f32_of_f16(p10, m), i, fp_f32_of_f16(p0, m));
}

LANE_OP(v_interp_p2_f16_f32, F16, F16 p20, F32 j, F32 sum, const struct lane_mode *m)
{
    return f32_to_f16(fp_fma32(fp_f32_of_f16(p20, m), j, sum), m);
}

/* The host rounds toward zero while these run. */
LANE_OP(v_interp_p10_rtz_f16_f32, F32, F16 p10, F32 i, F16 p0,
        const struct lane_mode *m)
{
    return fp_fma32(fp_f32_of_f16(p10, m), i, fp_f32_of_f16(p0, m));
}

LANE_OP(v_interp_p2_rtz_f16_f32, F16, F16 p20, F32 j, F32 sum,
        const struct lane_mode *m)
{
    return fp_narrow32(fp_fma32(fp_f32_of_f16(p20, m), j, sum), ROUND_ZERO, m);
}

#include "vinterp.inc"
