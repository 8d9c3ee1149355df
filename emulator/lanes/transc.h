/* transc.h: transcendental functions as the hardware computes them, where that is
 * known.
 *
 * exp2 and log2 (f32) are the integer table-and-cubic schemes measured on gfx1100, bit
 * for bit; rcp is the measured cubic, within one unit of the last place of hardware.
 * The tables are those measurements. sqrt and rsq are correctly rounded, sin and cos
 * accurate to about one unit, which hardware is not. MODE's rounding never matters.
 *
 * Works on bits and on exact or nearly exact f64 arithmetic, so that neither the SIMD
 * level nor the host's float mode can show.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TRANSC_H
#define RD_TRANSC_H

#include "fp.h"

/* clang-format off */
/* 2^x: Q28, Q28, Q35, Q24 */
static const U32 exp2_constant[] = {
    268435456, 274313427, 280320109, 286458319, 292730941, 299140913, 305691246, 312385013,
    319225354, 326215479, 333358667, 340658273, 348117717, 355740503, 363530205, 371490480,
    379625062, 387937769, 396432501, 405113242, 413984066, 423049137, 432312707, 441779122,
    451452826, 461338356, 471440350, 481763549, 492312797, 503093043, 514109347, 525366876,
};
static const U32 exp2_linear[] = {
    5814541, 5941862, 6071972, 6204931, 6340801, 6479647, 6621533, 6766525,
    6914693, 7066105, 7220833, 7378948, 7540526, 7705642, 7874374, 8046800,
    8223002, 8403062, 8587066, 8775098, 8967247, 9163605, 9364261, 9569312,
    9778853, 9992982, 10211799, 10435409, 10663914, 10897424, 11136046, 11379894,
};
static const U32 exp2_quadratic[] = {
    8060268, 8236765, 8417127, 8601438, 8789785, 8982256, 9178942, 9379934,
    9585328, 9795219, 10009707, 10228891, 10452874, 10681762, 10915663, 11154685,
    11398940, 11648545, 11903614, 12164270, 12430633, 12702828, 12980984, 13265230,
    13555701, 13852532, 14155863, 14465836, 14782597, 15106293, 15437078, 15775106,
};
static const U32 exp2_cubic[] = {
    29, 29, 30, 31, 31, 32, 33, 33,
    34, 35, 36, 36, 37, 38, 39, 40,
    41, 42, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 52, 53, 54, 55, 56,
};

/* log2: Q30, Q28, Q34, Q37; row 32 replaces row 1 in its upper half */
static const U32 log2_constant[] = {
    15, 47667825, 93912517, 138816594, 182455591, 224898847, 266210154, 306448312,
    345667679, 383918558, 421247645, 457698312, 493310964, 528123258, 562170399, 595485263,
    628098719, 660039693, 691335339, 722011229, 752091435, 781598650, 810554297, 838978616,
    866890752, 894308853, 921250083, 947730761, 973766367, 999371610, 1024560488, 1049346329,
    47667912,
};
static const U32 log2_linear[] = {
    12102179, 11735468, 11390291, 11064855, 10757500, 10466758, 10191316, 9930003,
    9681753, 9445614, 9220718, 9006284, 8801596, 8606005, 8418918, 8239793,
    8068131, 7903475, 7745406, 7593536, 7447506, 7306987, 7171673, 7041279,
    6915542, 6794217, 6677075, 6563905, 6454506, 6348694, 6246298, 6147160,
    11735350,
};
static const U32 log2_quadratic[] = {
    12095174, 11378345, 10714741, 10111507, 9557803, 9048378, 8578611, 8144494,
    7742500, 7369567, 7022931, 6700175, 6399165, 6118007, 5854955, 5608532,
    5377341, 5160150, 4955875, 4763477, 4582059, 4410807, 4248984, 4095937,
    3950988, 3813578, 3683220, 3559471, 3441820, 3329908, 3223482, 3121894,
    11363743,
};
static const U32 log2_cubic[] = {
    1925858, 1799053, 1610016, 1477533, 1359325, 1253542, 1158417, 1072666,
    995087, 924970, 861214, 803096, 750066, 701755, 657310, 616715,
    579376, 544955, 513361, 484038, 456830, 431594, 408222, 386761,
    366593, 347636, 330396, 313859, 298469, 284397, 270890, 258238,
    1719989,
};

/* 1/x */
static const U32 rcp_constant[] = {
    67108864, 65075262, 63161283, 61356675, 59652323, 58040098, 56512727, 55063683,
    53687091, 52377649, 51130563, 49941480, 48806446, 47721858, 46684427, 45691141,
    44739242, 43826196, 42949672, 42107522, 41297762, 40518559, 39768215, 39045157,
    38347922, 37675151, 37025580, 36398027, 35791394, 35204649, 34636833, 34087042,
};
static const U32 rcp_linear[] = {
    2097138, 1971966, 1857674, 1753039, 1657001, 1568644, 1487171, 1411884,
    1342172, 1277499, 1217390, 1161426, 1109234, 1060483, 1014876, 972149,
    932065, 894410, 858991, 825636, 794186, 764500, 736447, 709911,
    684783, 660966, 638371, 616915, 596522, 577124, 558658, 541063,
};
static const U32 rcp_quadratic[] = {
    65462, 59693, 54582, 50039, 45986, 42359, 39104, 36174,
    33529, 31136, 28966, 26992, 25194, 23552, 22050, 20673,
    19408, 18244, 17171, 16181, 15266, 14418, 13632, 12902,
    12223, 11591, 11002, 10452, 9938, 9458, 9007, 8585,
};
static const U32 rcp_cubic[] = {
    1925, 1705, 1516, 1352, 1210, 1086, 977, 882,
    798, 724, 658, 599, 547, 501, 459, 421,
    388, 357, 330, 305, 282, 262, 243, 226,
    210, 196, 183, 171, 160, 150, 140, 131,
};

/* clang-format on */

/* x / 2^n, ties to even */
static inline U64 transc_rne(U64 x, unsigned n)
{
    return (x + (((U64)1 << (n - 1)) - 1) + (x >> n & 1)) >> n;
}

/* Only 24 significant bits survive a multiplication. */
static inline U64 transc_capped(U64 p)
{
    return fp_sel64(p >> 47, transc_rne(p, 24) * 2, transc_rne(p, 23));
}

/* ---- exp2 */

static inline F32 transc_exp2(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    U32 in = a < 0x33800000u ? 0x33800000u : a;
    in = in > 0x43000000u ? 0x43000000u : in;
    U64 man = (in & 0x7fffffu) | 0x800000u;
    I64 fixed = (I64)(man << 13 >> (134 - (in >> 23))); /* 29 fraction bits */
    fixed ^= (I64)((I32)u >> 31); /* one's complement: integers fall one interval low */
    U32 row = (U32)fixed >> 24 & 31;
    U64 f = (U64)fixed & 0xffffffu, t = f >> 6;
    U64 p = exp2_linear[row] * f;
    U64 linear = fp_sel64(p >> 47, transc_rne(p, 24), transc_rne(p, 23) >> 1);
    U64 inner = transc_rne(((U64)exp2_quadratic[row] << 7) + exp2_cubic[row] * t, 7);
    U64 quadratic = transc_capped(inner * (t * t >> 12));
    U64 sum = transc_rne(((exp2_constant[row] + linear) << 8) + quadratic, 13);
    U32 r = ((U32)(fixed >> 29) + 126u) * 0x800000u + (U32)sum;
    U32 far = fp_sel32(u >> 31, 0, 0x7f800000u);
    r = fp_sel32(a < 0x33800000u, 0x3f800000u, r);
    r = fp_sel32(a >= (0x43000000u - (u >> 31) * 0x3ffffu), far, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r));
}

/* ---- log2 */

enum transc_pack { PACK_TRUNCATE, PACK_UP, PACK_NEXT };

/* Float of magnitude mag * 2^weight; bits below the 24 significant ones are dropped,
 * rounded up, or dropped with one added. mag has at least 24 bits. */
static inline F32 transc_pack(U64 mag, I32 weight, enum transc_pack how, bool negative)
{
    unsigned lead = 63u - (unsigned)__builtin_clzll(mag), shift = lead - 23;
    U64 m = (mag + (how == PACK_UP ? ((U64)1 << shift) - 1 : 0)) >> shift;
    m += how == PACK_NEXT;
    U32 exponent = (U32)((I32)lead + weight + 127) + (m >> 24 ? 1 : 0);
    return f32_of_bits((U32)negative << 31 | exponent << 23 | ((U32)m & 0x7fffffu));
}

static inline unsigned transc_bits(U32 v)
{
    return 32u - (unsigned)__builtin_clz(v);
}

/* 0x3f7c0000 <= u < 0x3f800000. Products are normalised in groups of four bits. */
static inline F32 transc_log2_below_one(U32 u)
{
    U64 k = 0x3f800000u - u;
    bool far = k >= 0x20000;
    U64 c1 = far ? 12102221 : 12102203, c2 = far ? 12097323 : 12101979;
    U64 c3 = far ? 2088428 : 2035248;
    unsigned width = transc_bits((U32)k), n = width < 18 ? (18 - width) / 4 * 4 : 0;
    unsigned a = n < 14 ? 14 - n : 0, b = n < 12 ? 12 - n : 0, p = 38 - n;
    U64 linear = 2 * c1 * k >> a << a, square = k * k >> b << b;
    U64 inner = transc_rne((c2 << 22) + c3 * (k - 1), 22);
    U64 q = (inner * square + ((U64)1 << p) - 1) >> p;
    U64 mag = (linear << 2) + (q << (16 - n)) - (far ? 100u << 16 : 0);
    return transc_pack(mag, -50, PACK_UP, true);
}

/* 0x3f800000 < u < 0x3f840000 */
static inline F32 transc_log2_above_one(U32 u)
{
    static const U64 c0[] = {0, 192, 2856}, c1[] = {12102203, 12102186, 12102072};
    static const U64 c2[] = {12102094, 12097614, 12084310};
    static const U64 c3[] = {1999052, 1948887, 1883467};
    U64 i = u - 0x3f800000u;
    unsigned row = i < 0x10000 ? 0 : i < 0x20000 ? 1 : 2;
    unsigned n = row ? 0 : (18 - transc_bits((U32)i)) / 4 * 4;
    U64 z = i << n, inner = transc_rne((c2[row] << 22) - c3[row] * (2 * i + 1), 22);
    U64 q = transc_capped(inner * (z * i >> 12));
    U64 mag = c0[row] + ((c1[row] * z >> 13) << 2) - q;
    return transc_pack(mag, -35 - (I32)n, PACK_NEXT, false);
}

static inline F32 transc_log2_row(U32 u)
{
    U64 f = u & 0x3ffffu;
    U32 row = u >> 18 & 31;
    row = row == 1 && f >= 0x20000 ? 32 : row;
    U64 inner = ((U64)log2_quadratic[row] << 22) - log2_cubic[row] * (2 * f + 1);
    I64 q = (I64)transc_capped(transc_rne(inner, 22) * (f * f >> 12));
    I64 v = (I64)((log2_constant[row] + (log2_linear[row] * f >> 16)) << 5) - q;
    v += ((I64)(u >> 23) - 127) * ((I64)1 << 35);
    return transc_pack((U64)(v < 0 ? -v : v), -35, v < 0 ? PACK_UP : PACK_TRUNCATE,
                       v < 0);
}

/* Denormals count as zero whatever MODE says. */
static inline F32 transc_log2(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    if (a > 0x7f800000u)
        return fp_quiet32(x);
    if (a < 0x800000u)
        return f32_of_bits(0xff800000u);
    if (u >> 31)
        return f32_of_bits(FP_NAN32);
    if (a == 0x7f800000u)
        return x;
    if (u == 0x3f800000u)
        return 0.0f;
    if (u >= 0x3f7c0000u && u < 0x3f800000u)
        return transc_log2_below_one(u);
    if (u > 0x3f800000u && u < 0x3f840000u)
        return transc_log2_above_one(u);
    return transc_log2_row(u);
}

/* ---- reciprocal: denormals count as zero, in and out */

static inline F32 transc_rcp(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu, sign = u & 0x80000000u;
    U32 row = a >> 18 & 31, f = a & 0x3ffffu;
    U64 p = (U64)rcp_linear[row] * f;
    U64 linear = fp_sel64(p >> 38 != 0, transc_rne(p, 15) << 1, transc_rne(p, 14));
    U64 inner = ((U64)rcp_quadratic[row] << 18) - (U64)rcp_cubic[row] * f;
    U64 h = f >> 1, square = h * h; /* of f with its lowest bit dropped, over 4 */
    /* inner * square * 4 >> 51, in two steps to stay within 64 bits */
    U64 q = ((inner >> 17) * square + ((inner & 0x1ffffu) * square >> 17)) >> 32;
    U64 sum = (U64)rcp_constant[row] * 16 - linear + 2 * q + 32;
    U32 r = 0x3e800000u + (U32)(sum >> 6);                 /* of 1.mantissa */
    I32 bits = (I32)r + (127 - (I32)(a >> 23)) * 0x800000; /* may be negative */
    r = fp_sel32(bits < 0x800000, 0, (U32)bits);
    r = fp_sel32(a < 0x800000u, 0x7f800000u, r);
    r = fp_sel32(a >= 0x7f800000u, 0, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r | sign));
}

/* ---- square roots: denormals count as zero; correctly rounded in nearest mode (the
 * hardware's are within 1 ULP, manual 16.8) */

static inline F32 transc_sqrt(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    F64 root = sqrt(f32_to_f64(f32_of_bits(a)));
    U32 r = bits_of_f32(fp_narrow64(root, ROUND_NEAREST, 0));
    r = fp_sel32(u >> 31, FP_NAN32, r);
    r = fp_sel32(a < 0x800000u, u & 0x80000000u, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r));
}

static inline F32 transc_rsq(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    F64 root = sqrt(f32_to_f64(f32_of_bits(a)));
    U32 r = bits_of_f32(fp_narrow64(1.0 / root, ROUND_NEAREST, 0));
    r = fp_sel32(u >> 31, FP_NAN32, r);
    r = fp_sel32(a < 0x800000u, (u & 0x80000000u) | 0x7f800000u, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r));
}

/* ---- sine and cosine of turns */

/* Sine and cosine of 2 pi r, |r| <= 1/8, by their series: below 1e-16. */
static inline F64 transc_sin_octant(F64 r)
{
    F64 t = r * 6.283185307179586477, z = t * t, s = -1.0 / 1307674368000.0;
    s = s * z + 1.0 / 6227020800.0;
    s = s * z - 1.0 / 39916800.0;
    s = s * z + 1.0 / 362880.0;
    s = s * z - 1.0 / 5040.0;
    s = s * z + 1.0 / 120.0;
    s = s * z - 1.0 / 6.0;
    return t + t * (z * s);
}
static inline F64 transc_cos_octant(F64 r)
{
    F64 t = r * 6.283185307179586477, z = t * t, c = -1.0 / 87178291200.0;
    c = c * z + 1.0 / 479001600.0;
    c = c * z - 1.0 / 3628800.0;
    c = c * z + 1.0 / 40320.0;
    c = c * z - 1.0 / 720.0;
    c = c * z + 1.0 / 24.0;
    c = c * z - 0.5;
    return 1.0 + z * c;
}

/* Quarter turns and the rest of |x|, exactly. Numbers from 2^24 are whole turns. */
static inline F64 transc_turns(F32 x, I32 *quarters)
{
    U32 a = bits_of_f32(x) & 0x7fffffffu;
    F64 turns = f32_to_f64(f32_of_bits(fp_sel32(a < 0x4b800000u, a, 0)));
    *quarters = (I32)(turns * 4.0 + 0.5);
    return turns - (F64)*quarters * 0.25;
}

/* One of the two series, with a sign, as f32; a zero is +0. */
static inline U32 transc_quadrant(F64 even, F64 odd, I32 quarters, U32 negative,
                                  unsigned denorm32)
{
    U64 v = fp_sel64((U64)(I64)quarters & 1, bits_of_f64(odd), bits_of_f64(even));
    v ^= (U64)((U32)quarters >> 1 ^ negative) << 63; /* one bit is left of either */
    v = fp_sel64(v << 1 == 0, 0, v);
    return bits_of_f32(fp_narrow64(f64_of_bits(v), ROUND_NEAREST, denorm32));
}

/* Below 1.5 * 2^-12 turns the hardware multiplies by a constant six units below 2 pi;
 * above, its tables have units of 2^-26 and this is more accurate. */
static inline F32 transc_sin(F32 x, unsigned denorm32)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    I32 k;
    F64 turns = transc_turns(x, &k), c = transc_cos_octant(turns);
    U32 r = transc_quadrant(transc_sin_octant(turns), c, k, u >> 31, denorm32);
    F64 small = f32_to_f64(x) * 0x1.921faap2;
    U32 near = bits_of_f32(fp_narrow64(small, ROUND_NEAREST, denorm32));
    r = fp_sel32(a < 0x39c00000u, near, r);
    r = fp_sel32(a >= 0x7f800000u, FP_NAN32, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r));
}

static inline F32 transc_cos(F32 x)
{
    U32 u = bits_of_f32(x), a = u & 0x7fffffffu;
    I32 k;
    F64 turns = transc_turns(x, &k), s = transc_sin_octant(turns);
    U32 r = transc_quadrant(transc_cos_octant(turns), -s, k, 0, 3);
    r = fp_sel32(a >= 0x7f800000u, FP_NAN32, r);
    return f32_of_bits(fp_sel32(a > 0x7f800000u, u | 0x400000u, r));
}

/* ---- f64 precision for the correctly rounded f16 forms: about 1e-14 relative */

/* 2^x, |x| < 512 */
static inline F64 transc_exp2_f64(F64 x)
{
    I32 n = (I32)(x + 1024.5) - 1024;
    F64 t = (x - (F64)n) * 0.693147180559945309, s = 1.0 / 479001600.0;
    for (I32 i = 12; i > 0; i--) {
        static const F64 factorial[] = {1.0,    1.0,     2.0,      6.0,
                                        24.0,   120.0,   720.0,    5040.0,
                                        40320., 362880., 3628800., 39916800.};
        s = s * t + 1.0 / factorial[i - 1];
    }
    return s * f64_of_bits((U64)(n + 1023) << 52);
}

/* log2 of a positive normal number */
static inline F64 transc_log2_f64(F64 x)
{
    U64 u = bits_of_f64(x);
    I32 e = (I32)(u >> 52) - 1023;
    bool high = u >> 51 & 1; /* mantissa from 1.5 */
    F64 man = f64_of_bits((u & 0xfffffffffffffu) |
                          (high ? 0x3fe0000000000000u : 0x3ff0000000000000u));
    F64 z = (man - 1.0) / (man + 1.0), w = z * z, s = 1.0 / 23.0;
    for (I32 i = 21; i > 0; i -= 2)
        s = s * w + 1.0 / (F64)i;
    return (F64)(e + high) + z * s * 2.885390081777926815;
}

#endif
