/* code_objects.c: kernels that others compiled, interpreted and as native code.
 *
 *     code_objects FILE...     code objects or offload bundles
 *
 * Every kernel runs with made-up arguments: buffers for pointers, small numbers for all
 * else. What it does with them need not make sense; both ways it must do the same:
 * status and fault, instructions, buffers. A kernel that does not end in time is left
 * out, and counted as such. SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "launch.h"

#define MAX_ARGS     64u
#define BUFFERS      8u
#define BUFFER_BYTES (64u << 10)
#define ALL_BYTES    (BUFFERS * BUFFER_BYTES)
#define VARIANTS     3u
#define LIMIT_MS     300 /* of the interpreter */
#define MOST_MS      30000

enum { INTERP, NATIVE, WAYS };

static const struct emu_config configs[WAYS] = {
    [INTERP] = {.threads = 1, .engine = EMU_ENGINE_INTERP},
    [NATIVE] = {.threads = 1, .engine = EMU_ENGINE_JIT, .native_hot = 1},
};

struct outcome {
    rd_status status;
    struct emu_fault fault;
    uint64_t entry, instructions;
    uint8_t *memory; /* of all buffers, afterwards */
};

static uint8_t *buffers; /* what all kernels see; guard pages between them */
static uint8_t *kept[WAYS];
static volatile int control;
static struct {
    unsigned files, kernels, runs, faulted, stopped, refused, differ;
} total;

static void give_up(int number)
{
    (void)number;
    control = EMU_CONTROL_CANCEL;
}

static void set_timer(long ms)
{
    const struct itimerval limit = {.it_value = {ms / 1000, ms % 1000 * 1000}};
    signal(SIGVTALRM, give_up);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static uint8_t *buffer_at(unsigned i)
{
    return buffers + (size_t)(2 * i + 1) * BUFFER_BYTES;
}

static uint32_t next_number(uint32_t *seed)
{
    static const uint32_t numbers[] = {1, 2, 3, 8, 16, 31, 32, 64, 100, 256};
    *seed = *seed * 1664525u + 1013904223u;
    return numbers[(*seed >> 8) % (sizeof numbers / sizeof *numbers)];
}

/* Half of the buffers hold floats, the others small integers. */
static void fill_buffers(uint32_t seed)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        for (size_t at = 0; at < BUFFER_BYTES; at += 4) {
            uint32_t n = next_number(&seed) + (uint32_t)(at / 4) % 7;
            float f = (float)n * 0.25F;
            memcpy(buffer_at(i) + at, i % 2 ? (const void *)&n : (const void *)&f, 4);
        }
}

static unsigned make_args(const struct co_kernel_meta *meta, uint32_t seed,
                          struct la_arg args[MAX_ARGS])
{
    static uint64_t pointers[MAX_ARGS];
    static uint32_t numbers[MAX_ARGS][64];
    for (unsigned i = 0; i < meta->n_explicit_args; i++) {
        const struct co_arg *a = &meta->args[i];
        args[i] = (struct la_arg){.bytes = a->bytes, .text = ""};
        if (a->kind == CO_VALUE_GLOBAL_BUFFER) {
            pointers[i] = (uintptr_t)buffer_at(i % BUFFERS);
            args[i].cls = LA_POINTER;
            args[i].value = &pointers[i];
            continue;
        }
        for (unsigned k = 0; k < 64; k++)
            numbers[i][k] = next_number(&seed);
        if (a->bytes == 8) /* rather a size than two numbers */
            numbers[i][1] = 0;
        args[i].cls = LA_BYTES;
        args[i].value = numbers[i];
    }
    return meta->n_explicit_args;
}

static struct la_shape shape_of(const struct co_kernel_meta *meta)
{
    struct la_shape s = {.groups = {3, 2, 1}, .block = {64, 1, 1}};
    if (meta->reqd_workgroup_size[0])
        memcpy(s.block, meta->reqd_workgroup_size, sizeof s.block);
    else if (meta->max_flat_workgroup_size)
        s.block[0] =
            meta->max_flat_workgroup_size < 256 ? meta->max_flat_workgroup_size : 256;
    return s;
}

/* False: it cannot be launched so. */
static bool run_way(struct la *la, unsigned way, const struct la_kernel *kernel,
                    uint32_t seed, struct outcome *out)
{
    struct la_arg args[MAX_ARGS];
    struct la_shape shape = shape_of(kernel->meta);
    struct la_mark mark = la_mark(la);
    struct emu_dispatch dispatch;
    struct la_error err;
    struct emu_stats stats = {0};
    unsigned n = make_args(kernel->meta, seed, args);
    *out = (struct outcome){.entry = kernel->entry_gpuva, .memory = kept[way]};
    if (la_prepare(la, kernel, &shape, args, n, &dispatch, &err) != RD_OK)
        return false;
    fill_buffers(seed);
    dispatch.control = &control;
    control = EMU_CONTROL_RUN;
    set_timer(way == INTERP ? LIMIT_MS : MOST_MS);
    out->status = emu_run(la_emu(la), &dispatch, &out->fault, &stats);
    set_timer(0);
    out->instructions = stats.instructions;
    for (unsigned i = 0; i < BUFFERS; i++)
        memcpy(kept[way] + (size_t)i * BUFFER_BYTES, buffer_at(i), BUFFER_BYTES);
    la_rewind(la, mark);
    return true;
}

static bool same_fault(const struct outcome *a, const struct outcome *b)
{
    const struct emu_fault *f = &a->fault, *g = &b->fault;
    return f->kind == g->kind && f->pc - a->entry == g->pc - b->entry &&
           memcmp(f->workgroup, g->workgroup, sizeof f->workgroup) == 0 &&
           f->wave == g->wave && f->lane == g->lane && f->bytes == g->bytes &&
           strcmp(f->inst, g->inst) == 0;
}

static const char *difference(const struct outcome *a, const struct outcome *b)
{
    if (a->status != b->status)
        return rd_status_text(b->status);
    if (a->status == RD_E_FAULT && !same_fault(a, b))
        return "another fault";
    if (a->instructions != b->instructions)
        return "another number of instructions";
    return memcmp(a->memory, b->memory, ALL_BYTES) ? "other memory" : NULL;
}

static void compare(struct la *const la[WAYS], const struct la_kernel kernel[WAYS],
                    const char *file)
{
    for (uint32_t seed = 1; seed <= VARIANTS; seed++) {
        struct outcome out[WAYS];
        if (!run_way(la[INTERP], INTERP, &kernel[INTERP], seed, &out[INTERP])) {
            total.refused++;
            return;
        }
        if (out[INTERP].status == RD_E_TIMEOUT) {
            total.stopped++;
            continue;
        }
        if (!run_way(la[NATIVE], NATIVE, &kernel[NATIVE], seed, &out[NATIVE]))
            continue;
        const char *what = difference(&out[INTERP], &out[NATIVE]);
        total.runs++;
        total.faulted += out[INTERP].status == RD_E_FAULT;
        if (!what)
            continue;
        total.differ++;
        printf("%s: %s, arguments %u: %s (interpreted: %s)\n", file,
               kernel[INTERP].name, seed, what, rd_status_text(out[INTERP].status));
    }
}

/* An emulator that sees the buffers; NULL: none. */
static struct la *create(unsigned way)
{
    struct la_error err;
    struct la *la;
    if (la_create(&configs[way], &la, &err) != RD_OK)
        return NULL;
    for (unsigned i = 0; i < BUFFERS; i++)
        if (emu_mem_add(la_emu(la), (uintptr_t)buffer_at(i), BUFFER_BYTES,
                        EMU_MEM_READ | EMU_MEM_WRITE, "buffer") != RD_OK) {
            la_destroy(la);
            return NULL;
        }
    return la;
}

static void run_kernel(const void *data, size_t size, const char *name,
                       const char *file)
{
    struct la *la[WAYS] = {create(INTERP), create(NATIVE)};
    struct la_kernel kernel[WAYS];
    struct la_error err;
    bool ready = la[INTERP] && la[NATIVE];
    for (unsigned way = 0; way < WAYS && ready; way++)
        ready = la_load_object(la[way], data, size, name, &kernel[way], &err) == RD_OK;
    if (ready && kernel[0].meta && kernel[0].meta->n_explicit_args <= MAX_ARGS) {
        total.kernels++;
        compare(la, kernel, file);
    } else {
        total.refused++;
    }
    for (unsigned way = 0; way < WAYS; way++)
        if (la[way])
            la_destroy(la[way]);
}

static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    void *data = NULL;
    long end = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    if (end > 0 && (data = malloc((size_t)end)) != NULL) {
        rewind(f);
        *size = fread(data, 1, (size_t)end, f);
    }
    if (f)
        fclose(f);
    return data;
}

static bool run_file(const char *path)
{
    struct co_object *obj;
    struct co_error err;
    size_t size = 0;
    void *data = read_file(path, &size);
    if (!data || co_open(data, size, &obj, &err) != RD_OK) {
        fprintf(stderr, "error: %s: %s\n", path, data ? err.text : "cannot be read");
        free(data);
        return false;
    }
    for (unsigned i = 0; i < co_kernel_count(obj); i++)
        run_kernel(data, size, co_kernel_at(obj, i)->name, path);
    co_close(obj);
    free(data);
    total.files++;
    return true;
}

int main(int argc, char **argv)
{
    bool good = argc > 1;
    buffers = mmap(NULL, (2 * BUFFERS + 1) * (size_t)BUFFER_BYTES,
                   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    kept[INTERP] = malloc(ALL_BYTES);
    kept[NATIVE] = malloc(ALL_BYTES);
    if (buffers == MAP_FAILED || !kept[INTERP] || !kept[NATIVE]) {
        fputs("error: out of memory\n", stderr);
        return 1;
    }
    if (!good)
        fputs("usage: code_objects FILE...\n", stderr);
    for (int i = 1; i < argc; i++)
        good &= run_file(argv[i]);
    printf(
        "%u files, %u kernels, %u runs of both (%u faulted), %u stopped, %u refused, "
        "%u differ\n",
        total.files, total.kernels, total.runs, total.faulted, total.stopped,
        total.refused, total.differ);
    free(kept[INTERP]);
    free(kept[NATIVE]);
    return good && total.differ == 0 && total.runs ? 0 : 1;
}
