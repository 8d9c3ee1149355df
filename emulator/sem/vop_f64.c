/* vop_f64.c: double-precision arithmetic (manual 16.12). Rounding to integral values is
 * in vop1_fp.c, division in vop3_div.c.
 *
 * The host's float mode carries MODE's f64 rounding and denormal fields.
 * SPDX-License-Identifier: MIT
 */
#include "fp.h"

LANE_OP(v_add_f64, F64, F64 s0, F64 s1)
{
    return fp_add64(s0, s1);
}

LANE_OP(v_mul_f64, F64, F64 s0, F64 s1)
{
    return fp_mul64(s0, s1);
}

LANE_OP(v_fma_f64, F64, F64 s0, F64 s1, F64 s2)
{
    return fp_fma64(s0, s1, s2);
}

LANE_OP(v_min_f64, F64, F64 s0, F64 s1, const struct lane_mode *m)
{
    return fp_min64(s0, s1, m);
}

LANE_OP(v_max_f64, F64, F64 s0, F64 s1, const struct lane_mode *m)
{
    return fp_max64(s0, s1, m);
}

LANE_OP(v_ldexp_f64, F64, F64 s0, I32 s1)
{
    return fp_ldexp64(s0, s1);
}

/* ---- 2/pi for argument reduction */

/* The first 1201 bits after the point, 64 at a time. */
static const U64 two_over_pi[] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b0000u, 0x0000000000000000u,
};

/* 53 bits of 2/pi from bit `at` after the point. */
static inline U64 two_over_pi_bits(U32 at)
{
    const U32 words = sizeof two_over_pi / sizeof *two_over_pi - 1;
    U32 word = at / 64 < words ? at / 64 : words - 1, shift = at % 64;
    U64 bits =
        two_over_pi[word] << shift | (two_over_pi[word + 1] >> 1) >> (63 - shift);
    return at >= 64 * words ? 0 : bits >> 11;
}

/* Segment S1 of 2/pi, aligned for a number of S0's size. The manual's mask would keep
 * the low bits; the 53 bits that the shift brings above the rest are meant. */
LANE_OP(v_trig_preop_f64, F64, F64 s0, U32 s1)
{
    I32 e = (I32)fp_exponent64(s0), shift = (I32)(s1 & 31) * 53;
    shift += e > 1077 ? e - 1077 : 0;
    I32 scale = -53 - shift + (e >= 1968 ? 128 : 0);
    U64 bits = two_over_pi_bits((U32)shift);
    U32 lead = 52;
    for (U32 step = 32; step; step /= 2) { /* normalise: exact */
        bool low = !(bits >> (53 - step));
        bits = low ? bits << step : bits;
        lead -= low ? step : 0;
    }
    I32 field = scale + (I32)lead + 1023;
    U64 r = bits == 0 || field <= 0 ? 0 : (bits & 0xfffffffffffffu) | (U64)field << 52;
    return f64_of_bits(r);
}

#include "vop_f64.inc"
