/* check.c: what the checkers cost: kernels with and without them, in turn.
 *
 * Times are of dispatches on one thread, native code where the host has it; memory is
 * that of a process with one dispatch. Must not know what checkers find: the kernels
 * are right, and what is found ends the measurement. SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "bench.h"
#include "bench_kernels.h"
#include "checkers.h"
#include "cli.h"
#include "launch.h"

#define ROUNDS       5u
#define MUL_MAT_ROWS 1024u
#define MUL_MAT_DIM  128u /* blocks of a row */

static const struct bench_job mul_mat_job = {.kernel = &bench_mul_mat,
                                             .groups = {MUL_MAT_ROWS, 1, 1},
                                             .block = {128, 1, 1},
                                             .n_buffers = 3,
                                             .buffer_bytes =
                                                 34ul * MUL_MAT_ROWS * MUL_MAT_DIM,
                                             .n_numbers = 1,
                                             .numbers = {MUL_MAT_DIM}};

static rd_status measure_checked(struct la *la, const struct bench_job *job,
                                 unsigned classes, double *seconds)
{
    struct ck_config config = {.classes = classes};
    struct ck_table *table = calloc(1, sizeof *table);
    struct ck *ck = NULL;
    if (!table)
        return RD_E_NOMEM;
    rd_status st = ck_create(la_emu(la), &config, table, &ck);
    if (st == RD_OK)
        st = bench_job_seconds(la, job, seconds);
    if (st == RD_OK && table->n)
        st = cli_error(CLI_FAILED, "%s", table->v[0].text) ? RD_E_FAULT : RD_OK;
    ck_destroy(ck);
    free(table);
    return st;
}

/* classes 0: nobody checks. */
static rd_status measure_time(const struct bench_job *job, unsigned classes,
                              double *seconds)
{
    struct emu_config config = {.threads = 1};
    struct la_error err;
    struct la *la;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    st = classes ? measure_checked(la, job, classes, seconds)
                 : bench_job_seconds(la, job, seconds);
    la_destroy(la);
    return st;
}

static rd_status measure_memory(const struct bench_job *job, const char *check,
                                double *mib)
{
    double seconds;
    return bench_job_process(job, check, &seconds, mib);
}

/* native_KERNEL, small_KERNEL: time and memory without checkers; and with a list of
 * them. */
#define KERNEL(name, job)                                                              \
    static rd_status native_##name(double *value)                                      \
    {                                                                                  \
        return measure_time(&(job), 0, value);                                         \
    }                                                                                  \
    static rd_status small_##name(double *value)                                       \
    {                                                                                  \
        return measure_memory(&(job), NULL, value);                                    \
    }                                                                                  \
    CHECKED(name, job, mem, CK_BIT(CK_MEM))                                            \
    CHECKED(name, job, sync, CK_BIT(CK_SYNC))                                          \
    CHECKED(name, job, wait, CK_BIT(CK_WAIT))                                          \
    CHECKED(name, job, race, CK_BIT(CK_RACE))                                          \
    CHECKED(name, job, init, CK_BIT(CK_INIT))                                          \
    CHECKED(name, job, all, ck_classes_usual())
#define CHECKED(name, job, check, classes)                                             \
    static rd_status time_##name##_##check(double *value)                              \
    {                                                                                  \
        return measure_time(&(job), classes, value);                                   \
    }                                                                                  \
    static rd_status memory_##name##_##check(double *value)                            \
    {                                                                                  \
        return measure_memory(&(job), #check, value);                                  \
    }

KERNEL(matmul_lds, bench_matmul_job)
KERNEL(stream, bench_stream_job)
KERNEL(mul_mat, mul_mat_job)

#define TIME(kernel, check, what)                                                      \
    {"check/" #kernel "_" #check, "s",         false,           what,                  \
     time_##kernel##_##check,     "unchecked", native_##kernel, ROUNDS}
#define TIMES(kernel, what)                                                            \
    TIME(kernel, mem, what), TIME(kernel, sync, what), TIME(kernel, wait, what),       \
        TIME(kernel, race, what), TIME(kernel, init, what), TIME(kernel, all, what)
#define MEMORY(kernel, check)                                                          \
    {"check/" #kernel "_" #check "_memory",                                            \
     "MiB",                                                                            \
     false,                                                                            \
     "resident memory of a process that does so",                                      \
     memory_##kernel##_##check,                                                        \
     "unchecked",                                                                      \
     small_##kernel,                                                                   \
     1}
#define MEMORIES(kernel)                                                               \
    MEMORY(kernel, mem), MEMORY(kernel, sync), MEMORY(kernel, wait),                   \
        MEMORY(kernel, race), MEMORY(kernel, init), MEMORY(kernel, all)

const struct bench_entry bench_check_memory_entries[] = {
    MEMORIES(matmul_lds),
    MEMORIES(mul_mat),
    MEMORIES(stream),
    {.name = NULL},
};

const struct bench_entry bench_check_entries[] = {
    TIMES(matmul_lds, "the matmul of emu/matmul_lds, checked"),
    TIMES(stream, "y = a*x + y over 2 x 64 MiB, checked"),
    TIMES(mul_mat, "8-bit weights in blocks times a vector, checked"),
    {.name = NULL},
};
