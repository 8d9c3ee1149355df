/* emu.c: speed of the functional emulator: instruction rates, threads, start-up.
 *
 * Must not know how results are shown. Invariant: a rate counts what the emulator says
 * it executed, divided by the time inside emu_run only.
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "bench_kernels.h"
#include "launch.h"
#include "trace.h"

#define RUN_SECONDS   0.3
#define ROUNDS        5u
#define STARTUP_RUNS  11
#define STREAM_GROUPS 64u
#define STREAM_BYTES  (64u << 20)
#define HUGE_PAGE     (2u << 20)
#define MATMUL_SIZE   256u
#define GEMM_SIZE     1024u

extern char **environ;

static const struct bench_job valu_job = {.kernel = &bench_valu,
                                          .groups = {8, 1, 1},
                                          .block = {256, 1, 1},
                                          .n_numbers = 1,
                                          .numbers = {4000}};
/* Long enough that two threads are measured, not how soon the second one wakes: some
 * 50 ms of native code on one. */
static const struct bench_job scaling_job = {.kernel = &bench_valu,
                                             .groups = {64, 1, 1},
                                             .block = {256, 1, 1},
                                             .n_numbers = 1,
                                             .numbers = {4000}};
static const struct bench_job lds_job = {.kernel = &bench_lds,
                                         .groups = {8, 1, 1},
                                         .block = {256, 1, 1},
                                         .n_numbers = 1,
                                         .numbers = {2000}};
static const struct bench_job wmma_job = {.kernel = &bench_wmma,
                                          .groups = {8, 1, 1},
                                          .block = {128, 1, 1},
                                          .n_numbers = 1,
                                          .numbers = {1000}};
const struct bench_job bench_stream_job = {
    .kernel = &bench_stream,
    .groups = {STREAM_GROUPS, 1, 1},
    .block = {256, 1, 1},
    .n_buffers = 2,
    .buffer_bytes = STREAM_BYTES,
    .n_numbers = 2,
    .numbers = {STREAM_BYTES / (STREAM_GROUPS * 1024), STREAM_GROUPS * 1024}};
static const struct bench_job mixed_job = {.kernel = &bench_mixed,
                                           .groups = {16, 1, 1},
                                           .block = {256, 1, 1},
                                           .n_buffers = 1,
                                           .buffer_bytes = 16384,
                                           .n_numbers = 1,
                                           .numbers = {1000}};
const struct bench_job bench_matmul_job = {
    .kernel = &bench_matmul,
    .groups = {MATMUL_SIZE / 16, MATMUL_SIZE / 16, 1},
    .block = {16, 16, 1},
    .n_buffers = 3,
    .buffer_bytes = 4ull * MATMUL_SIZE * MATMUL_SIZE,
    .n_numbers = 1,
    .numbers = {MATMUL_SIZE}};

static const struct bench_job gemm_job = {.kernel = &bench_wmma_gemm,
                                          .groups = {GEMM_SIZE / 64, GEMM_SIZE / 64, 1},
                                          .block = {128, 1, 1},
                                          .n_buffers = 3,
                                          .buffer_bytes = 4ull * GEMM_SIZE * GEMM_SIZE,
                                          .n_numbers = 1,
                                          .numbers = {GEMM_SIZE}};

/* Buffers hold ones: finite numbers, and pages of their own rather than the zero page.
 */
static rd_status make_args(struct la *la, const struct bench_job *job,
                           uint64_t *pointers, struct la_arg *args,
                           struct la_error *err)
{
    for (unsigned i = 0; i < job->n_buffers; i++) {
        void *memory;
        rd_status st = la_alloc(la, job->buffer_bytes, EMU_MEM_READ | EMU_MEM_WRITE,
                                "buffer", &memory, err);
        if (st != RD_OK)
            return st;
        float one = 1.0F;
        for (uint64_t at = 0; at < job->buffer_bytes; at += sizeof one)
            memcpy((char *)memory + at, &one, sizeof one);
        pointers[i] = (uintptr_t)memory;
        args[i] = (struct la_arg){.cls = LA_POINTER, .value = &pointers[i], .bytes = 8};
    }
    for (unsigned i = 0; i < job->n_numbers; i++)
        args[job->n_buffers + i] =
            (struct la_arg){.cls = LA_INTEGER, .value = &job->numbers[i], .bytes = 4};
    return RD_OK;
}

struct speed {
    double rate;    /* wave-instructions per second */
    double seconds; /* of one dispatch */
};

/* Seconds that pass, or that this thread computes: what one thread does alone is
 * measured by these, which do not grow when others want the same core. */
typedef double seconds_fn(void);

static double computed(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Dispatches for at least RUN_SECONDS. */
static rd_status run_once(struct la *la, const struct emu_dispatch *dispatch,
                          seconds_fn *now, struct speed *speed)
{
    struct emu_fault fault = {0};
    struct emu_stats stats = {0};
    double start = now();
    double seconds = 0;
    while (seconds < RUN_SECONDS) {
        rd_status st = emu_run(la_emu(la), dispatch, &fault, &stats);
        if (st == RD_E_FAULT) {
            char text[1024];
            emu_fault_text(&fault, text, sizeof text);
            (void)cli_error(CLI_FAILED, "%s", text);
        }
        if (st != RD_OK)
            return st;
        seconds = now() - start;
    }
    speed->rate = (double)stats.instructions / seconds;
    speed->seconds = seconds / (double)stats.dispatches;
    return RD_OK;
}

static rd_status prepare(struct la *la, const struct bench_job *job, uint64_t *pointers,
                         struct la_arg *args, struct emu_dispatch *dispatch,
                         struct la_error *err)
{
    struct la_kernel kernel;
    struct la_shape shape = {.dynamic_lds_bytes = 0};
    memcpy(shape.groups, job->groups, sizeof shape.groups);
    memcpy(shape.block, job->block, sizeof shape.block);

    rd_status st = la_load_raw(la, job->kernel->code, job->kernel->code_bytes,
                               job->kernel->desc, 0, 0, &kernel, err);
    if (st == RD_OK)
        st = make_args(la, job, pointers, args, err);
    if (st == RD_OK)
        st = la_prepare(la, &kernel, &shape, args, job->n_buffers + job->n_numbers,
                        dispatch, err);
    return st;
}

static rd_status measure_in(struct la *la, const struct bench_job *job, seconds_fn *now,
                            struct speed *speed)
{
    struct la_error err = {""};
    struct emu_dispatch dispatch;
    uint64_t pointers[3];
    struct la_arg args[5];
    rd_status st = prepare(la, job, pointers, args, &dispatch, &err);
    if (st != RD_OK) {
        (void)cli_error(CLI_FAILED, "%s", err.text);
        return st;
    }
    struct emu_fault fault;
    st = emu_run(la_emu(la), &dispatch, &fault, NULL); /* makes what code there is */
    return st == RD_OK ? run_once(la, &dispatch, now, speed) : st;
}

rd_status bench_job_seconds(struct la *la, const struct bench_job *job, double *seconds)
{
    struct speed speed = {0, 0};
    rd_status st = measure_in(la, job, computed, &speed);
    *seconds = speed.seconds;
    return st;
}

rd_status bench_prepare_matmul(struct la *la, struct emu_dispatch *dispatch)
{
    struct la_error err = {""};
    uint64_t pointers[3];
    struct la_arg args[5];
    rd_status st = prepare(la, &bench_matmul_job, pointers, args, dispatch, &err);
    if (st != RD_OK)
        (void)cli_error(CLI_FAILED, "%s", err.text);
    return st;
}

/* How a job is run. */
struct way {
    enum emu_simd simd;
    enum emu_engine engine;
    unsigned threads;
    bool passing; /* measured by the seconds that pass */
};

static rd_status measure_speed(const struct bench_job *job, struct way way,
                               struct speed *speed)
{
    struct emu_config config = {
        .threads = way.threads, .simd = way.simd, .engine = way.engine};
    struct la_error err;
    struct la *la;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    st = measure_in(la, job, way.passing ? cli_now : computed, speed);
    la_destroy(la);
    return st;
}

static rd_status measure(const struct bench_job *job, struct way way, double *rate)
{
    struct speed speed;
    rd_status st = measure_speed(job, way, &speed);
    if (st == RD_OK)
        *rate = speed.rate;
    return st;
}

/* measure_NAME and interp_NAME: instructions a second of a job on one thread, as the
 * emulator runs it by itself, and by the interpreter alone. */
#define RATE(name, job, level)                                                         \
    static rd_status measure_##name(double *value)                                     \
    {                                                                                  \
        struct way way = {EMU_SIMD_##level, EMU_ENGINE_AUTO, 1, false};                \
        return measure(&(job), way, value);                                            \
    }                                                                                  \
    static rd_status interp_##name(double *value)                                      \
    {                                                                                  \
        struct way way = {EMU_SIMD_##level, EMU_ENGINE_INTERP, 1, false};              \
        return measure(&(job), way, value);                                            \
    }

RATE(valu, valu_job, AUTO)
RATE(valu_avx2, valu_job, AVX2)
RATE(matmul, bench_matmul_job, AUTO)
RATE(matmul_avx2, bench_matmul_job, AVX2)
RATE(stream, bench_stream_job, AUTO)
RATE(stream_avx2, bench_stream_job, AVX2)
RATE(lds, lds_job, AUTO)
RATE(lds_avx2, lds_job, AVX2)
RATE(wmma, wmma_job, AUTO)
RATE(wmma_avx2, wmma_job, AVX2)
RATE(mixed, mixed_job, AUTO)
RATE(mixed_avx2, mixed_job, AVX2)

static rd_status gemm_seconds(enum emu_simd simd, enum emu_engine engine, double *value)
{
    struct way way = {simd, engine, 1, false};
    struct speed speed;
    rd_status st = measure_speed(&gemm_job, way, &speed);
    if (st == RD_OK)
        *value = speed.seconds;
    return st;
}

static rd_status measure_gemm(double *value)
{
    return gemm_seconds(EMU_SIMD_AUTO, EMU_ENGINE_AUTO, value);
}

static rd_status interp_gemm(double *value)
{
    return gemm_seconds(EMU_SIMD_AUTO, EMU_ENGINE_INTERP, value);
}

static rd_status measure_gemm_avx2(double *value)
{
    return gemm_seconds(EMU_SIMD_AVX2, EMU_ENGINE_AUTO, value);
}

static rd_status interp_gemm_avx2(double *value)
{
    return gemm_seconds(EMU_SIMD_AVX2, EMU_ENGINE_INTERP, value);
}

/* ---- kernels that run once --------------------------------------------------------
 */

/* Little of each kernel: whoever makes native code has to earn it back here. */
static const struct bench_job cold_jobs[] = {
    {.kernel = &bench_valu,
     .groups = {4, 1, 1},
     .block = {128, 1, 1},
     .n_numbers = 1,
     .numbers = {8}},
    {.kernel = &bench_valu,
     .groups = {4, 1, 1},
     .block = {128, 1, 1},
     .n_numbers = 1,
     .numbers = {64}},
    {.kernel = &bench_lds,
     .groups = {4, 1, 1},
     .block = {128, 1, 1},
     .n_numbers = 1,
     .numbers = {64}},
    {.kernel = &bench_mixed,
     .groups = {4, 1, 1},
     .block = {128, 1, 1},
     .n_buffers = 1,
     .buffer_bytes = 4096,
     .n_numbers = 1,
     .numbers = {8}},
    {.kernel = &bench_mixed,
     .groups = {4, 1, 1},
     .block = {128, 1, 1},
     .n_buffers = 1,
     .buffer_bytes = 4096,
     .n_numbers = 1,
     .numbers = {64}},
    {.kernel = &bench_matmul,
     .groups = {2, 2, 1},
     .block = {16, 16, 1},
     .n_buffers = 3,
     .buffer_bytes = 4096,
     .n_numbers = 1,
     .numbers = {32}},
};
#define COLD_PASSES 40u

/* The first dispatch of an emulator. */
static rd_status cold_once(const struct bench_job *job, enum emu_engine engine,
                           double *seconds)
{
    struct emu_config config = {.threads = 1, .engine = engine};
    struct emu_dispatch dispatch;
    struct la_error err;
    struct la_arg args[5];
    uint64_t pointers[3];
    struct la *la;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    st = prepare(la, job, pointers, args, &dispatch, &err);
    double start = computed();
    if (st == RD_OK)
        st = emu_run(la_emu(la), &dispatch, NULL, NULL);
    *seconds = computed() - start;
    la_destroy(la);
    return st;
}

/* All jobs once, of each the fastest of several times. */
static rd_status cold_seconds(enum emu_engine engine, double *value)
{
    *value = 0;
    for (unsigned i = 0; i < sizeof cold_jobs / sizeof *cold_jobs; i++) {
        double best = 0;
        for (unsigned pass = 0; pass < COLD_PASSES; pass++) {
            double seconds;
            rd_status st = cold_once(&cold_jobs[i], engine, &seconds);
            if (st != RD_OK)
                return st;
            best = !pass || seconds < best ? seconds : best;
        }
        *value += best;
    }
    return RD_OK;
}

static rd_status measure_cold(double *value)
{
    return cold_seconds(EMU_ENGINE_AUTO, value);
}

static rd_status interp_cold(double *value)
{
    return cold_seconds(EMU_ENGINE_INTERP, value);
}

/* ---- memory at speed --------------------------------------------------------------
 */

/* Bytes a second that the stream kernel moves: each of its items reads x and y and
 * writes y. */
static rd_status stream_bytes(enum emu_simd simd, double *value)
{
    struct way way = {simd, EMU_ENGINE_AUTO, 1, false};
    struct speed speed;
    rd_status st = measure_speed(&bench_stream_job, way, &speed);
    if (st == RD_OK)
        *value = 3.0 * STREAM_BYTES / speed.seconds;
    return st;
}

static rd_status measure_stream_bytes(double *value)
{
    return stream_bytes(EMU_SIMD_AUTO, value);
}

static rd_status measure_stream_bytes_avx2(double *value)
{
    return stream_bytes(EMU_SIMD_AVX2, value);
}

/* x or y: pages as large as the kernel's buffers have (la_map). */
static float *stream_buffer(void)
{
    float *v = aligned_alloc(HUGE_PAGE, STREAM_BYTES);
    if (v)
        (void)madvise(v, STREAM_BYTES, MADV_HUGEPAGE); /* a hint */
    for (size_t i = 0; v && i < STREAM_BYTES / sizeof *v; i++)
        v[i] = 1.0F;
    return v;
}

/* x and y are apart, or compilers would do one element at a time. */
static void stream_line(const float *restrict x, float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 0.5F * x[i] + y[i];
}

/* From one end to the other. */
static void stream_through(const float *x, float *y)
{
    stream_line(x, y, STREAM_BYTES / sizeof *x);
}

/* Workgroup by workgroup, in each of them wave by wave, as the engine does: a turn is
 * 32 accesses, of which an iteration has three (emulator/program/uop.h). */
static void stream_in_turns(const float *x, float *y)
{
    const size_t lanes = 32, group = 256, step = STREAM_GROUPS * group, turn = 10;
    for (size_t g = 0; g < step; g += group)
        for (size_t i = 0; i < STREAM_BYTES / sizeof *x; i += turn * step)
            for (size_t w = g; w < g + group; w += lanes)
                for (size_t at = i + w;
                     at < i + turn * step && at < STREAM_BYTES / sizeof *x; at += step)
                    stream_line(x + at, y + at, lanes);
}

/* The same loop in C. */
static rd_status stream_in_c(void (*pass)(const float *x, float *y), double *value)
{
    float *x = stream_buffer(), *y = stream_buffer();
    double start = computed(), seconds = 0;
    unsigned passes = 0;
    while (x && y && seconds < RUN_SECONDS) {
        pass(x, y);
        passes++;
        seconds = computed() - start;
    }
    /* the loop is not left out, and nothing is done twice */
    bool sane =
        x && y && y[STREAM_BYTES / sizeof *y / 2] == 1.0F + 0.5F * (float)passes;
    free(x);
    free(y);
    *value = 3.0 * STREAM_BYTES * passes / seconds;
    return sane ? RD_OK : RD_E_NOMEM;
}

static rd_status stream_c(double *value)
{
    return stream_in_c(stream_through, value);
}

static rd_status stream_c_turns(double *value)
{
    return stream_in_c(stream_in_turns, value);
}

/* The matmul with every instruction recorded in a file. */
static rd_status measure_trace(double *value)
{
    char path[] = "/tmp/rdna3-bench-XXXXXX";
    struct emu_config config = {.threads = 1};
    struct trace_error trace_err;
    struct trace_writer *trace = NULL;
    struct la_error err;
    struct speed speed = {0, 0};
    struct la *la;
    rd_status st = la_create(&config, &la, &err);
    if (st != RD_OK)
        return st;
    int fd = mkstemp(path);
    st = fd < 0 ? RD_E_IO : trace_create(path, NULL, &trace, &trace_err);
    if (st == RD_OK) {
        struct emu_observer observer = trace_observer(trace);
        st = emu_add_observer(la_emu(la), &observer);
    }
    if (st == RD_OK)
        st = measure_in(la, &bench_matmul_job, cli_now, &speed);
    la_destroy(la);
    rd_status closed = trace_close(trace, &trace_err);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    *value = speed.rate;
    return st == RD_OK ? closed : st;
}

static rd_status measure_scaling(double *value)
{
    struct way way = {EMU_SIMD_AUTO, EMU_ENGINE_AUTO, 1, true};
    double one;
    double two;
    rd_status st = measure(&scaling_job, way, &one);
    way.threads = 2;
    if (st == RD_OK)
        st = measure(&scaling_job, way, &two);
    if (st == RD_OK)
        *value = two / one;
    return st;
}

/* Files of a kernel for a process of its own. */
struct kernel_files {
    char folder[32];
    char code[48];
    char desc[48];
};

static rd_status make_files(const struct bench_kernel *kernel, struct kernel_files *f)
{
    snprintf(f->folder, sizeof f->folder, "/tmp/rdna3-bench-XXXXXX");
    if (!mkdtemp(f->folder))
        return RD_E_IO;
    snprintf(f->code, sizeof f->code, "%s/code.bin", f->folder);
    snprintf(f->desc, sizeof f->desc, "%s/kd.bin", f->folder);
    rd_status st = cli_write_file(f->code, kernel->code, kernel->code_bytes);
    if (st == RD_OK)
        st = cli_write_file(f->desc, kernel->desc, CO_KD_BYTES);
    return st;
}

static void remove_files(const struct kernel_files *f)
{
    unlink(f->code);
    unlink(f->desc);
    rmdir(f->folder);
}

static rd_status run_process(char *const *argv, double *seconds, double *peak_mib)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t pid;
    int status;
    double start = cli_now();
    if (posix_spawn_file_actions_init(&actions) != 0)
        return RD_E_NOMEM;
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                           O_WRONLY, 0);
    int failed = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return RD_E_IO;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return RD_E_IO;
    *seconds = cli_now() - start;
    *peak_mib = (double)usage.ru_maxrss / 1024;
    return status == 0 ? RD_OK : RD_E_IO;
}

#define TEXT 48u /* of an option's value */

rd_status bench_job_process(const struct bench_job *job, const char *check,
                            double *seconds, double *peak_mib)
{
    struct kernel_files f;
    char text[7][TEXT], *argv[32];
    unsigned n = 0, t = 2;
    rd_status st = make_files(job->kernel, &f);
    char *const fixed[] = {"rdna3",     "run", "--raw",  f.code,  "--kd",    f.desc,
                           "--threads", "1",   "--grid", text[0], "--block", text[1]};
    for (; n < sizeof fixed / sizeof *fixed; n++)
        argv[n] = fixed[n];
    snprintf(text[0], TEXT, "%u,%u,%u", job->groups[0], job->groups[1], job->groups[2]);
    snprintf(text[1], TEXT, "%u,%u,%u", job->block[0], job->block[1], job->block[2]);
    for (unsigned i = 0; i < job->n_buffers + job->n_numbers; i++, t++) {
        unsigned k = i - job->n_buffers;
        if (i < job->n_buffers) /* pages of their own, no zero page */
            snprintf(text[t], TEXT, "buf:%" PRIu64 ":fill=1", job->buffer_bytes);
        else
            snprintf(text[t], TEXT, "u32:%u", job->numbers[k]);
        argv[n++] = "--arg";
        argv[n++] = text[t];
    }
    if (check) {
        argv[n++] = "--check";
        argv[n++] = (char *)check;
    }
    argv[n] = NULL;
    if (st == RD_OK)
        st = run_process(argv, seconds, peak_mib);
    remove_files(&f);
    return st;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median time and largest memory of several processes. */
static rd_status measure_process(double *seconds, double *peak_mib)
{
    static const struct bench_job trivial = {
        .kernel = &bench_trivial, .groups = {1, 1, 1}, .block = {1, 1, 1}};
    double times[STARTUP_RUNS];
    double peak = 0;
    rd_status st = RD_OK;
    for (unsigned i = 0; i < STARTUP_RUNS && st == RD_OK; i++) {
        double one = 0;
        st = bench_job_process(&trivial, NULL, &times[i], &one);
        peak = one > peak ? one : peak;
    }
    if (st != RD_OK)
        return st;
    qsort(times, STARTUP_RUNS, sizeof times[0], by_size);
    *seconds = times[STARTUP_RUNS / 2];
    *peak_mib = peak;
    return RD_OK;
}

static rd_status measure_startup(double *value)
{
    double peak;
    return measure_process(value, &peak);
}

static rd_status measure_peak(double *value)
{
    double seconds;
    return measure_process(&seconds, value);
}

const struct bench_entry bench_emu_entries[] = {
    {"emu/startup", "s", false, "process that runs a kernel of one s_endpgm",
     measure_startup, NULL, NULL, 0},
    {"emu/peak_memory", "MiB", false, "resident memory of that process", measure_peak,
     NULL, NULL, 0},
    {"emu/valu", "wave-inst/s", true, "f32 and integer arithmetic in a loop",
     measure_valu, "interp", interp_valu, ROUNDS},
    {"emu/valu_avx2", "wave-inst/s", true, "the same with AVX2 only", measure_valu_avx2,
     "interp", interp_valu_avx2, ROUNDS},
    {"emu/matmul_lds", "wave-inst/s", true, "compiled LDS-tiled f32 matmul, 256 a side",
     measure_matmul, "interp", interp_matmul, ROUNDS},
    {"emu/matmul_lds_avx2", "wave-inst/s", true, "the same with AVX2 only",
     measure_matmul_avx2, "interp", interp_matmul_avx2, ROUNDS},
    {"emu/trace", "wave-inst/s", true, "the matmul with every instruction recorded",
     measure_trace, NULL, NULL, ROUNDS},
    {"emu/stream", "wave-inst/s", true, "y = a*x + y over 2 x 64 MiB", measure_stream,
     "interp", interp_stream, ROUNDS},
    {"emu/stream_avx2", "wave-inst/s", true, "the same with AVX2 only",
     measure_stream_avx2, "interp", interp_stream_avx2, ROUNDS},
    {"emu/stream_bytes", "B/s", true, "bytes that it moves", measure_stream_bytes,
     "C loop", stream_c, ROUNDS},
    {"emu/stream_bytes_avx2", "B/s", true, "the same with AVX2 only",
     measure_stream_bytes_avx2, "C loop", stream_c, ROUNDS},
    {"emu/stream_turns", "B/s", true, "the same against C in the waves' order",
     measure_stream_bytes, "C in turns", stream_c_turns, ROUNDS},
    {"emu/lds", "wave-inst/s", true, "LDS stores, loads, atomics, permutes, barriers",
     measure_lds, "interp", interp_lds, ROUNDS},
    {"emu/lds_avx2", "wave-inst/s", true, "the same with AVX2 only", measure_lds_avx2,
     "interp", interp_lds_avx2, ROUNDS},
    {"emu/wmma", "wave-inst/s", true, "v_wmma_f32_16x16x16_f16, 4 of 7 instructions",
     measure_wmma, "interp", interp_wmma, ROUNDS},
    {"emu/wmma_avx2", "wave-inst/s", true, "the same with AVX2 only", measure_wmma_avx2,
     "interp", interp_wmma_avx2, ROUNDS},
    {"emu/wmma_gemm_1024", "s", false, "f16 matrix product 1024 a side, one thread",
     measure_gemm, "interp", interp_gemm, ROUNDS},
    {"emu/wmma_gemm_1024_avx2", "s", false, "the same with AVX2 only",
     measure_gemm_avx2, "interp", interp_gemm_avx2, ROUNDS},
    {"emu/mixed", "wave-inst/s", true, "VALU, SALU, divergence, memory, LDS, VOPD, DPP",
     measure_mixed, "interp", interp_mixed, ROUNDS},
    {"emu/mixed_avx2", "wave-inst/s", true, "the same with AVX2 only",
     measure_mixed_avx2, "interp", interp_mixed_avx2, ROUNDS},
    {"emu/cold", "s", false, "six small kernels, each the first of its emulator",
     measure_cold, "interp", interp_cold, ROUNDS},
    {"emu/scaling_2t", "ratio", true,
     "emu/valu's loop in 64 workgroups: two threads against one", measure_scaling, NULL,
     NULL, ROUNDS},
    {.name = NULL},
};
