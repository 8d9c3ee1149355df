/* test_native.c: what native code may not change: that code which has been replaced
 * stops running, processes, faults, counts, threads, EXEC, MODE.
 *
 *     test_native [avx2 | avx512]
 *
 * Each program runs with the interpreter and with native code of every block; a test
 * fails if no native code was made. SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpus.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
    gpus_fill(&g, 1);
}

static void setup_threads(void)
{
    gpus_create(&g, level, 2, 0);
    gpus_fill(&g, 1);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* ---- code that changes -------------------------------------------------------------
 */

/* v2 += step, so many times a round, written that often: other machine code. Then one
 * dword of each workgroup and lane to results. */
static const char sum_begin[] = "v_mov_b32 v2, 0\n"
                                "s_mov_b32 s9, 0\n"
                                "loop:\n";
static const char sum_end[] = "s_add_u32 s9, s9, 1\n"
                              "s_cmp_lg_u32 s9, %u\n"
                              "s_cbranch_scc1 @loop\n"
                              "v_lshlrev_b32 v1, 2, v0\n"
                              "s_lshl_b32 s10, s8, 7\n"
                              "v_add_nc_u32 v1, s10, v1\n"
                              "global_store_b32 v1, v2, s[2:3]\n"
                              "s_endpgm\n";

static size_t put_sum(uint8_t *code, unsigned step, unsigned times, unsigned rounds)
{
    char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", sum_begin);
    for (unsigned i = 0; i < times; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "v_add_nc_u32 v2, 0x%x, v2\n",
                              step);
    snprintf(text + n, sizeof text - n, sum_end, rounds);
    return gpus_assemble(text, 32, code);
}

static bool sums_are(const struct gpus *m, unsigned groups, uint32_t want)
{
    const uint32_t *results =
        (const uint32_t *)(const void *)(m->data + GPU_DATA / 4 * 3);
    for (unsigned i = 0; i < 32 * groups; i++)
        if (results[i] != want)
            return false;
    return true;
}

/* Run and look; from nothing, as forked processes use it too. */
static bool sum_runs(const struct gpus *m, unsigned which, unsigned groups,
                     uint32_t want)
{
    memset(m->data + GPU_DATA / 4 * 3, 0, GPU_DATA / 4);
    struct result r = gpus_run(m, which, &(struct load){.groups = groups});
    return r.status == RD_OK && sums_are(m, groups, want);
}

static uint64_t traces_of(const struct emu *emu)
{
    struct emu_native_stats stats;
    emu_native_stats(emu, &stats);
    return stats.traces;
}

START_TEST(bytes_change_in_place)
{
    struct emu *emu = g.emu[GPU_NATIVE];
    uint8_t other[512];
    size_t n = put_sum(g.code, 0x1000, 1, 100), at = 0;
    ck_assert_uint_eq(put_sum(other, 0x1001, 1, 100), n);
    while (g.code[at] == other[at])
        at++; /* the literal's lowest byte */
    ck_assert(sum_runs(&g, GPU_NATIVE, 4, 100 * 0x1000));
    for (unsigned i = 1; i < 50; i++) {
        uint64_t before = traces_of(emu);
        g.code[at] = (uint8_t)i;
        emu_code_changed(emu, (uint64_t)(uintptr_t)g.code + at, 1);
        ck_assert_msg(sum_runs(&g, GPU_NATIVE, 4, 100 * (0x1000 + i)), "change %u", i);
        ck_assert(sum_runs(&g, GPU_NATIVE, 4, 100 * (0x1000 + i)));
        ck_assert_uint_gt(traces_of(emu), before);
    }
    ck_assert_uint_eq(put_sum(g.code, 0x1000, 1, 90), n); /* another end */
    emu_code_changed(emu, (uint64_t)(uintptr_t)g.code, n);
    ck_assert(sum_runs(&g, GPU_NATIVE, 4, 90 * 0x1000));
}
END_TEST

START_TEST(region_added_again)
{
    struct emu *emu = g.emu[GPU_NATIVE];
    uint64_t va = (uint64_t)(uintptr_t)g.code;
    put_sum(g.code, 0x1000, 1, 50);
    ck_assert(sum_runs(&g, GPU_NATIVE, 4, 50 * 0x1000));
    for (unsigned i = 1; i < 30; i++) {
        ck_assert_int_eq(emu_mem_remove(emu, va), RD_OK);
        struct result r = gpus_run(&g, GPU_NATIVE, &(struct load){.groups = 1});
        ck_assert_int_eq(r.status, RD_E_FAULT);
        ck_assert_int_eq(r.fault.kind, EMU_FAULT_FETCH);
        put_sum(g.code, 0x1000 + i, 1 + i % 5, 50 + i);
        ck_assert_int_eq(
            emu_mem_add(emu, va, GPU_CODE, EMU_MEM_READ | EMU_MEM_EXEC, "code"), RD_OK);
        ck_assert_msg(
            sum_runs(&g, GPU_NATIVE, 4, (50 + i) * (0x1000 + i) * (1 + i % 5)),
            "region %u", i);
    }
}
END_TEST

/* Code so far behind its region's begin that entries of its table have no displacement
 * of 32 bits; and in a region of more than 4 GiB, whose tables are 20 GiB and more of
 * pages that nobody touches. */
START_TEST(code_far_in_region)
{
    const size_t far = _i ? ((size_t)4 << 30) + 16 : 516u << 20;
    const size_t bytes = far + GPU_CODE;
    uint8_t *region = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(region, MAP_FAILED);
    struct emu *emu = g.emu[GPU_NATIVE];
    struct gpus at_end = g;
    at_end.code = region + far;
    put_sum(at_end.code, 0x1000, 1, 50);
    uint64_t va = (uint64_t)(uintptr_t)region;
    ck_assert_int_eq(emu_mem_add(emu, va, bytes, EMU_MEM_READ | EMU_MEM_EXEC, "large"),
                     RD_OK);
    ck_assert(sum_runs(&at_end, GPU_NATIVE, 4, 50 * 0x1000));
    ck_assert(sum_runs(&at_end, GPU_NATIVE, 4, 50 * 0x1000));
    ck_assert_uint_gt(traces_of(emu), 0);
    ck_assert_int_eq(emu_mem_remove(emu, va), RD_OK);
    munmap(region, bytes);
}
END_TEST

/* ---- processes ---------------------------------------------------------------------
 */

static void change_sum(unsigned step, unsigned times)
{
    size_t n = put_sum(g.code, step, times, 100);
    emu_code_changed(g.emu[GPU_NATIVE], (uint64_t)(uintptr_t)g.code, n);
}

static void tell(int fd)
{
    if (write(fd, "x", 1) != 1)
        _exit(9);
}

static void listen_to(int fd)
{
    char c;
    if (read(fd, &c, 1) != 1)
        _exit(8);
}

/* Old code, its own new code; then, when the parent has made other code, its own again.
 * Returns the step that failed. */
static int child_runs(int from_parent, int to_parent)
{
    if (!sum_runs(&g, GPU_NATIVE, 8, 100 * 0x1111))
        return 1;
    change_sum(0x2222, 2);
    if (!sum_runs(&g, GPU_NATIVE, 8, 200 * 0x2222))
        return 2;
    tell(to_parent);
    listen_to(from_parent);
    if (!sum_runs(&g, GPU_NATIVE, 8, 200 * 0x2222))
        return 3;
    change_sum(0x4444, 4);
    return sum_runs(&g, GPU_NATIVE, 8, 400 * 0x4444) ? 0 : 4;
}

START_TEST(after_fork)
{
    int down[2], up[2], status;
    put_sum(g.code, 0x1111, 1, 100);
    ck_assert(sum_runs(&g, GPU_NATIVE, 8, 100 * 0x1111));
    ck_assert_int_eq(pipe(down), 0);
    ck_assert_int_eq(pipe(up), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(child_runs(down[0], up[1]));
    ck_assert_int_gt(child, 0);
    listen_to(up[0]); /* the child has made code */
    ck_assert(sum_runs(&g, GPU_NATIVE, 8, 100 * 0x1111));
    change_sum(0x3333, 3);
    ck_assert(sum_runs(&g, GPU_NATIVE, 8, 300 * 0x3333));
    tell(down[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert(sum_runs(&g, GPU_NATIVE, 8, 300 * 0x3333));
    for (unsigned i = 0; i < 2; i++) {
        close(down[i]);
        close(up[i]);
    }
}
END_TEST

/* ---- faults ------------------------------------------------------------------------
 */

#define WALK (999u * 128u + 72u) /* bytes: the 1000th row has 18 dwords */

/* s4: EXEC, s5: bytes from lane to lane; v1 walks by 128 or s6. Each round leaves its
 * number and a sum in results, so that these show how far it came. */
static const char fault_frame[] = "v_mul_lo_u32 v1, v0, s5\n"
                                  "v_lshlrev_b32 v7, 2, v0\n"
                                  "v_mov_b32 v4, 0\n"
                                  "v_mov_b32 v5, 7\n"
                                  "v_mov_b32 v6, 9\n"
                                  "s_mov_b32 s9, 0\n"
                                  "s_mov_b32 s10, 0\n"
                                  "s_mov_b32 exec_lo, s4\n"
                                  "loop:\n"
                                  "s_add_u32 s9, s9, 1\n"
                                  "v_add_nc_u32 v4, s9, v4\n"
                                  "global_store_b32 v7, v4, s[2:3]\n"
                                  "%s\n"
                                  "s_waitcnt vmcnt(0) & lgkmcnt(0)\n"
                                  "v_add_nc_u32 v4, v4, v5\n"
                                  "global_store_b32 v7, v4, s[2:3] offset:128\n"
                                  "v_add_nc_u32 v1, s6, v1\n"
                                  "s_add_u32 s10, s10, s6\n"
                                  "s_cmp_lt_u32 s9, 1500\n"
                                  "s_cbranch_scc1 @loop\n"
                                  "s_endpgm\n";

static const struct fault_case {
    const char *inst;
    enum emu_fault_kind kind;
    uint32_t apart, step, lds;
} fault_cases[] = {
    {"global_load_b32 v5, v1, s[0:1]", EMU_FAULT_UNMAPPED, 4, 128, 0},
    {"global_load_b32 v5, v1, s[0:1] offset:4", EMU_FAULT_UNMAPPED, 4, 128, 0},
    {"global_load_b32 v1, v1, s[0:1]\nv_mul_u32_u24 v1, s9, s6", EMU_FAULT_UNMAPPED, 4,
     128, 0},
    {"global_load_b32 v5, v1, s[0:1]", EMU_FAULT_UNMAPPED, 0, 128, 0},
    {"global_load_b32 v5, v1, s[0:1]", EMU_FAULT_UNMAPPED, 20, 128, 0},
    {"global_load_b64 v[5:6], v1, s[0:1]", EMU_FAULT_UNMAPPED, 8, 128, 0},
    {"global_load_b128 v[8:11], v1, s[0:1]", EMU_FAULT_UNMAPPED, 16, 128, 0},
    {"global_store_b32 v1, v4, s[0:1]", EMU_FAULT_UNMAPPED, 4, 128, 0},
    {"global_store_b32 v1, v4, s[0:1]", EMU_FAULT_UNMAPPED, 12, 128, 0},
    {"global_store_b64 v1, v[4:5], s[0:1]", EMU_FAULT_UNMAPPED, 8, 128, 0},
    {"global_store_b128 v1, v[4:7], s[0:1]", EMU_FAULT_UNMAPPED, 16, 128, 0},
    {"ds_load_b32 v5, v1", EMU_FAULT_LDS_RANGE, 4, 32, 32064},
    {"ds_store_b32 v1, v4", EMU_FAULT_LDS_RANGE, 4, 32, 32064},
    {"ds_load_b64 v[5:6], v1", EMU_FAULT_LDS_RANGE, 8, 32, 32064},
    {"ds_load_2addr_b32 v[5:6], v1 offset0:0 offset1:1", EMU_FAULT_LDS_RANGE, 8, 32,
     32064},
    {"ds_store_b32 v1, v4", EMU_FAULT_LDS_RANGE, 36, 32, 32064},
    {"s_load_b32 s11, s[0:1], s10", EMU_FAULT_UNMAPPED, 4, 128, 0},
    {"s_load_b128 s[12:15], s[0:1], s10", EMU_FAULT_UNMAPPED, 4, 128, 0},
};
#define N_FAULT_CASES (sizeof fault_cases / sizeof *fault_cases)

static const uint32_t masks[] = {~0u, 0xfffffff0, 0x80000000, 0x00ff00ff, 1};
#define N_MASKS (sizeof masks / sizeof *masks)

START_TEST(faults)
{
    const struct fault_case *c = &fault_cases[_i];
    char text[1024], name[160];
    gpus_create(&g, level, 1, WALK);
    snprintf(text, sizeof text, fault_frame, c->inst);
    gpus_place(&g, text);
    for (unsigned i = 0; i < N_MASKS; i++) {
        struct load load = {.lds_bytes = c->lds,
                            .param = {masks[i], c->apart, c->step}};
        snprintf(name, sizeof name, "%s, EXEC %08x", c->inst, masks[i]);
        gpus_fill(&g, 7);
        struct result r = gpus_compare(&g, &load, name);
        ck_assert_msg(r.status == RD_E_FAULT && r.fault.kind == c->kind,
                      "%s: status %d, fault %d", name, r.status, r.fault.kind);
        ck_assert_uint_gt(r.stats.instructions, 5000); /* deep in the loop */
    }
    gpus_destroy(&g);
}
END_TEST

/* Long blocks of what takes most code, so much together that it does not fit in one
 * trace: all are compiled all the same. */
START_TEST(long_traces)
{
    static char text[32768];
    bool wave64 = _i;
    gpus_create(&g, level, 1, 0);
    g.wave64 = wave64;
    size_t n = (size_t)snprintf(text, sizeof text,
                                "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 s9, 3\nloop:\n");
    for (unsigned i = 0; i < 480; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              i % 2 ? "ds_store_b32 v1, v%u offset:%u\n"
                                    : "global_load_b32 v%u, v1, s[0:1] offset:%u\n",
                              4 + (i - i % 2) % 24, 4 * (i % 61));
    snprintf(text + n, sizeof text - n,
             "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 @loop\n"
             "global_store_b32 v1, v10, s[2:3]\ns_endpgm\n");
    gpus_place(&g, text);
    gpus_fill(&g, 7);
    (void)gpus_compare(&g, &(struct load){.groups = 2, .lds_bytes = 1024},
                       "a long loop");
    struct emu_native_stats stats;
    emu_native_stats(g.emu[GPU_NATIVE], &stats);
    ck_assert_uint_gt(stats.instructions, 480);
    gpus_destroy(&g);
}
END_TEST

/* A loop of more pairs of rows than stay in registers, each written at once. */
START_TEST(pairs_in_loops)
{
    static char text[4096];
    gpus_create(&g, level, 1, 0);
    size_t n = (size_t)snprintf(text, sizeof text, "s_mov_b32 s9, 3\nloop:\n");
    for (unsigned i = 0; i < 32; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n, "v_lshlrev_b64 v[%u:%u], 1, v[%u:%u]\n",
            2 + i % 16 * 2, 3 + i % 16 * 2, 2 + (i + 5) % 16 * 2, 3 + (i + 5) % 16 * 2);
    snprintf(text + n, sizeof text - n,
             "v_add_nc_u32 v3, v0, v3\nv_add_nc_u32 v12, v0, v12\n"
             "s_sub_u32 s9, s9, 1\ns_cmp_lg_u32 s9, 0\ns_cbranch_scc1 @loop\n"
             "v_lshlrev_b32 v1, 2, v0\nglobal_store_b32 v1, v3, s[2:3]\n"
             "global_store_b32 v1, v12, s[2:3] offset:128\ns_endpgm\n");
    gpus_place(&g, text);
    gpus_fill(&g, 7);
    (void)gpus_compare(&g, &(struct load){.groups = 2}, "pairs");
    struct emu_native_stats stats;
    emu_native_stats(g.emu[GPU_NATIVE], &stats);
    ck_assert_uint_gt(stats.instructions, 64); /* from its head, too */
    gpus_destroy(&g);
}
END_TEST

/* Several waves, of which the last one's fault is not the first. */
START_TEST(first_fault_of_several)
{
    char text[1024];
    gpus_create(&g, level, 1, WALK);
    snprintf(text, sizeof text, fault_frame, "global_load_b32 v5, v1, s[0:1]");
    gpus_place(&g, text);
    gpus_fill(&g, 7);
    struct load load = {.groups = 5, .param = {~0u, 4, 128}};
    struct result r = gpus_compare(&g, &load, "five workgroups");
    ck_assert_int_eq(r.status, RD_E_FAULT);
    ck_assert_uint_eq(r.fault.workgroup[0], 0);
    gpus_destroy(&g);
}
END_TEST

/* ---- when --------------------------------------------------------------------------
 */

/* Runs of the loop, 100 a workgroup, after which an emulator has code. */
static unsigned runs_before_code(enum emu_engine engine)
{
    struct emu_config config = {.engine = engine, .simd = level, .threads = 1};
    struct emu *emu, *native = g.emu[GPU_NATIVE];
    unsigned runs = 0;
    put_sum(g.code, 0x1000, 1, 100);
    ck_assert_int_eq(emu_create(&config, &emu), RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)g.code, GPU_CODE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)g.data, GPU_DATA,
                                 EMU_MEM_READ | EMU_MEM_WRITE, "data"),
                     RD_OK);
    g.emu[GPU_NATIVE] = emu;
    for (; runs < 100000 && !traces_of(emu); runs += 100)
        ck_assert(sum_runs(&g, GPU_NATIVE, 1, 100 * 0x1000));
    ck_assert(sum_runs(&g, GPU_NATIVE, 64, 100 * 0x1000));
    ck_assert_uint_gt(traces_of(emu), 0);
    g.emu[GPU_NATIVE] = native;
    emu_destroy(emu);
    return runs;
}

/* A block of a kernel that soon ends stays interpreted: the first code of an emulator
 * has to wait longest, unless it was insisted on. */
START_TEST(first_code_waits)
{
    unsigned jit = runs_before_code(EMU_ENGINE_JIT);
    unsigned first = runs_before_code(EMU_ENGINE_AUTO);
    ck_assert_uint_gt(jit, 500);
    ck_assert_uint_lt(jit, 2000);
    ck_assert_uint_gt(first, 20 * jit);
    ck_assert_uint_lt(first, 80000);
}
END_TEST

/* ---- threads -----------------------------------------------------------------------
 */

START_TEST(two_threads)
{
    for (unsigned i = 0; i < 40; i++) {
        change_sum(0x1000 + i, 1 + i % 7);
        for (unsigned k = 0; k < 10; k++)
            ck_assert_msg(
                sum_runs(&g, GPU_NATIVE, 64 + 16 * k, 100 * (0x1000 + i) * (1 + i % 7)),
                "program %u, dispatch %u", i, k);
    }
    ck_assert_uint_gt(traces_of(g.emu[GPU_NATIVE]), 40);
}
END_TEST

#define CALLERS 3u

/* A host thread with programs of its own in the common emulator. */
struct caller {
    pthread_t thread;
    struct gpus m;
    unsigned seed;
    unsigned wrong;
};

static void *call_often(void *arg)
{
    struct caller *c = arg;
    for (unsigned i = 0; i < 60; i++) {
        unsigned step = 0x1000 + c->seed * 0x100 + i;
        size_t n = put_sum(c->m.code, step, 1 + i % 7, 100);
        emu_code_changed(c->m.emu[GPU_NATIVE], (uint64_t)(uintptr_t)c->m.code, n);
        for (unsigned k = 0; k < 4; k++)
            c->wrong += !sum_runs(&c->m, GPU_NATIVE, 8 + 24 * (k & 1),
                                  100 * step * (1 + i % 7));
    }
    return NULL;
}

START_TEST(dispatches_side_by_side)
{
    static struct caller callers[CALLERS];
    struct emu *emu = g.emu[GPU_NATIVE];
    for (unsigned i = 0; i < CALLERS; i++) {
        struct caller *c = &callers[i];
        gpus_create(&c->m, level, 1, 0);
        c->seed = i;
        ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)c->m.code, GPU_CODE,
                                     EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                         RD_OK);
        ck_assert_int_eq(emu_mem_add(emu, (uint64_t)(uintptr_t)c->m.data, GPU_DATA,
                                     EMU_MEM_READ | EMU_MEM_WRITE, "data"),
                         RD_OK);
    }
    struct emu *own[CALLERS];
    for (unsigned i = 0; i < CALLERS; i++) {
        own[i] = callers[i].m.emu[GPU_NATIVE];
        callers[i].m.emu[GPU_NATIVE] = emu;
        ck_assert_int_eq(
            pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (unsigned i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_join(callers[i].thread, NULL), 0);
    for (unsigned i = 0; i < CALLERS; i++) {
        ck_assert_uint_eq(callers[i].wrong, 0);
        callers[i].m.emu[GPU_NATIVE] = own[i];
        gpus_destroy(&callers[i].m);
    }
    ck_assert_uint_gt(traces_of(emu), CALLERS * 60);
}
END_TEST

/* ---- EXEC --------------------------------------------------------------------------
 */

#define STORE_ALL                                                                      \
    "s_mov_b32 exec_lo, -1\n"                                                          \
    "v_lshlrev_b32 v1, 2, v0\n"                                                        \
    "v_mov_b32 v10, s9\n"                                                              \
    "v_mov_b32 v11, s10\n"                                                             \
    "v_mov_b32 v12, vcc_lo\n"                                                          \
    "global_store_b32 v1, v2, s[2:3]\n"                                                \
    "global_store_b32 v1, v3, s[2:3] offset:128\n"                                     \
    "global_store_b32 v1, v10, s[2:3] offset:256\n"                                    \
    "global_store_b32 v1, v11, s[2:3] offset:384\n"                                    \
    "global_store_b32 v1, v12, s[2:3] offset:512\n"                                    \
    "s_endpgm\n"

/* v5: bytes of the lane in data, v4: a number below 256 of each lane. */
#define LOAD_LANES                                                                     \
    "v_lshlrev_b32 v5, 2, v0\n"                                                        \
    "v_mov_b32 v2, 0\n"                                                                \
    "v_mov_b32 v3, 1.0\n"                                                              \
    "global_load_b32 v4, v5, s[0:1]\n"                                                 \
    "s_mov_b32 s9, 0\n"                                                                \
    "s_mov_b32 s10, 0\n"                                                               \
    "s_waitcnt vmcnt(0)\n"                                                             \
    "v_and_b32 v4, 0xff, v4\n"                                                         \
    "s_mov_b32 exec_lo, s4\n"

static const struct {
    const char *name, *text;
} exec_programs[] = {
    {"if in a loop", LOAD_LANES "loop:\n"
                                "v_cmp_gt_u32 vcc_lo, v4, s9\n"
                                "s_and_saveexec_b32 s11, vcc_lo\n"
                                "s_cbranch_execz @endif\n"
                                "v_add_nc_u32 v2, v2, v4\n"
                                "v_add_f32 v3, 1.0, v3\n"
                                "global_load_b32 v6, v5, s[0:1] offset:128\n"
                                "s_waitcnt vmcnt(0)\n"
                                "v_xor_b32 v2, v2, v6\n"
                                "global_store_b32 v5, v2, s[0:1] offset:256\n"
                                "s_add_u32 s10, s10, 1\n"
                                "endif:\n"
                                "s_mov_b32 exec_lo, s11\n"
                                "v_add_nc_u32 v2, 3, v2\n"
                                "s_add_u32 s9, s9, 1\n"
                                "s_cmp_lt_u32 s9, 300\n"
                                "s_cbranch_scc1 @loop\n" STORE_ALL},
    {"if and else", LOAD_LANES "loop:\n"
                               "v_and_b32 v6, s9, v4\n"
                               "v_cmp_ne_u32 vcc_lo, 0, v6\n"
                               "s_and_saveexec_b32 s11, vcc_lo\n"
                               "s_xor_b32 s11, exec_lo, s11\n"
                               "s_cbranch_execz @else\n"
                               "v_lshl_add_u32 v2, v2, 1, v4\n"
                               "else:\n"
                               "s_and_not1_saveexec_b32 s11, s11\n"
                               "s_cbranch_execz @endif\n"
                               "v_fma_f32 v3, v3, 0.5, 2.0\n"
                               "s_add_u32 s10, s10, 1\n"
                               "endif:\n"
                               "s_or_b32 exec_lo, exec_lo, s11\n"
                               "s_add_u32 s9, s9, 1\n"
                               "s_cmp_lt_u32 s9, 200\n"
                               "s_cbranch_scc1 @loop\n" STORE_ALL},
    {"lanes leave a loop", LOAD_LANES "loop:\n"
                                      "v_add_nc_u32 v2, 1, v2\n"
                                      "v_mul_f32 v3, 0x3f810000, v3\n"
                                      "v_cmp_ge_u32 vcc_lo, v2, v4\n"
                                      "s_and_not1_b32 exec_lo, exec_lo, vcc_lo\n"
                                      "s_add_u32 s10, s10, 1\n"
                                      "s_cbranch_execnz @loop\n"
                                      "s_mov_b32 exec_lo, s4\n"
                                      "v_add_nc_u32 v3, v3, v2\n"
                                      "s_add_u32 s9, s9, 1\n"
                                      "v_and_b32 v4, 63, v4\n"
                                      "v_mov_b32 v2, 0\n"
                                      "s_cmp_lt_u32 s9, 5\n"
                                      "s_cbranch_scc1 @loop\n" STORE_ALL},
    {"v_cmpx", LOAD_LANES "loop:\n"
                          "s_mov_b32 s11, exec_lo\n"
                          "v_cmpx_lt_u32 s9, v4\n"
                          "v_add_nc_u32 v2, v2, v4\n"
                          "ds_store_b32 v5, v2\n"
                          "ds_load_b32 v3, v5\n"
                          "s_waitcnt lgkmcnt(0)\n"
                          "s_mov_b32 exec_lo, s11\n"
                          "s_add_u32 s9, s9, 1\n"
                          "s_cmp_lt_u32 s9, 260\n"
                          "s_cbranch_scc1 @loop\n" STORE_ALL},
    {"EXEC moves", LOAD_LANES "loop:\n"
                              "s_lshr_b32 exec_lo, s4, s9\n"
                              "v_add_nc_u32 v2, v2, v4\n"
                              "v_add_co_u32 v3, vcc_lo, v3, v3\n"
                              "v_readfirstlane_b32 s11, v4\n"
                              "s_add_u32 s10, s10, s11\n"
                              "s_mov_b32 exec_lo, s4\n"
                              "v_cndmask_b32 v2, v2, v4, vcc_lo\n"
                              "s_add_u32 s9, s9, 1\n"
                              "s_cmp_lt_u32 s9, 100\n"
                              "s_cbranch_scc1 @loop\n" STORE_ALL},
};
#define N_EXEC_PROGRAMS (sizeof exec_programs / sizeof *exec_programs)

START_TEST(exec_changes)
{
    static const uint32_t starts[] = {~0u,        0x0000ffff, 0xffff0000, 0x80000001,
                                      0x13579bdf, 0x7fffffff, 1,          0};
    char name[80];
    gpus_place(&g, exec_programs[_i].text);
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        snprintf(name, sizeof name, "%s, EXEC %08x", exec_programs[_i].name, starts[i]);
        gpus_fill(&g, 11 + i);
        struct load load = {.lds_bytes = 256, .param = {starts[i]}};
        struct result r = gpus_compare(&g, &load, name);
        ck_assert_int_eq(r.status, RD_OK);
        ck_assert_uint_gt(r.stats.instructions, 30);
    }
}
END_TEST

/* ---- MODE --------------------------------------------------------------------------
 */

/* v4, v5: denormals, signaling NaNs, values that have to be rounded, a pair for each
 * lane; s9 counts, v3 to v9 become a row of results each round. */
#define MODE_BEGIN                                                                     \
    "v_lshlrev_b32 v1, 2, v0\n"                                                        \
    "global_load_b32 v4, v1, s[0:1]\n"                                                 \
    "global_load_b32 v5, v1, s[0:1] offset:128\n"                                      \
    "v_mov_b32 v2, 0\n"                                                                \
    "s_mov_b32 s9, 0\n"                                                                \
    "s_waitcnt vmcnt(0)\n"                                                             \
    "loop:\n"
#define MODE_USE                                                                       \
    "v_mul_f32 v3, v4, v5\n"                                                           \
    "v_add_f32 v6, v4, v5\n"                                                           \
    "v_fma_f32 v7, v4, v5, v4\n"                                                       \
    "v_max_f32 v8, v4, v5\n"                                                           \
    "v_cvt_f32_u32 v9, v4\n"                                                           \
    "v_cmp_lt_f32 vcc_lo, v4, v5\n"                                                    \
    "v_cndmask_b32 v10, v3, v6, vcc_lo\n"                                              \
    "v_xor3_b32 v2, v3, v6, v2\n"                                                      \
    "v_xor3_b32 v2, v7, v8, v2\n"                                                      \
    "v_xor3_b32 v2, v9, v10, v2\n"                                                     \
    "v_min_f32 v9, v5, v4\n"                                                           \
    "v_floor_f32 v11, v4\n"                                                            \
    "v_ceil_f32 v12, v5\n"                                                             \
    "v_xor3_b32 v2, v9, v11, v2\n"                                                     \
    "v_alignbit_b32 v2, v2, v2, 3\n"                                                   \
    "v_xor_b32 v2, v12, v2\n"                                                          \
    "v_alignbit_b32 v2, v2, v2, 5\n"                                                   \
    "global_store_b32 v1, v3, s[2:3]\n"                                                \
    "global_store_b32 v1, v6, s[2:3] offset:128\n"                                     \
    "global_store_b32 v1, v7, s[2:3] offset:256\n"                                     \
    "global_store_b32 v1, v8, s[2:3] offset:384\n"                                     \
    "global_store_b32 v1, v2, s[2:3] offset:512\n"                                     \
    "s_add_u32 s2, s2, 640\n"                                                          \
    "s_addc_u32 s3, s3, 0\n"
#define MODE_END                                                                       \
    "s_add_u32 s9, s9, 1\n"                                                            \
    "s_cmp_lt_u32 s9, 24\n"                                                            \
    "s_cbranch_scc1 @loop\n"                                                           \
    "s_endpgm\n"

static const struct {
    const char *name, *text;
} mode_programs[] = {
    {"s_denorm_mode",
     MODE_BEGIN "s_denorm_mode 0\n" MODE_USE "s_denorm_mode 15\n" MODE_USE
                "s_denorm_mode 1\n" MODE_USE "s_denorm_mode 2\n" MODE_USE MODE_END},
    {"s_round_mode",
     MODE_BEGIN "s_round_mode 0\n" MODE_USE "s_round_mode 1\n" MODE_USE
                "s_round_mode 2\n" MODE_USE "s_round_mode 3\n" MODE_USE MODE_END},
    {"s_setreg of all float modes",
     MODE_BEGIN "s_mul_i32 s10, s9, 0x1d\n"
                "s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s10\n" MODE_USE MODE_END},
    {"s_setreg of IEEE and clamp",
     MODE_BEGIN "s_setreg_b32 hwreg(HW_REG_MODE, 8, 2), s9\n" MODE_USE MODE_END},
    {"s_setreg_imm32", MODE_BEGIN
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf\n" MODE_USE
     "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x204\n" MODE_USE MODE_END},
    {"behind a branch", MODE_BEGIN "s_and_b32 s10, s9, 3\n"
                                   "s_cmp_lg_u32 s10, 0\n"
                                   "s_cbranch_scc1 @same\n"
                                   "s_getreg_b32 s11, hwreg(HW_REG_MODE, 0, 8)\n"
                                   "s_xor_b32 s11, s11, 0x31\n"
                                   "s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s11\n"
                                   "same:\n" MODE_USE MODE_END},
};
#define N_MODE_PROGRAMS (sizeof mode_programs / sizeof *mode_programs)

START_TEST(mode_changes)
{
    static const uint32_t values[] = {
        0x00000001, 0x007fffff, 0x00800000, 0x80000123, 0x00c00000, 0x3f800001,
        0x3f7fffff, 0xbf800003, 0x7f800001, 0x7fc00000, 0xff812345, 0x7f800000,
        0xff800000, 0x7f7fffff, 0x00000000, 0x80000000, 0x33800000, 0x3effffff};
    unsigned n = sizeof values / sizeof *values;
    uint32_t *words = (uint32_t *)(void *)g.data;
    gpus_place(&g, mode_programs[_i].text);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned lane = 0; lane < 32; lane++) {
            words[lane] = values[(lane + i) % n];
            words[32 + lane] = values[(5 * lane + 7 * i + lane / n) % n];
        }
        struct result r =
            gpus_compare(&g, &(struct load){.groups = 1}, mode_programs[_i].name);
        ck_assert_int_eq(r.status, RD_OK);
    }
}
END_TEST

/* A host that lets no code be made: files of memory must not grow. */
START_TEST(no_code)
{
    pid_t child = fork();
    if (child == 0) {
        const struct emu_config insists = {.simd = level, .engine = EMU_ENGINE_JIT},
                                tries = {.simd = level};
        struct emu *emu;
        if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) != 0)
            _exit(2);
        if (emu_create(&insists, &emu) != RD_E_UNSUPPORTED)
            _exit(3);
        if (emu_create(&tries, &emu) != RD_OK)
            _exit(4);
        emu_destroy(emu);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", status);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("native");
    TCase *one = tcase_create("one thread"), *two = tcase_create("two threads"),
          *walk = tcase_create("faults");
    tcase_add_checked_fixture(one, setup, teardown);
    tcase_add_test(one, bytes_change_in_place);
    tcase_add_test(one, region_added_again);
    tcase_add_loop_test(one, code_far_in_region, 0, 2);
    tcase_add_test(one, after_fork);
    tcase_add_test(one, no_code);
    tcase_add_test(one, first_code_waits);
    tcase_add_loop_test(one, exec_changes, 0, N_EXEC_PROGRAMS);
    tcase_add_loop_test(one, mode_changes, 0, N_MODE_PROGRAMS);
    tcase_add_checked_fixture(two, setup_threads, teardown);
    tcase_add_test(two, bytes_change_in_place);
    tcase_add_test(two, region_added_again);
    tcase_add_test(two, after_fork);
    tcase_add_test(two, two_threads);
    tcase_add_test(two, dispatches_side_by_side);
    tcase_add_loop_test(walk, faults, 0, N_FAULT_CASES);
    tcase_add_loop_test(walk, long_traces, 0, 2);
    tcase_add_test(walk, pairs_in_loops);
    tcase_add_test(walk, first_fault_of_several);
    suite_add_tcase(s, one);
    suite_add_tcase(s, two);
    suite_add_tcase(s, walk);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
