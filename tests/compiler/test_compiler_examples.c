/* test_compiler_examples.c: the kernels of compiler/examples against their definitions.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../suite.h"
#include "examples.h"
#include "gpu.h"
#include "graph.h"

static uint64_t seed;

static double uniform(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return ((double)(seed >> 40) + 0.5) / 16777216;
}

static double normal(void)
{
    double u = uniform(), v = uniform();
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* f16 normal numbers, and what they are. */
static void fill(uint16_t *bits, double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        union cc_value v = {.f = normal()};
        v = cc_fit(CC_DT_F16, v);
        cc_store_scalar(CC_DT_F16, &bits[i], v);
        values[i] = v.f;
    }
}

/* One row of softmax(q k^T / sqrt d) v in f64. */
static void attention_row(const double *q, const double *k, const double *v, int64_t n,
                          int64_t d, double *p, double *out)
{
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++) {
        p[j] = 0;
        for (int64_t x = 0; x < d; x++)
            p[j] += q[x] * k[j * d + x];
        p[j] /= sqrt((double)d);
        top = p[j] > top ? p[j] : top;
    }
    for (int64_t j = 0; j < n; j++)
        sum += p[j] = exp(p[j] - top);
    for (int64_t x = 0; x < d; x++) {
        out[x] = 0;
        for (int64_t j = 0; j < n; j++)
            out[x] += p[j] / sum * v[j * d + x];
    }
}

static struct cc_prog *linear(cc_ref (*make)(struct cc_graph *, int64_t, int64_t,
                                             int64_t),
                              int64_t heads, int64_t n, int64_t d)
{
    struct cc_graph *g;
    struct cc_prog *p = NULL;
    ck_assert_int_eq(cc_graph_create(&g), RD_OK);
    cc_ref sink = make(g, heads, n, d);
    ck_assert_msg(cc_linearize(g, sink, &p) == RD_OK, "%s", cc_graph_error(g));
    cc_graph_destroy(g);
    return p;
}

/* The largest error, relative to the largest output of its row. */
static double flash_error(int64_t heads, int64_t n, int64_t d, cc_run_fn *run)
{
    int64_t count = heads * n * d;
    size_t size = (size_t)count;
    uint16_t *bits = calloc(3 * size, sizeof *bits);
    double *values = calloc(3 * size, sizeof *values),
           *p = calloc((size_t)n, sizeof *p);
    float *out = calloc(size, sizeof *out);
    double row[128], worst = 0;
    char error[256] = "";
    ck_assert(bits && values && p && out);
    seed = (uint64_t)(n * 1000 + d);
    fill(bits, values, 3 * count);
    struct cc_arg_buffer args[4] = {{out, size * 4},
                                    {bits, size * 2},
                                    {bits + count, size * 2},
                                    {bits + 2 * count, size * 2}};
    struct cc_prog *prog = linear(example_flash_attention, heads, n, d);
    rd_status st =
        run ? run(NULL, prog, 4, args, error) : cc_interpret(prog, 4, args, error);
    ck_assert_msg(st == RD_OK, "%s", error);
    for (int64_t r = 0; r < heads * n; r++) {
        int64_t head = r / n * n * d;
        attention_row(values + r * d, values + count + head, values + 2 * count + head,
                      n, d, p, row);
        double error_here = 0, largest = 0;
        for (int64_t x = 0; x < d; x++) {
            double e = fabs(row[x] - (double)out[r * d + x]);
            ck_assert(!isnan(e));
            error_here = e > error_here ? e : error_here;
            largest = fabs(row[x]) > largest ? fabs(row[x]) : largest;
        }
        worst = error_here / largest > worst ? error_here / largest : worst;
    }
    cc_prog_destroy(prog);
    free(bits);
    free(values);
    free(p);
    free(out);
    return worst;
}

START_TEST(flash_interpreted)
{
    ck_assert_double_lt(flash_error(2, 128, 64, NULL), 2e-3);
}
END_TEST

static const int64_t sizes[][3] = {{2, 64, 64},   {2, 128, 64},  {1, 256, 64},
                                   {1, 1024, 64}, {2, 64, 128},  {2, 128, 128},
                                   {1, 256, 128}, {1, 1024, 128}};

START_TEST(flash_on_gfx1100)
{
    const int64_t *s = sizes[_i];
    double e = flash_error(s[0], s[1], s[2], gpu_run);
    if (getenv("CC_SHOW"))
        printf("N = %d, D = %d: %.2e\n", (int)s[1], (int)s[2], e);
    ck_assert_msg(e < 2e-3, "relative error %g", e);
}
END_TEST

static cc_ref make_sum(struct cc_graph *g, int64_t n, int64_t a, int64_t b)
{
    (void)a;
    (void)b;
    return example_sum(g, n);
}

START_TEST(sum_on_gfx1100)
{
    enum { N = 65536 };
    static float in[N], out[32];
    char error[256];
    double want = 0, got = 0;
    seed = 3;
    for (int i = 0; i < N; i++)
        want += (double)(in[i] = (float)normal());
    struct cc_prog *p = linear(make_sum, N, 0, 0);
    struct cc_arg_buffer args[2] = {{out, sizeof out}, {in, sizeof in}};
    ck_assert_msg(gpu_run(NULL, p, 2, args, error) == RD_OK, "%s", error);
    for (int i = 0; i < 32; i++)
        got += (double)out[i];
    ck_assert_double_eq_tol(got, want, 1e-3);
    cc_prog_destroy(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("examples");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, sum_on_gfx1100);
    tcase_add_test(t, flash_interpreted);
    tcase_add_loop_test(t, flash_on_gfx1100, 0, sizeof sizes / sizeof sizes[0]);
    suite_add_tcase(s, t);
    return suite_run(s);
}
