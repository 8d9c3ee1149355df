/* test_transc.c: transcendental functions against the measured schemes' vectors and
 * against libm in wider precision.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../data/data.h"
#include "valu.h"

static float f_of(uint64_t u)
{
    uint32_t v = (uint32_t)u;
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}
static double d_of(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}
static long double half(unsigned h)
{
    struct lane_mode m = level_mode();
    return (long double)f_of(valu1("v_cvt_f32_f16", &m, h, 0, 0));
}

/* Distance of a float from the real value, in units of the float's last place. */
static long double ulps(float got, long double exact)
{
    int e;
    frexpf(got, &e);
    e = e < -125 ? -125 : e;
    return fabsl((long double)got - exact) / ldexpl(1, e - 24);
}

static void vectors(const char *file, const char *name)
{
    char path[DATA_PATH];
    unsigned in, out, n = 0;
    struct lane_mode m = level_mode();
    FILE *f = fopen(data_path(path, file), "r");
    ck_assert_msg(f != NULL, "cannot read %s", path);
    while (fscanf(f, "%x %x", &in, &out) == 2) {
        unsigned got = (unsigned)valu1(name, &m, in, 0, 0);
        ck_assert_msg(got == out, "%s(%08x) = %08x, not %08x", name, in, got, out);
        n++;
    }
    fclose(f);
    ck_assert_uint_gt(n, 6000);
}

START_TEST(exp_vectors)
{
    vectors("reference/transcendentals/exp2_f32_vectors.tsv", "v_exp_f32");
}
END_TEST

START_TEST(log_vectors)
{
    vectors("reference/transcendentals/log2_f32_vectors.tsv", "v_log_f32");
}
END_TEST

/* The examples of the manual, 16.8 */
START_TEST(manual_examples)
{
    static const struct {
        const char *name;
        uint32_t in, out;
    } rows[] = {
        {"v_exp_f32", 0xff800000, 0},
        {"v_exp_f32", 0x80000000, 0x3f800000},
        {"v_exp_f32", 0x7f800000, 0x7f800000},
        {"v_log_f32", 0xff800000, 0xffc00000},
        {"v_log_f32", 0xbf800000, 0xffc00000},
        {"v_log_f32", 0x80000000, 0xff800000},
        {"v_log_f32", 0x3f800000, 0},
        {"v_log_f32", 0x7f800000, 0x7f800000},
        {"v_rcp_f32", 0xff800000, 0x80000000},
        {"v_rcp_f32", 0xc0000000, 0xbf000000},
        {"v_rcp_f32", 0x80000000, 0xff800000},
        {"v_rcp_f32", 0, 0x7f800000},
        {"v_rcp_f32", 0x7f800000, 0},
        {"v_rsq_f32", 0xff800000, 0xffc00000},
        {"v_rsq_f32", 0x80000000, 0xff800000},
        {"v_rsq_f32", 0, 0x7f800000},
        {"v_rsq_f32", 0x40800000, 0x3f000000},
        {"v_rsq_f32", 0x7f800000, 0},
        {"v_sqrt_f32", 0xff800000, 0xffc00000},
        {"v_sqrt_f32", 0x80000000, 0x80000000},
        {"v_sqrt_f32", 0x40800000, 0x40000000},
        {"v_sqrt_f32", 0x7f800000, 0x7f800000},
        {"v_sin_f32", 0xff800000, 0xffc00000},
        {"v_sin_f32", 0xff7fffff, 0},
        {"v_sin_f32", 0x80000000, 0x80000000},
        {"v_sin_f32", 0x3e800000, 0x3f800000},
        {"v_cos_f32", 0xff800000, 0xffc00000},
        {"v_cos_f32", 0xff7fffff, 0x3f800000},
        {"v_cos_f32", 0x80000000, 0x3f800000},
        {"v_cos_f32", 0x3e800000, 0},
        {"v_rcp_f16", 0xfc00, 0x8000},
        {"v_rcp_f16", 0xc000, 0xb800},
        {"v_rcp_f16", 0x8000, 0xfc00},
        {"v_rcp_f16", 0x7c00, 0},
        {"v_sqrt_f16", 0xfc00, 0xfe00},
        {"v_sqrt_f16", 0x8000, 0x8000},
        {"v_sqrt_f16", 0x4400, 0x4000},
        {"v_rsq_f16", 0xfc00, 0xfe00},
        {"v_rsq_f16", 0x8000, 0xfc00},
        {"v_rsq_f16", 0x4400, 0x3800},
        {"v_log_f16", 0xfc00, 0xfe00},
        {"v_log_f16", 0xbc00, 0xfe00},
        {"v_log_f16", 0x8000, 0xfc00},
        {"v_log_f16", 0x3c00, 0},
        {"v_log_f16", 0x7c00, 0x7c00},
        {"v_exp_f16", 0xfc00, 0},
        {"v_exp_f16", 0x8000, 0x3c00},
        {"v_exp_f16", 0x7c00, 0x7c00},
        {"v_sin_f16", 0xfc00, 0xfe00},
        {"v_sin_f16", 0xfbff, 0},
        {"v_sin_f16", 0x8000, 0x8000},
        {"v_sin_f16", 0x3400, 0x3c00},
        {"v_sin_f16", 0x7bff, 0},
        {"v_cos_f16", 0xfc00, 0xfe00},
        {"v_cos_f16", 0xfbff, 0x3c00},
        {"v_cos_f16", 0x8000, 0x3c00},
        {"v_cos_f16", 0x3400, 0},
        {"v_cos_f16", 0x7bff, 0x3c00},
        /* denormals are flushed whatever MODE says */
        {"v_rcp_f32", 0x80000001, 0xff800000},
        {"v_rcp_f32", 0x7f000001, 0},
        {"v_rsq_f32", 0x00400000, 0x7f800000},
        {"v_sqrt_f32", 0x007fffff, 0},
        {"v_exp_f32", 0xc2fe0000, 0},
        {"v_rcp_f32", 0x7f800001, 0x7fc00001},
    };
    struct lane_mode m = level_mode();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(valu1(rows[i].name, &m, rows[i].in, 0, 0) == rows[i].out,
                      "%s(%08x) = %08llx", rows[i].name, rows[i].in,
                      (unsigned long long)valu1(rows[i].name, &m, rows[i].in, 0, 0));
}
END_TEST

START_TEST(accuracy_f32)
{
    uint64_t state = 3;
    struct lane_mode m = level_mode();
    for (unsigned i = 0; i < 40000; i++) {
        uint64_t u = (random_bits(&state) & 0x7fffff) | (1 + (i % 250)) << 23;
        long double x = (long double)f_of(u);
        ck_assert(ulps(f_of(valu1("v_rcp_f32", &m, u, 0, 0)), 1 / x) <= 1 ||
                  i % 250 >= 250 - 3 || valu1("v_rcp_f32", &m, u, 0, 0) == 0);
        ck_assert(ulps(f_of(valu1("v_sqrt_f32", &m, u, 0, 0)), sqrtl(x)) <= 0.5001L);
        ck_assert(ulps(f_of(valu1("v_rsq_f32", &m, u, 0, 0)), 1 / sqrtl(x)) <= 0.5001L);
    }
}
END_TEST

START_TEST(sine_and_cosine)
{
    uint64_t state = 5;
    struct lane_mode m = level_mode();
    const long double turn = 6.28318530717958647692528676656L;
    for (unsigned i = 0; i < 40000; i++) {
        uint64_t u = (random_bits(&state) & 0x807fffff) | (116 + i % 34) << 23;
        long double x = (long double)f_of(u), r = x - rintl(x);
        float s = f_of(valu1("v_sin_f32", &m, u, 0, 0));
        float c = f_of(valu1("v_cos_f32", &m, u, 0, 0));
        ck_assert(fabsl((long double)s - sinl(r * turn)) <= 0x1p-24L);
        ck_assert(fabsl((long double)c - cosl(r * turn)) <= 0x1p-24L);
    }
    ck_assert_uint_eq(valu1("v_sin_f32", &m, 0x3f000000, 0, 0), 0);
    ck_assert_uint_eq(valu1("v_sin_f32", &m, 0xbf400000, 0, 0), 0x3f800000);
}
END_TEST

START_TEST(double_seeds)
{
    uint64_t state = 7;
    struct lane_mode m = level_mode();
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t u = random_bits(&state) >> 1;
        if (u >> 52 > 2040 || u >> 52 < 4)
            continue;
        double x = d_of(u);
        ck_assert(d_of(valu1("v_rcp_f64", &m, u, 0, 0)) == 1 / x);
        ck_assert(d_of(valu1("v_sqrt_f64", &m, u, 0, 0)) == sqrt(x));
        long double r = 1 / sqrtl((long double)x);
        double got = d_of(valu1("v_rsq_f64", &m, u, 0, 0));
        ck_assert(fabsl((long double)got - r) <= r * 0x1p-52L);
    }
    ck_assert_uint_eq(valu1("v_rsq_f64", &m, 0x8000000000000000, 0, 0),
                      0xfff0000000000000);
    ck_assert_uint_eq(valu1("v_rsq_f64", &m, 0xbff0000000000000, 0, 0),
                      0xfff8000000000000);
}
END_TEST

/* f16 nearest to a real, as bits; by the program's own narrowing of f64, tested apart.
 */
static unsigned nearest_half(long double x)
{
    unsigned sign = signbit(x) ? 0x8000 : 0, best = 0;
    x = fabsl(x);
    if (x >= 65520)
        return sign | 0x7c00;
    for (unsigned bit = 0x4000; bit; bit >>= 1)
        if (best + bit < 0x7c00 && half(best + bit) <= x)
            best += bit;
    long double low = half(best), high = best == 0x7bff ? 65536 : half(best + 1);
    bool up = x - low > high - x || (x - low == high - x && (best & 1));
    return sign | (best + up);
}

START_TEST(all_halves)
{
    struct lane_mode m = level_mode();
    for (unsigned h = 0; h < 0x7c00; h++) {
        unsigned got = (unsigned)valu1("v_exp_f16", &m, h, 0, 0);
        ck_assert_uint_eq(got, nearest_half(exp2l(half(h))));
        got = (unsigned)valu1("v_exp_f16", &m, h | 0x8000, 0, 0);
        ck_assert_uint_eq(got, nearest_half(exp2l(-half(h))));
        if (!h)
            continue;
        got = (unsigned)valu1("v_log_f16", &m, h, 0, 0);
        ck_assert_uint_eq(got, nearest_half(log2l(half(h))));
        got = (unsigned)valu1("v_sqrt_f16", &m, h, 0, 0);
        ck_assert_uint_eq(got, nearest_half(sqrtl(half(h))));
        got = (unsigned)valu1("v_rsq_f16", &m, h, 0, 0);
        ck_assert_int_le(abs((int)got - (int)nearest_half(1 / sqrtl(half(h)))), 1);
        got = (unsigned)valu1("v_rcp_f16", &m, h, 0, 0);
        ck_assert_int_le(abs((int)got - (int)nearest_half(1 / half(h))), 1);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, manual_examples);
    tcase_add_test(tc, accuracy_f32);
    tcase_add_test(tc, sine_and_cosine);
    tcase_add_test(tc, double_seeds);
    tcase_add_test(tc, all_halves);
    tcase_add_test(tc, exp_vectors);
    tcase_add_test(tc, log_vectors);
}

int main(void)
{
    return valu_main("valu_transc", add);
}
