/* test_float.c: f32 and f64 operations: NaN choice, denormal and rounding modes, and
 * results against the host's own arithmetic or wider arithmetic.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>
#include <xmmintrin.h>

#include "valu.h"

typedef __float128 quad;

static double d_of(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}
static float f_of(uint64_t u)
{
    uint32_t v = (uint32_t)u;
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}
static uint32_t u_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static uint64_t ud_of(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static bool nan32(uint64_t u)
{
    return (u & 0x7fffffff) > 0x7f800000;
}
static bool nan64(uint64_t u)
{
    return (u & INT64_MAX) > 0x7ff0000000000000;
}

/* The first NaN operand wins and is quiet; an invalid operation gives ffc00000. */
START_TEST(nan_rule)
{
    struct lane_mode m = level_mode();
    static const char *const names[] = {"v_add_f32", "v_sub_f32", "v_subrev_f32",
                                        "v_mul_f32"};
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(valu1(names[i], &m, 0x7f800001, 0xffc00002, 0), 0x7fc00001);
        ck_assert_uint_eq(valu1(names[i], &m, 0xffc00002, 0x7f800001, 0), 0xffc00002);
        ck_assert_uint_eq(valu1(names[i], &m, 0x3f800000, 0xff800003, 0), 0xffc00003);
    }
    ck_assert_uint_eq(valu1("v_add_f32", &m, 0x7f800000, 0xff800000, 0), 0xffc00000);
    ck_assert_uint_eq(valu1("v_mul_f32", &m, 0x7f800000, 0x80000000, 0), 0xffc00000);
    ck_assert_uint_eq(valu1("v_fma_f32", &m, 0, 0x7f800001, 0x7fc00003), 0x7fc00001);
    ck_assert_uint_eq(valu1("v_fma_f32", &m, 0, 0x7f800000, 0x7fc00003), 0x7fc00003);
    ck_assert_uint_eq(valu1("v_fma_f32", &m, 0, 0x7f800000, 0), 0xffc00000);
    ck_assert_uint_eq(valu1("v_add_f64", &m, 0x7ff0000000000000, 0xfff0000000000000, 0),
                      0xfff8000000000000);
    ck_assert_uint_eq(valu1("v_fma_f64", &m, 0xfff0000000000001, 0x7ff8000000000002, 0),
                      0xfff8000000000001);
}
END_TEST

START_TEST(denormal_modes)
{
    struct lane_mode m = level_mode();
    const uint64_t tiny = 0x00000001, half = 0x3f000000, least = 0x80800000;
    m.denorm32 = 3;
    ck_assert_uint_eq(valu1("v_mul_f32", &m, 0x80000003, 0x40000000, 0), 0x80000006);
    ck_assert_uint_eq(valu1("v_mul_f32", &m, least, half, 0), 0x80400000);
    m.denorm32 = 0;
    ck_assert_uint_eq(valu1("v_mul_f32", &m, 0x80000003, 0x40000000, 0), 0x80000000);
    ck_assert_uint_eq(valu1("v_mul_f32", &m, least, half, 0), 0x80000000);
    ck_assert_uint_eq(valu1("v_max_f32", &m, tiny, tiny, 0), 0);
    ck_assert(!valu1_mask("v_cmp_gt_f32", &m, tiny, 0, 0));
    m.denorm32 = 1; /* inputs only */
    ck_assert_uint_eq(valu1("v_mul_f32", &m, 0x00400000, 0x40000000, 0), 0x00800000);
    ck_assert_uint_eq(valu1("v_mul_f32", &m, least, half, 0), 0x80000000);
    ck_assert_uint_eq(valu1("v_max_f32", &m, tiny, tiny, 0), tiny);
    ck_assert_uint_eq(valu1("v_cvt_f64_f32", &m, 0x80000001, 0, 0), 0xb6a0000000000000);
    m.denorm32 = 2; /* outputs only */
    ck_assert_uint_eq(valu1("v_mul_f32", &m, 0x00400000, 0x40000000, 0), 0);
    ck_assert_uint_eq(valu1("v_mul_f32", &m, least, half, 0), 0x80400000);
    ck_assert_uint_eq(valu1("v_cvt_f64_f32", &m, 0x80000001, 0, 0), 0x8000000000000000);
    /* classes and division's multiply-add see them whatever MODE says */
    m.denorm32 = 0;
    ck_assert(valu1_mask("v_cmp_class_f32", &m, 0x80000001, 1 << 4, 0));
    ck_assert_uint_eq(valu1("v_div_fmas_f32", &m, 0x00400000, 0x40000000, 0),
                      0x00800000);
}
END_TEST

/* name, first argument, second, third, with MODE.IEEE, without */
START_TEST(minimum_maximum)
{
    static const struct {
        const char *name;
        uint32_t a, b, c, ieee, other;
    } rows[] = {
        {"v_min_f32", 0x80000000, 0, 0, 0x80000000, 0x80000000},
        {"v_min_f32", 0, 0x80000000, 0, 0x80000000, 0x80000000},
        {"v_max_f32", 0x80000000, 0, 0, 0, 0},
        {"v_max_f32", 0, 0x80000000, 0, 0, 0},
        {"v_max_f32", 0xbf800000, 0xc0000000, 0, 0xbf800000, 0xbf800000},
        {"v_min_f32", 0x7fc00000, 0x3f800000, 0, 0x3f800000, 0x3f800000},
        {"v_max_f32", 0x3f800000, 0xffc00000, 0, 0x3f800000, 0x3f800000},
        {"v_max_f32", 0x7fc00001, 0xffc00002, 0, 0x7fc00001, 0x7fc00001},
        {"v_max_f32", 0x7f800001, 0x3f800000, 0, 0x7fc00001, 0x3f800000},
        {"v_min_f32", 0x3f800000, 0x7f800001, 0, 0x7fc00001, 0x3f800000},
        {"v_min_f32", 0x7fc00005, 0x7f800001, 0, 0x7fc00001, 0x7fc00005},
        {"v_med3_f32", 0x3f800000, 0x40000000, 0x40400000, 0x40000000, 0x40000000},
        {"v_med3_f32", 0x40400000, 0x3f800000, 0x40000000, 0x40000000, 0x40000000},
        {"v_med3_f32", 0x7fc00000, 0x40000000, 0x3f800000, 0x3f800000, 0x3f800000},
        {"v_max3_f32", 0xbf800000, 0x40000000, 0x7fc00000, 0x40000000, 0x40000000},
        {"v_minmax_f32", 0x40800000, 0x40000000, 0x40400000, 0x40400000, 0x40400000},
        {"v_maxmin_f32", 0x40800000, 0x40000000, 0x40400000, 0x40400000, 0x40400000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lane_mode m = level_mode();
        ck_assert_uint_eq(valu1(rows[i].name, &m, rows[i].a, rows[i].b, rows[i].c),
                          rows[i].ieee);
        m.ieee = false;
        ck_assert_uint_eq(valu1(rows[i].name, &m, rows[i].a, rows[i].b, rows[i].c),
                          rows[i].other);
    }
}
END_TEST

static unsigned set_host(unsigned round, unsigned denorm)
{
    static const unsigned rounding[] = {0x0000, 0x4000, 0x2000, 0x6000};
    unsigned saved = _mm_getcsr();
    _mm_setcsr(0x1f80u | rounding[round] | (denorm & 1 ? 0 : 0x40u) |
               (denorm & 2 ? 0 : 0x8000u));
    return saved;
}

/* Conversions that are done on bits here, against the host's instructions. */
START_TEST(conversions)
{
    uint64_t state = 11;
    for (unsigned i = 0; i < 20000; i++) {
        struct lane_mode m = level_mode();
        m.round32 = m.round64 = i & 3;
        m.denorm32 = m.denorm64 = i >> 2 & 3;
        volatile double d = d_of(random_value(&state, SEM_T_F64));
        volatile float f = f_of(random_value(&state, SEM_T_F32));
        unsigned saved = set_host(m.round32, m.denorm32);
        volatile float narrow = (float)d;
        volatile double wide = (double)f;
        volatile float cmp = f;
        bool lt = cmp < 1.0f;
        _mm_setcsr(saved);
        ck_assert_uint_eq(valu1("v_cvt_f32_f64", &m, ud_of(d), 0, 0), u_of(narrow));
        ck_assert_uint_eq(valu1("v_cvt_f64_f32", &m, u_of(f), 0, 0), ud_of(wide));
        ck_assert(valu1_mask("v_cmp_lt_f32", &m, u_of(f), 0x3f800000, 0) == lt);
    }
}
END_TEST

static long double clip(long double x, long double low, long double high)
{
    return isnan(x) ? 0 : x < low ? low : x > high ? high : x;
}

START_TEST(to_integers)
{
    uint64_t state = 13;
    struct lane_mode m = level_mode();
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t u = random_value(&state, SEM_T_F32),
                 v = random_value(&state, SEM_T_F64);
        long double f = f_of(u), d = d_of(v);
        int64_t low = INT32_MIN, high = INT32_MAX, all = UINT32_MAX;
        ck_assert_int_eq((int32_t)valu1("v_cvt_i32_f32", &m, u, 0, 0),
                         (int64_t)clip(f, low, high));
        ck_assert_int_eq((uint32_t)valu1("v_cvt_u32_f32", &m, u, 0, 0),
                         (int64_t)clip(f, 0, all));
        ck_assert_int_eq((int32_t)valu1("v_cvt_i32_f64", &m, v, 0, 0),
                         (int64_t)clip(d, low, high));
        ck_assert_int_eq((uint32_t)valu1("v_cvt_u32_f64", &m, v, 0, 0),
                         (int64_t)clip(d, 0, all));
        ck_assert_int_eq((int32_t)valu1("v_cvt_floor_i32_f32", &m, u, 0, 0),
                         (int64_t)clip(floorl(f), low, high));
        ck_assert_int_eq((int32_t)valu1("v_cvt_nearest_i32_f32", &m, u, 0, 0),
                         (int64_t)clip(floorl(f + 0.5L), low, high));
    }
}
END_TEST

START_TEST(integral_values)
{
    uint64_t state = 17;
    for (unsigned i = 0; i < 20000; i++) {
        struct lane_mode m = level_mode();
        uint64_t u = random_value(&state, SEM_T_F32),
                 v = random_value(&state, SEM_T_F64);
        float f = f_of(u);
        double d = d_of(v);
        m.round32 = m.round64 = i & 3;
        if (nan32(u) || nan64(v))
            continue;
        ck_assert_uint_eq(valu1("v_trunc_f32", &m, u, 0, 0), u_of(truncf(f)));
        ck_assert_uint_eq(valu1("v_floor_f32", &m, u, 0, 0), u_of(floorf(f)));
        ck_assert_uint_eq(valu1("v_ceil_f32", &m, u, 0, 0), u_of(ceilf(f)));
        ck_assert_uint_eq(valu1("v_rndne_f32", &m, u, 0, 0), u_of(rintf(f)));
        ck_assert_uint_eq(valu1("v_trunc_f64", &m, v, 0, 0), ud_of(trunc(d)));
        ck_assert_uint_eq(valu1("v_floor_f64", &m, v, 0, 0), ud_of(floor(d)));
        ck_assert_uint_eq(valu1("v_ceil_f64", &m, v, 0, 0), ud_of(ceil(d)));
        ck_assert_uint_eq(valu1("v_rndne_f64", &m, v, 0, 0), ud_of(rint(d)));
        int e = 0;
        double mant = isinf(d) ? d : frexp(d, &e);
        ck_assert_uint_eq(valu1("v_frexp_mant_f64", &m, v, 0, 0), ud_of(mant));
        ck_assert_int_eq((int32_t)valu1("v_frexp_exp_i32_f64", &m, v, 0, 0), e);
        e = 0;
        float mantf = isinf(f) ? f : frexpf(f, &e);
        ck_assert_uint_eq(valu1("v_frexp_mant_f32", &m, u, 0, 0), u_of(mantf));
        ck_assert_int_eq((int32_t)valu1("v_frexp_exp_i32_f32", &m, u, 0, 0), e);
    }
}
END_TEST

START_TEST(scaling_by_powers)
{
    uint64_t state = 19;
    for (unsigned i = 0; i < 20000; i++) {
        struct lane_mode m = level_mode();
        uint64_t u = random_value(&state, SEM_T_F32),
                 v = random_value(&state, SEM_T_F64);
        int n = (int)(random_bits(&state) % 4600) - 2300;
        n = i & 8 ? n / 8 : n;
        m.round32 = m.round64 = i & 3;
        if (nan32(u) || nan64(v))
            continue;
        unsigned saved = set_host(m.round32, 3);
        volatile double d = scalbn(d_of(v), n);
        volatile float f = scalbnf(f_of(u), n);
        _mm_setcsr(saved);
        ck_assert_uint_eq(valu1("v_ldexp_f64", &m, v, (uint32_t)n, 0), ud_of(d));
        ck_assert_uint_eq(valu1("v_ldexp_f32", &m, u, (uint32_t)n, 0), u_of(f));
    }
}
END_TEST

/* Post-scaled multiply-adds are rounded once: against 113-bit arithmetic. */
START_TEST(division_multiply_add)
{
    uint64_t state = 23;
    struct lane_mode m = level_mode();
    const struct sem_entry *f32 = valu_find(LEVEL_GENERIC, "v_div_fmas_f32");
    const struct sem_entry *f64 = valu_find(LEVEL_GENERIC, "v_div_fmas_f64");
    for (unsigned round = 0; round < 500; round++) {
        struct lanes l;
        for (unsigned i = 0; i < 32; i++) {
            for (unsigned j = 0; j < 3; j++)
                l.s[j][i] = (random_bits(&state) & 0x807fffff) |
                            (uint64_t)(j == 2 ? 64 + round % 8 : 50 + round % 4) << 23;
            l.s[3][i] = i & 1;
        }
        valu_run(f32, &m, &l);
        for (unsigned i = 0; i < 32; i++) {
            quad q = (quad)f_of(l.s[0][i]) * f_of(l.s[1][i]) + f_of(l.s[2][i]);
            float want = (float)(i & 1 ? q * 0x1p-64 : q);
            ck_assert_uint_eq(l.value[i], u_of(want));
        }
        /* a quotient and its small correction, as in a division */
        for (unsigned i = 0; i < 32; i++) {
            uint64_t q = 0x0780000000000000 + ((uint64_t)(round % 70) << 52);
            l.s[2][i] = (random_bits(&state) & 0x800fffffffffffff) | q;
            l.s[0][i] =
                (random_bits(&state) & 0x800fffffffffffff) | (q - ((uint64_t)53 << 52));
            l.s[1][i] = 0x3ff0000000000000 | random_bits(&state) >> 12;
            l.s[3][i] = 1;
        }
        valu_run(f64, &m, &l);
        for (unsigned i = 0; i < 32; i++) {
            quad q = (quad)d_of(l.s[0][i]) * d_of(l.s[1][i]) + d_of(l.s[2][i]);
            ck_assert_uint_eq(l.value[i], ud_of((double)(q * 0x1p-128)));
        }
    }
}
END_TEST

/* The whole macro, as compilers emit it, gives the correctly rounded quotient. */
static float divide(float n, float d)
{
    struct lane_mode m = level_mode();
    struct lanes l = {0};
    float ds = f_of(valu1("v_div_scale_f32", &m, u_of(d), u_of(d), u_of(n)));
    float ns = f_of(valu1("v_div_scale_f32", &m, u_of(n), u_of(d), u_of(n)));
    bool flag = valu1_mask("v_div_scale_f32", &m, u_of(n), u_of(d), u_of(n));
    float r = f_of(valu1("v_rcp_f32", &m, u_of(ds), 0, 0));
    float e = fmaf(-ds, r, 1.0f);
    r = fmaf(e, r, r);
    float q = ns * r;
    e = fmaf(-ds, q, ns);
    q = fmaf(e, r, q);
    e = fmaf(-ds, q, ns);
    l.s[0][0] = u_of(e), l.s[1][0] = u_of(r), l.s[2][0] = u_of(q), l.s[3][0] = flag;
    valu_run(valu_find(LEVEL_GENERIC, "v_div_fmas_f32"), &m, &l);
    return f_of(valu1("v_div_fixup_f32", &m, l.value[0], u_of(d), u_of(n)));
}

START_TEST(division_f32)
{
    uint64_t state = 29;
    for (unsigned i = 0; i < 20000; i++) {
        float n = f_of(random_value(&state, SEM_T_F32));
        float d = f_of(random_value(&state, SEM_T_F32));
        if (i & 1) /* all exponents */
            n = f_of(random_bits(&state)), d = f_of(random_bits(&state));
        volatile float want = n / d;
        float got = divide(n, d);
        if (isnan(want) ? !isnan(got) : u_of(got) != u_of(want))
            ck_abort_msg("%a / %a = %a, not %a", (double)n, (double)d, (double)got,
                         (double)want);
    }
}
END_TEST

static double divide64(double n, double d)
{
    struct lane_mode m = level_mode();
    struct lanes l = {0};
    double ds = d_of(valu1("v_div_scale_f64", &m, ud_of(d), ud_of(d), ud_of(n)));
    double ns = d_of(valu1("v_div_scale_f64", &m, ud_of(n), ud_of(d), ud_of(n)));
    bool flag = valu1_mask("v_div_scale_f64", &m, ud_of(n), ud_of(d), ud_of(n));
    double r = d_of(valu1("v_rcp_f64", &m, ud_of(ds), 0, 0));
    r = fma(fma(-ds, r, 1.0), r, r);
    r = fma(fma(-ds, r, 1.0), r, r);
    double q = ns * r, e = fma(-ds, q, ns);
    l.s[0][0] = ud_of(e), l.s[1][0] = ud_of(r), l.s[2][0] = ud_of(q), l.s[3][0] = flag;
    valu_run(valu_find(LEVEL_GENERIC, "v_div_fmas_f64"), &m, &l);
    return d_of(valu1("v_div_fixup_f64", &m, l.value[0], ud_of(d), ud_of(n)));
}

START_TEST(division_f64)
{
    uint64_t state = 31;
    for (unsigned i = 0; i < 20000; i++) {
        double n = d_of(random_value(&state, SEM_T_F64));
        double d = d_of(random_value(&state, SEM_T_F64));
        volatile double want = n / d;
        double got = divide64(n, d);
        if (isnan(want) ? !isnan(got) : ud_of(got) != ud_of(want))
            ck_abort_msg("%a / %a = %a, not %a", n, d, got, want);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, nan_rule);
    tcase_add_test(tc, denormal_modes);
    tcase_add_test(tc, minimum_maximum);
    tcase_add_test(tc, conversions);
    tcase_add_test(tc, to_integers);
    tcase_add_test(tc, integral_values);
    tcase_add_test(tc, scaling_by_powers);
    tcase_add_test(tc, division_multiply_add);
    tcase_add_test(tc, division_f32);
    tcase_add_test(tc, division_f64);
}

int main(void)
{
    return valu_main("valu_float", add);
}
