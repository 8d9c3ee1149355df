/* level.c: see level.h.
 *
 * Must not know how any level computes the sum. The data is the same at every level.
 *
 * SPDX-License-Identifier: MIT
 */
#include "level.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP    262144 /* of sizes that all levels can do */
#define DEFAULT STEP
#define MOST    (1 << 30)

rd_status level_fail(struct level *l, rd_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->error, sizeof l->error, fmt, ap);
    va_end(ap);
    return status;
}

/* Numbers in [0, 1), and their sum. */
static float *make_data(int64_t n, double *sum)
{
    uint64_t seed = 1;
    float *data = malloc((size_t)n * sizeof *data);
    *sum = 0;
    for (int64_t i = 0; data && i < n; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        data[i] = (float)(seed >> 40) * 0x1p-24f;
        *sum += (double)data[i];
    }
    return data;
}

static void report(struct level *l)
{
    const struct cc_gpu_event *e;
    size_t n = cc_gpu_events(l->gpu, &e);
    for (size_t i = 0; i < n; i++)
        printf("  %-24s %6u groups of %4u %10.2f us\n", e[i].name, e[i].groups,
               e[i].block, e[i].seconds * 1e6);
}

static rd_status compute(struct level *l, level_fn *run, float *got)
{
    struct cc_tensor *sum;
    double want;
    float *data = make_data(l->n, &want);
    if (!data)
        return level_fail(l, RD_E_NOMEM, "out of memory");
    rd_status st = cc_tensor_from(l->c, CC_DT_F32, 1, &l->n, data, &l->data);
    free(data);
    cc_gpu_forget(l->gpu);
    if (st == RD_OK)
        st = run(l, &sum);
    if (st == RD_OK)
        st = cc_tensor_read(l->c, sum, got, sizeof *got);
    if (st != RD_OK)
        return st;
    report(l);
    double seconds = cc_gpu_seconds(l->gpu);
    printf("computed in %.4f ms, %.2f GB/s: %.9g, in f64 %.9g\n", seconds * 1e3,
           (double)l->n * 4 / 1e9 / seconds, (double)*got, want);
    if (!(fabs((double)*got - want) <= 1e-5 * want))
        return level_fail(l, RD_E_INVALID, "the sum is wrong");
    return RD_OK;
}

static int run_level(struct level *l, level_fn *run)
{
    float got = 0;
    rd_status st = cc_context_create_on(cc_gpu_device(l->gpu), &l->c);
    if (st != RD_OK) {
        fprintf(stderr, "error: %s\n", rd_status_text(st));
        return 1;
    }
    l->g = cc_context_graph(l->c);
    st = compute(l, run, &got);
    if (st == RD_E_NOT_FOUND)
        printf("skipped: %s\n", l->error);
    else if (st != RD_OK)
        fprintf(stderr, "error: %s\n",
                l->error[0]                 ? l->error
                : cc_context_error(l->c)[0] ? cc_context_error(l->c)
                                            : rd_status_text(st));
    cc_context_destroy(l->c);
    return st == RD_OK ? 0 : st == RD_E_NOT_FOUND ? 77 : 1;
}

int level_main(int argc, char **argv, const char *title, level_fn *run)
{
    struct level l = {.n = DEFAULT};
    char error[CC_GPU_ERROR_BYTES];
    int c;
    while ((c = getopt(argc, argv, "n:")) != -1)
        l.n = c == 'n' ? atoll(optarg) : 0;
    if (optind != argc || l.n <= 0 || l.n % STEP || l.n > MOST) {
        fprintf(stderr, "usage: %s [-n COUNT]   (a multiple of %d, at most %d)\n",
                argv[0], STEP, MOST);
        return 2;
    }
    if (cc_gpu_open(NULL, &l.gpu, error) != RD_OK) {
        fprintf(stderr, "error: %s\n", error);
        return 1;
    }
    printf("***** %s: %lld numbers\n", title, (long long)l.n);
    int status = run_level(&l, run);
    cc_gpu_close(l.gpu);
    return status;
}
