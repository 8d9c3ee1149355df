/* test_compiler_uop.c: nodes, rules, text, programs and their C text.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../suite.h"
#include "graph.h"

static struct cc_graph *g;

static void setup(void)
{
    ck_assert_int_eq(cc_graph_create(&g), RD_OK);
}

static void teardown(void)
{
    cc_graph_destroy(g);
}

static cc_ref i32(int64_t v)
{
    return cc_const_int(g, CC_DT_I32, v);
}

static cc_ref parse(const char *text)
{
    cc_ref root = NULL;
    ck_assert_msg(cc_parse(g, text, strlen(text), &root) == RD_OK, "%s",
                  cc_graph_error(g));
    return root;
}

/* ---- nodes ---- */

START_TEST(equal_nodes_are_one)
{
    cc_ref a = cc_alu2(g, CC_ADD, i32(1), i32(2));
    cc_ref b = cc_alu2(g, CC_ADD, i32(1), i32(2));
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, cc_alu2(g, CC_ADD, i32(2), i32(1)));
    ck_assert_int_eq(a->vmin, 3);
    ck_assert_int_eq(a->vmax, 3);
}
END_TEST

START_TEST(mistakes_name_the_node)
{
    cc_ref p = cc_param(g, CC_DT_F32, 0, 2, (int64_t[]){4, 5});
    cc_ref q = cc_param(g, CC_DT_F32, 1, 1, (int64_t[]){4});
    cc_ref bad = cc_alu2(g, CC_ADD, p, q);
    ck_assert_int_eq(bad->op, CC_INVALID);
    ck_assert_int_eq(cc_graph_status(g), RD_E_INVALID);
    ck_assert_str_eq(cc_graph_error(g),
                     "ADD void(%0, %1): shapes (4,5) and (4) differ");
    ck_assert_int_eq(cc_alu1(g, CC_NEG, bad)->op, CC_INVALID);
}
END_TEST

START_TEST(shapes_follow_movement)
{
    cc_ref p = cc_param(g, CC_DT_F32, 0, 2, (int64_t[]){4, 6});
    cc_ref r = cc_permute(g, cc_reshape(g, p, 3, (int64_t[]){4, 2, 3}), 3,
                          (int64_t[]){2, 0, 1});
    ck_assert_int_eq(r->ndim, 3);
    ck_assert_int_eq(r->shape[0], 3);
    ck_assert_int_eq(r->shape[1], 4);
    ck_assert_int_eq(r->shape[2], 2);
    cc_ref s = cc_reduce(g, CC_ADD, r, 1, (int64_t[]){1});
    ck_assert_int_eq(s->ndim, 2);
    ck_assert_int_eq(s->shape[1], 2);
    cc_pad(g, s, (int64_t[]){1, 2, 0, 0});
    ck_assert_int_eq(cc_graph_status(g), RD_OK);
    cc_shrink(g, s, (int64_t[]){1, 9, 0, 1});
    ck_assert_str_eq(cc_graph_error(g),
                     "SHRINK f32(%3): [1, 9) is not inside axis 0 of size 3");
}
END_TEST

/* ---- rules: (x op ...) must become what is written ---- */

static const struct {
    const char *from, *to;
} rules[] = {
    {"%3 = ADD %r %c0", "%3 = GROUP %r"},
    {"%a = MUL %r %c4\n%b = MOD %r %c4\n%d = IDIV %a %c4\n%3 = GROUP %d",
     "%3 = GROUP %r"},
    {"%d = IDIV %r %c4\n%e = MUL %d %c4\n%m = MOD %r %c4\n%3 = ADD %e %m",
     "%3 = GROUP %r"},
    {"%d = MOD %r %c64\n%3 = GROUP %d", "%3 = GROUP %r"},
    {"%d = MUL %r %c4\n%e = ADD %d %c1\n%f = MOD %e %c4\n%3 = GROUP %f",
     "%3 = GROUP %c1"},
    {"%d = CMPLT %r %c64\n%3 = WHERE %d %c1 %c0", "%3 = GROUP %c1"},
    {"%d = SUB %r %r\n%3 = GROUP %d", "%3 = GROUP %c0"},
    {"%d = ADD %r %c1\n%e = ADD %d %c4\n%f = SUB %e %c1\n%3 = SUB %f %c4",
     "%3 = GROUP %r"},
    {"%d = IDIV %r %c4\n%e = IDIV %d %c4\n%3 = GROUP %e",
     "%d = CONST i32 [16]\n%e = IDIV %r %d\n%3 = GROUP %e"},
    {"%d = ADD %r %r\n%3 = GROUP %d",
     "%d = CONST i32 [2]\n%e = MUL %r %d\n%3 = GROUP %e"},
};

START_TEST(rules_simplify)
{
    static const char head[] = "%c64 = CONST i32 [64]\n%c0 = CONST i32 [0]\n"
                               "%c1 = CONST i32 [1]\n%c4 = CONST i32 [4]\n"
                               "%r = RANGE i32 %c64 [0, loop]\n";
    char from[600], to[600];
    snprintf(from, sizeof from, "%s%s\n%%out = GROUP %%3\n", head, rules[_i].from);
    snprintf(to, sizeof to, "%s%s\n%%out = GROUP %%3\n", head, rules[_i].to);
    cc_ref a = cc_simplify(g, parse(from)), b = cc_simplify(g, parse(to));
    while (a->op == CC_GROUP)
        a = a->src[0];
    while (b->op == CC_GROUP)
        b = b->src[0];
    char *text;
    ck_assert_int_eq(cc_print(g, a, &text), RD_OK);
    ck_assert_msg(a == b, "%s gives %s", rules[_i].from, text);
    free(text);
}
END_TEST

/* Random expressions of one RANGE: bounds hold and rules keep every value. */
static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

static cc_ref random_expr(cc_ref r, int depth)
{
    static const enum cc_op ops[] = {CC_ADD, CC_ADD, CC_MUL, CC_IDIV, CC_MOD, CC_SUB,
                                     CC_MAX, CC_SHR, CC_AND, CC_SHL,  CC_XOR, CC_OR};
    static const int64_t consts[] = {0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 100, -1, -5};
    if (depth == 0 || rnd(6) == 0)
        return rnd(3) ? r : i32(consts[rnd(13)]);
    enum cc_op op = ops[rnd(12)];
    cc_ref a = random_expr(r, depth - 1);
    if (rnd(8) == 0) {
        cc_ref b = random_expr(r, depth - 1);
        return cc_where(g, cc_alu2(g, CC_CMPLT, a, b), b, a);
    }
    if (op == CC_SHR || op == CC_SHL)
        return cc_alu2(g, op, a, i32(rnd(5)));
    if (rnd(2) || op == CC_IDIV || op == CC_MOD)
        return cc_alu2(g, op, a, i32(consts[rnd(10) + 1]));
    return cc_alu2(g, op, a, random_expr(r, depth - 1));
}

static int64_t evaluate(cc_ref n, int64_t r)
{
    union cc_value v[3] = {{0}};
    if (n->op == CC_RANGE)
        return r;
    if (n->op == CC_CONST)
        return n->arg[0];
    for (uint32_t i = 0; i < n->n_src; i++)
        v[i].i = evaluate(n->src[i], r);
    return cc_scalar(n->op, n->dtype, n->src[0]->dtype, v).i;
}

START_TEST(rules_and_bounds_keep_values)
{
    cc_ref r = cc_range(g, 200, 0, CC_AXIS_LOOP);
    seed = 12345;
    for (int i = 0; i < 5000; i++) {
        cc_ref a = random_expr(r, 5), b = cc_simplify(g, a);
        for (int64_t x = 0; x < 200; x += 1 + rnd(13)) {
            int64_t v = evaluate(a, x);
            ck_assert_msg(v >= a->vmin && v <= a->vmax, "bounds");
            if (v != evaluate(b, x)) {
                char *ta, *tb;
                ck_assert(cc_print(g, a, &ta) == RD_OK && cc_print(g, b, &tb) == RD_OK);
                ck_abort_msg("x = %d: %d, then %d\n%s\n%s", (int)x, (int)v,
                             (int)evaluate(b, x), ta, tb);
            }
        }
    }
}
END_TEST

/* ---- text ---- */

static const char sum_text[] = "%0 = PARAM f32 [0, 2]\n"
                               "%1 = CONST i32 [2]\n"
                               "%2 = RANGE i32 %1 [0, global]\n"
                               "%3 = INDEX f32 %0 %2\n"
                               "%4 = PARAM f32 [1, 2, 100]\n"
                               "%5 = INDEX f32 %4 %2\n"
                               "%6 = REDUCE f32 %5 [ADD, 0]\n"
                               "%7 = CONST f32 [0.1]\n"
                               "%8 = MUL f32 %6 %7\n"
                               "%9 = STORE void %3 %8\n"
                               "%10 = END void %9 %2\n"
                               "%11 = SINK void %10 \"sums\"\n";

START_TEST(text_round_trip)
{
    char *text, *again;
    cc_ref root = parse(sum_text);
    ck_assert_int_eq(cc_print(g, root, &text), RD_OK);
    cc_ref second = parse(text);
    ck_assert_int_eq(cc_print(g, second, &again), RD_OK);
    ck_assert_str_eq(text, again);
    ck_assert_ptr_eq(root, second);
    free(text);
    free(again);
}
END_TEST

static const struct {
    const char *text, *error;
} mistakes[] = {
    {"%0 = FOO i32", "line 1: no operation \"FOO\""},
    {"%0 = CONST i32 [1]\n%0 = CONST i32 [2]", "line 2: %0 is defined twice"},
    {"%0 = NEG i32 %1", "line 1: %1 is not defined above"},
    {"%a = ADD i32 %a %a", "line 1: a cycle: %a uses %a"},
    {"%0 = CONST i32 [1]\n%a = ADD i32 %b %0\n%b = MUL i32 %c %0\n%c = NEG i32 %a",
     "line 2: a cycle: %a uses %b uses %c uses %a"},
    {"%a = NEG i32 %b\n%b = CONST i32 [1]",
     "line 1: %b is defined below, on line 2: sources come first"},
    {"%0 = CONST f32 [1]\n%1 = CONST i32 [1]\n%2 = ADD %0 %1",
     "line 3: ADD void(%0, %1): dtypes f32 and i32 differ"},
    {"%0 = CONST f32 [1]\n%1 = SHL %0 %0",
     "line 2: SHL void(%0, %0): needs an integer, not f32"},
    {"%0 = PARAM f32 [0, 4, 5]\n%1 = PARAM f32 [1, 5, 4]\n%2 = ADD %0 %1",
     "line 3: ADD void(%0, %1): shapes (4,5) and (5,4) differ"},
    {"%0 = PARAM f32 [0, 4]\n%1 = CONST i32 [1]\n%2 = STORE %0 %1",
     "line 3: STORE void(%0, %1): stores i32 to memory of f32"},
    {"%0 = CONST q32 [1]", "line 1: no dtype \"q32\""},
    {"%0 = CONST i32 [1", "line 1: \"]\" is missing"},
    {"%0 = CONST i32", "line 1: CONST i32: argument 0 is missing"},
    {"", "line 1: no node"},
    {"%0 = CONST i32 [1]\n%1 = RANGE i32 %0 [0, sideways]",
     "line 2: unknown word \"sideways\""},
};

START_TEST(text_mistakes_name_the_line)
{
    cc_ref root;
    ck_assert(cc_parse(g, mistakes[_i].text, strlen(mistakes[_i].text), &root) !=
              RD_OK);
    ck_assert_str_eq(cc_graph_error(g), mistakes[_i].error);
}
END_TEST

/* ---- programs ---- */

static struct cc_prog *linear(cc_ref sink)
{
    struct cc_prog *p = NULL;
    ck_assert_msg(cc_linearize(g, sink, &p) == RD_OK, "%s", cc_graph_error(g));
    return p;
}

START_TEST(kernel_of_sums_runs)
{
    float out[2] = {0}, in[200];
    float want[2] = {0, 0};
    char error[256];
    for (int i = 0; i < 200; i++) {
        in[i] = (float)(i % 7);
        want[i / 100] += in[i];
    }
    struct cc_prog *p = linear(parse(sum_text));
    struct cc_arg_buffer args[2] = {{out, sizeof out}, {in, sizeof in}};
    ck_assert_msg(cc_interpret(p, 2, args, error) == RD_OK, "%s", error);
    ck_assert_float_eq_tol(out[0], want[0] * 0.1f, 1e-4f);
    ck_assert_float_eq_tol(out[1], want[1] * 0.1f, 1e-4f);
    args[1].bytes -= 4;
    ck_assert_int_eq(cc_interpret(p, 2, args, error), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(error, "LOAD"));
    cc_prog_destroy(p);
}
END_TEST

/* The operations and examples of the IR's first documentation, and the C it shows. */
static void check_metal(const char *text, const char *want)
{
    struct cc_prog *p;
    char error[256], *got;
    ck_assert_msg(cc_prog_parse(text, strlen(text), &p, error) == RD_OK, "%s", error);
    ck_assert_msg(cc_render(p, CC_STYLE_METAL, &got, error) == RD_OK, "%s", error);
    ck_assert_str_eq(got, want);
    free(got);
    cc_prog_destroy(p);
}

/* The documentation's own spelling: ALU with its operation as argument, dtypes.int. */
static const char alu_text[] =
    "program \"tester\"\n"
    "%c1 = DEFINE_GLOBAL dtypes.int [0] \"data0\"\n"
    "%x1 = DEFINE_GLOBAL dtypes.int [1] \"data1\"\n"
    "%x2 = DEFINE_GLOBAL dtypes.int [2] \"data2\"\n"
    "%pos_input = CONST dtypes.int [0]\n"
    "%x1_loaded = LOAD dtypes.int %x1 %pos_input\n"
    "%x2_loaded = LOAD dtypes.int %x2 %pos_input\n"
    "%c4 = ALU dtypes.int %x1_loaded %x2_loaded [BinaryOps.ADD]\n"
    "%pos = CONST dtypes.int [0]\n"
    "%store = STORE %c1 %pos %c4\n";

START_TEST(old_alu_runs)
{
    struct cc_prog *p;
    char error[256], *text;
    int32_t out = 0, a = 30, b = 12;
    struct cc_arg_buffer args[3] = {{&out, 4}, {&a, 4}, {&b, 4}};
    ck_assert_msg(cc_prog_parse(alu_text, strlen(alu_text), &p, error) == RD_OK, "%s",
                  error);
    ck_assert_msg(cc_interpret(p, 3, args, error) == RD_OK, "%s", error);
    ck_assert_int_eq(out, 42);
    ck_assert_int_eq(cc_render(p, CC_STYLE_METAL, &text, error), RD_OK);
    ck_assert_msg(strstr(text, "  int val0 = *(data1+0);\n  int val1 = *(data2+0);\n"
                               "  *(data0+0) = (val0+val1);\n") != NULL,
                  "%s", text);
    free(text);
    cc_prog_destroy(p);
    ck_assert(cc_prog_parse("program \"p\"\n%0 = ALU i32 [FOO]", 31, &p, error) !=
              RD_OK);
    ck_assert_str_eq(error, "line 2: ALU has no operation \"FOO\"");
}
END_TEST

#define GRID                                                                           \
    "uint3 gid [[threadgroup_position_in_grid]], uint3 lid "                           \
    "[[thread_position_in_threadgroup]]) {\n"

START_TEST(old_examples_render)
{
    check_metal("program \"tester\"\n"
                "%c1 = DEFINE_GLOBAL i32 [0] \"data0\"\n"
                "%c2 = CONST i32 [0]\n%c3 = CONST i32 [10]\n"
                "%store = STORE %c1 %c2 %c3\n",
                "kernel void tester(constant int& data0, " GRID
                "  *(data0+0) = 10;\n}\n");
    check_metal("program \"tester\"\n%c0 = CONST i32 [0]\n%c1 = CONST i32 [10]\n"
                "%loop = LOOP i32 %c0 %c1\n%end = ENDLOOP %loop\n",
                "kernel void tester(" GRID
                "  for (int ridx0 = 0; ridx0 < 10; ridx0++) {\n  }\n}\n");
    check_metal("program \"tester\"\n"
                "%c1 = DEFINE_GLOBAL i32 [0] \"data0\"\n"
                "%x1 = DEFINE_GLOBAL i32 [1] \"data1\"\n"
                "%x2 = DEFINE_GLOBAL i32 [2] \"data2\"\n"
                "%pos_input = SPECIAL i32 [10] \"gidx0\"\n"
                "%x1_loaded = LOAD i32 %x1 %pos_input\n"
                "%x2_loaded = LOAD i32 %x2 %pos_input\n"
                "%c4 = ADD i32 %x1_loaded %x2_loaded\n"
                "%pos = CONST i32 [0]\n%store = STORE %c1 %pos %c4\n",
                "kernel void tester(constant int& data0, constant int& data1, "
                "constant int& data2, " GRID "  int gidx0 = gid.x; /* 10 */\n"
                "  int val0 = *(data1+gidx0);\n  int val1 = *(data2+gidx0);\n"
                "  *(data0+0) = (val0+val1);\n}\n");
}
END_TEST

/* The custom reduction of the third abstraction level, scaled down: per-lane
 * accumulators, LDS, a second accumulator, a store that only lane 0 does. */
START_TEST(custom_reduction_runs)
{
    enum { CUS = 4, LANES = 64, ROUNDS = 8 };
    static const int64_t one = 1, lanes = LANES;
    cc_ref zero = cc_const_float(g, CC_DT_F32, 0), at0 = i32(0);
    cc_ref out = cc_param(g, CC_DT_F32, 0, 1, (int64_t[]){CUS});
    cc_ref buf = cc_param(g, CC_DT_F32, 1, 1, (int64_t[]){CUS * LANES * ROUNDS});
    buf = cc_reshape(g, buf, 3, (int64_t[]){CUS, ROUNDS, LANES});
    cc_ref glbl = cc_range(g, CUS, 0, CC_AXIS_GLOBAL);
    cc_ref lane = cc_range(g, LANES, 1, CC_AXIS_LOCAL);
    cc_ref loop = cc_range(g, ROUNDS, 2, CC_AXIS_REDUCE);
    cc_ref acc = cc_buffer(g, CC_DT_F32, CC_SPACE_REG, 6, 1, &one);
    acc = cc_after(g, acc, cc_store(g, acc, zero));
    cc_ref old = cc_index(g, cc_after(g, acc, loop), 1, &at0);
    cc_ref sum =
        cc_alu2(g, CC_ADD, old, cc_index(g, buf, 3, (cc_ref[]){glbl, loop, lane}));
    cc_ref st = cc_store(g, cc_index(g, acc, 1, &at0), sum);
    acc = cc_after(g, acc, cc_end(g, st, 1, &loop));
    cc_ref lds = cc_buffer(g, CC_DT_F32, CC_SPACE_LOCAL, 0, 1, &lanes);
    st = cc_store(g, cc_index(g, lds, 1, &lane), cc_index(g, acc, 1, &at0));
    lds = cc_after(g, lds, cc_barrier(g, st));
    cc_ref late = cc_range(g, LANES, 3, CC_AXIS_REDUCE);
    cc_ref acc2 = cc_buffer(g, CC_DT_F32, CC_SPACE_REG, 7, 1, &one);
    acc2 = cc_after(g, acc2, cc_store(g, acc2, zero));
    old = cc_index(g, cc_after(g, acc2, late), 1, &at0);
    st = cc_store(g, cc_index(g, acc2, 1, &at0),
                  cc_alu2(g, CC_ADD, old, cc_index(g, lds, 1, &late)));
    acc2 = cc_after(g, acc2, cc_end(g, st, 1, &late));
    st = cc_store(g, cc_index(g, out, 1, &glbl), cc_index(g, acc2, 1, &at0));
    st = cc_end(g, st, 2, (cc_ref[]){lane, glbl});
    struct cc_prog *p = linear(cc_sink(g, 1, &st, "custom_sum"));

    float in[CUS * LANES * ROUNDS], got[CUS], want[CUS] = {0};
    for (int i = 0; i < CUS * LANES * ROUNDS; i++) {
        in[i] = (float)(i % 13) - 3;
        want[i / (LANES * ROUNDS)] += in[i];
    }
    char error[256];
    struct cc_arg_buffer args[2] = {{got, sizeof got}, {in, sizeof in}};
    ck_assert_msg(cc_interpret(p, 2, args, error) == RD_OK, "%s", error);
    for (int i = 0; i < CUS; i++)
        ck_assert_float_eq(got[i], want[i]);
    char *text;
    ck_assert_int_eq(cc_render(p, CC_STYLE_OPENCL, &text, error), RD_OK);
    ck_assert_ptr_nonnull(strstr(text, "barrier(CLK_LOCAL_MEM_FENCE);"));
    ck_assert_ptr_nonnull(strstr(text, "if ((lidx0==0))"));
    free(text);
    cc_prog_destroy(p);
}
END_TEST

START_TEST(broken_kernels_are_refused)
{
    struct cc_prog *p;
    cc_ref r = cc_range(g, 4, 0, CC_AXIS_LOOP);
    cc_ref out = cc_param(g, CC_DT_I32, 0, 1, (int64_t[]){4});
    cc_ref st = cc_store(g, cc_index(g, out, 1, &r), r);
    ck_assert_int_eq(cc_linearize(g, cc_sink(g, 1, &st, NULL), &p), RD_E_INVALID);
    ck_assert_ptr_nonnull(strstr(cc_graph_error(g), "whose loop is not around it"));
}
END_TEST

START_TEST(too_much_lds_is_refused)
{
    struct cc_prog *p;
    cc_ref lds = cc_buffer(g, CC_DT_F32, CC_SPACE_LOCAL, 0, 1, (int64_t[]){16385});
    cc_ref st = cc_store(g, lds, cc_const_float(g, CC_DT_F32, 1));
    ck_assert_int_eq(cc_linearize(g, cc_sink(g, 1, &st, NULL), &p), RD_E_RANGE);
    ck_assert_ptr_nonnull(
        strstr(cc_graph_error(g), "65540 bytes of LDS, at most 65536"));
}
END_TEST

START_TEST(too_many_registers_are_refused)
{
    struct cc_prog *p;
    char *text, error[256] = "";
    cc_ref r = cc_range(g, 300, 0, CC_AXIS_LOOP);
    cc_ref regs = cc_buffer(g, CC_DT_F32, CC_SPACE_REG, 0, 1, (int64_t[]){300});
    cc_ref out = cc_param(g, CC_DT_F32, 0, 1, (int64_t[]){300});
    cc_ref set = cc_store(g, regs, cc_const_float(g, CC_DT_F32, 1));
    regs = cc_after(g, regs, set);
    cc_ref st = cc_store(g, cc_index(g, out, 1, &r), cc_index(g, regs, 1, &r));
    st = cc_end(g, st, 1, &r);
    p = linear(cc_sink(g, 1, &st, "many"));
    ck_assert_int_eq(cc_rdna3(p, &text, error), RD_E_RANGE);
    ck_assert_msg(strstr(error, "BUFFER %") && strstr(error, "300 elements"), "%s",
                  error);
    cc_prog_destroy(p);
}
END_TEST

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Elementwise nodes in one kernel: a chain, or each of two before it. */
static cc_ref large(int count, bool chain)
{
    const int64_t n = 1024;
    cc_ref two[2], out = cc_param(g, CC_DT_F32, 0, 1, &n);
    two[0] = cc_param(g, CC_DT_F32, 1, 1, &n);
    two[1] = cc_cast(g, cc_uop(g, CC_IOTA, CC_DT_I32, 0, NULL, 1, &n, NULL), CC_DT_F32);
    for (int i = 0; i < count; i++) {
        cc_ref c = chain ? cc_const_float(g, CC_DT_F32, i % 100) : two[1];
        cc_ref x = cc_alu2(g, i % 2 ? CC_ADD : CC_MUL, two[0], c);
        two[1] = two[0];
        two[0] = x;
    }
    cc_ref st = cc_store(g, out, two[0]);
    return cc_sink(g, 1, &st, "large");
}

START_TEST(large_graphs_compile)
{
    char *text, error[256];
    double start = seconds();
#ifdef RD_CHECKS
    int count = 2000; /* deeper ones are refused there */
#else
    int count = 10000;
#endif
    struct cc_prog *p = linear(large(count, _i));
    ck_assert_uint_ge(cc_graph_count(g), (uint32_t)count);
    ck_assert_msg(cc_rdna3(p, &text, error) == RD_OK, "%s", error);
#ifndef RD_CHECKS /* sanitizers take their time */
    ck_assert_double_lt(seconds() - start, 1);
#endif
    free(text);
    cc_prog_destroy(p);
    (void)start;
}
END_TEST

START_TEST(deep_graphs_are_refused)
{
    struct cc_prog *p;
    ck_assert_int_eq(cc_linearize(g, large(50000, true), &p), RD_E_RANGE);
    ck_assert_ptr_nonnull(strstr(cc_graph_error(g), "operations on one another"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("uop");
    TCase *t = tcase_create("all");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, equal_nodes_are_one);
    tcase_add_test(t, mistakes_name_the_node);
    tcase_add_test(t, shapes_follow_movement);
    tcase_add_loop_test(t, rules_simplify, 0, sizeof rules / sizeof rules[0]);
    tcase_add_test(t, rules_and_bounds_keep_values);
    tcase_add_test(t, text_round_trip);
    tcase_add_loop_test(t, text_mistakes_name_the_line, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(t, kernel_of_sums_runs);
    tcase_add_test(t, old_examples_render);
    tcase_add_test(t, old_alu_runs);
    tcase_add_test(t, custom_reduction_runs);
    tcase_add_test(t, broken_kernels_are_refused);
    tcase_add_test(t, too_much_lds_is_refused);
    tcase_add_test(t, too_many_registers_are_refused);
    tcase_add_loop_test(t, large_graphs_compile, 0, 2);
    tcase_add_test(t, deep_graphs_are_refused);
    suite_add_tcase(s, t);
    return suite_run(s);
}
