/* test_compiler_opts.c: random kernels cut up at random, as gfx1100 code on the
 * emulator and in the interpreter, against the same kernels uncut in the interpreter.
 * Numbers are small integers, so that sums are exact in any order.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "cc_opt.h"
#include "gpu.h"
#include "graph.h"

static uint64_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % n;
}

struct kernel {
    cc_ref sink;
    enum cc_dtype dtype[3];
    int64_t count[3];
    size_t n_args;
};

static cc_ref param(struct cc_graph *g, struct kernel *k, enum cc_dtype dtype,
                    unsigned ndim, const int64_t *shape)
{
    cc_ref p = cc_param(g, dtype, (unsigned)k->n_args, ndim, shape);
    k->dtype[k->n_args] = dtype;
    k->count[k->n_args++] = cc_elements(p);
    return p;
}

static void finish(struct cc_graph *g, struct kernel *k, cc_ref out, cc_ref value)
{
    cc_ref st = cc_store(g, out, value);
    k->sink = cc_sink(g, 1, &st, "k");
}

static void elementwise(struct cc_graph *g, struct kernel *k, int64_t m, int64_t n)
{
    static const enum cc_dtype dtypes[] = {CC_DT_F32, CC_DT_F16, CC_DT_I32,
                                           CC_DT_U8,  CC_DT_I16, CC_DT_I64};
    enum cc_dtype dt = dtypes[below(6)];
    cc_ref out = param(g, k, dt, 2, (int64_t[]){m, n});
    cc_ref a = param(g, k, dt, 2, (int64_t[]){m, n});
    cc_ref b = param(g, k, dt, 2, (int64_t[]){1, n});
    b = cc_expand(g, b, 2, (int64_t[]){m, n});
    cc_ref x = cc_alu2(g, below(2) ? CC_ADD : CC_MAX, a, b);
    if (below(2))
        x = cc_where(g, cc_alu2(g, CC_CMPLT, a, b), x, b);
    finish(g, k, out, x);
}

static void reduction(struct cc_graph *g, struct kernel *k, int64_t m, int64_t n)
{
    static const enum cc_dtype dtypes[] = {CC_DT_F32, CC_DT_I32, CC_DT_U32};
    enum cc_dtype dt = dtypes[below(3)];
    bool all = below(3) == 0;
    cc_ref out = param(g, k, dt, 1, (int64_t[]){all ? 1 : m});
    cc_ref a = param(g, k, dt, 2, (int64_t[]){m, n});
    cc_ref r = cc_reduce(g, below(2) ? CC_ADD : CC_MAX, cc_alu2(g, CC_MUL, a, a),
                         all ? 2 : 1, all ? (int64_t[]){0, 1} : (int64_t[]){1});
    finish(g, k, out, cc_reshape(g, r, 1, (int64_t[]){all ? 1 : m}));
}

static void product(struct cc_graph *g, struct kernel *k, int64_t m, int64_t n,
                    int64_t depth, enum cc_dtype dt)
{
    cc_ref out = param(g, k, CC_DT_F32, 2, (int64_t[]){m, n});
    cc_ref a = param(g, k, dt, 2, (int64_t[]){m, depth});
    bool turned = below(2);
    cc_ref b =
        param(g, k, dt, 2, turned ? (int64_t[]){n, depth} : (int64_t[]){depth, n});
    if (!turned)
        b = cc_permute(g, b, 2, (int64_t[]){1, 0});
    a = cc_reshape(g, cc_cast(g, a, CC_DT_F32), 3, (int64_t[]){m, 1, depth});
    b = cc_reshape(g, cc_cast(g, b, CC_DT_F32), 3, (int64_t[]){1, n, depth});
    a = cc_expand(g, a, 3, (int64_t[]){m, n, depth});
    b = cc_expand(g, b, 3, (int64_t[]){m, n, depth});
    finish(g, k, out,
           cc_reduce(g, CC_ADD, cc_alu2(g, CC_MUL, a, b), 1, (int64_t[]){2}));
}

static void moved(struct cc_graph *g, struct kernel *k, int64_t m, int64_t n)
{
    cc_ref out = param(g, k, CC_DT_F32, 2, (int64_t[]){n + 3, m});
    cc_ref a = param(g, k, CC_DT_F32, 2, (int64_t[]){m, n});
    if (below(2))
        a = cc_flip(g, a, 1, (int64_t[]){1});
    a = cc_pad(g, cc_permute(g, a, 2, (int64_t[]){1, 0}), (int64_t[]){1, 2, 0, 0});
    finish(g, k, out, a);
}

static void make(struct cc_graph *g, struct kernel *k)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 8, 16, 17, 24, 32, 64, 100, 256};
    int64_t m = sizes[below(12)], n = sizes[below(12)], d = sizes[below(11)];
    switch (below(5)) {
    case 0:
        elementwise(g, k, m, n);
        break;
    case 1:
        reduction(g, k, m, n);
        break;
    case 2:
        product(g, k, m % 65, n % 65, d % 65, CC_DT_F32);
        break;
    case 3:
        product(g, k, 16 + 16 * below(4), 16 + 16 * below(4), 16 + 16 * below(4),
                CC_DT_F16);
        break;
    default:
        moved(g, k, m, n);
        break;
    }
}

static size_t choices(struct cc_opt *opts)
{
    static const int64_t amounts[] = {2, 2, 4, 4, 8, 16, 32, 64};
    size_t n = below(6);
    for (size_t i = 0; i < n; i++) {
        opts[i].kind = (enum cc_opt_kind)below(CC_OPT_COUNT);
        opts[i].axis = below(2);
        opts[i].amount = opts[i].kind == CC_OPT_TC || opts[i].kind == CC_OPT_SWAP
                             ? 1 - (int64_t)opts[i].axis
                             : amounts[below(8)];
    }
    return n;
}

static void fill(const struct kernel *k, size_t i, void *data)
{
    for (int64_t j = 0; j < k->count[i]; j++) {
        union cc_value v = {.i = (int64_t)below(9) - 4};
        if (cc_is_float(k->dtype[i]))
            v.f = (double)v.i;
        v = cc_fit(k->dtype[i], v);
        cc_store_scalar(k->dtype[i], (char *)data + j * cc_dtype_bytes(k->dtype[i]), v);
    }
}

/* Build the kernel of a seed, cut or not; NULL: the choices do not fit. */
typedef void maker(struct cc_graph *g, struct kernel *k);

static struct cc_prog *build(maker *of, uint64_t which, size_t n,
                             const struct cc_opt *opts, struct kernel *k)
{
    struct cc_graph *g;
    struct cc_prog *p = NULL;
    seed = which;
    *k = (struct kernel){0};
    ck_assert_int_eq(cc_graph_create(&g), RD_OK);
    of(g, k);
    rd_status st = cc_linearize_opts(g, k->sink, n, opts, &p);
    ck_assert_msg(st == RD_OK || n > 0, "%s", cc_graph_error(g));
    if (st != RD_OK)
        ck_assert_msg(cc_graph_error(g)[0], "refused without a word");
    cc_graph_destroy(g);
    return st == RD_OK ? p : NULL;
}

static void describe(size_t n, const struct cc_opt *opts, char *text)
{
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        cc_opt_print(&opts[i], text + strlen(text));
        strcat(text, "; ");
    }
}

/* Run both ways; false if the choices do not fit. */
static bool check(maker *of, uint64_t which, size_t n, const struct cc_opt *opts)
{
    struct kernel k;
    struct cc_arg_buffer args[3];
    char error[256] = "", text[400];
    describe(n, opts, text);
    struct cc_prog *cut = build(of, which, n, opts, &k);
    if (!cut)
        return false;
    struct cc_prog *plain = build(of, which, 0, NULL, &k);
    size_t bytes = (size_t)k.count[0] * cc_dtype_bytes(k.dtype[0]);
    void *want = calloc(bytes + 1, 1);
    for (size_t i = 0; i < k.n_args; i++) {
        args[i].bytes = (uint64_t)k.count[i] * cc_dtype_bytes(k.dtype[i]);
        args[i].data = calloc(args[i].bytes + 1, 1);
        if (i > 0)
            fill(&k, i, args[i].data);
    }
    ck_assert_msg(cc_interpret(plain, k.n_args, args, error) == RD_OK, "%s", error);
    memcpy(want, args[0].data, bytes);
    for (unsigned way = 0; way < 2; way++) {
        memset(args[0].data, 0x5a, bytes);
        rd_status st = way ? gpu_run(NULL, cut, k.n_args, args, error)
                           : cc_interpret(cut, k.n_args, args, error);
        ck_assert_msg(st == RD_OK, "%llu: %s: %s", (unsigned long long)which, text,
                      error);
        ck_assert_msg(memcmp(want, args[0].data, bytes) == 0, "%llu: %s: %s differs",
                      (unsigned long long)which, text, way ? "gfx1100" : "interpreted");
    }
    for (size_t i = 0; i < k.n_args; i++)
        free(args[i].data);
    free(want);
    cc_prog_destroy(cut);
    cc_prog_destroy(plain);
    return true;
}

static bool check_one(uint64_t which)
{
    struct cc_opt opts[8];
    seed = which * 77 + 5;
    size_t n = choices(opts);
    return check(make, which, n, opts);
}

#ifdef RD_CHECKS
#define KERNELS 60
#else
#define KERNELS 250
#endif

START_TEST(cut_at_random)
{
    unsigned done = 0;
    uint64_t from = 1, to = KERNELS;
    if (getenv("CC_KERNEL"))
        from = to = strtoull(getenv("CC_KERNEL"), NULL, 10);
    if (getenv("CC_KERNELS"))
        to = strtoull(getenv("CC_KERNELS"), NULL, 10);
    for (uint64_t i = from; i <= to; i++)
        done += check_one(i);
    ck_assert_msg(from == to || done > KERNELS / 8, "only %u kernels", done);
}
END_TEST

/* One sum over two axes. */
static void sum_of_matrix(struct cc_graph *g, struct kernel *k)
{
    cc_ref out = param(g, k, CC_DT_I32, 1, (int64_t[]){1});
    cc_ref a = param(g, k, CC_DT_I32, 2, (int64_t[]){64, 64});
    cc_ref r = cc_reduce(g, CC_ADD, a, 2, (int64_t[]){0, 1});
    finish(g, k, out, cc_reshape(g, r, 1, (int64_t[]){1}));
}

/* The largest of the sums of the rows. */
static void two_reductions(struct cc_graph *g, struct kernel *k)
{
    cc_ref out = param(g, k, CC_DT_I32, 1, (int64_t[]){1});
    cc_ref a = param(g, k, CC_DT_I32, 2, (int64_t[]){64, 64});
    cc_ref r = cc_reduce(g, CC_ADD, a, 1, (int64_t[]){1});
    r = cc_reduce(g, CC_MAX, r, 1, (int64_t[]){0});
    finish(g, k, out, cc_reshape(g, r, 1, (int64_t[]){1}));
}

/* Within a wave and across waves; work-items of both axes share the sum. */
START_TEST(axes_are_shared_together)
{
    static const int64_t amounts[][2] = {{4, 8},  {8, 4},  {2, 2},
                                         {16, 8}, {8, 32}, {1, 64}};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        struct cc_opt opts[2];
        size_t n = 0;
        for (unsigned axis = 0; axis < 2; axis++)
            if (amounts[i][axis] > 1)
                opts[n++] = (struct cc_opt){CC_OPT_GROUP, axis, amounts[i][axis]};
        ck_assert(check(sum_of_matrix, 7, n, opts));
        if (check(two_reductions, 7, n, opts))
            ck_assert_uint_eq(n, 1); /* else refused, with a word */
    }
}
END_TEST

/* ---- search ---- */

/* Instructions of the program: cheap, and the same on every host. */
static rd_status length(void *user, const struct cc_prog *p, uint64_t *cost)
{
    uint32_t groups[3], block[3];
    cc_prog_launch(p, groups, block);
    ++*(unsigned *)user;
    *cost = 1000000 / (block[0] < 256 ? block[0] : 256) + cc_prog_count(p);
    return RD_OK;
}

START_TEST(search_is_repeatable)
{
    struct cc_beam beam[2];
    unsigned calls = 0, before;
    for (unsigned i = 0; i < 2; i++) {
        struct cc_graph *g;
        struct cc_prog *p;
        struct kernel k = {0};
        beam[i] = (struct cc_beam){.cost = length, .user = &calls};
        before = calls;
        seed = 0;
        ck_assert_int_eq(cc_graph_create(&g), RD_OK);
        product(g, &k, 64, 64, 64, CC_DT_F32);
        ck_assert_int_eq(cc_beam(g, k.sink, &beam[i], &p), RD_OK);
        cc_prog_destroy(p);
        cc_graph_destroy(g);
    }
    ck_assert(beam[0].cost_after <= beam[0].cost_before);
    ck_assert_uint_gt(beam[0].tried, 10);
    ck_assert_uint_eq(calls - before, 0); /* found before */
    ck_assert_uint_eq(beam[0].n_opts, beam[1].n_opts);
    ck_assert(memcmp(beam[0].opts, beam[1].opts, sizeof beam[0].opts) == 0);
    cc_beam_forget();
}
END_TEST

START_TEST(misfits_are_named)
{
    static const struct {
        struct cc_opt opt;
        const char *what;
    } wrong[] = {{{CC_OPT_LOCAL, 0, 3}, "LOCAL 0 3: does not divide"},
                 {{CC_OPT_UPCAST, 7, 2}, "UPCAST 7 2: no such axis"},
                 {{CC_OPT_GROUP, 0, 24}, "GROUP 0 24: no power of two"},
                 {{CC_OPT_TC, 0, 1}, "TC 0 1: the kernel is no product"},
                 {{CC_OPT_UNROLL, 1, 2}, "UNROLL 1 2: no such axis"},
                 {{CC_OPT_LOCAL, 0, 1}, "LOCAL 0 1: the axis is split"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct cc_graph *g;
        struct cc_prog *p;
        struct kernel k = {0};
        seed = 1;
        ck_assert_int_eq(cc_graph_create(&g), RD_OK);
        product(g, &k, 16, 16, 24, CC_DT_F32);
        ck_assert_int_eq(cc_linearize_opts(g, k.sink, 1, &wrong[i].opt, &p),
                         RD_E_INVALID);
        ck_assert_msg(
            strncmp(cc_graph_error(g), wrong[i].what, strlen(wrong[i].what)) == 0, "%s",
            cc_graph_error(g));
        cc_graph_destroy(g);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("opts");
    TCase *t = tcase_create("kernels");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, cut_at_random);
    tcase_add_test(t, axes_are_shared_together);
    tcase_add_test(t, search_is_repeatable);
    tcase_add_test(t, misfits_are_named);
    suite_add_tcase(s, t);
    return suite_run(s);
}
