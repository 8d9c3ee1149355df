/* test_compiler_code.c: properties of the machine code itself: hazards kept, values
 * that do not fit put into scratch, limits named. SPDX-License-Identifier: MIT
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "cc_bench.h"
#include "gpu.h"
#include "graph.h"

static struct cc_prog *linear(const struct cc_bench_kernel *k, size_t n,
                              const struct cc_opt *opts)
{
    struct cc_graph *g;
    struct cc_prog *p = NULL;
    ck_assert_int_eq(cc_graph_create(&g), RD_OK);
    ck_assert_msg(cc_linearize_opts(g, k->make(g), n, opts, &p) == RD_OK, "%s",
                  cc_graph_error(g));
    cc_graph_destroy(g);
    return p;
}

/* ---- hazards ---- */

static bool is_trans(const char *line)
{
    static const char *const names[] = {"v_exp_", "v_log_", "v_rcp_", "v_sqrt_",
                                        "v_sin_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Does an operand behind the first name this VGPR? */
static bool reads(const char *line, unsigned reg)
{
    const char *c = strpbrk(line, " \n");
    for (bool first = true; c && *c && *c != '\n'; c++) {
        if (*c == ',')
            first = false;
        if (*c != 'v' || (isalnum((unsigned char)c[-1]) || c[-1] == '_'))
            continue;
        unsigned lo, hi;
        if (sscanf(c, "v[%u:%u]", &lo, &hi) != 2) {
            if (sscanf(c, "v%u", &lo) != 1)
                continue;
            hi = lo;
        }
        if (!first && reg >= lo && reg <= hi)
            return true;
    }
    return false;
}

/* The line at which a result of line is read too early; NULL: none. */
static const char *too_early(const char *line, unsigned reg)
{
    unsigned valus = 0, trans = 0;
    for (line = strchr(line, '\n') + 1; *line && valus <= 5 && trans <= 1;
         line = strchr(line, '\n') + 1) {
        const char *text = line + (*line == '\t');
        if (strncmp(text, "s_waitcnt_depctr", 16) == 0 ||
            strncmp(text, "s_endpgm", 8) == 0)
            return NULL;
        if (strncmp(text, "v_", 2) != 0)
            continue;
        if (reads(text, reg))
            return text;
        valus++;
        trans += is_trans(text);
    }
    return NULL;
}

START_TEST(results_of_transcendentals_wait)
{
    unsigned seen = 0;
    for (size_t i = 0; i < cc_bench_count; i++) {
        const struct cc_bench_kernel *k = &cc_bench_kernels[i];
        struct cc_prog *p = linear(k, k->n_opts, k->opts);
        char *text, error[256];
        ck_assert_msg(cc_rdna3(p, &text, error) == RD_OK, "%s", error);
        for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
            unsigned reg;
            const char *body = line + (*line == '\t');
            if (!is_trans(body) || sscanf(strchr(body, ' '), " v%u", &reg) != 1)
                continue;
            const char *bad = too_early(line, reg);
            seen++;
            ck_assert_msg(!bad, "%s: v%u is read too early: %.60s", k->name, reg, bad);
        }
        free(text);
        cc_prog_destroy(p);
    }
    ck_assert_uint_gt(seen, 20);
}
END_TEST

/* ---- too many values ---- */

START_TEST(scratch_holds_the_rest)
{
    static const struct cc_opt opts[] = {{CC_OPT_LOCAL, 0, 2},
                                         {CC_OPT_LOCAL, 1, 4},
                                         {CC_OPT_UPCAST, 0, 16},
                                         {CC_OPT_UPCAST, 1, 16},
                                         {CC_OPT_UNROLL, 0, 4}};
    const struct cc_bench_kernel *k = &cc_bench_small;
    struct cc_prog *plain = linear(k, 0, NULL), *big = linear(k, 5, opts);
    struct cc_arg_buffer args[3], other[3];
    char *text, error[256] = "";
    ck_assert_msg(cc_rdna3(big, &text, error) == RD_OK, "%s", error);
    ck_assert(strstr(text, "scratch_store_b32") || strstr(text, "scratch_store_b128"));
    free(text);
    for (size_t i = 0; i < 3; i++) {
        args[i].bytes = (uint64_t)k->arg[i].count * 4;
        args[i].data = calloc(args[i].bytes, 1);
        for (int64_t j = 0; j < k->arg[i].count && i; j++)
            ((float *)args[i].data)[j] = (float)((j * 7 + (int64_t)i) % 9 - 4);
    }
    memcpy(other, args, sizeof other);
    other[0].data = calloc(args[0].bytes, 1);
    ck_assert_msg(gpu_run(NULL, plain, 3, args, error) == RD_OK, "%s", error);
    ck_assert_msg(gpu_run(NULL, big, 3, other, error) == RD_OK, "%s", error);
    ck_assert(memcmp(args[0].data, other[0].data, args[0].bytes) == 0);
    for (size_t i = 0; i < 3; i++)
        free(args[i].data);
    free(other[0].data);
    cc_prog_destroy(plain);
    cc_prog_destroy(big);
}
END_TEST

static void refused(const char *text, const char *why)
{
    struct cc_prog *p;
    char *out, error[256] = "";
    ck_assert_msg(cc_prog_parse(text, strlen(text), &p, error) == RD_OK, "%s", error);
    ck_assert_int_ne(cc_rdna3(p, &out, error), RD_OK);
    ck_assert_msg(strstr(error, why) != NULL, "%s", error);
    cc_prog_destroy(p);
}

START_TEST(limits_are_named)
{
    refused("program \"k\"\n%0 = PARAM f32 [0, 4]\n%1 = BUFFER f32 [local, 0, 20000]\n"
            "%2 = CONST i32 [0]\n%3 = LOAD f32 %1 %2\n%4 = STORE void %0 %2 %3\n",
            "bytes of LDS, at most 65536");
    refused("program \"k\"\n%0 = PARAM f32 [0, 4]\n%1 = BUFFER f32 [reg, 0, 300]\n"
            "%2 = CONST i32 [0]\n%3 = LOAD f32 %1 %2\n%4 = STORE void %0 %2 %3\n",
            "BUFFER %1: 300 elements in registers, at most 256");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("code");
    TCase *t = tcase_create("code");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, results_of_transcendentals_wait);
    tcase_add_test(t, scratch_holds_the_rest);
    tcase_add_test(t, limits_are_named);
    suite_add_tcase(s, t);
    return suite_run(s);
}
