/* vop3_div.c: the three steps of the division macro: scale, fused multiply-add with
 * post-scale, fix-up (manual 16.12).
 *
 * Two points differ from the manual, after tests on hardware: a zero operand sets the
 * flag of V_DIV_SCALE, and V_DIV_FMAS scales by 2^64 (f64: 2^128) up or down, as the
 * size of S2 asks. V_DIV_FIXUP turns a NaN quotient of numbers into an overflow.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"

/* ---- scale: S0 is S1 (denominator) or S2 (numerator). Where both 1/S1 and S2/S1 are
 * denormal the manual scales the denominator up, which would overflow: V_DIV_FMAS
 * undoes a scaling down. */

/* On bits and without branches: this vectorises. */
LANE_OP(v_div_scale_f32, struct carry_f32, F32 s0, F32 s1, F32 s2,
        const struct lane_mode *m)
{
    F32 x = fp_in32(s0, m), den = fp_in32(s1, m), num = fp_in32(s2, m);
    U32 d = bits_of_f32(fp_abs32(den)), n = bits_of_f32(fp_abs32(num));
    U32 is_den = x == den, is_num = x == num, finite = d < 0x7f800000u;
    U32 rcp_tiny = finite & (d > 0x7e800000u); /* 1 / S1 is denormal: above 2^126 */
    U32 quot_tiny = finite & (fp_abs32(num) * 0x1p126f < fp_abs32(den));
    U32 far = (I32)(n >> 23) - (I32)(d >> 23) >= 96, tiny = d < 0x800000u;
    U32 zero = (d == 0) | (n == 0);
    U32 up = fp_sel32(quot_tiny, is_num, n < 0x0c000000u);
    up = (up & ~rcp_tiny) | tiny;
    up = fp_sel32(far, is_den, up);
    U32 down = rcp_tiny & ~far & (is_den | ~quot_tiny);
    U32 r = fp_sel32(down & 1, bits_of_f32(x * 0x1p-64f), bits_of_f32(x));
    r = fp_sel32(up & 1, bits_of_f32(x * 0x1p64f), r);
    r = fp_sel32(zero, FP_NAN32, r);
    return (struct carry_f32){.value = f32_of_bits(r),
                              .carry = (zero | far | (~tiny & quot_tiny)) & 1};
}

LANE_OP(v_div_scale_f64, struct carry_f64, F64 s0, F64 s1, F64 s2,
        const struct lane_mode *m)
{
    F64 x = fp_in64(s0, m), den = fp_in64(s1, m), num = fp_in64(s2, m);
    F64 d = fp_abs64(den), n = fp_abs64(num);
    I32 e_den = (I32)fp_exponent64(den), e_num = (I32)fp_exponent64(num);
    bool is_den = x == den, is_num = x == num;
    bool rcp_tiny = d > 0x1p1022 && e_den < 2047;
    /* n / d < 2^-1022, scaled so that both products are exact where it can hold */
    bool quot_tiny = n * 0x1p500 < d * 0x1p-522 && e_den < 2047;
    bool far = e_num - e_den >= 768, tiny = e_den == 0, zero = d == 0.0 || n == 0.0;
    bool up = far         ? is_den
              : tiny      ? true
              : rcp_tiny  ? false
              : quot_tiny ? is_num
                          : e_num <= 53;
    bool down = !far && rcp_tiny && (is_den || !quot_tiny);
    bool flag = zero || far || (!tiny && quot_tiny);
    F64 r = up ? x * 0x1p128 : down ? x * 0x1p-128 : x;
    return (struct carry_f64){.value = zero ? f64_of_bits(FP_NAN64) : r, .carry = flag};
}

/* ---- multiply-add; the result is rounded once, after scaling */

/* p + c in f64, the last bit odd if inexact (Fast2Sum): rounding it again to f32 is as
 * good as rounding the exact sum, in every mode. */
static inline F64 sum_to_odd(F64 p, F64 c)
{
    F64 s = p + c;
    bool p_big = fp_abs64(p) >= fp_abs64(c);
    F64 big = p_big ? p : c, small = p_big ? c : p, error = small - (s - big);
    U64 u = bits_of_f64(s);
    U64 away = (error > 0.0) == (s > 0.0) ? 1 : (U64)-1;
    bool adjust = (error > 0.0 || error < 0.0) && !(u & 1);
    return f64_of_bits(adjust ? u + away : u);
}

/* Input denormals are never flushed. */
LANE_OP(v_div_fmas_f32, F32, F32 s0, F32 s1, F32 s2, bool vcc,
        const struct lane_mode *m)
{
    F64 s = sum_to_odd(f32_to_f64(s0) * f32_to_f64(s1), f32_to_f64(s2));
    F64 scale = !vcc ? 1.0 : fp_exponent32(s2) > 127 ? 0x1p64 : 0x1p-64;
    F32 r = fp_narrow64(s * scale, m->round32, m->denorm32);
    r = fp_nan32(s2) ? fp_quiet32(s2) : r;
    r = fp_nan32(s1) ? fp_quiet32(s1) : r;
    return fp_nan32(s0) ? fp_quiet32(s0) : r;
}

/* r * 2^-128 rounded, where error has the sign of (exact value - r). */
static inline F64 scale_down(F64 r, F64 error, const struct lane_mode *m)
{
    U64 u = bits_of_f64(r), a = u & 0x7fffffffffffffffu, sign = u ^ a;
    I32 field = (I32)(a >> 52);
    U64 man = (a & 0xfffffffffffffu) | (U64)(field != 0) << 52;
    I32 shift = 131 - (field ? field : 1);
    shift = shift > 60 ? 60 : shift < 3 ? 3 : shift;
    U64 quarter = (error > 0.0) == !sign ? 1 : (U64)-1;
    quarter = man && (error > 0.0 || error < 0.0) ? quarter : 0;
    U64 low = fp_shift_round(4 * man + quarter, (unsigned)shift, sign, m->round64);
    F64 denormal = fp_out64(f64_of_bits(low | sign), m);
    F64 normal = f64_of_bits(u - ((U64)128 << 52));
    return field == 2047 ? r : field > 128 ? normal : denormal;
}

/* Exact if S2 - result is, as in a division. Input denormals follow MODE, which the
 * manual says they do not. */
LANE_OP(v_div_fmas_f64, F64, F64 s0, F64 s1, F64 s2, bool vcc,
        const struct lane_mode *m)
{
    F64 r = fp_fma64(s0, s1, s2);
    F64 down = scale_down(r, fma(s0, s1, s2 - r), m);
    F64 scaled = fp_exponent64(s2) > 1023 ? r * 0x1p128 : down;
    return vcc && !fp_nan64(r) ? scaled : r;
}

/* ---- fix-up: S0 quotient, S1 denominator, S2 numerator */

LANE_OP(v_div_fixup_f32, F32, F32 s0, F32 s1, F32 s2, const struct lane_mode *m)
{
    U32 q = bits_of_f32(fp_out32(fp_in32(s0, m), m)) & 0x7fffffffu;
    U32 d = bits_of_f32(fp_in32(s1, m)), n = bits_of_f32(fp_in32(s2, m));
    U32 sign = (d ^ n) & 0x80000000u;
    bool away = m->round32 == (sign ? ROUND_DOWN : ROUND_UP) && (m->denorm32 & 2);
    U32 huge = fp_huge(sign, m->round32, 0x7f800000u);
    d &= 0x7fffffffu, n &= 0x7fffffffu;
    U32 r = q > 0x7f800000u ? huge : q;
    r = (I32)(n >> 23) - (I32)(d >> 23) < -150 ? away : r;
    r = d == 0x7f800000u || n == 0 ? 0 : r;
    r = d == 0 || n == 0x7f800000u ? 0x7f800000u : r;
    r |= sign;
    r = (d == 0 && n == 0) || (d == 0x7f800000u && n == 0x7f800000u) ? FP_NAN32 : r;
    F32 f = fp_nan32(s1) ? fp_quiet32(s1) : f32_of_bits(r);
    return fp_nan32(s2) ? fp_quiet32(s2) : f;
}

LANE_OP(v_div_fixup_f64, F64, F64 s0, F64 s1, F64 s2, const struct lane_mode *m)
{
    const U64 inf = 0x7ff0000000000000u, magnitude = 0x7fffffffffffffffu;
    U64 q = bits_of_f64(fp_out64(fp_in64(s0, m), m)) & magnitude;
    U64 d = bits_of_f64(fp_in64(s1, m)), n = bits_of_f64(fp_in64(s2, m));
    U64 sign = (d ^ n) & ~magnitude;
    bool away = m->round64 == (sign ? ROUND_DOWN : ROUND_UP) && (m->denorm64 & 2);
    U64 huge = fp_huge64(sign, m->round64, inf);
    d &= magnitude, n &= magnitude;
    U64 r = q > inf ? huge : q;
    r = (I32)(n >> 52) - (I32)(d >> 52) < -1075 ? away : r;
    r = d == inf || n == 0 ? 0 : r;
    r = d == 0 || n == inf ? inf : r;
    r |= sign;
    r = (d == 0 && n == 0) || (d == inf && n == inf) ? FP_NAN64 : r;
    F64 f = fp_nan64(s1) ? fp_quiet64(s1) : f64_of_bits(r);
    return fp_nan64(s2) ? fp_quiet64(s2) : f;
}

#include "vop3_div.inc"
