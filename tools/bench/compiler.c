/* compiler.c: the compiler's code beside clang's, and how long compiling takes.
 *
 * Both sides run on the emulator with the same contents of memory; a number counts only
 * if their results agree. Must not know what the kernels compute or how results are
 * shown.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asm.h"
#include "bench.h"
#include "cc_bench.h"
#include "cli.h"
#include "launch.h"
#include "timing.h"

#define KERNELS 5
#define SAMPLE  48 /* workgroups of a dispatch that are timed */
#define MAX_ARG 4

extern char **environ;

/* What running a code object gave. */
struct run {
    rd_status st;
    bool done, timed;
    void *elf;
    size_t elf_bytes;
    struct la_shape shape;
    uint64_t insts, cycles;
    float *out;
};

static struct run runs[KERNELS][2]; /* [ours, clang's] */

/* ---- running ---- */

static float element(const struct cc_bench_arg *a, int64_t i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)a->count;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (float)(int)(x >> 40 & 255) / 64 - 2;
}

static void fill(const struct cc_bench_arg *a, void *memory)
{
    for (int64_t i = 0; i < a->count; i++) {
        float v = element(a, i);
        _Float16 h = (_Float16)v;
        if (a->dtype == CC_DT_F16)
            memcpy((char *)memory + 2 * i, &h, 2);
        else
            memcpy((char *)memory + 4 * i, &v, 4);
    }
}

struct machine {
    struct la *la;
    struct la_arg args[MAX_ARG];
    void *memory[MAX_ARG];
    struct tm_range range[MAX_ARG];
    struct la_error err;
};

static rd_status make_args(struct machine *m, const struct cc_bench_kernel *k)
{
    rd_status st = RD_OK;
    for (unsigned i = 0; i < k->n_args && st == RD_OK; i++) {
        uint64_t bytes =
            (uint64_t)k->arg[i].count * (k->arg[i].dtype == CC_DT_F16 ? 2 : 4);
        st = la_alloc(m->la, bytes, EMU_MEM_READ | EMU_MEM_WRITE, "buffer",
                      &m->memory[i], &m->err);
        if (st != RD_OK)
            return st;
        if (i > 0)
            fill(&k->arg[i], m->memory[i]);
        m->range[i] = (struct tm_range){(uintptr_t)m->memory[i], bytes};
        m->args[i] = (struct la_arg){LA_POINTER, &m->memory[i], 8, "buffer"};
    }
    return st;
}

static rd_status time_it(struct machine *m, const struct cc_bench_kernel *k,
                         const struct emu_dispatch *d, struct run *run)
{
    struct tm_config config = {
        .sample = SAMPLE, .ranges = m->range, .n_ranges = k->n_args};
    struct emu_stats stats = {0};
    struct emu_fault fault;
    struct tm_engine *t;
    rd_status st = tm_create(&config, &t);
    if (st != RD_OK)
        return st;
    st = tm_run(t, la_emu(m->la), d, &fault, &stats);
    run->cycles = tm_span_cycles(t);
    tm_destroy(t);
    return st;
}

static rd_status run_in(struct machine *m, const struct cc_bench_kernel *k,
                        struct run *run)
{
    struct emu_stats stats = {0};
    struct emu_fault fault;
    struct emu_dispatch dispatch;
    struct la_kernel kernel;
    rd_status st = make_args(m, k);
    if (st == RD_OK)
        st = la_load_object(m->la, run->elf, run->elf_bytes, NULL, &kernel, &m->err);
    if (st == RD_OK)
        st = la_prepare(m->la, &kernel, &run->shape, m->args, k->n_args, &dispatch,
                        &m->err);
    if (st == RD_OK && run->timed)
        return time_it(m, k, &dispatch, run);
    if (st == RD_OK) {
        st = emu_run(la_emu(m->la), &dispatch, &fault, &stats);
        if (st == RD_E_FAULT)
            emu_fault_text(&fault, m->err.text, sizeof m->err.text);
    }
    run->insts = stats.instructions;
    size_t size = (size_t)k->arg[0].count * sizeof *run->out;
    run->out = st == RD_OK ? malloc(size) : NULL;
    if (run->out)
        memcpy(run->out, m->memory[0], size);
    return st;
}

static rd_status run_code(const struct cc_bench_kernel *k, struct run *run)
{
    struct emu_config config = {.threads = 1};
    struct machine m = {.err = {""}};
    rd_status st = la_create(&config, &m.la, &m.err);
    if (st == RD_OK) {
        st = run_in(&m, k, run);
        la_destroy(m.la);
    }
    if (st != RD_OK)
        (void)cli_error(CLI_FAILED, "%s: %s", k->name, m.err.text);
    return st;
}

/* ---- ours ---- */

/* A program as a code object, and how it is launched. */
static rd_status assemble(const struct cc_prog *p, struct run *run)
{
    struct asm_options options = {0};
    struct asm_result elf;
    char *text, error[256] = "";
    rd_status st = cc_rdna3(p, &text, error);
    if (st != RD_OK) {
        (void)cli_error(CLI_FAILED, "%s: %s", cc_prog_name(p), error);
        return st;
    }
    st = asm_assemble(text, strlen(text), &options, &elf);
    free(text);
    if (st != RD_OK)
        return st;
    run->elf = elf.data;
    run->elf_bytes = elf.bytes;
    cc_prog_launch(p, run->shape.groups, run->shape.block);
    return st;
}

static rd_status compile(const struct cc_bench_kernel *k, struct run *run)
{
    struct cc_graph *g;
    struct cc_prog *p;
    rd_status st = cc_graph_create(&g);
    if (st != RD_OK)
        return st;
    st = cc_linearize_opts(g, k->make(g), k->n_opts, k->opts, &p);
    if (st != RD_OK)
        (void)cli_error(CLI_FAILED, "%s: %s", k->name, cc_graph_error(g));
    cc_graph_destroy(g);
    if (st != RD_OK)
        return st;
    st = assemble(p, run);
    cc_prog_destroy(p);
    return st;
}

static rd_status run_ours(const struct cc_bench_kernel *k, struct run *run)
{
    rd_status st = compile(k, run);
    return st == RD_OK ? run_code(k, run) : st;
}

/* ---- clang's ---- */

static rd_status write_text(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return cli_write_file(path, text, strlen(text));
}

/* clang-19 -O3; RD_E_UNSUPPORTED if it is not installed or fails. */
static rd_status clang(const char *source, const char *object)
{
    char *argv[] = {"clang-19",
                    "-x",
                    "cl",
                    "-cl-std=CL2.0",
                    "-target",
                    "amdgcn-amd-amdhsa",
                    "-mcpu=gfx1100",
                    "-nogpulib",
                    "-O3",
                    (char *)(uintptr_t)source,
                    "-o",
                    (char *)(uintptr_t)object,
                    NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return RD_E_NOMEM;
    int failed =
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (!failed)
        failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (!failed && waitpid(pid, &status, 0) < 0)
        failed = errno != EINTR;
    return !failed && status == 0 ? RD_OK : RD_E_UNSUPPORTED;
}

static rd_status run_clangs(const struct cc_bench_kernel *k, struct run *run)
{
    char folder[] = "/tmp/rdna3-bench-XXXXXX", source[64], object[64], lanes[64];
    run->shape = (struct la_shape){.groups = {k->opencl_groups, 1, 1},
                                   .block = {k->opencl_block, 1, 1}};
    if (!mkdtemp(folder))
        return RD_E_IO;
    snprintf(source, sizeof source, "%s/kernel.cl", folder);
    snprintf(object, sizeof object, "%s/kernel.o", folder);
    snprintf(lanes, sizeof lanes, "%s/lanes.h", folder);
    rd_status st = write_text(folder, "lanes.h", cc_bench_lanes_h);
    if (st == RD_OK)
        st = write_text(folder, "kernel.cl", k->opencl);
    if (st == RD_OK)
        st = clang(source, object);
    if (st == RD_OK)
        st = cli_read_file(object, &run->elf, &run->elf_bytes);
    if (st == RD_OK)
        st = run_code(k, run);
    unlink(source);
    unlink(object);
    unlink(lanes);
    rmdir(folder);
    return st;
}

/* ---- results ---- */

static bool agree(const struct cc_bench_kernel *k, const float *a, const float *b)
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < k->arg[0].count; i++) {
        double d = fabs((double)a[i] - (double)b[i]), x = fabs((double)b[i]);
        if (!(d <= HUGE_VAL)) /* NaN */
            return false;
        worst = d > worst ? d : worst;
        largest = x > largest ? x : largest;
    }
    return worst <= k->bound * largest;
}

static struct run *get(size_t i, bool peer)
{
    const struct cc_bench_kernel *k = &cc_bench_kernels[i];
    struct run *r = runs[i];
    if (!r[0].done) {
        r[0].st = run_ours(k, &r[0]);
        r[1].st = run_clangs(k, &r[1]);
        r[0].done = r[1].done = true;
        if (r[0].st == RD_OK && r[1].st == RD_OK && !agree(k, r[0].out, r[1].out)) {
            (void)cli_error(CLI_FAILED, "%s: the results differ from clang's", k->name);
            r[0].st = RD_E_INVALID;
        }
        free(r[0].out);
        free(r[1].out);
    }
    return &r[peer];
}

static rd_status insts(size_t i, bool peer, double *value)
{
    struct run *r = get(i, peer);
    *value = (double)r->insts;
    return r->st;
}

static rd_status cycles(size_t i, bool peer, double *value)
{
    struct run *r = get(i, peer);
    if (r->st == RD_OK && !r->timed) {
        r->timed = true;
        r->st = run_code(&cc_bench_kernels[i], r);
    }
    *value = (double)r->cycles;
    return r->st;
}

#define KERNEL(name, i)                                                                \
    static rd_status name##_insts(double *v)                                           \
    {                                                                                  \
        return insts(i, false, v);                                                     \
    }                                                                                  \
    static rd_status name##_insts_peer(double *v)                                      \
    {                                                                                  \
        return insts(i, true, v);                                                      \
    }                                                                                  \
    static rd_status name##_cycles(double *v)                                          \
    {                                                                                  \
        return cycles(i, false, v);                                                    \
    }                                                                                  \
    static rd_status name##_cycles_peer(double *v)                                     \
    {                                                                                  \
        return cycles(i, true, v);                                                     \
    }

KERNEL(sum, 0)
KERNEL(matmul_f32, 1)
KERNEL(matmul_f16, 2)
KERNEL(softmax, 3)
KERNEL(flash, 4)

/* Processor time, so that a busy host does not count. */
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static rd_status timed_compile(const struct cc_bench_kernel *k, double *seconds)
{
    struct run run = {0};
    double start = cpu_seconds();
    rd_status st = compile(k, &run);
    *seconds = cpu_seconds() - start;
    free(run.elf);
    return st;
}

/* The slowest of the kernels, from graph to code object; best of three. */
static rd_status compile_time(double *value)
{
    *value = 0;
    for (size_t i = 0; i < KERNELS; i++) {
        double best = HUGE_VAL, seconds;
        for (unsigned n = 0; n < 3; n++) {
            rd_status st = timed_compile(&cc_bench_kernels[i], &seconds);
            if (st != RD_OK)
                return st;
            best = seconds < best ? seconds : best;
        }
        *value = best > *value ? best : *value;
    }
    return RD_OK;
}

static cc_ref chain(struct cc_graph *g)
{
    return cc_bench_chain(g, 10000);
}

static rd_status graph_time(double *value)
{
    static const struct cc_bench_kernel k = {.name = "chain", .make = chain};
    return timed_compile(&k, value);
}

/* ---- search ---- */

static rd_status simulated(void *user, const struct cc_prog *p, uint64_t *cost)
{
    const struct cc_bench_kernel *k = user;
    struct run run = {.timed = true};
    rd_status st = assemble(p, &run);
    if (st == RD_OK)
        st = run_code(k, &run);
    free(run.elf);
    *cost = run.cycles;
    return st;
}

/* How much better a search makes a kernel. */
static rd_status beam_gain(double *value)
{
    const struct cc_bench_kernel *k = &cc_bench_small;
    struct cc_beam beam = {.width = 1, .cost = simulated, .user = (void *)(uintptr_t)k};
    struct cc_graph *g;
    struct cc_prog *p;
    rd_status st = cc_graph_create(&g);
    if (st != RD_OK)
        return st;
    st = cc_beam(g, k->make(g), &beam, &p);
    if (st == RD_OK) {
        *value = (double)beam.cost_before / (double)beam.cost_after;
        cc_prog_destroy(p);
    }
    cc_graph_destroy(g);
    return st;
}

#define ROWS(text, row, kernel)                                                        \
    {.name = "compiler/" text "_insts",                                                \
     .unit = "wave-inst",                                                              \
     .what = kernel ": executed",                                                      \
     .measure = row##_insts,                                                           \
     .peer = "clang-19 -O3",                                                           \
     .measure_peer = row##_insts_peer},                                                \
    {                                                                                  \
        .name = "compiler/" text "_cycles", .unit = "cycles",                          \
        .what = kernel ": simulated", .measure = row##_cycles, .peer = "clang-19 -O3", \
        .measure_peer = row##_cycles_peer                                              \
    }

const struct bench_entry bench_compiler_entries[] = {
    {.name = "compiler/compile",
     .unit = "s",
     .what = "the slowest of these kernels, from graph to code object",
     .measure = compile_time},
    {.name = "compiler/graph_10000",
     .unit = "s",
     .what = "a kernel of 10,000 nodes, from graph to code object",
     .measure = graph_time},
    {.name = "compiler/beam",
     .unit = "ratio",
     .higher_is_better = true,
     .what = "cycles of a 128 x 64 x 128 f32 matmul, without choices over after search",
     .measure = beam_gain},
    ROWS("sum", sum, "sums of 16384 f32"),
    ROWS("matmul_f32", matmul_f32, "f32 matmul, 1024 a side"),
    ROWS("matmul_f16", matmul_f16, "f16 matmul with WMMA, 1024 a side"),
    ROWS("softmax", softmax, "softmax of 1024 rows of 1024 f32"),
    ROWS("flash_attention", flash, "flash attention, 4 heads, 256 x 64"),
    {0},
};
