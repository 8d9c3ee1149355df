/* test_compiler_kernelize.c: where kernels begin and end, and what they say of memory.
 *
 * What is fused stays an expression; what is kernelized is AFTER(BUFFER, KERNEL), and
 * whoever uses it reads that buffer; what is realized is its BUFFER.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "choose.h"
#include "graph.h"
#include "cc_tensor.h"

static struct cc_context *c;
static struct cc_graph *g;

static void setup(void)
{
    ck_assert_int_eq(cc_context_create(NULL, NULL, &c), RD_OK);
    g = cc_context_graph(c);
}

static void teardown(void)
{
    cc_context_destroy(c);
}

static struct cc_tensor *data(enum cc_dtype dtype, int64_t n)
{
    struct cc_tensor *t;
    ck_assert_int_eq(cc_tensor_from(c, dtype, 1, &n, NULL, &t), RD_OK);
    return t;
}

static struct cc_tensor *lazy(cc_ref x)
{
    struct cc_tensor *t;
    ck_assert_msg(cc_tensor_new(c, x, &t) == RD_OK, "%s", cc_context_error(c));
    return t;
}

static void kernelize(struct cc_tensor *t)
{
    ck_assert_msg(cc_kernelize(c, 1, &t) == RD_OK, "%s", cc_context_error(c));
}

static void realize(struct cc_tensor *t)
{
    ck_assert_msg(cc_realize(c, 1, &t) == RD_OK, "%s", cc_context_error(c));
}

static cc_ref plus(struct cc_tensor *t, int v)
{
    return cc_t_binary(g, CC_ADD, cc_tensor_ref(t), cc_const_int(g, CC_DT_I32, v));
}

/* The graph of the kernel that a kernelized tensor waits for. */
static cc_ref sink_of(struct cc_tensor *t)
{
    cc_ref after = cc_tensor_ref(t);
    ck_assert_int_eq(after->op, CC_AFTER);
    ck_assert_int_eq(after->src[0]->op, CC_BUFFER);
    ck_assert_int_eq(after->src[1]->op, CC_KERNEL);
    return after->src[1]->src[0];
}

static uint64_t runs_of(cc_ref x)
{
    uint64_t before = cc_context_runs(c);
    realize(lazy(x));
    return cc_context_runs(c) - before;
}

/* child = out + 2 of a kernelized out: store(param 0, add(param 1, 2)), no more. */
START_TEST(children_read_the_buffer)
{
    struct cc_tensor *a = data(CC_DT_I32, 1), *b = data(CC_DT_I32, 1);
    struct cc_tensor *out =
        lazy(cc_t_binary(g, CC_MUL, cc_tensor_ref(a), cc_tensor_ref(b)));
    kernelize(out);
    struct cc_tensor *child = lazy(plus(out, 2));
    kernelize(child);
    char *text;
    ck_assert_int_eq(cc_print(g, sink_of(child), &text), RD_OK);
    ck_assert_str_eq(text, "%0 = PARAM i32 [0, 1]\n"
                           "%1 = PARAM i32 [1, 1]\n"
                           "%2 = CONST i32 [2]\n"
                           "%3 = ADD i32 %1 %2\n"
                           "%4 = STORE void %0 %3\n"
                           "%5 = SINK void %4 \"e_1\"\n");
    free(text);
}
END_TEST

START_TEST(fused_stays_lazy)
{
    struct cc_tensor *a = data(CC_DT_I32, 4);
    struct cc_tensor *mid = lazy(plus(a, 1));
    cc_ref before = cc_tensor_ref(mid);
    struct cc_tensor *out = lazy(cc_t_unary(g, CC_NEG, cc_tensor_ref(mid)));
    kernelize(out);
    ck_assert_ptr_eq(cc_tensor_ref(mid), before);
    ck_assert_uint_eq(cc_tensor_ref(out)->src[1]->n_src, 3); /* itself and a */
}
END_TEST

/* What depends on a tensor that was kernelized meanwhile sees its memory. */
START_TEST(others_see_the_memory)
{
    struct cc_tensor *a = data(CC_DT_I32, 4), *mid = lazy(plus(a, 1));
    struct cc_tensor *out = lazy(plus(mid, 5));
    kernelize(mid);
    cc_ref source = cc_tensor_ref(out)->src[0];
    ck_assert_ptr_eq(source, cc_tensor_ref(mid));
    ck_assert_int_eq(source->op, CC_AFTER);
    realize(out);
    ck_assert_uint_eq(cc_context_runs(c), 2);
    int32_t v[4];
    ck_assert_int_eq(cc_tensor_read(c, out, v, sizeof v), RD_OK);
    ck_assert_int_eq(v[3], 6);
}
END_TEST

START_TEST(again_changes_nothing)
{
    struct cc_tensor *x = data(CC_DT_F32, 40);
    struct cc_tensor *y = lazy(cc_t_softmax(g, cc_tensor_ref(x), 0));
    kernelize(y);
    cc_ref first = cc_tensor_ref(y);
    uint32_t nodes = cc_graph_count(g);
    kernelize(y);
    kernelize(x);
    ck_assert_ptr_eq(cc_tensor_ref(y), first);
    ck_assert_uint_eq(cc_graph_count(g), nodes);
    ck_assert_int_eq(cc_tensor_ref(x)->op, CC_BUFFER); /* data is memory already */
    ck_assert_uint_eq(cc_context_runs(c), 0);
}
END_TEST

/* Cut by hand, step by step, without running anything. */
START_TEST(layout_grows_in_steps)
{
    struct cc_tensor *x = data(CC_DT_I32, 9), *steps[4];
    for (int i = 0; i < 4; i++) {
        steps[i] = lazy(plus(i ? steps[i - 1] : x, i + 1));
        kernelize(steps[i]);
    }
    ck_assert_uint_eq(cc_context_runs(c), 0);
    realize(steps[3]);
    ck_assert_uint_eq(cc_context_runs(c), 4); /* all at once it would have been one */
    int32_t v[9];
    ck_assert_int_eq(cc_tensor_read(c, steps[3], v, sizeof v), RD_OK);
    ck_assert_int_eq(v[8], 10);
    for (int i = 0; i < 3; i++) /* those before have run: nothing is left to do */
        realize(steps[i]);
    ck_assert_uint_eq(cc_context_runs(c), 4);
}
END_TEST

START_TEST(realized_is_a_buffer)
{
    struct cc_tensor *x = data(CC_DT_I32, 3), *y = lazy(plus(x, 1));
    kernelize(y);
    cc_ref buffer = cc_tensor_ref(y)->src[0];
    realize(y);
    ck_assert_ptr_eq(cc_tensor_ref(y), buffer);
    realize(y);
    ck_assert_uint_eq(cc_context_runs(c), 1);
}
END_TEST

/* Every buffer is listed after the kernel that fills it, each once. */
START_TEST(edges_are_explicit)
{
    struct cc_tensor *x = data(CC_DT_F32, 8), *y;
    struct cc_tensor *sum = lazy(cc_t_sum(g, cc_tensor_ref(x), 0, true));
    kernelize(sum);
    cc_ref s = cc_tensor_ref(sum);
    cc_ref e = cc_t_binary(g, CC_MUL, cc_t_binary(g, CC_ADD, cc_tensor_ref(x), s), s);
    y = lazy(cc_t_binary(g, CC_ADD, e, cc_tensor_ref(x)));
    kernelize(y);
    cc_ref kernel = cc_tensor_ref(y)->src[1];
    ck_assert_uint_eq(kernel->n_src, 4);
    ck_assert_ptr_eq(kernel->src[1], cc_tensor_ref(y)->src[0]);
    bool has_x = false, has_sum = false;
    for (int i = 2; i < 4; i++) {
        has_x = has_x || kernel->src[i] == cc_tensor_ref(x);
        has_sum = has_sum || kernel->src[i] == s;
    }
    ck_assert(has_x && has_sum);
}
END_TEST

/* The same program makes the same kernels, to the letter. */
START_TEST(repeatable)
{
    char *text[2];
    for (int round = 0; round < 2; round++) {
        if (round) {
            teardown();
            setup();
        }
        struct cc_tensor *x = data(CC_DT_F32, 24);
        cc_ref m = cc_reshape(g, cc_tensor_ref(x), 2, (int64_t[]){4, 6});
        cc_ref p = cc_t_matmul(g, m, cc_t_transpose(g, m));
        struct cc_tensor *y = lazy(cc_t_softmax(g, p, 1));
        kernelize(y);
        ck_assert_int_eq(cc_print(g, cc_tensor_ref(y), &text[round]), RD_OK);
    }
    ck_assert_str_eq(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}
END_TEST

static cc_ref matrix(int64_t rows, int64_t columns)
{
    return cc_reshape(g, cc_tensor_ref(data(CC_DT_F32, rows * columns)), 2,
                      (int64_t[]){rows, columns});
}

START_TEST(fusion_ends_where_it_must)
{
    cc_ref a = matrix(8, 40), b = matrix(40, 8);
    cc_ref one = cc_const_float(g, CC_DT_F32, 1);
    /* elementwise, movement, and what follows a reduction: one kernel */
    ck_assert_uint_eq(runs_of(cc_t_exp(g, cc_pad(g, cc_t_binary(g, CC_ADD, a, one),
                                                 (int64_t[]){1, 1, 0, 2}))),
                      1);
    ck_assert_uint_eq(runs_of(cc_t_relu(g, cc_t_sum(g, a, 2, false))), 1);
    ck_assert_uint_eq(runs_of(cc_t_binary(g, CC_ADD, cc_t_matmul(g, a, b), one)), 1);
    ck_assert_uint_eq(
        runs_of(cc_t_conv2d(g, cc_reshape(g, a, 4, (int64_t[]){1, 5, 8, 8}),
                            cc_reshape(g, cc_shrink(g, b, (int64_t[]){0, 40, 0, 2}), 4,
                                       (int64_t[]){4, 5, 2, 2}),
                            &(struct cc_window){.pad = {1, 1}})),
        1);
    /* a reduction of a reduction, or one that many need: memory between */
    ck_assert_uint_eq(runs_of(cc_t_sum(g, cc_t_max(g, a, 2, false), 1, false)), 2);
    ck_assert_uint_eq(runs_of(cc_t_binary(g, CC_FDIV, a, cc_t_sum(g, a, 2, true))), 2);
    ck_assert_uint_eq(runs_of(cc_t_softmax(g, a, 1)), 3);
    ck_assert_uint_eq(runs_of(cc_t_matmul(g, cc_t_matmul(g, a, b), a)), 2);
    /* where the program says so */
    ck_assert_uint_eq(runs_of(cc_t_exp(g, cc_alu1(g, CC_CONTIGUOUS, cc_t_exp(g, a)))),
                      2);
}
END_TEST

START_TEST(several_targets_at_once)
{
    struct cc_tensor *x = data(CC_DT_I32, 5);
    struct cc_tensor *t[3] = {lazy(plus(x, 1)), lazy(plus(x, 2)), x};
    ck_assert_int_eq(cc_realize(c, 3, t), RD_OK);
    ck_assert_uint_eq(cc_context_runs(c), 2);
    int32_t v[5];
    ck_assert_int_eq(cc_tensor_read(c, t[1], v, sizeof v), RD_OK);
    ck_assert_int_eq(v[4], 2);
}
END_TEST

/* ---- the form without a search ---- */

static const struct {
    enum cc_dtype dtype;
    int64_t rows, columns, lanes;
} forms[] = {
    {CC_DT_F32, 1, 8192, 256}, {CC_DT_I32, 4, 96, 32},   {CC_DT_F32, 3, 100, 0},
    {CC_DT_I64, 1, 8192, 0},   {CC_DT_F32, 4096, 64, 0}, {CC_DT_F32, 2, 32, 0},
};

START_TEST(few_sums_are_shared)
{
    struct cc_opt opt;
    const int64_t shape[2] = {forms[_i].rows, forms[_i].columns};
    cc_ref in = cc_param(g, forms[_i].dtype, 1, 2, shape);
    cc_ref out = cc_param(g, forms[_i].dtype, 0, 1, shape);
    cc_ref st = cc_store(g, out, cc_reduce(g, CC_ADD, in, 1, (int64_t[]){1}));
    bool found = cc_choose(g, cc_sink(g, 1, &st, "sums"), &opt);
    ck_assert_int_eq(cc_graph_status(g), RD_OK);
    ck_assert_int_eq(found, forms[_i].lanes != 0);
    if (!found)
        return;
    ck_assert_int_eq(opt.kind, CC_OPT_GROUP);
    ck_assert_uint_eq(opt.axis, 0);
    ck_assert_int_eq(opt.amount, forms[_i].lanes);
    /* and the answer is the same */
    int32_t sum[4] = {0}, want[4] = {0};
    cc_ref sink = cc_sink(g, 1, &st, "sums");
    int32_t *values = calloc((size_t)(shape[0] * shape[1]), 4);
    struct cc_arg_buffer args[2] = {{sum, (uint64_t)shape[0] * 4},
                                    {values, (uint64_t)(shape[0] * shape[1]) * 4}};
    struct cc_prog *p;
    char error[256];
    for (int64_t i = 0; i < shape[0] * shape[1] && forms[_i].dtype == CC_DT_I32; i++) {
        values[i] = (int32_t)(i * 7 % 1000);
        want[i / shape[1]] += values[i];
    }
    ck_assert_int_eq(cc_linearize_opts(g, sink, 1, &opt, &p), RD_OK);
    ck_assert_msg(cc_interpret(p, 2, args, error) == RD_OK, "%s", error);
    ck_assert_mem_eq(sum, want, (size_t)shape[0] * 4);
    free(values);
    cc_prog_destroy(p);
}
END_TEST

/* ---- kernels of one's own ---- */

static cc_ref double_it(int64_t n, enum cc_dtype dtype)
{
    cc_ref out = cc_param(g, dtype, 0, 1, &n), in = cc_param(g, dtype, 1, 1, &n);
    cc_ref st = cc_store(g, out, cc_alu2(g, CC_ADD, in, in));
    return cc_sink(g, 1, &st, "double");
}

START_TEST(custom_kernels_join_in)
{
    struct cc_tensor *x = data(CC_DT_I32, 6), *y = lazy(plus(x, 4));
    struct cc_tensor *out = data(CC_DT_I32, 6);
    ck_assert_msg(cc_tensor_custom(c, double_it(6, CC_DT_I32), 2,
                                   (struct cc_tensor *[]){out, y}) == RD_OK,
                  "%s", cc_context_error(c));
    ck_assert_int_eq(sink_of(out)->op, CC_SINK);
    struct cc_tensor *z = lazy(plus(out, 1));
    int32_t v[6];
    ck_assert_int_eq(cc_tensor_read(c, z, v, sizeof v), RD_OK);
    ck_assert_int_eq(v[0], 9);
    ck_assert_uint_eq(cc_context_runs(c), 3);
}
END_TEST

START_TEST(custom_kernels_are_checked)
{
    struct cc_tensor *out = data(CC_DT_I32, 6), *in = data(CC_DT_F32, 6);
    ck_assert_int_eq(cc_tensor_custom(c, double_it(6, CC_DT_I32), 2,
                                      (struct cc_tensor *[]){out, in}),
                     RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(cc_context_error(c), "PARAM i32 %"));
    ck_assert_ptr_nonnull(strstr(cc_context_error(c), "another dtype"));
}
END_TEST

START_TEST(machine_code_needs_a_device)
{
    struct cc_tensor *out = data(CC_DT_I32, 6);
    struct cc_machine code = {"", 0, "nothing", {1}, {32}};
    cc_ref p;
    ck_assert_int_eq(cc_machine_code(c, &code, &p), RD_OK);
    ck_assert_int_eq(cc_tensor_custom(c, p, 1, &out), RD_OK);
    ck_assert_int_eq(cc_realize(c, 1, &out), RD_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(cc_context_error(c), "runs no machine code"));
}
END_TEST

/* ---- mistakes ---- */

static const struct {
    const char *text;
    unsigned which;
} wrong[] = {
    {"matmul(", 0},
    {"windows: ", 1},
    {"conv2d(", 2},
    {"window: 9 elements", 3},
    {"argmax: no axis", 4},
    {"concat(", 5},
    {"axis 0 of size 9 cannot become 8", 6},
    {"tril: fewer", 7},
};

static cc_ref mistake(unsigned which)
{
    cc_ref a = matrix(8, 40), v = cc_tensor_ref(data(CC_DT_F32, 5));
    switch (which) {
    case 0:
        return cc_t_matmul(g, a, a);
    case 1:
        return cc_t_max_pool(g, v, &(struct cc_window){.size = {1, 1}});
    case 2:
        return cc_t_conv2d(g, a, a, &(struct cc_window){0});
    case 3:
        return cc_t_max_pool(g, a, &(struct cc_window){.size = {9, 1}});
    case 4:
        return cc_t_argmax(g, a, 2, false);
    case 5:
        return cc_t_concat(g, a, v, 0);
    case 6:
        return cc_t_binary(g, CC_ADD, a, matrix(9, 40));
    default:
        return cc_t_tril(g, v);
    }
}

START_TEST(mistakes_are_said)
{
    struct cc_tensor *t;
    cc_ref bad = mistake(wrong[_i].which);
    ck_assert_int_eq(bad->op, CC_INVALID);
    ck_assert_int_eq(cc_tensor_new(c, bad, &t), RD_E_INVALID);
    ck_assert_msg(strstr(cc_context_error(c), wrong[_i].text) != NULL, "%s",
                  cc_context_error(c));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernelize");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, children_read_the_buffer);
    tcase_add_test(t, fused_stays_lazy);
    tcase_add_test(t, others_see_the_memory);
    tcase_add_test(t, again_changes_nothing);
    tcase_add_test(t, layout_grows_in_steps);
    tcase_add_test(t, realized_is_a_buffer);
    tcase_add_test(t, edges_are_explicit);
    tcase_add_test(t, repeatable);
    tcase_add_test(t, fusion_ends_where_it_must);
    tcase_add_test(t, several_targets_at_once);
    tcase_add_loop_test(t, few_sums_are_shared, 0, sizeof forms / sizeof forms[0]);
    tcase_add_test(t, custom_kernels_join_in);
    tcase_add_test(t, custom_kernels_are_checked);
    tcase_add_test(t, machine_code_needs_a_device);
    tcase_add_loop_test(t, mistakes_are_said, 0, sizeof wrong / sizeof wrong[0]);
    suite_add_tcase(s, t);
    return suite_run(s);
}
