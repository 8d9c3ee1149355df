/* code_objects.c: kernels that others compiled, interpreted and as native code.
 *
 *     code_objects FILE...     code objects or offload bundles
 *
 * Every kernel runs with made-up arguments: buffers for pointers, small numbers for all
 * else. A number whose increase moves the address of a fault by as much is a pointer,
 * too: assembly kernels call them values. If faults remain, buffers begin with
 * addresses of buffers. What it does with them need not make sense; both ways it must
 * do the same: status and fault, instructions, buffers. A kernel that does not end in
 * time is left out, and counted as such. SPDX-License-Identifier: MIT
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
#define BUFFER_BYTES (256u << 10)
#define ALL_BYTES    (BUFFERS * BUFFER_BYTES)
#define VARIANTS     3u  /* seeds 1 to so many */
#define LIMIT_MS     300 /* of the interpreter */
#define MOST_MS      30000
#define PROBE_HIGH   256u /* added to the upper half of a number: 2^40 */
#define NO_PROBE     MAX_ARGS
#define ADDRESSES    64u

enum { INTERP, NATIVE, WAYS };

static const struct emu_config configs[WAYS] = {
    [INTERP] = {.threads = 1, .engine = EMU_ENGINE_INTERP},
    [NATIVE] = {.threads = 1, .engine = EMU_ENGINE_JIT, .native_hot = 1},
};

/* What is known of a kernel's arguments. */
struct known {
    uint64_t pointers; /* by value; a bit each */
    bool addresses;    /* buffers begin with some */
    unsigned probe;    /* the argument to be increased, or NO_PROBE */
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

/* What buffers hold with a seed: half of them floats, the others small integers. */
static const uint8_t *contents_of(uint32_t seed)
{
    static uint8_t *contents[VARIANTS + 1];
    uint8_t *c = contents[seed] ? contents[seed] : malloc(ALL_BYTES);
    if (!c)
        abort();
    uint32_t random = seed;
    for (size_t at = 0; !contents[seed] && at < ALL_BYTES; at += 4) {
        uint32_t n = next_number(&random) + (uint32_t)(at % BUFFER_BYTES / 4) % 7;
        float f = (float)n * 0.25F;
        memcpy(c + at, at / BUFFER_BYTES % 2 ? (const void *)&n : (const void *)&f, 4);
    }
    contents[seed] = c;
    return c;
}

static void fill_buffers(uint32_t seed, bool addresses)
{
    const uint8_t *contents = contents_of(seed);
    for (unsigned i = 0; i < BUFFERS; i++)
        memcpy(buffer_at(i), contents + (size_t)i * BUFFER_BYTES, BUFFER_BYTES);
    for (unsigned i = 0; i < BUFFERS && addresses; i++)
        for (unsigned k = 0; k < ADDRESSES; k++) {
            uint64_t address = (uintptr_t)buffer_at((i + k) % BUFFERS);
            memcpy(buffer_at(i) + sizeof address * k, &address, sizeof address);
        }
}

static unsigned make_args(const struct co_kernel_meta *meta, uint32_t seed,
                          const struct known *known, struct la_arg args[MAX_ARGS])
{
    static uint64_t pointers[MAX_ARGS];
    static uint32_t numbers[MAX_ARGS][64];
    for (unsigned i = 0; i < meta->n_explicit_args; i++) {
        const struct co_arg *a = &meta->args[i];
        args[i] = (struct la_arg){.bytes = a->bytes, .text = ""};
        bool is_pointer = known->pointers >> i & 1;
        if (a->kind == CO_VALUE_GLOBAL_BUFFER || is_pointer) {
            pointers[i] = (uintptr_t)buffer_at(i % BUFFERS);
            args[i].cls = is_pointer ? LA_BYTES : LA_POINTER;
            args[i].value = &pointers[i];
            continue;
        }
        for (unsigned k = 0; k < 64; k++)
            numbers[i][k] = next_number(&seed);
        if (a->bytes == 8) /* rather a size than two numbers */
            numbers[i][1] = known->probe == i ? PROBE_HIGH : 0;
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
                    uint32_t seed, const struct known *known, struct outcome *out)
{
    struct la_arg args[MAX_ARGS];
    struct la_shape shape = shape_of(kernel->meta);
    struct la_mark mark = la_mark(la);
    struct emu_dispatch dispatch;
    struct la_error err;
    struct emu_stats stats = {0};
    unsigned n = make_args(kernel->meta, seed, known, args);
    *out = (struct outcome){.entry = kernel->entry_gpuva, .memory = kept[way]};
    if (la_prepare(la, kernel, &shape, args, n, &dispatch, &err) != RD_OK)
        return false;
    fill_buffers(seed, known->addresses);
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

/* Does the access that faults move with this argument? */
static bool moves(struct la *la, const struct la_kernel *kernel, uint32_t seed,
                  const struct known *probe, const struct outcome *base)
{
    struct outcome out;
    return run_way(la, INTERP, kernel, seed, probe, &out) && out.status == RD_E_FAULT &&
           out.fault.address == base->fault.address + ((uint64_t)PROBE_HIGH << 32);
}

/* The argument whose value is where the kernel faults, or NO_PROBE. */
static unsigned find_pointer(struct la *la, const struct la_kernel *kernel,
                             uint32_t seed, const struct known *known,
                             const struct outcome *fault)
{
    const struct co_kernel_meta *meta = kernel->meta;
    for (unsigned i = 0; i < meta->n_explicit_args; i++) {
        struct known probe = *known;
        probe.probe = i;
        if (meta->args[i].kind == CO_VALUE_BY_VALUE && meta->args[i].bytes == 8 &&
            !(known->pointers >> i & 1) && moves(la, kernel, seed, &probe, fault))
            return i;
    }
    return NO_PROBE;
}

/* Run interpreted, looking for pointers among the numbers until the kernel finds memory
 * or none is found. False: it cannot be launched so. */
static bool run_interpreted(struct la *la, const struct la_kernel *kernel,
                            uint32_t seed, struct known *known, struct outcome *out)
{
    while (run_way(la, INTERP, kernel, seed, known, out)) {
        if (out->status != RD_E_FAULT)
            return true;
        unsigned i = find_pointer(la, kernel, seed, known, out);
        if (i != NO_PROBE)
            known->pointers |= UINT64_C(1) << i;
        else if (!known->addresses)
            known->addresses = true;
        else
            return run_way(la, INTERP, kernel, seed, known, out);
    }
    return false;
}

/* The same object, loaded twice. */
struct pair {
    struct la *la[WAYS];
    struct la_kernel kernel[WAYS];
    const void *data;
    size_t size;
};

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

static void unload(struct pair *p)
{
    for (unsigned way = 0; way < WAYS; way++)
        if (p->la[way])
            la_destroy(p->la[way]);
    p->la[INTERP] = p->la[NATIVE] = NULL;
}

static bool load(struct pair *p, const char *kernel)
{
    struct la_error err;
    bool ready = true;
    for (unsigned way = 0; way < WAYS && ready; way++) {
        p->la[way] = create(way);
        ready = p->la[way] && la_load_object(p->la[way], p->data, p->size, kernel,
                                             &p->kernel[way], &err) == RD_OK;
    }
    if (!ready)
        unload(p);
    return ready;
}

/* Choose another kernel of the object. */
static bool choose(struct pair *p, unsigned number)
{
    for (unsigned way = 0; way < WAYS; way++) {
        struct la_kernel *k = &p->kernel[way];
        const struct co_kernel *found = co_kernel_at(k->object, number);
        if (co_kernel_check(k->object, found, NULL) != RD_OK)
            return false;
        k->name = found->name;
        k->desc = found->desc;
        k->meta = found->meta;
        k->entry_gpuva = k->image_gpuva + found->entry_offset;
        k->desc_gpuva = k->image_gpuva + found->desc_offset;
    }
    return p->kernel[0].meta && p->kernel[0].meta->n_explicit_args <= MAX_ARGS;
}

static void compare(struct pair *p, uint32_t seed, const char *file)
{
    const struct la_kernel *kernel = p->kernel;
    struct outcome out[WAYS];
    struct known known = {.probe = NO_PROBE};
    if (!run_interpreted(p->la[INTERP], &kernel[INTERP], seed, &known, &out[INTERP])) {
        total.refused++;
        return;
    }
    if (out[INTERP].status == RD_E_TIMEOUT) {
        total.stopped++;
        unload(p); /* what it leaves in the object is chance */
        return;
    }
    if (!run_way(p->la[NATIVE], NATIVE, &kernel[NATIVE], seed, &known, &out[NATIVE]))
        return;
    const char *what = difference(&out[INTERP], &out[NATIVE]);
    total.runs++;
    total.faulted += out[INTERP].status == RD_E_FAULT;
    if (!what)
        return;
    total.differ++;
    printf("%s: %s, arguments %u: %s (interpreted: %s)\n", file, kernel[INTERP].name,
           seed, what, rd_status_text(out[INTERP].status));
}

static void run_kernels(const struct co_object *obj, struct pair *p, const char *file)
{
    for (unsigned i = 0; i < co_kernel_count(obj); i++) {
        bool ready = true;
        for (uint32_t seed = 1; seed <= VARIANTS && ready; seed++) {
            ready =
                (p->la[INTERP] || load(p, co_kernel_at(obj, i)->name)) && choose(p, i);
            if (ready)
                compare(p, seed, file);
        }
        if (ready)
            total.kernels++;
        else
            total.refused++;
    }
    unload(p);
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
    run_kernels(obj, &(struct pair){.data = data, .size = size}, path);
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
