/* test_realize.c: the expressions of exprs.c through the runtime: device memory, code
 * compiled, dispatched by the kernel driver's interface, copied back.
 *
 * Runs on a gfx1100, real or `rdna3 exec`; exit status 77 where there is none. The
 * answers are those of cc_evaluate: integers equal, floats within 2e-5 of the largest
 * element (f16 and bf16: one unit). CC_EXPR in the environment picks one expression.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "cc_gpu.h"
#include "examples.h"
#include "exprs.h"

static struct cc_gpu *gpu;

static rd_status on_device(struct cc_context **c)
{
    return cc_context_create_on(cc_gpu_device(gpu), c);
}

START_TEST(expressions_agree)
{
    unsigned tried, wrong = exprs_check_all(1, 2e-5, on_device, &tried);
    const struct cc_gpu_event *e;
    size_t kernels = cc_gpu_events(gpu, &e);
    printf("%u expressions, %zu kernels run, %zu compiled, %u wrong\n", tried, kernels,
           cc_gpu_compiled(gpu), wrong);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_ge(kernels, tried);
}
END_TEST

/* A large reduction: two kernels, compiled once, each with a time. */
START_TEST(kernels_have_times)
{
    struct cc_context *c;
    struct cc_tensor *x;
    const struct cc_gpu_event *e;
    float got = 0;
    for (int round = 0; round < 2; round++) {
        size_t compiled = cc_gpu_compiled(gpu);
        ck_assert_int_eq(cc_context_create_on(cc_gpu_device(gpu), &c), RD_OK);
        struct cc_graph *g = cc_context_graph(c);
        float *data = calloc(100000, sizeof *data);
        for (int i = 0; i < 100000; i++)
            data[i] = (float)(i % 3);
        const int64_t n = 100000;
        ck_assert_int_eq(cc_tensor_from(c, CC_DT_F32, 1, &n, data, &x), RD_OK);
        cc_gpu_forget(gpu);
        cc_ref sum = cc_t_sum(g, cc_tensor_ref(x), 0, false);
        ck_assert_int_eq(cc_tensor_new(c, sum, &x), RD_OK);
        ck_assert_msg(cc_tensor_read(c, x, &got, sizeof got) == RD_OK, "%s",
                      cc_context_error(c));
        ck_assert_float_eq(got, 99999);
        ck_assert_uint_eq(cc_gpu_events(gpu, &e), 2);
        ck_assert(e[0].seconds > 0 && e[1].seconds > 0 && e[1].start > e[0].start);
        ck_assert_double_eq_tol(cc_gpu_seconds(gpu), e[0].seconds + e[1].seconds, 1e-9);
        if (round)
            ck_assert_uint_eq(cc_gpu_compiled(gpu), compiled);
        free(data);
        cc_context_destroy(c);
    }
}
END_TEST

static struct cc_tensor *halves(struct cc_context *c, int64_t n, int64_t d, uint64_t s)
{
    const int64_t shape[3] = {1, n, d};
    struct cc_graph *g = cc_context_graph(c);
    struct cc_tensor *t;
    cc_ref x = cc_cast(g, cc_t_randn(g, 3, shape, s), CC_DT_F16);
    ck_assert_int_eq(cc_tensor_new(c, x, &t), RD_OK);
    return t;
}

/* The kernel of compiler/examples between tensors, beside the same as an expression. */
START_TEST(flash_attention_agrees)
{
    enum { HEADS = 1, SIZE = 128, DEPTH = 64 };
    const int64_t shape[3] = {HEADS, SIZE, DEPTH};
    static float got[SIZE * DEPTH];
    union cc_value *want;
    struct cc_context *c;
    struct cc_tensor *t[4];
    cc_ref f[4];
    ck_assert_int_eq(cc_context_create_on(cc_gpu_device(gpu), &c), RD_OK);
    struct cc_graph *g = cc_context_graph(c);
    ck_assert_int_eq(cc_tensor_from(c, CC_DT_F32, 3, shape, NULL, &t[0]), RD_OK);
    for (unsigned i = 1; i < 4; i++) {
        t[i] = halves(c, SIZE, DEPTH, i);
        ck_assert_int_eq(cc_realize(c, 1, &t[i]), RD_OK);
        f[i] = cc_cast(g, cc_tensor_ref(t[i]), CC_DT_F64);
    }
    cc_ref flash = example_flash_attention(g, HEADS, SIZE, DEPTH);
    ck_assert_msg(cc_tensor_custom(c, flash, 4, t) == RD_OK, "%s", cc_context_error(c));
    ck_assert_msg(cc_tensor_read(c, t[0], got, sizeof got) == RD_OK, "%s",
                  cc_context_error(c));
    cc_ref expr = cc_t_attention(g, f[1], f[2], f[3], false);
    ck_assert_int_eq(cc_evaluate(c, expr, &want), RD_OK);
    double largest = 0, worst = 0;
    for (int i = 0; i < SIZE * DEPTH; i++) {
        largest = fmax(largest, fabs(want[i].f));
        worst = fmax(worst, fabs(want[i].f - (double)got[i]));
    }
    ck_assert_msg(worst < 2e-3 * largest, "%g of %g", worst, largest);
    free(want);
    cc_context_destroy(c);
}
END_TEST

int main(void)
{
    char error[CC_GPU_ERROR_BYTES];
    if (cc_gpu_open(NULL, &gpu, error) != RD_OK) {
        printf("skipped: %s\n", error);
        return 77;
    }
    Suite *s = suite_create("realize");
    TCase *t = tcase_create("device");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, expressions_agree);
    tcase_add_test(t, kernels_have_times);
    tcase_add_test(t, flash_attention_agrees);
    suite_add_tcase(s, t);
    int status = suite_run_here(s); /* the driver's files are this process's */
    cc_gpu_close(gpu);
    return status;
}
