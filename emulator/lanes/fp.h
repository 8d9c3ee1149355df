/* fp.h: floating-point rules that lane functions share (NaN, denormals, f16, rounding).
 *
 * Bits in, bits out: nothing here depends on the host's rounding or denormal mode
 * except where a comment says so, and nothing depends on the SIMD level.
 *
 * NaN rule: the first NaN operand in operand order, made quiet; an invalid operation
 * gives the negative quiet NaN (manual, examples of V_RSQ_F32 and V_DIV_FIXUP_F32).
 * The host's add, mul and fma already give that NaN, and quiet their NaN operand; only
 * the choice between several NaN operands is left to the compiler, so it is made here.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FP_H
#define RD_FP_H

#include <math.h>

#include "lane.h"

#define FP_NAN16 0xfe00u
#define FP_NAN32 0xffc00000u
#define FP_NAN64 0xfff8000000000000u

/* Round modes of struct lane_mode. */
enum { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO };

/* cond ? a : b without a branch. The vectoriser gives up on longer chains of ?:, so
 * those are written with these. */
static inline U32 fp_sel32(bool cond, U32 a, U32 b)
{
    U32 mask = 0u - (U32)cond;
    return (a & mask) | (b & ~mask);
}
static inline U64 fp_sel64(bool cond, U64 a, U64 b)
{
    U64 mask = 0u - (U64)cond;
    return (a & mask) | (b & ~mask);
}
static inline I32 fp_clamp_i32(I32 v, I32 low, I32 high)
{
    v = v < low ? low : v;
    return v > high ? high : v;
}
static inline I64 fp_clamp_i64(I64 v, I64 low, I64 high)
{
    v = v < low ? low : v;
    return v > high ? high : v;
}

/* ---- classification, on bits */

static inline bool fp_nan16(F16 h)
{
    return (h & 0x7fffu) > 0x7c00u;
}
static inline bool fp_nan32(F32 x)
{
    return (bits_of_f32(x) & 0x7fffffffu) > 0x7f800000u;
}
static inline bool fp_nan64(F64 x)
{
    return (bits_of_f64(x) & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}
static inline bool fp_snan16(F16 h)
{
    return (h & 0x7fffu) - 0x7c01u < 0x1ffu; /* between infinity and the quiet ones */
}
static inline bool fp_snan32(F32 x)
{
    return (bits_of_f32(x) & 0x7fffffffu) - 0x7f800001u < 0x3fffffu;
}
static inline bool fp_snan64(F64 x)
{
    return (bits_of_f64(x) & 0x7fffffffffffffffu) - 0x7ff0000000000001u <
           0x7ffffffffffffu;
}
static inline F16 fp_quiet16(F16 h)
{
    return (F16)(h | 0x200u);
}
static inline F32 fp_quiet32(F32 x)
{
    return f32_of_bits(bits_of_f32(x) | 0x400000u);
}
static inline F64 fp_quiet64(F64 x)
{
    return f64_of_bits(bits_of_f64(x) | 0x8000000000000u);
}
static inline U32 fp_exponent32(F32 x)
{
    return bits_of_f32(x) >> 23 & 255;
}
static inline U32 fp_exponent64(F64 x)
{
    return (U32)(bits_of_f64(x) >> 52) & 2047;
}
static inline F32 fp_abs32(F32 x)
{
    return f32_of_bits(bits_of_f32(x) & 0x7fffffffu);
}
static inline F64 fp_abs64(F64 x)
{
    return f64_of_bits(bits_of_f64(x) & 0x7fffffffffffffffu);
}
static inline F32 fp_neg32(F32 x)
{
    return f32_of_bits(bits_of_f32(x) ^ 0x80000000u);
}

/* ---- denormals: flushing keeps the sign (manual 7.2.4) */

static inline F16 fp_daz16(F16 h)
{
    return (F16)fp_sel32((h & 0x7c00u) != 0, h, h & 0x8000u);
}
static inline F32 fp_daz32(F32 x)
{
    U32 u = bits_of_f32(x);
    return f32_of_bits(fp_sel32((u & 0x7f800000u) != 0, u, u & 0x80000000u));
}
static inline F64 fp_daz64(F64 x)
{
    U64 u = bits_of_f64(x);
    return f64_of_bits(u & 0x7ff0000000000000u ? u : u & 0x8000000000000000u);
}
static inline F16 fp_in16(F16 h, const struct lane_mode *m)
{
    return (F16)fp_sel32(m->denorm64 & 1, h, fp_daz16(h));
}
static inline F32 fp_in32(F32 x, const struct lane_mode *m)
{
    U32 kept = bits_of_f32(x), flushed = bits_of_f32(fp_daz32(x));
    return f32_of_bits(fp_sel32(m->denorm32 & 1, kept, flushed));
}
static inline F64 fp_in64(F64 x, const struct lane_mode *m)
{
    return m->denorm64 & 1 ? x : fp_daz64(x);
}
static inline F16 fp_out16(F16 h, const struct lane_mode *m)
{
    return (F16)fp_sel32((m->denorm64 & 2) != 0, h, fp_daz16(h));
}
static inline F32 fp_out32(F32 x, const struct lane_mode *m)
{
    return m->denorm32 & 2 ? x : fp_daz32(x);
}
static inline F64 fp_out64(F64 x, const struct lane_mode *m)
{
    return m->denorm64 & 2 ? x : fp_daz64(x);
}

/* ---- rounding of a magnitude */

/* v / 2^shift rounded; shift 1..63. What is cut off is compared at the top of a word.
 * Masks instead of conditions: this vectorises. */
static inline U64 fp_shift_round(U64 v, U64 shift, bool negative, unsigned round)
{
    U64 q = v >> shift, rest = v << (64 - shift);
    U64 nearest = (rest | (q & 1)) > (U64)1 << 63;
    U64 up = round == ROUND_UP ? 1 : 0, down = round == ROUND_DOWN ? 1 : 0;
    U64 away = fp_sel64(negative, down, up) & (rest != 0);
    return q + (round == ROUND_NEAREST ? nearest : away);
}
static inline U32 fp_shift_round32(U32 v, U32 shift, bool negative, unsigned round)
{
    U32 q = v >> shift, rest = v << (32 - shift);
    U32 nearest = (rest | (q & 1)) > (U32)1 << 31;
    U32 up = round == ROUND_UP ? 1 : 0, down = round == ROUND_DOWN ? 1 : 0;
    U32 away = fp_sel32(negative, down, up) & (rest != 0);
    return q + (round == ROUND_NEAREST ? nearest : away);
}

/* ---- conversions between formats */

/* f16 -> f32, exact; the caller has flushed denormals. Signalling NaNs stay so. */
static inline F32 f16_to_f32(F16 h)
{
    U32 a = h & 0x7fffu, u = (a << 13) + (112u << 23);
    u += fp_sel32(a >= 0x7c00u, 112u << 23, 0);
    U32 tiny = bits_of_f32((F32)(I32)a * 0x1p-24f); /* exact, normal or +0 */
    return f32_of_bits(fp_sel32(a < 0x400u, tiny, u) | (U32)(h & 0x8000u) << 16);
}

/* f16 operand of an arithmetic operation. */
static inline F32 fp_f32_of_f16(F16 h, const struct lane_mode *m)
{
    return f16_to_f32(fp_in16(h, m));
}

/* The magnitude for an overflow: infinity (given) or the largest finite number. */
static inline U32 fp_huge(bool negative, unsigned round, U32 inf)
{
    U32 above = round == ROUND_NEAREST || round == ROUND_UP ? inf : inf - 1;
    U32 below = round == ROUND_NEAREST || round == ROUND_DOWN ? inf : inf - 1;
    return fp_sel32(negative, below, above);
}
static inline U64 fp_huge64(bool negative, unsigned round, U64 inf)
{
    U64 above = round == ROUND_NEAREST || round == ROUND_UP ? inf : inf - 1;
    U64 below = round == ROUND_NEAREST || round == ROUND_DOWN ? inf : inf - 1;
    return fp_sel64(negative, below, above);
}
static inline U32 fp_huge16(bool negative, unsigned round, const struct lane_mode *m)
{
    return fp_sel32(m->fp16_ovfl, 0x7bffu, fp_huge(negative, round, 0x7c00u));
}

/* f32 -> f16 with the given rounding. FP16_OVFL and output denormals as MODE says;
 * infinities stay, NaNs become quiet. */
static inline F16 fp_narrow32(F32 x, unsigned round, const struct lane_mode *m)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    bool neg = u >> 31;
    I32 e = (I32)(a >> 23) - 112; /* exponent field of the f16 */
    U32 mant = (a & 0x7fffffu) | fp_sel32(a >= 0x800000u, 0x800000u, 0);
    U32 shift = (U32)fp_clamp_i32(14 - e, 13, 25);
    U32 r = fp_shift_round32(mant, shift, neg, round);
    r += (U32)fp_clamp_i32(e - 1, 0, 255) << 10; /* the hidden bit counts one */
    r = fp_sel32(r < (m->denorm64 & 2 ? 0 : 0x400u), 0, r);
    r = fp_sel32(r >= 0x7c00u, fp_huge16(neg, round, m), r);
    r = fp_sel32(a >= 0x7f800000u, 0x7c00u, r);
    r = fp_sel32(a > 0x7f800000u, 0x7e00u | (a >> 13 & 0x3ffu), r);
    return (F16)(r | (u >> 16 & 0x8000u));
}
static inline F16 f32_to_f16(F32 x, const struct lane_mode *m)
{
    return fp_narrow32(x, m->round64, m);
}

/* f64 -> f16, as fp_narrow32. */
static inline F16 fp_narrow64_f16(F64 x, unsigned round, const struct lane_mode *m)
{
    U64 u = bits_of_f64(x), a = u & 0x7fffffffffffffffu;
    I64 e = (I64)(a >> 52) - 1008;
    U64 mant = (a & 0xfffffffffffffu) | fp_sel64(a >> 52 != 0, (U64)1 << 52, 0);
    U64 shift = (U64)fp_clamp_i64(43 - e, 42, 54);
    U64 r = fp_shift_round(mant, shift, u >> 63, round);
    r += (U64)fp_clamp_i64(e - 1, 0, 31) << 10;
    r = fp_sel64(r < (m->denorm64 & 2 ? 0 : 0x400u), 0, r);
    U64 huge = fp_huge64(u >> 63, round, 0x7c00u);
    r = fp_sel64(r >= 0x7c00u, fp_sel64(m->fp16_ovfl, 0x7bffu, huge), r);
    r = fp_sel64(a >= 0x7ff0000000000000u, 0x7c00u, r);
    r = fp_sel64(a > 0x7ff0000000000000u, 0x7e00u | (a >> 42 & 0x3ffu), r);
    return (F16)(U32)(r | (u >> 48 & 0x8000u));
}
static inline F16 f64_to_f16(F64 x, const struct lane_mode *m)
{
    return fp_narrow64_f16(x, m->round64, m);
}

/* f32 -> f64, exact whatever the host's denormal mode. Signalling NaNs stay so. */
static inline F64 f32_to_f64(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    U64 wide = ((U64)a << 29) + ((U64)896 << 52);
    wide += fp_sel64(a >= 0x7f800000u, (U64)896 << 52, 0);
    U64 tiny = bits_of_f64((F64)(I32)a * 0x1p-149); /* exact, normal or +0 */
    return f64_of_bits(fp_sel64(a < 0x800000u, tiny, wide) | (U64)(u >> 31) << 63);
}

/* f64 -> f32 with the given rounding, output denormals as denorm32 says; NaNs become
 * quiet. */
static inline F32 fp_narrow64(F64 x, unsigned round, unsigned denorm32)
{
    U64 u = bits_of_f64(x), a = u & 0x7fffffffffffffffu;
    I64 e = (I64)(a >> 52) - 896;
    U64 mant = (a & 0xfffffffffffffu) | fp_sel64(a >> 52 != 0, (U64)1 << 52, 0);
    U64 shift = (U64)fp_clamp_i64(30 - e, 29, 54);
    U64 r = fp_shift_round(mant, shift, u >> 63, round);
    r += (U64)fp_clamp_i64(e - 1, 0, 254) << 23;
    r = fp_sel64(r < (denorm32 & 2 ? 0 : 0x800000u), 0, r);
    r = fp_sel64(r >= 0x7f800000u, fp_huge64(u >> 63, round, 0x7f800000u), r);
    r = fp_sel64(a >= 0x7ff0000000000000u, 0x7f800000u, r);
    r = fp_sel64(a > 0x7ff0000000000000u, 0x7fc00000u | (a >> 29 & 0x7fffffu), r);
    return f32_of_bits((U32)(r | (u >> 32 & 0x80000000u)));
}

/* ---- arithmetic with the NaN rule; rounds as the host's mode says */

static inline F32 fp_add32(F32 a, F32 b)
{
    return fp_nan32(a) ? fp_quiet32(a) : a + b;
}
static inline F32 fp_sub32(F32 a, F32 b)
{
    return fp_nan32(a) ? fp_quiet32(a) : a - b;
}
static inline F32 fp_mul32(F32 a, F32 b)
{
    return fp_nan32(a) ? fp_quiet32(a) : a * b;
}
static inline F32 fp_fma32(F32 a, F32 b, F32 c)
{
    F32 r = fmaf(a, b, c);
    r = fp_nan32(c) ? fp_quiet32(c) : r;
    r = fp_nan32(b) ? fp_quiet32(b) : r;
    return fp_nan32(a) ? fp_quiet32(a) : r;
}
static inline F64 fp_add64(F64 a, F64 b)
{
    return fp_nan64(a) ? fp_quiet64(a) : a + b;
}
static inline F64 fp_mul64(F64 a, F64 b)
{
    return fp_nan64(a) ? fp_quiet64(a) : a * b;
}
static inline F64 fp_fma64(F64 a, F64 b, F64 c)
{
    F64 r = fma(a, b, c);
    r = fp_nan64(c) ? fp_quiet64(c) : r;
    r = fp_nan64(b) ? fp_quiet64(b) : r;
    return fp_nan64(a) ? fp_quiet64(a) : r;
}

/* f16 add and mul are innocuous in f32 (24 >= 2*11+2 bits); directed roundings agree
 * because both steps round the same way. */
static inline F16 fp_add16(F16 a, F16 b, const struct lane_mode *m)
{
    return f32_to_f16(fp_add32(fp_f32_of_f16(a, m), fp_f32_of_f16(b, m)), m);
}
static inline F16 fp_mul16(F16 a, F16 b, const struct lane_mode *m)
{
    return f32_to_f16(fp_mul32(fp_f32_of_f16(a, m), fp_f32_of_f16(b, m)), m);
}
/* The product is exact in f64. The sum is inexact there only if the product is below
 * 2^-32 of c: then it moves c by less than any f16 rounding can see, but not to zero.
 */
static inline F16 fp_fma16(F16 a, F16 b, F16 c, const struct lane_mode *m)
{
    F64 x = f32_to_f64(fp_f32_of_f16(a, m)), y = f32_to_f64(fp_f32_of_f16(b, m));
    F64 z = f32_to_f64(fp_f32_of_f16(c, m)), r = x * y + z;
    U32 h = f64_to_f16(r, m);
    h = fp_sel32(fp_nan16(c), fp_quiet16(c), h);
    h = fp_sel32(fp_nan16(b), fp_quiet16(b), h);
    return (F16)fp_sel32(fp_nan16(a), fp_quiet16(a), h);
}

/* ---- order: integers that compare as the numbers do, -0 below +0 */

static inline I32 fp_key16(F16 h)
{
    return (I32)fp_sel32((h & 0x8000u) != 0, ~(h & 0x7fffu), h);
}
static inline I32 fp_key32(F32 x)
{
    I32 i = (I32)bits_of_f32(x);
    return i ^ (i >> 31 & 0x7fffffff);
}
static inline I64 fp_key64(F64 x)
{
    I64 i = (I64)bits_of_f64(x);
    return i ^ (i >> 63 & 0x7fffffffffffffff);
}

/* ---- minimum and maximum (manual 16.7, V_MIN_F32): input denormals are flushed as
 * MODE says, output denormals never; MODE.IEEE makes signalling NaNs win. */

static inline F32 fp_pick32(F32 a, F32 b, bool first, const struct lane_mode *m)
{
    F32 r = first ? a : b;
    r = fp_nan32(a) ? b : r;
    r = fp_nan32(b) ? a : r;
    r = (m->ieee & fp_snan32(b)) ? fp_quiet32(b) : r;
    return (m->ieee & fp_snan32(a)) ? fp_quiet32(a) : r;
}
static inline F32 fp_min32(F32 a, F32 b, const struct lane_mode *m)
{
    a = fp_in32(a, m), b = fp_in32(b, m);
    return fp_pick32(a, b, fp_key32(a) < fp_key32(b), m);
}
static inline F32 fp_max32(F32 a, F32 b, const struct lane_mode *m)
{
    a = fp_in32(a, m), b = fp_in32(b, m);
    return fp_pick32(a, b, fp_key32(a) > fp_key32(b), m);
}
static inline F64 fp_pick64(F64 a, F64 b, bool first, const struct lane_mode *m)
{
    F64 r = first ? a : b;
    r = fp_nan64(a) ? b : r;
    r = fp_nan64(b) ? a : r;
    r = (m->ieee & fp_snan64(b)) ? fp_quiet64(b) : r;
    return (m->ieee & fp_snan64(a)) ? fp_quiet64(a) : r;
}
static inline F64 fp_min64(F64 a, F64 b, const struct lane_mode *m)
{
    a = fp_in64(a, m), b = fp_in64(b, m);
    return fp_pick64(a, b, fp_key64(a) < fp_key64(b), m);
}
static inline F64 fp_max64(F64 a, F64 b, const struct lane_mode *m)
{
    a = fp_in64(a, m), b = fp_in64(b, m);
    return fp_pick64(a, b, fp_key64(a) > fp_key64(b), m);
}
static inline F16 fp_pick16(F16 a, F16 b, bool first, const struct lane_mode *m)
{
    U32 r = fp_sel32(first, a, b);
    r = fp_sel32(fp_nan16(a), b, r);
    r = fp_sel32(fp_nan16(b), a, r);
    r = fp_sel32(m->ieee & fp_snan16(b), fp_quiet16(b), r);
    return (F16)fp_sel32(m->ieee & fp_snan16(a), fp_quiet16(a), r);
}
static inline F16 fp_min16(F16 a, F16 b, const struct lane_mode *m)
{
    a = fp_in16(a, m), b = fp_in16(b, m);
    return fp_pick16(a, b, fp_key16(a) < fp_key16(b), m);
}
static inline F16 fp_max16(F16 a, F16 b, const struct lane_mode *m)
{
    a = fp_in16(a, m), b = fp_in16(b, m);
    return fp_pick16(a, b, fp_key16(a) > fp_key16(b), m);
}

/* ---- to integers, by truncation: NaN gives 0, the rest saturates (manual 16.8) */

static inline I32 fp_i32_of_f32(F32 x)
{
    bool small = x > -0x1p31f && x < 0x1p31f;
    I32 i = (I32)(small ? x : 0.0f);
    return x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : i;
}
static inline U32 fp_u32_of_f32(F32 x)
{
    F32 low = x >= 0x1p31f ? x - 0x1p31f : x; /* exact */
    I32 i = (I32)(low > 0.0f && low < 0x1p31f ? low : 0.0f);
    U32 u = (U32)i + (x >= 0x1p31f ? 0x80000000u : 0);
    return x >= 0x1p32f ? UINT32_MAX : u;
}
static inline I32 fp_i32_of_f64(F64 x)
{
    bool small = x > -2147483649.0 && x < 0x1p31;
    I32 i = (I32)(small ? x : 0.0);
    return x >= 0x1p31 ? INT32_MAX : x <= -2147483649.0 ? INT32_MIN : i;
}
static inline U32 fp_u32_of_f64(F64 x)
{
    F64 low = x >= 0x1p31 ? x - 0x1p31 : x; /* exact */
    I32 i = (I32)(low > 0.0 && low < 0x1p31 ? low : 0.0);
    U32 u = (U32)i + (x >= 0x1p31 ? 0x80000000u : 0);
    return x >= 0x1p32 ? UINT32_MAX : u;
}

/* x rounded to an integer in 0..max; NaN gives 0. */
static inline U32 fp_round_clip(F64 x, U32 max, unsigned round)
{
    F64 limit = (F64)(I32)max;
    I32 i = (I32)(x > 0.0 && x < limit ? x : 0.0);
    F64 rest = x - (F64)i; /* exact */
    bool up = round == ROUND_NEAREST ? rest > 0.5 || (rest == 0.5 && (i & 1))
                                     : round == ROUND_UP && rest > 0.0;
    return x >= limit ? max : x > 0.0 ? (U32)i + up : 0;
}
static inline U16 fp_unorm16(F64 x, unsigned round)
{
    return (U16)fp_round_clip(x * 65535.0, 65535, round); /* exact product */
}
static inline I16 fp_snorm16(F64 x, unsigned round)
{
    bool neg = x < 0.0;
    unsigned mirrored = round == ROUND_UP     ? ROUND_DOWN
                        : round == ROUND_DOWN ? ROUND_UP
                                              : round;
    I32 r = (I32)fp_round_clip(fp_abs64(x) * 32767.0, 32767, neg ? mirrored : round);
    return (I16)(neg ? -r : r);
}

/* x * 2^n with one rounding: a first step that can be inexact is followed by one that
 * leaves nothing but the direction of rounding (factor below 2^-53). */
static inline F64 fp_ldexp64(F64 x, I32 n)
{
    F64 r = x;
    n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
    for (unsigned i = 0; i < 2; i++) {
        I32 step = n > 1023 ? 1023 : n < -1022 ? -969 : 0;
        r = step ? r * f64_of_bits((U64)(step + 1023) << 52) : r;
        n -= step;
    }
    n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    r = r * f64_of_bits((U64)(n + 1023) << 52);
    return fp_nan64(x) ? fp_quiet64(x) : r;
}

/* ---- integral values, on bits; NaNs are the caller's */

static inline F32 fp_trunc32(F32 x)
{
    U32 u = bits_of_f32(x), e = u >> 23 & 255;
    U32 frac = e < 127 ? 0x7fffffffu : e < 150 ? 0x7fffffu >> (e - 127) : 0;
    return f32_of_bits(u & ~frac);
}
static inline F64 fp_trunc64(F64 x)
{
    U64 u = bits_of_f64(x), e = u >> 52 & 2047;
    U64 frac = e < 1023   ? 0x7fffffffffffffffu
               : e < 1075 ? 0xfffffffffffffu >> (e - 1023)
                          : 0;
    return f64_of_bits(u & ~frac);
}
/* The host's denormal mode must be that of x's format: x < 0 and the sums. */
static inline F32 fp_floor32(F32 x)
{
    F32 t = fp_trunc32(x);
    return x < 0.0f && t != x ? t - 1.0f : t; /* exact: |t| < 2^23 */
}
static inline F64 fp_floor64(F64 x)
{
    F64 t = fp_trunc64(x);
    return x < 0.0 && t != x ? t - 1.0 : t;
}
static inline F32 fp_rndne32(F32 x)
{
    U32 u = bits_of_f32(x), sign = u & 0x80000000u;
    F32 a = fp_abs32(x), t = fp_trunc32(a), rest = a - t; /* exact */
    bool odd = (I32)(t < 0x1p24f ? t : 0.0f) & 1;
    F32 r = rest > 0.5f || (rest == 0.5f && odd) ? t + 1.0f : t;
    return f32_of_bits(bits_of_f32(r) | sign);
}
static inline F64 fp_rndne64(F64 x)
{
    U64 u = bits_of_f64(x), sign = u & 0x8000000000000000u;
    F64 a = fp_abs64(x), t = fp_trunc64(a), rest = a - t;
    F64 half = t * 0.5;
    bool odd = fp_trunc64(half) != half;
    F64 r = rest > 0.5 || (rest == 0.5 && odd) ? t + 1.0 : t;
    return f64_of_bits(bits_of_f64(r) | sign);
}

#endif
