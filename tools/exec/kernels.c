/* kernels.c: the kernels of `rdna3 exec --timing`, in order of their time.
 *
 * Must not know how the times came about. SPDX-License-Identifier: MIT
 */
#include "kernels.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "demangle.h"

struct row {
    uint64_t calls, ticks;
    char name[1024];
};

/* Equal times in the order of names. */
static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void add(struct row *row, const struct gpu_kernel_time *t, const char *name)
{
    row->calls = atomic_load(&t->calls);
    row->ticks = atomic_load(&t->ticks);
    if (!demangle(name, row->name, sizeof row->name))
        (void)snprintf(row->name, sizeof row->name, "%s", name);
}

/* Those that ran, sorted; the caller frees them. total: ticks of all. */
static struct row *sorted(const struct gpu_kernels *k, size_t *n, uint64_t *total)
{
    struct row *rows = calloc(GPU_KERNELS + 1, sizeof *rows);
    *n = 0;
    *total = 0;
    if (!rows)
        return NULL;
    for (unsigned i = 0; i < GPU_KERNELS && atomic_load(&k->kernel[i].key); i++)
        if (atomic_load(&k->kernel[i].calls))
            add(&rows[(*n)++], &k->kernel[i], k->kernel[i].name);
    if (atomic_load(&k->others.calls))
        add(&rows[(*n)++], &k->others, "(others)");
    for (size_t i = 0; i < *n; i++)
        *total += rows[i].ticks;
    qsort(rows, *n, sizeof *rows, by_time);
    return rows;
}

static double us(uint64_t ticks)
{
    return (double)ticks * 1e6 / BOARD_CLOCK_HZ;
}

static double percent(uint64_t ticks, uint64_t total)
{
    return total ? 100.0 * (double)ticks / (double)total : 0;
}

void kernels_print(FILE *out, const struct gpu_kernels *k)
{
    size_t n;
    uint64_t total;
    struct row *rows = sorted(k, &n, &total);
    if (n)
        (void)fprintf(out, "rdna3: %6s %8s %14s %12s  %s\n", "share", "calls",
                      "total us", "mean us", "kernel");
    for (size_t i = 0; i < n; i++)
        (void)fprintf(out, "rdna3: %5.1f%% %8" PRIu64 " %14.2f %12.2f  %s\n",
                      percent(rows[i].ticks, total), rows[i].calls, us(rows[i].ticks),
                      us(rows[i].ticks) / (double)rows[i].calls, rows[i].name);
    free(rows);
}

void kernels_json(struct json *j, const struct gpu_kernels *k)
{
    size_t n;
    uint64_t total;
    struct row *rows = sorted(k, &n, &total);
    json_array(j, "kernels");
    for (size_t i = 0; i < n; i++) {
        json_object(j, NULL);
        json_text(j, "name", rows[i].name);
        json_u64(j, "calls", rows[i].calls);
        json_real(j, "model_us", us(rows[i].ticks));
        json_real(j, "mean_us", us(rows[i].ticks) / (double)rows[i].calls);
        json_real(j, "percent", percent(rows[i].ticks, total));
        json_close(j);
    }
    json_close(j);
    free(rows);
}
