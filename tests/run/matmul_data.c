/* matmul_data.c: input and check of a large f32 matrix product.
 *
 *   matmul_data make N A B        writes two matrices of small integers
 *   matmul_data check N A B C     compares C with A * B
 *
 * Elements are integers of at most 8, so that all sums are exact in f32 in any order:
 * the product must be equal, not close. SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float *make(size_t n, uint32_t state)
{
    float *m = malloc(n * n * sizeof *m);
    for (size_t i = 0; m && i < n * n; i++) {
        state = state * 1664525 + 1013904223;
        m[i] = (float)(state >> 28) - 7;
    }
    return m;
}

static int save(const char *path, const float *m, size_t n)
{
    FILE *f = fopen(path, "wbe");
    bool ok = m && f && fwrite(m, sizeof *m, n * n, f) == n * n;
    if (f)
        ok &= fclose(f) == 0;
    if (!ok)
        fprintf(stderr, "cannot write %s\n", path);
    return ok ? 0 : 1;
}

static float *load(const char *path, size_t n)
{
    float *m = malloc(n * n * sizeof *m);
    FILE *f = fopen(path, "rbe");
    if (!m || !f || fread(m, sizeof *m, n * n, f) != n * n) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return m;
}

static int check(size_t n, const float *a, const float *b, const float *c)
{
    float *row = malloc(n * sizeof *row);
    size_t bad = 0;
    for (size_t i = 0; row && i < n; i++) {
        memset(row, 0, n * sizeof *row);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                row[j] += a[i * n + k] * b[k * n + j];
        for (size_t j = 0; j < n; j++) {
            if (c[i * n + j] == row[j])
                continue;
            if (bad++ < 10)
                printf("[%zu][%zu]: expected %g, got %g\n", i, j, (double)row[j],
                       (double)c[i * n + j]);
        }
    }
    printf("%zu of %zu elements differ\n", bad, n * n);
    free(row);
    return bad != 0;
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    bool making = argc == 5 && strcmp(argv[1], "make") == 0;
    if (n == 0 || n > 4096 ||
        (!making && (argc != 6 || strcmp(argv[1], "check") != 0))) {
        fprintf(stderr, "usage: matmul_data make N A B | check N A B C\n");
        return 2;
    }
    float *a = making ? make(n, 1) : load(argv[3], n);
    float *b = making ? make(n, 2) : load(argv[4], n);
    float *c = making ? NULL : load(argv[5], n);
    int status =
        making ? save(argv[3], a, n) || save(argv[4], b, n) : check(n, a, b, c);
    free(a);
    free(b);
    free(c);
    return status;
}
