/* test_compiler_decompose.c: operations that the compiler takes apart, against C's own,
 * at values where that is hard. SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "cc_tensor.h"

enum { N = 6000 };

static uint64_t seed;

static uint64_t rnd(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t high = seed >> 32;
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return high << 32 | seed >> 32;
}

/* Any number of bits, often near powers of two or the ends. */
static uint64_t number(void)
{
    uint64_t v = rnd() >> (rnd() % 64);
    switch (rnd() % 6) {
    case 0:
        return 1ull << (rnd() % 64);
    case 1:
        return (1ull << (rnd() % 64)) - 1;
    case 2:
        return 0 - v;
    case 3:
        return 0 - (rnd() % 4);
    default:
        return v;
    }
}

static struct cc_tensor *tensor(struct cc_context *c, enum cc_dtype dtype,
                                const void *data)
{
    static const int64_t n = N;
    struct cc_tensor *t;
    ck_assert_int_eq(cc_tensor_from(c, dtype, 1, &n, data, &t), RD_OK);
    return t;
}

static void compute(struct cc_context *c, cc_ref expr, void *out)
{
    struct cc_tensor *t;
    ck_assert_msg(cc_tensor_new(c, expr, &t) == RD_OK, "%s", cc_context_error(c));
    ck_assert_msg(cc_tensor_read(c, t, out, 8 * N) == RD_OK, "%s", cc_context_error(c));
}

static uint64_t divide(enum cc_op op, bool is_signed, uint64_t a, uint64_t b)
{
    if (b == 0)
        return op == CC_IDIV ? 0 : a;
    if (!is_signed)
        return op == CC_IDIV ? a / b : a % b;
    if (b == UINT64_MAX) /* C's own would trap at the smallest */
        return op == CC_IDIV ? 0 - a : 0;
    return (uint64_t)(op == CC_IDIV ? (int64_t)a / (int64_t)b
                                    : (int64_t)a % (int64_t)b);
}

START_TEST(division_is_exact)
{
    static uint64_t a[N], b[N], got[N];
    bool is_signed = _i & 1;
    enum cc_op op = _i & 2 ? CC_IDIV : CC_MOD;
    enum cc_dtype dtype = is_signed ? CC_DT_I64 : CC_DT_U64;
    struct cc_context *c;
    ck_assert_int_eq(cc_context_create(NULL, NULL, &c), RD_OK);
    seed = 5;
    for (int i = 0; i < N; i++) {
        a[i] = number();
        b[i] = number();
        if (i % 5 == 0) /* multiples and their neighbours */
            a[i] = b[i] * (rnd() >> (rnd() % 64)) + (rnd() % 3) - 1;
    }
    compute(c,
            cc_alu2(cc_context_graph(c), op, cc_tensor_ref(tensor(c, dtype, a)),
                    cc_tensor_ref(tensor(c, dtype, b))),
            got);
    for (int i = 0; i < N; i++)
        ck_assert_msg(got[i] == divide(op, is_signed, a[i], b[i]),
                      "%#llx by %#llx: %#llx", (unsigned long long)a[i],
                      (unsigned long long)b[i], (unsigned long long)got[i]);
    cc_context_destroy(c);
}
END_TEST

static double uniform(double from, double until)
{
    return from + (until - from) * ((double)(rnd() >> 11) * 0x1p-53);
}

static void check_function(enum cc_op op, double (*f)(double), const double *x,
                           double units, double absolute)
{
    static double got[N];
    struct cc_context *c;
    ck_assert_int_eq(cc_context_create(NULL, NULL, &c), RD_OK);
    compute(c, cc_alu1(cc_context_graph(c), op, cc_tensor_ref(tensor(c, CC_DT_F64, x))),
            got);
    for (int i = 0; i < N; i++) {
        double want = f(x[i]), bound = units * 0x1p-52 * fabs(want) + absolute;
        bool same = isnan(want)   ? isnan(got[i])
                    : isinf(want) ? got[i] == want
                                  : fabs(got[i] - want) <= bound;
        ck_assert_msg(same, "%s of %.17g is %.17g, not %.17g", cc_op_name(op), x[i],
                      got[i], want);
    }
    cc_context_destroy(c);
}

static const double special[] = {
    0,      -0.0,      1,         -1,     0.5,     2,         1023,   1024,
    1023.9, -1022,     -1074,     -1075,  -1080.5, 1e300,     -1e300, INFINITY,
    NAN,    0x1p-1074, 0x1p-1022, 1e-310, M_SQRT2, M_SQRT1_2, 1e-20,  -INFINITY};

static const double *values(double from, double until)
{
    static double x[N];
    seed = 9;
    for (int i = 0; i < N; i++)
        x[i] = uniform(from, until);
    memcpy(x, special, sizeof special);
    return x;
}

START_TEST(functions_of_f64)
{
    check_function(CC_EXP2, exp2, values(-1100, 1030), 4, 0x1p-1074);
    check_function(CC_EXP2, exp2, values(-2, 2), 4, 0x1p-1074);
    check_function(CC_LOG2, log2, values(0, 3), 4, 0);
    check_function(CC_LOG2, log2, values(0, 1e300), 4, 0);
    double *x = (double *)values(-1048576, 1048576);
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (!(fabs(x[i]) <= 1048576)) /* beyond what is promised */
            x[i] = 3;
    check_function(CC_SIN, sin, x, 4, 0x1p-52);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("decompose");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, division_is_exact, 0, 4);
    tcase_add_test(t, functions_of_f64);
    suite_add_tcase(s, t);
    return suite_run(s);
}
