/* dot2.h: one step of the gfx11 dot-product unit: C + a0*b0 + a1*b1.
 *
 * V_DOT2_*, V_DOT2ACC_* and every float WMMA are sequences of this step. It is not an
 * IEEE operation. What was measured on silicon (ROCm issue rocm-systems 12056, for
 * F32 results on gfx1151; the 16-bit results on gfx1100) is, per step:
 *
 *  1. Products are exact. bf16 subnormal factors count as 0, f16 ones are kept; a
 *     subnormal f32 or bf16 C counts as 0 but keeps its sign.
 *  2. All three terms are cut (magnitude towards zero) to an integer grid whose unit is
 *     2^g, g = max(alignment of the products - 24, exponent of C - 26). The alignment
 *     of a product is the sum of its factors' exponents, where a subnormal f16 has
 *     exponent -14; zero products have none. (The exponent of a product exceeds its
 *     alignment by one at most, so it never decides.)
 *  3. A term whose sign differs from C's contributes ~m instead of -m, zeros included:
 *     the sum is formed in C's sign frame, in one's complement.
 *  4. The sum is rounded to nearest even to 24 bits as if the exponent had no lower
 *     bound; below 2^-126 it becomes +0. MODE has no influence.
 *  5. A bf16 result is the f32 result cut to 16 bits. An f16 result is rounded from the
 *     sum directly, with subnormals; C's exponent counts as at least -14 in rule 2;
 *     FP16_OVFL turns overflow into the largest finite number.
 *  6. A NaN factor gives one fixed NaN; then come invalid products, then C's NaN.
 *
 * C and the result travel as f32 bits whatever their format. Only exact float
 * operations are used here, so that the host's rounding and denormal modes cannot
 * show; no branches, so that loops over lanes or columns vectorise.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_DOT2_H
#define RD_DOT2_H

#include "lane.h"

enum dot2_out { DOT2_F32, DOT2_F16, DOT2_BF16 };

#define DOT2_SIGN    0x80000000u
#define DOT2_INF     0x7f800000u
#define DOT2_QUIET   0x00400000u
#define DOT2_INVALID 0xffc00000u

/* Alignment of a zero factor: below everything that can meet it. */
#define DOT2_NO_ALIGN (-2048)
/* Grids are kept as g + 153, the f32 exponent field of C that would demand them; this
 * is added to the sum of two alignments: 127 for the bias, 26 - 24 for rule 2. */
#define DOT2_ALIGN_BIAS 129
/* Scale from significand products (20 or 14 fraction bits) to the finest grid. */
#define DOT2_SCALE_F16  16.0f
#define DOT2_SCALE_BF16 1024.0f

/* Significand of a 16-bit factor as a signed integer in a float (-0.0 exists). */
static inline F32 dot2_significand(U32 h, bool bf16)
{
    U32 fraction = bf16 ? h & 0x7f : h & 0x3ff;
    U32 normal = bf16 ? fraction | 0x80 : fraction | 0x400;
    U32 subnormal = bf16 ? 0 : fraction;
    bool is_normal = bf16 ? (h & 0x7f80) != 0 : (h & 0x7c00) != 0;
    F32 f = (F32)(I32)(is_normal ? normal : subnormal);
    return f32_of_bits(bits_of_f32(f) | (h & 0x8000) << 16);
}

static inline I32 dot2_alignment(U32 h, bool bf16)
{
    I32 field = bf16 ? (I32)(h >> 7 & 0xff) : (I32)(h >> 10 & 0x1f);
    I32 exponent = (field > 1 ? field : 1) - (bf16 ? 127 : 15);
    bool zero = bf16 ? (h & 0x7f80) == 0 : (h & 0x7fff) == 0;
    return zero ? DOT2_NO_ALIGN : exponent;
}

/* f16 to f32 bits, exact for everything (NaN payloads too). */
static inline U32 dot2_widen_f16(U32 h)
{
    U32 sign = (h & 0x8000) << 16, field = h & 0x7c00, rest = (h & 0x7fff) << 13;
    U32 normal = rest + (field == 0x7c00 ? 224u << 23 : 112u << 23);
    U32 subnormal = bits_of_f32((F32)(I32)(h & 0x3ff) * 0x1p-24f);
    return sign | (field ? normal : subnormal);
}

/* The inverse, for values that are f16 values. */
static inline U32 dot2_narrow_f16(U32 v)
{
    U32 sign = v >> 16 & 0x8000, field = v >> 23 & 0xff, fraction = v >> 13 & 0x3ff;
    U32 special = 0x7c00 | fraction;
    U32 normal = ((field - 112) << 10 & 0x7c00) | fraction;
    U32 shift = 113 - field;
    U32 subnormal = (fraction | 0x400) >> (shift < 16 ? shift : 16); /* 0 for 0 */
    U32 finite = field > 112 ? normal : subnormal;
    return sign | (field == 0xff ? special : finite);
}

/* One product on the grid, in C's sign frame. exact: 0, or ~0 to break rule 3 and
 * contribute -m (lane_mode.exact_sums). */
static inline I32 dot2_term(F32 product, I32 shift, U32 c, I32 exact)
{
    U32 bits = bits_of_f32(product);
    U32 magnitude =
        (U32)(I32)f32_of_bits(bits & ~DOT2_SIGN) >> (shift < 31 ? shift : 31);
    I32 opposed = (I32)(bits ^ c) >> 31;
    return ((I32)magnitude ^ opposed) - (opposed & exact);
}

/* Exponent of a positive integer as an f32 exponent field; 0 for 0. Clearing the bit
 * under the leading one keeps the conversion's rounding from reaching the exponent. */
static inline U32 dot2_exponent(U32 n)
{
    return bits_of_f32((F32)(I32)(n & ~(n >> 1))) >> 23;
}

/* Rule 4; n < 2^30 is the magnitude, in units of 2^(grid - 153). */
static inline U32 dot2_round_f32(U32 n, U32 sign, I32 grid)
{
    U32 top = dot2_exponent(n);
    U32 normal = n << ((157 - top) & 31); /* leading one at bit 30 */
    U32 rounded = (normal + 0x3f + (normal >> 7 & 1)) >> 7;
    I32 exponent = (I32)top + grid - 153 + (I32)(rounded >> 24);
    U32 finite = (U32)exponent << 23 | (rounded & 0x7fffff);
    U32 value = sign | (exponent > 254 ? DOT2_INF : finite);
    return n == 0 || exponent < 1 ? 0 : value;
}

/* What an f16 overflow becomes, as f32 bits. */
static inline U32 dot2_huge(const struct lane_mode *m)
{
    return m->fp16_ovfl ? 0x477fe000 : DOT2_INF;
}

/* Rule 5 for f16, as f32 bits. */
static inline U32 dot2_round_f16(U32 n, U32 sign, I32 grid, U32 huge)
{
    I32 drop = (I32)dot2_exponent(n) - 127 - 10, floor = 129 - grid;
    drop = drop > floor ? drop : floor; /* subnormals: unit 2^-24 */
    drop = drop > 0 ? drop : 0;
    /* Work on 2n so that there is always a bit to drop. */
    U32 rounded = (2 * n + (1u << drop) - 1 + (n >> drop & 1)) >> (drop + 1);
    U32 value = bits_of_f32((F32)(I32)rounded) + ((U32)(grid - 153 + drop) << 23);
    value = value < 0x47800000 ? value : huge;
    return rounded == 0 ? 0 : sign | value;
}

/* The step for finite factors; g0, g1 are sums of alignments + DOT2_ALIGN_BIAS. */
static inline U32 dot2_sum(F32 p0, I32 g0, F32 p1, I32 g1, U32 c, enum dot2_out out,
                           U32 huge, I32 exact)
{
    I32 field = (I32)(c >> 23 & 0xff);
    I32 grid = g0 > g1 ? g0 : g1;
    grid = grid > field ? grid : field;
    if (out == DOT2_F16)
        grid = grid > 113 ? grid : 113;
    U32 significand = field ? ((c & 0x7fffff) | 0x800000) << 3 : 0;
    I32 shift = grid - field;
    I32 sum = (I32)(significand >> (shift < 31 ? shift : 31));
    sum += dot2_term(p0, grid - g0, c, exact) + dot2_term(p1, grid - g1, c, exact);
    U32 n = sum < 0 ? 0u - (U32)sum : (U32)sum;
    U32 sign = ((U32)sum ^ c) & DOT2_SIGN;
    U32 r = out == DOT2_F16 ? dot2_round_f16(n, sign, grid, huge)
                            : dot2_round_f32(n, sign, grid);
    r = out == DOT2_BF16 ? r & 0xffff0000 : r;
    U32 quiet = c | ((c & ~DOT2_SIGN) > DOT2_INF ? DOT2_QUIET : 0);
    return field == 0xff ? quiet : r;
}

/* Rule 6: r unless a factor is infinite or NaN. */
static inline U32 dot2_special(U32 a0, U32 b0, U32 a1, U32 b1, U32 c, U32 r,
                               enum dot2_out out, bool bf16)
{
    const U32 inf = bf16 ? 0x7f80 : 0x7c00, least = bf16 ? 0x80 : 1;
    const U32 nan = out == DOT2_F32   ? 0xffc00a3d
                    : out == DOT2_F16 ? 0xffc7a000 /* 0xfe3d */
                                      : 0xfffd0000;
    U32 x0 = a0 & 0x7fff, y0 = b0 & 0x7fff, x1 = a1 & 0x7fff, y1 = b1 & 0x7fff;
    U32 is_nan = (U32)(x0 > inf) | (U32)(y0 > inf) | (U32)(x1 > inf) | (U32)(y1 > inf);
    U32 inf0 = (U32)(x0 == inf) | (U32)(y0 == inf);
    U32 inf1 = (U32)(x1 == inf) | (U32)(y1 == inf);
    U32 zero0 = (U32)(x0 < least) | (U32)(y0 < least);
    U32 zero1 = (U32)(x1 < least) | (U32)(y1 < least);
    U32 sign0 = (a0 ^ b0) << 16 & DOT2_SIGN, sign1 = (a1 ^ b1) << 16 & DOT2_SIGN;
    U32 product = DOT2_INF | (inf0 ? sign0 : sign1);
    U32 invalid = (inf0 & zero0) | (inf1 & zero1) | (inf0 & inf1 & (sign0 != sign1));
    U32 any = inf0 | inf1;
    U32 opposed = (c ^ product) == DOT2_SIGN; /* C is the other infinity */
    U32 c_nan = (c & ~DOT2_SIGN) > DOT2_INF;
    r = any ? (opposed ? DOT2_INVALID : product) : r;
    r = c_nan ? c | DOT2_QUIET : r;
    r = invalid ? DOT2_INVALID : r;
    return is_nan ? nan : r;
}

/* The whole step. a and b are pairs of 16-bit factors; c and the result are f32 bits.
 */
static inline U32 dot2_step(U32 a, U32 b, U32 c, enum dot2_out out, bool bf16,
                            const struct lane_mode *m)
{
    const F32 scale = bf16 ? DOT2_SCALE_BF16 : DOT2_SCALE_F16;
    U32 a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
    F32 p0 = dot2_significand(a0, bf16) * (dot2_significand(b0, bf16) * scale);
    F32 p1 = dot2_significand(a1, bf16) * (dot2_significand(b1, bf16) * scale);
    I32 g0 = dot2_alignment(a0, bf16) + dot2_alignment(b0, bf16) + DOT2_ALIGN_BIAS;
    I32 g1 = dot2_alignment(a1, bf16) + dot2_alignment(b1, bf16) + DOT2_ALIGN_BIAS;
    U32 r = dot2_sum(p0, g0, p1, g1, c, out, dot2_huge(m), m->exact_sums ? ~0 : 0);
    return dot2_special(a0, b0, a1, b1, c, r, out, bf16);
}

#endif
