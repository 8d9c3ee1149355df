/* test_compiler_tensor.c: tensors become kernels that compute what the reference does.
 *
 * Every expression of exprs.c runs through the interpreter and through C text compiled
 * by the host's compiler. SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "exprs.h"
#include "graph.h"

/* Sanitizers take their time: every so many expressions. */
#ifdef RD_CHECKS
#define STEP 7
#else
#define STEP 1
#endif

static struct cc_context *c;

static void setup(void)
{
    ck_assert_int_eq(cc_context_create(NULL, NULL, &c), RD_OK);
}

static void teardown(void)
{
    cc_context_destroy(c);
}

/* ---- the host's compiler as runner ---- */

static char folder[64];

static rd_status run_c(void *user, const struct cc_prog *p, size_t n_args,
                       const struct cc_arg_buffer *args, char *error)
{
    static unsigned number;
    char source[128], library[128], command[600], *text;
    void *data[64];
    (void)user;
    rd_status st = cc_render(p, CC_STYLE_C, &text, error);
    if (st != RD_OK)
        return st;
    snprintf(source, sizeof source, "%s/%u.c", folder, number);
    snprintf(library, sizeof library, "%s/%u.so", folder, number++);
    FILE *f = fopen(source, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    snprintf(
        command, sizeof command,
        "%s -std=gnu11 -O0 -w -fwrapv -ffp-contract=off -shared -fPIC -o %s %s -lm",
        HOST_CC, library, source);
    if (system(command) != 0) {
        snprintf(error, 256, "the compiler refuses: %.200s", text);
        free(text);
        return RD_E_IO;
    }
    free(text);
    void *lib = dlopen(library, RTLD_NOW);
    ck_assert_ptr_nonnull(lib);
    void (*run)(void **);
    *(void **)&run = dlsym(lib, cc_prog_name(p));
    ck_assert(run != NULL);
    for (size_t i = 0; i < n_args; i++)
        data[i] = args[i].data;
    run(data);
    dlclose(lib);
    unlink(source);
    unlink(library);
    return RD_OK;
}

static cc_run_fn *runner; /* of the contexts to come */

static rd_status with_runner(struct cc_context **out)
{
    return cc_context_create(runner, NULL, out);
}

static void check_all(cc_run_fn *run, double tolerance, unsigned step)
{
    unsigned tried;
    runner = run;
    ck_assert_uint_eq(exprs_check_all(step, tolerance, with_runner, &tried), 0);
    ck_assert_uint_gt(tried, 20);
}

START_TEST(interpreter_agrees)
{
    check_all(NULL, 2e-6, STEP);
}
END_TEST

START_TEST(host_compiler_agrees)
{
    strcpy(folder, "/tmp/rdna3_test_cc_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    check_all(run_c, 4e-6, 4 * STEP); /* a compiler for every kernel */
    rmdir(folder);
}
END_TEST

/* ---- kernelize ---- */

static struct cc_tensor *one(int32_t v)
{
    struct cc_tensor *t;
    ck_assert_int_eq(cc_tensor_from(c, CC_DT_I32, 1, (int64_t[]){1}, &v, &t), RD_OK);
    return t;
}

static struct cc_tensor *lazy(cc_ref x)
{
    struct cc_tensor *t;
    ck_assert_msg(cc_tensor_new(c, x, &t) == RD_OK, "%s", cc_context_error(c));
    return t;
}

START_TEST(multiply_add_is_one_kernel)
{
    struct cc_graph *g = cc_context_graph(c);
    struct cc_tensor *a = one(1), *b = one(2), *d = one(3);
    struct cc_tensor *mul =
        lazy(cc_t_binary(g, CC_MUL, cc_tensor_ref(a), cc_tensor_ref(b)));
    struct cc_tensor *out =
        lazy(cc_t_binary(g, CC_ADD, cc_tensor_ref(mul), cc_tensor_ref(d)));
    ck_assert_int_eq(cc_kernelize(c, 1, &out), RD_OK);
    ck_assert_int_eq(cc_tensor_ref(mul)->op, CC_MUL); /* fused: stays lazy */
    cc_ref after = cc_tensor_ref(out);
    ck_assert_int_eq(after->op, CC_AFTER);
    ck_assert_int_eq(after->src[0]->op, CC_BUFFER);
    cc_ref kernel = after->src[1];
    ck_assert_int_eq(kernel->op, CC_KERNEL);
    ck_assert_int_eq(kernel->n_src, 5); /* its graph, the output, three inputs */
    ck_assert_ptr_eq(kernel->src[1], after->src[0]);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(kernel->src[2 + i]->op, CC_BUFFER);
    ck_assert_int_eq(cc_kernelize(c, 1, &out), RD_OK); /* again: nothing changes */
    ck_assert_ptr_eq(cc_tensor_ref(out), after);

    struct cc_tensor *child =
        lazy(cc_t_binary(g, CC_ADD, cc_tensor_ref(out), cc_const_int(g, CC_DT_I32, 2)));
    ck_assert_int_eq(cc_kernelize(c, 1, &child), RD_OK);
    cc_ref reads = cc_tensor_ref(child)->src[1]; /* the memory, not the expression */
    ck_assert_int_eq(reads->n_src, 3);
    ck_assert_ptr_eq(reads->src[2], after);
    ck_assert_int_eq((int)cc_context_runs(c), 0);

    int32_t v = 0;
    ck_assert_int_eq(cc_tensor_read(c, child, &v, 4), RD_OK);
    ck_assert_int_eq(v, 7);
    ck_assert_int_eq((int)cc_context_runs(c), 2);
    ck_assert_int_eq(cc_tensor_read(c, out, &v, 4), RD_OK);
    ck_assert_int_eq(v, 5);
    ck_assert_int_eq(cc_tensor_ref(out)->op, CC_BUFFER);
    ck_assert_int_eq((int)cc_context_runs(c), 2); /* its kernel had run */
}
END_TEST

START_TEST(softmax_is_three_kernels)
{
    struct cc_graph *g = cc_context_graph(c);
    struct cc_tensor *x, *y;
    ck_assert_int_eq(cc_tensor_from(c, CC_DT_F32, 2, (int64_t[]){8, 40}, NULL, &x),
                     RD_OK);
    y = lazy(cc_t_softmax(g, cc_tensor_ref(x), 1));
    ck_assert_int_eq(cc_realize(c, 1, &y), RD_OK);
    ck_assert_int_eq((int)cc_context_runs(c), 3);
}
END_TEST

START_TEST(large_sum_is_two_kernels)
{
    struct cc_graph *g = cc_context_graph(c);
    cc_ref ones = cc_t_full(g, CC_DT_F32, 1, (int64_t[]){262144}, 1);
    struct cc_tensor *y = lazy(cc_t_sum(g, cc_alu1(g, CC_CONTIGUOUS, ones), 0, false));
    float v = 0;
    ck_assert_int_eq(cc_tensor_read(c, y, &v, 4), RD_OK);
    ck_assert_float_eq(v, 262144);
    ck_assert_int_eq((int)cc_context_runs(c), 3); /* one makes the ones */
}
END_TEST

START_TEST(mistakes_reach_the_tensor)
{
    struct cc_graph *g = cc_context_graph(c);
    struct cc_tensor *x, *y;
    ck_assert_int_eq(cc_tensor_from(c, CC_DT_F32, 2, (int64_t[]){8, 40}, NULL, &x),
                     RD_OK);
    cc_ref bad = cc_t_matmul(g, cc_tensor_ref(x), cc_tensor_ref(x));
    ck_assert_int_eq(cc_tensor_new(c, bad, &y), RD_E_INVALID);
    ck_assert_str_eq(cc_context_error(c),
                     "matmul(%0, %0): inner sizes differ, or fewer than two axes");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensor");
    TCase *t = tcase_create("kernelize");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, multiply_add_is_one_kernel);
    tcase_add_test(t, softmax_is_three_kernels);
    tcase_add_test(t, large_sum_is_two_kernels);
    tcase_add_test(t, mistakes_reach_the_tensor);
    suite_add_tcase(s, t);
    TCase *e = tcase_create("expressions");
    tcase_set_timeout(e, 300);
    tcase_add_test(e, interpreter_agrees);
    tcase_add_test(e, host_compiler_agrees);
    suite_add_tcase(s, e);
    return suite_run(s);
}
