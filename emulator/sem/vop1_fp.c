/* vop1_fp.c: VOP1 rounding to integral values and splitting of f32 and f64 numbers
 * (manual 16.8). The half-precision forms are in vop_f16.c.
 *
 * Everything is exact except fract, which rounds as MODE says.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"

/* ---- f32 */

LANE_OP(v_trunc_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : fp_trunc32(x);
}

LANE_OP(v_floor_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : fp_floor32(x);
}

LANE_OP(v_ceil_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : fp_neg32(fp_floor32(fp_neg32(x)));
}

LANE_OP(v_rndne_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    return fp_nan32(x) ? fp_quiet32(x) : fp_rndne32(x);
}

/* x - floor(x), never 1 (manual 16.8). */
LANE_OP(v_fract_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m), r = fp_sub32(x, fp_floor32(x));
    return r >= 1.0f ? 0x1.fffffep-1f : r;
}

/* Zero, infinity and NaN give 0 (C's frexp); denormals count as the numbers they are.
 */
LANE_OP(v_frexp_exp_i32_f32, I32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    U64 wide = bits_of_f64(f32_to_f64(fp_abs32(x)));
    I32 e = (I32)(wide >> 52) - 1022;
    return wide == 0 || fp_exponent32(x) == 255 ? 0 : e;
}

LANE_OP(v_frexp_mant_f32, F32, F32 s0, const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m);
    U64 wide = bits_of_f64(f32_to_f64(fp_abs32(x)));
    U32 mant = 0x3f000000u | (U32)(wide >> 29 & 0x7fffffu);
    U32 r = (bits_of_f32(x) & 0x80000000u) | (wide == 0 ? 0 : mant);
    F32 special = fp_nan32(x) ? fp_quiet32(x) : x;
    return fp_exponent32(x) == 255 ? special : f32_of_bits(r);
}

/* ---- f64 */

LANE_OP(v_trunc_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    return fp_nan64(x) ? fp_quiet64(x) : fp_trunc64(x);
}

LANE_OP(v_floor_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    return fp_nan64(x) ? fp_quiet64(x) : fp_floor64(x);
}

LANE_OP(v_ceil_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    return fp_nan64(x) ? fp_quiet64(x) : -fp_floor64(-x);
}

LANE_OP(v_rndne_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    return fp_nan64(x) ? fp_quiet64(x) : fp_rndne64(x);
}

LANE_OP(v_fract_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m), r = x - fp_floor64(x);
    r = r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
    return fp_nan64(x) ? fp_quiet64(x) : r;
}

/* A denormal as mantissa in [1, 2) and exponent: x = mant * 2^(field - 1023). */
struct split64 {
    U64 fraction;
    I32 field;
};
static inline struct split64 split64(F64 x)
{
    U64 u = bits_of_f64(x) & 0x7fffffffffffffffu;
    U64 norm = bits_of_f64((F64)(I64)u) - ((U64)1074 << 52); /* u * 2^-1074 */
    bool tiny = u < 0x10000000000000u;
    return (struct split64){.fraction = (tiny ? norm : u) & 0xfffffffffffffu,
                            .field = tiny ? (I32)((I64)norm >> 52) : (I32)(u >> 52)};
}

/* Zero, infinity and NaN give 0 (C's frexp). */
LANE_OP(v_frexp_exp_i32_f64, I32, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    bool none = fp_abs64(x) == 0.0 || fp_exponent64(x) == 2047;
    return none ? 0 : split64(x).field - 1022;
}

LANE_OP(v_frexp_mant_f64, F64, F64 s0, const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m);
    U64 sign = bits_of_f64(x) & 0x8000000000000000u;
    U64 r = sign | 0x3fe0000000000000u | split64(x).fraction;
    F64 special = fp_nan64(x) ? fp_quiet64(x) : x;
    bool none = (bits_of_f64(x) << 1) == 0 || fp_exponent64(x) == 2047;
    return none ? special : f64_of_bits(r);
}

#include "vop1_fp.inc"
