/* gpus.c: see gpus.h. SPDX-License-Identifier: MIT */
#include "../suite.h"
#include "gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"

#define LABELS 32u

/* ---- programs ----------------------------------------------------------------------
 */

struct label {
    char name[24];
    size_t at;
};

struct text {
    struct label label[LABELS];
    unsigned n_labels, lanes;
    uint8_t *code;
    size_t n;
};

static int distance(const struct text *t, const char *name)
{
    for (unsigned i = 0; i < t->n_labels; i++)
        if (strcmp(t->label[i].name, name) == 0)
            return ((int)t->label[i].at - (int)t->n - 4) / 4;
    return 0; /* in the first pass */
}

static void put_line(struct text *t, char *line)
{
    char statement[160];
    line += strspn(line, " ");
    size_t n = strlen(line);
    if (n == 0)
        return;
    if (line[n - 1] == ':') {
        struct label *l = &t->label[t->n_labels++];
        ck_assert_uint_le(t->n_labels, LABELS);
        snprintf(l->name, sizeof l->name, "%.*s", (int)n - 1, line);
        l->at = t->n;
        return;
    }
    char *at = strchr(line, '@');
    if (at)
        snprintf(statement, sizeof statement, "%.*s%d", (int)(at - line), line,
                 distance(t, at + 1));
    else
        snprintf(statement, sizeof statement, "%s", line);
    /* masks of vector instructions */
    for (char *p = statement;
         t->lanes == 64 && statement[0] == 'v' && (p = strstr(p, "vcc_lo"));)
        memmove(p + 3, p + 6, strlen(p + 6) + 1);
    ck_assert_uint_le(t->n + 20, GPU_CODE);
    t->n += arena_assemble(statement, t->lanes, t->code + t->n);
}

size_t gpus_assemble(const char *text, unsigned lanes, uint8_t *code)
{
    struct text t = {.lanes = lanes, .code = malloc(GPU_CODE)};
    ck_assert_ptr_nonnull(t.code);
    for (unsigned pass = 0; pass < 2; pass++) {
        char *copy = strdup(text), *rest = copy, *line;
        unsigned labels = t.n_labels;
        t.n = 0;
        while ((line = strsep(&rest, "\n")))
            put_line(&t, line);
        if (pass == 1) /* the same ones again */
            ck_assert_uint_eq(t.n_labels, 2 * labels);
        free(copy);
    }
    memcpy(code, t.code, t.n);
    free(t.code);
    return t.n;
}

static uint64_t away; /* from the address in emulators to the host's */

bool gpus_away(void)
{
    return away != 0;
}

static uint64_t place_of(const void *p)
{
    return (uint64_t)(uintptr_t)p - away;
}

size_t gpus_place(struct gpus *g, const char *text)
{
    size_t n = gpus_assemble(text, g->wave64 ? 64 : 32, g->code);
    for (unsigned i = 0; i < GPU_COUNT; i++)
        emu_code_changed(g->emu[i], place_of(g->code), GPU_CODE);
    return n;
}

/* ---- emulators ---------------------------------------------------------------------
 */

bool gpus_possible(enum emu_simd simd)
{
    const struct emu_config config = {.simd = simd, .engine = EMU_ENGINE_JIT};
    struct emu *emu;
    rd_status st = emu_create(&config, &emu);
    if (st == RD_OK)
        emu_destroy(emu);
    else
        ck_assert_int_eq(st, RD_E_UNSUPPORTED);
    return st == RD_OK;
}

int gpus_main(int argc, char **argv, enum emu_simd *level, Suite *(*suite)(void))
{
    if (argc > 1 && strcmp(argv[1], "avx512") == 0)
        *level = EMU_SIMD_AVX512;
    if (strcmp(argv[argc - 1], "away") == 0)
        away = 0x500000000000;
    if (!gpus_possible(*level)) {
        printf("skipped: the host has no %s\n", emu_simd_name(*level));
        return 77;
    }
    return suite_run(suite());
}

static void *map(size_t bytes)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    return p;
}

static void add(struct emu *emu, void *p, size_t bytes, unsigned perm, const char *name)
{
    ck_assert_int_eq(emu_mem_place(emu, place_of(p), p, bytes, perm, name), RD_OK);
}

void gpus_create(struct gpus *g, enum emu_simd simd, unsigned threads,
                 size_t walk_bytes)
{
    size_t quarter = GPU_DATA / 4;
    const struct emu_config configs[GPU_COUNT] = {
        [GPU_INTERP] = {.engine = EMU_ENGINE_INTERP, .count = true},
        [GPU_NATIVE] = {.engine = EMU_ENGINE_JIT, .native_hot = 1},
        [GPU_COUNTED] = {.engine = EMU_ENGINE_JIT, .native_hot = 1, .count = true},
    };
    g->wave64 = false;
    g->code = map(GPU_CODE);
    g->data = map(GPU_DATA);
    g->walk_bytes = walk_bytes ? walk_bytes : 3 * quarter;
    for (unsigned i = 0; i < GPU_COUNT; i++) {
        struct emu_config config = configs[i];
        config.simd = simd;
        config.threads = threads;
        ck_assert_int_eq(emu_create(&config, &g->emu[i]), RD_OK);
        add(g->emu[i], g->code, GPU_CODE, EMU_MEM_READ | EMU_MEM_EXEC, "code");
        add(g->emu[i], g->data, g->walk_bytes, EMU_MEM_READ | EMU_MEM_WRITE, "walk");
        add(g->emu[i], g->data + 3 * quarter, quarter, EMU_MEM_READ | EMU_MEM_WRITE,
            "results");
    }
}

void gpus_destroy(struct gpus *g)
{
    for (unsigned i = 0; i < GPU_COUNT; i++)
        emu_destroy(g->emu[i]);
    munmap(g->code, GPU_CODE);
    munmap(g->data, GPU_DATA);
}

/* ---- running -----------------------------------------------------------------------
 */

struct emu_dispatch gpus_dispatch(const struct gpus *g, const struct load *load)
{
    uint64_t data = place_of(g->data), results = data + GPU_DATA / 4 * 3;
    struct emu_dispatch d = {
        .entry = place_of(g->code),
        .groups = {load->groups ? load->groups : 1, 1, 1},
        .block = {(g->wave64 ? 64 : 32) * (load->waves ? load->waves : 1), 1, 1},
        .wave64 = g->wave64,
        /* 64 VGPRs; f16 and f64 denormals are kept */
        .rsrc1 = (g->wave64 ? 15u : 7u) | 0xf0u << 12,
        .rsrc2 = 1u << 7, /* workgroup id x */
        .lds_bytes = load->lds_bytes,
        .scratch_bytes = load->scratch_bytes,
        .n_user_sgprs = 8,
        .user_sgpr = {(uint32_t)data, (uint32_t)(data >> 32), (uint32_t)results,
                      (uint32_t)(results >> 32)},
    };
    memcpy(d.user_sgpr + 4, load->param, sizeof load->param);
    return d;
}

struct result gpus_run(const struct gpus *g, unsigned which, const struct load *load)
{
    struct emu_dispatch d = gpus_dispatch(g, load);
    struct result r;
    memset(&r, 0, sizeof r);
    r.status = emu_run(g->emu[which], &d, &r.fault, &r.stats);
    return r;
}

void gpus_fill(const struct gpus *g, uint32_t seed)
{
    uint32_t *words = (uint32_t *)(void *)g->data;
    for (size_t i = 0; i < GPU_DATA / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        words[i] = seed >> 8;
    }
}

static void keep_count(void *ctx, unsigned op, uint64_t count)
{
    ((uint64_t *)ctx)[op] = count;
}

static void same_counts(const struct gpus *g, const char *name)
{
    uint64_t want[ISA_OP_COUNT] = {0}, got[ISA_OP_COUNT] = {0};
    emu_count_each(g->emu[GPU_INTERP], keep_count, want);
    emu_count_each(g->emu[GPU_COUNTED], keep_count, got);
    for (unsigned op = 0; op < ISA_OP_COUNT; op++)
        if (got[op] != want[op])
            ck_abort_msg("%s: %s: counted %llu, interpreter %llu", name,
                         isa_op_name(op), (unsigned long long)got[op],
                         (unsigned long long)want[op]);
}

static void same_result(const struct result *a, const struct result *b,
                        const char *name)
{
    char want[512] = "", got[512] = "";
    if (a->status == RD_E_FAULT)
        emu_fault_text(&a->fault, want, sizeof want);
    if (b->status == RD_E_FAULT)
        emu_fault_text(&b->fault, got, sizeof got);
    ck_assert_msg(a->status == b->status && strcmp(want, got) == 0,
                  "%s: status %d %s\ninterpreter: %d %s", name, b->status, got,
                  a->status, want);
    ck_assert_int_eq(a->fault.kind, b->fault.kind);
    ck_assert_uint_eq(a->fault.pc, b->fault.pc);
    ck_assert_int_eq(a->fault.lane, b->fault.lane);
    ck_assert_uint_eq(a->fault.address, b->fault.address);
    ck_assert_uint_eq(a->fault.bytes, b->fault.bytes);
    ck_assert_int_eq(a->fault.write, b->fault.write);
    ck_assert_uint_eq(a->fault.workgroup[0], b->fault.workgroup[0]);
    ck_assert_uint_eq(a->fault.wave, b->fault.wave);
    ck_assert_msg(a->stats.instructions == b->stats.instructions,
                  "%s: %llu instructions, interpreter %llu", name,
                  (unsigned long long)b->stats.instructions,
                  (unsigned long long)a->stats.instructions);
}

static void same_memory(const uint8_t *want, const uint8_t *got, const char *name)
{
    size_t i = 0;
    uint32_t a, b;
    if (memcmp(want, got, GPU_DATA) == 0)
        return;
    while (want[i] == got[i])
        i++;
    i -= i % 4;
    memcpy(&a, want + i, 4);
    memcpy(&b, got + i, 4);
    ck_abort_msg("%s: data + 0x%zx: %08x, interpreter %08x", name, i, b, a);
}

static uint64_t traces(const struct emu *emu)
{
    struct emu_native_stats stats;
    emu_native_stats(emu, &stats);
    ck_assert(stats.bytes >= stats.instructions && stats.blocks >= stats.traces);
    return stats.traces;
}

struct result gpus_compare(struct gpus *g, const struct load *load, const char *name)
{
    uint8_t *before = map(GPU_DATA), *want = map(GPU_DATA);
    memcpy(before, g->data, GPU_DATA);
    struct result first = gpus_run(g, GPU_INTERP, load);
    ck_assert_uint_eq(traces(g->emu[GPU_INTERP]), 0);
    memcpy(want, g->data, GPU_DATA);
    for (unsigned i = GPU_NATIVE; i < GPU_COUNT; i++) {
        memcpy(g->data, before, GPU_DATA);
        struct result r = gpus_run(g, i, load);
        ck_assert_msg(traces(g->emu[i]) > 0, "%s: nothing was compiled", name);
        same_result(&first, &r, name);
        same_memory(want, g->data, name);
    }
    same_counts(g, name);
    munmap(before, GPU_DATA);
    munmap(want, GPU_DATA);
    return first;
}
