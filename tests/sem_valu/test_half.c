/* test_half.c: f16 operations against exact integer arithmetic: every f16 is a multiple
 * of 2^-24, every product of 2^-48.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "valu.h"

typedef __int128 wide;

static bool nan16(unsigned h)
{
    return (h & 0x7fff) > 0x7c00;
}
static bool inf16(unsigned h)
{
    return (h & 0x7fff) == 0x7c00;
}

/* Units of 2^-24 of a finite number. */
static int64_t units(unsigned h)
{
    int64_t e = h >> 10 & 31, man = h & 0x3ff;
    int64_t v = e ? (man | 0x400) << (e - 1) : man;
    return h & 0x8000 ? -v : v;
}

/* x * 2^-48 as f16: the neighbours on either side are found by search, the rounding
 * mode chooses. zero: the sign of an exact zero. */
static unsigned to_half(wide x, unsigned round, bool ovfl, unsigned zero)
{
    if (x == 0)
        return zero;
    bool neg = x < 0;
    wide a = neg ? -x : x;
    unsigned below = 0, sign = neg ? 0x8000 : 0;
    for (unsigned bit = 0x4000; bit; bit >>= 1)
        if (below + bit < 0x7c00 && (wide)units(below + bit) << 24 <= a)
            below += bit;
    wide low = (wide)units(below) << 24, rest = a - low;
    bool away = round == 1 ? !neg : round == 2 && neg;
    /* the number above the largest would be 65536 */
    wide high = below == 0x7bff ? (wide)65536 << 48 : (wide)units(below + 1) << 24;
    wide gap = high - low;
    if (round == 0)
        away = rest * 2 > gap || (rest * 2 == gap && (below & 1));
    unsigned r = below + (away && rest);
    return sign | (ovfl && r == 0x7c00 ? 0x7bff : r);
}

static unsigned mode_zero(unsigned a, unsigned b, unsigned round)
{
    /* zero sum: signs agree, else +0 but in round-down */
    return (a & 0x8000) == (b & 0x8000) ? a & 0x8000 : round == 2 ? 0x8000 : 0;
}

static void check(const char *name, const struct lane_mode *m, const unsigned v[3],
                  unsigned want)
{
    unsigned got = (unsigned)valu1(name, m, v[0], v[1], v[2]);
    if (got != want)
        ck_abort_msg("%s(%04x, %04x, %04x) round %u = %04x, not %04x", name, v[0], v[1],
                     v[2], m->round64, got, want);
}

START_TEST(finite_arithmetic)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < 24000; i++) {
        struct lane_mode m = level_mode();
        unsigned v[3];
        m.round64 = i & 3;
        m.fp16_ovfl = i >> 2 & 1;
        for (unsigned j = 0; j < 3; j++) {
            do
                v[j] = (unsigned)random_value(&state, SEM_T_F16);
            while (nan16(v[j]) || inf16(v[j]));
            if (i & 8) /* close exponents: cancellation, ties */
                v[j] = (v[j] & 0x83ff) | 0x3400 | (v[j] >> 2 & 0x400);
        }
        wide a = units(v[0]), b = units(v[1]), c = units(v[2]);
        unsigned psign = (v[0] ^ v[1]) & 0x8000;
        check("v_add_f16", &m, v,
              to_half((a + b) * ((wide)1 << 24), m.round64, m.fp16_ovfl,
                      mode_zero(v[0], v[1], m.round64)));
        check("v_sub_f16", &m, v,
              to_half((a - b) * ((wide)1 << 24), m.round64, m.fp16_ovfl,
                      mode_zero(v[0], v[1] ^ 0x8000, m.round64)));
        check("v_mul_f16", &m, v, to_half(a * b, m.round64, m.fp16_ovfl, psign));
        check("v_fma_f16", &m, v,
              to_half(a * b + c * ((wide)1 << 24), m.round64, m.fp16_ovfl,
                      a * b != 0 ? mode_zero(0, 0x8000, m.round64)
                                 : mode_zero(psign, v[2], m.round64)));
        check("v_fmaak_f16", &m, v, (unsigned)valu1("v_fma_f16", &m, v[0], v[1], v[2]));
        check("v_fmamk_f16", &m, v, (unsigned)valu1("v_fma_f16", &m, v[0], v[1], v[2]));
    }
}
END_TEST

START_TEST(nans_and_infinities)
{
    struct lane_mode m = level_mode();
    ck_assert_uint_eq(valu1("v_add_f16", &m, 0x7c01, 0xfe02, 0), 0x7e01);
    ck_assert_uint_eq(valu1("v_add_f16", &m, 0x3c00, 0xfc02, 0), 0xfe02);
    ck_assert_uint_eq(valu1("v_subrev_f16", &m, 0xfe05, 0x7c01, 0), 0xfe05);
    ck_assert_uint_eq(valu1("v_add_f16", &m, 0x7c00, 0xfc00, 0), 0xfe00);
    ck_assert_uint_eq(valu1("v_fma_f16", &m, 0, 0x7c00, 0x3c00), 0xfe00);
    ck_assert_uint_eq(valu1("v_fma_f16", &m, 0, 0x7c00, 0x7e07), 0x7e07);
    m.fp16_ovfl = true;
    ck_assert_uint_eq(valu1("v_add_f16", &m, 0x7c00, 0x3c00, 0), 0x7c00);
    ck_assert_uint_eq(valu1("v_mul_f16", &m, 0xfbff, 0x4000, 0), 0xfbff);
    m.denorm64 = 0;
    ck_assert_uint_eq(valu1("v_add_f16", &m, 0x8001, 0x8001, 0), 0x8000);
    ck_assert_uint_eq(valu1("v_mul_f16", &m, 0x0400, 0x3800, 0), 0);
    ck_assert(!valu1_mask("v_cmp_lt_f16", &m, 0x8001, 0, 0));
    ck_assert_uint_eq(valu1("v_max_f16", &m, 0x0001, 0x8000, 0), 0);
}
END_TEST

/* All 65,536 inputs. */
START_TEST(conversions)
{
    struct lane_mode m = level_mode();
    for (unsigned h = 0; h < 0x10000; h++) {
        double x = nan16(h) ? NAN : inf16(h) ? INFINITY : (double)units(h) * 0x1p-24;
        x = inf16(h) && h & 0x8000 ? -x : x;
        uint32_t wide32 = (uint32_t)valu1("v_cvt_f32_f16", &m, h, 0, 0);
        float f;
        memcpy(&f, &wide32, sizeof f);
        ck_assert(nan16(h) ? f != f : (double)f == x && !signbit(f) == !(h >> 15));
        ck_assert_uint_eq(valu1("v_cvt_f16_f32", &m, wide32, 0, 0),
                          nan16(h) ? h | 0x200 : h);
        double z = nan16(h) ? 0 : x;
        ck_assert_int_eq((int16_t)valu1("v_cvt_i16_f16", &m, h, 0, 0),
                         (int)(z < -32768  ? -32768
                               : z > 32767 ? 32767
                                           : z));
        ck_assert_int_eq((uint16_t)valu1("v_cvt_u16_f16", &m, h, 0, 0),
                         (int)(z < 0       ? 0
                               : z > 65535 ? 65535
                                           : z));
        double s = rint(z * 32767), u = rint(z * 65535);
        ck_assert_int_eq((int16_t)valu1("v_cvt_norm_i16_f16", &m, h, 0, 0),
                         (int)(s < -32767  ? -32767
                               : s > 32767 ? 32767
                                           : s));
        ck_assert_int_eq((uint16_t)valu1("v_cvt_norm_u16_f16", &m, h, 0, 0),
                         (int)(u < 0       ? 0
                               : u > 65535 ? 65535
                                           : u));
        int64_t i = (int16_t)h;
        ck_assert_uint_eq(valu1("v_cvt_f16_i16", &m, h, 0, 0),
                          to_half((wide)i * ((wide)1 << 48), 0, false, 0));
        ck_assert_uint_eq(valu1("v_cvt_f16_u16", &m, h, 0, 0),
                          to_half((wide)h << 48, 0, false, 0));
    }
}
END_TEST

START_TEST(parts)
{
    struct lane_mode m = level_mode();
    for (unsigned h = 0; h < 0x10000; h++) {
        if (nan16(h) || inf16(h))
            continue;
        double x = (double)units(h) * 0x1p-24;
        int e;
        double mant = frexp(x, &e);
        unsigned sign = h & 0x8000;
#define HALF(v) to_half((wide)((v) * 0x1p48), 0, false, sign)
        ck_assert_uint_eq(valu1("v_floor_f16", &m, h, 0, 0), HALF(floor(x)));
        ck_assert_uint_eq(valu1("v_ceil_f16", &m, h, 0, 0), HALF(ceil(x)));
        ck_assert_uint_eq(valu1("v_trunc_f16", &m, h, 0, 0), HALF(trunc(x)));
        ck_assert_uint_eq(valu1("v_rndne_f16", &m, h, 0, 0), HALF(rint(x)));
        ck_assert_uint_eq(valu1("v_frexp_mant_f16", &m, h, 0, 0), HALF(mant));
        ck_assert_int_eq((int16_t)valu1("v_frexp_exp_i16_f16", &m, h, 0, 0), e);
        ck_assert_uint_eq(valu1("v_ldexp_f16", &m, h, 3, 0), HALF(x * 8));
        ck_assert_uint_eq(valu1("v_ldexp_f16", &m, h, 0xfffa, 0), HALF(x / 64));
#undef HALF
    }
    ck_assert_uint_eq(valu1("v_fract_f16", &m, 0xbd00, 0, 0), 0x3a00); /* -1.25 */
    ck_assert_uint_eq(valu1("v_fract_f16", &m, 0x8001, 0, 0), 0x3bff);
}
END_TEST

START_TEST(orders)
{
    struct lane_mode m = level_mode();
    uint64_t state = 9;
    for (unsigned i = 0; i < 6000; i++) {
        unsigned a = (unsigned)random_value(&state, SEM_T_F16);
        unsigned b = (unsigned)random_value(&state, SEM_T_F16);
        uint64_t x = valu1("v_cvt_f32_f16", &m, a, 0, 0);
        uint64_t y = valu1("v_cvt_f32_f16", &m, b, 0, 0);
        static const char *const ops[] = {"lt",  "eq",  "le",  "gt",  "lg",
                                          "ge",  "o",   "u",   "nge", "nlg",
                                          "ngt", "nle", "neq", "nlt"};
        for (unsigned j = 0; j < 14; j++) {
            char half[24], single[24];
            snprintf(half, sizeof half, "v_cmp_%s_f16", ops[j]);
            snprintf(single, sizeof single, "v_cmp_%s_f32", ops[j]);
            ck_assert_msg(valu1_mask(half, &m, a, b, 0) ==
                              valu1_mask(single, &m, x, y, 0),
                          "%s(%04x, %04x)", half, a, b);
        }
        if (!nan16(a) && !nan16(b)) {
            ck_assert_uint_eq(
                valu1("v_cvt_f32_f16", &m, valu1("v_max_f16", &m, a, b, 0), 0, 0),
                valu1("v_max_f32", &m, x, y, 0));
            ck_assert_uint_eq(
                valu1("v_cvt_f32_f16", &m, valu1("v_med3_f16", &m, a, b, 0x3c00), 0, 0),
                valu1("v_med3_f32", &m, x, y, 0x3f800000));
        }
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, finite_arithmetic);
    tcase_add_test(tc, nans_and_infinities);
    tcase_add_test(tc, conversions);
    tcase_add_test(tc, parts);
    tcase_add_test(tc, orders);
}

int main(void)
{
    return valu_main("valu_half", add);
}
