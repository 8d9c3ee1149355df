/* vop1_cvt.c: VOP1 conversions between number formats (manual 16.8).
 *
 * Conversions whose source or result is f64 or f16 run under MODE's f64/f16 fields, so
 * f32 operands there are handled explicitly. Float to integer truncates, saturates and
 * turns NaN into 0.
 * SPDX-License-Identifier: MIT
 */
#include "hosthalf.h"

/* ---- integer -> float; f32 results round as MODE says */

LANE_OP(v_cvt_f32_i32, F32, I32 s0)
{
    return (F32)s0;
}

LANE_OP(v_cvt_f32_u32, F32, U32 s0)
{
    return (F32)s0;
}

LANE_OP(v_cvt_f64_i32, F64, I32 s0)
{
    return (F64)s0;
}

LANE_OP(v_cvt_f64_u32, F64, U32 s0)
{
    return (F64)s0;
}

LANE_OP(v_cvt_f32_ubyte0, F32, U32 s0)
{
    return (F32)(I32)(s0 & 255);
}

LANE_OP(v_cvt_f32_ubyte1, F32, U32 s0)
{
    return (F32)(I32)(s0 >> 8 & 255);
}

LANE_OP(v_cvt_f32_ubyte2, F32, U32 s0)
{
    return (F32)(I32)(s0 >> 16 & 255);
}

LANE_OP(v_cvt_f32_ubyte3, F32, U32 s0)
{
    return (F32)(I32)(s0 >> 24);
}

/* S0[3:0] as a signed number of sixteenths. */
LANE_OP(v_cvt_off_f32_i4, F32, I32 s0)
{
    return (F32)((I32)((U32)s0 << 28) >> 28) * 0.0625f;
}

LANE_OP(v_cvt_f16_u16, F16, U16 s0, const struct lane_mode *m)
{
    return f32_to_f16((F32)(I32)s0, m);
}

LANE_OP(v_cvt_f16_i16, F16, I16 s0, const struct lane_mode *m)
{
    return f32_to_f16((F32)(I32)s0, m);
}

/* ---- float -> integer */

LANE_OP(v_cvt_i32_f32, I32, F32 s0)
{
    return fp_i32_of_f32(s0);
}

LANE_OP(v_cvt_u32_f32, U32, F32 s0)
{
    return fp_u32_of_f32(s0);
}

LANE_OP(v_cvt_i32_f64, I32, F64 s0)
{
    return fp_i32_of_f64(s0);
}

LANE_OP(v_cvt_u32_f64, U32, F64 s0)
{
    return fp_u32_of_f64(s0);
}

LANE_OP(v_cvt_floor_i32_f32, I32, F32 s0)
{
    return fp_i32_of_f32(fp_floor32(s0));
}

/* floor(x + 0.5) without the rounding of the f32 sum, which would carry the number
 * below 0.5 to 1: the manual gives 0.5 ULP accuracy (16.8), and no pseudocode. */
LANE_OP(v_cvt_nearest_i32_f32, I32, F32 s0)
{
    F32 down = fp_floor32(s0), half = s0 - down; /* exact or tiny and below 0.5 */
    return fp_i32_of_f32(half >= 0.5f && fp_abs32(s0) < 0x1p23f ? down + 1.0f : down);
}

LANE_OP(v_cvt_u16_f16, U16, F16 s0)
{
    I32 i = fp_i32_of_f32(f16_to_f32(s0));
    return (U16)(i < 0 ? 0 : i > UINT16_MAX ? UINT16_MAX : i);
}

LANE_OP(v_cvt_i16_f16, I16, F16 s0)
{
    I32 i = fp_i32_of_f32(f16_to_f32(s0));
    return (I16)(i < INT16_MIN ? INT16_MIN : i > INT16_MAX ? INT16_MAX : i);
}

/* ---- float -> float */

LANE_OP(v_cvt_f16_f32, F16, F32 s0, const struct lane_mode *m)
{
    return f32_to_f16(fp_in32(s0, m), m);
}

LANE_OP(v_cvt_f32_f16, F32, F16 s0, const struct lane_mode *m)
{
    F32 x = fp_f32_of_f16(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : x;
}

/* Rounded by the f32 field of MODE: the manual names no field here. */
LANE_OP(v_cvt_f32_f64, F32, F64 s0, const struct lane_mode *m)
{
    return fp_narrow64(fp_in64(s0, m), m->round32, m->denorm32);
}

LANE_OP(v_cvt_f64_f32, F64, F32 s0, const struct lane_mode *m)
{
    F64 x = f32_to_f64(fp_in32(s0, m));
    return fp_nan64(x) ? fp_quiet64(x) : x;
}

/* ---- normalised integers: scaled, rounded as MODE says, saturated; NaN gives 0 */

LANE_OP(v_cvt_norm_i16_f16, I16, F16 s0, const struct lane_mode *m)
{
    return fp_snorm16(f32_to_f64(fp_f32_of_f16(s0, m)), m->round64);
}

LANE_OP(v_cvt_norm_u16_f16, U16, F16 s0, const struct lane_mode *m)
{
    return fp_unorm16(f32_to_f64(fp_f32_of_f16(s0, m)), m->round64);
}

LANE_OP(v_cvt_pk_norm_i16_f16, U32, F16 s0, F16 s1, const struct lane_mode *m)
{
    U16 lo = (U16)fp_snorm16(f32_to_f64(fp_f32_of_f16(s0, m)), m->round64);
    U16 hi = (U16)fp_snorm16(f32_to_f64(fp_f32_of_f16(s1, m)), m->round64);
    return lo | (U32)hi << 16;
}

LANE_OP(v_cvt_pk_norm_u16_f16, U32, F16 s0, F16 s1, const struct lane_mode *m)
{
    U16 lo = fp_unorm16(f32_to_f64(fp_f32_of_f16(s0, m)), m->round64);
    U16 hi = fp_unorm16(f32_to_f64(fp_f32_of_f16(s1, m)), m->round64);
    return lo | (U32)hi << 16;
}

LANE_OP(v_cvt_pk_norm_i16_f32, U32, F32 s0, F32 s1, const struct lane_mode *m)
{
    U16 lo = (U16)fp_snorm16(f32_to_f64(fp_in32(s0, m)), m->round32);
    U16 hi = (U16)fp_snorm16(f32_to_f64(fp_in32(s1, m)), m->round32);
    return lo | (U32)hi << 16;
}

LANE_OP(v_cvt_pk_norm_u16_f32, U32, F32 s0, F32 s1, const struct lane_mode *m)
{
    U16 lo = fp_unorm16(f32_to_f64(fp_in32(s0, m)), m->round32);
    U16 hi = fp_unorm16(f32_to_f64(fp_in32(s1, m)), m->round32);
    return lo | (U32)hi << 16;
}

/* ---- pairs */

/* Towards zero whatever MODE says. */
LANE_OP(v_cvt_pk_rtz_f16_f32, U32, F32 s0, F32 s1, const struct lane_mode *m)
{
    return fp_narrow32(fp_in32(s0, m), ROUND_ZERO, m) |
           (U32)fp_narrow32(fp_in32(s1, m), ROUND_ZERO, m) << 16;
}

LANE_OP(v_cvt_pk_i16_f32, U32, F32 s0, F32 s1)
{
    I32 lo = fp_i32_of_f32(s0), hi = fp_i32_of_f32(s1);
    lo = lo < INT16_MIN ? INT16_MIN : lo > INT16_MAX ? INT16_MAX : lo;
    hi = hi < INT16_MIN ? INT16_MIN : hi > INT16_MAX ? INT16_MAX : hi;
    return ((U32)lo & 0xffff) | (U32)hi << 16;
}

LANE_OP(v_cvt_pk_u16_f32, U32, F32 s0, F32 s1)
{
    I32 lo = fp_i32_of_f32(s0), hi = fp_i32_of_f32(s1);
    lo = lo < 0 ? 0 : lo > UINT16_MAX ? UINT16_MAX : lo;
    hi = hi < 0 ? 0 : hi > UINT16_MAX ? UINT16_MAX : hi;
    return (U32)lo | (U32)hi << 16;
}

LANE_OP(v_cvt_pk_u16_u32, U32, U32 s0, U32 s1)
{
    U32 lo = s0 > UINT16_MAX ? UINT16_MAX : s0, hi = s1 > UINT16_MAX ? UINT16_MAX : s1;
    return lo | hi << 16;
}

LANE_OP(v_cvt_pk_i16_i32, U32, I32 s0, I32 s1)
{
    I32 lo = s0 < INT16_MIN ? INT16_MIN : s0 > INT16_MAX ? INT16_MAX : s0;
    I32 hi = s1 < INT16_MIN ? INT16_MIN : s1 > INT16_MAX ? INT16_MAX : s1;
    return ((U32)lo & 0xffff) | (U32)hi << 16;
}

/* A float operation to the hardware: denormals and signalling NaNs as MODE says. */
LANE_OP(v_pack_b32_f16, U32, F16 s0, F16 s1, const struct lane_mode *m)
{
    U32 lo = fp_out16(fp_in16(s0, m), m), hi = fp_out16(fp_in16(s1, m), m);
    lo |= fp_sel32(m->ieee & fp_nan16(s0), 0x200, 0);
    hi |= fp_sel32(m->ieee & fp_nan16(s1), 0x200, 0);
    return lo | hi << 16;
}

/* Byte S1[1:0] of S2 is replaced. Rounds as MODE says: the manual does not say. */
LANE_OP(v_cvt_pk_u8_f32, U32, F32 s0, U32 s1, U32 s2, const struct lane_mode *m)
{
    U32 byte = fp_round_clip(f32_to_f64(fp_in32(s0, m)), 255, m->round32),
        shift = 8 * (s1 & 3);
    return (s2 & ~(255u << shift)) | byte << shift;
}

/* ---- the same in the host's vector registers */

#ifdef HOST_VECTORS
/* Rounded up or down an f32 denormal makes an f16 denormal, unless the host flushes it:
 * those are the lane function's. The host makes NaNs quiet as fp.h does. */
ROW_FORM(v_cvt_f16_f32)
{
    (void)s1;
    if (m->fp16_ovfl || m->round64 == ROUND_UP || m->round64 == ROUND_DOWN)
        return false;
    half_store(d, hrow_load(s0), m);
    return true;
}

ROW_FORM(v_cvt_f32_f16)
{
    (void)s1;
    hrow_store(d, half_load(s0, m));
    return true;
}

ROW_FORM(v_cvt_pk_rtz_f16_f32)
{
    half_couple_rtz(d, hrow_load(s0), hrow_load(s1), m);
    return true;
}
#endif

#include "vop1_cvt.inc"
