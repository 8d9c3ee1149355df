/* test_perf.c: /tmp/perf-PID.map: every trace has a line, whose addresses are memory
 * for code and nobody else's, and whose name is the function's, or an address.
 *
 *     test_perf [avx2 | avx512]
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpus.h"

#define LINES 16

static enum emu_simd level = EMU_SIMD_AVX2;

static const char program[] = "s_mov_b32 s9, 0\n"
                              "v_mov_b32 v2, 0\n"
                              "loop:\n"
                              "v_add_nc_u32 v2, 1, v2\n"
                              "s_add_u32 s9, s9, 1\n"
                              "s_cmp_lg_u32 s9, 0x10\n"
                              "s_cbranch_scc1 @loop\n"
                              "s_endpgm\n";

struct line {
    uintptr_t start;
    size_t bytes;
    char name[128];
};

static void map_path(char path[64])
{
    snprintf(path, 64, "/tmp/perf-%ld.map", (long)getpid());
}

static unsigned read_map(struct line lines[LINES])
{
    char path[64], text[256];
    unsigned n = 0;
    map_path(path);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    while (n < LINES && fgets(text, sizeof text, f)) {
        struct line *l = &lines[n++];
        char *end;
        l->start = strtoull(text, &end, 16);
        l->bytes = strtoull(end, &end, 16);
        ck_assert_int_eq(*end, ' ');
        snprintf(l->name, sizeof l->name, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    }
    fclose(f);
    unlink(path);
    return n;
}

/* Is all of it in one mapping that may run and not be written? */
static bool is_code(const struct line *l)
{
    char text[512], perm[8];
    uintptr_t begin, end;
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof text, f))
        if (sscanf(text, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, perm) == 3 &&
            l->start >= begin && l->start + l->bytes <= end)
            found |= strncmp(perm, "r-x", 3) == 0;
    fclose(f);
    return found;
}

static bool name_it(void *ctx, uint64_t pc, char *name, size_t size, uint64_t *start)
{
    const struct gpus *g = ctx;
    snprintf(name, size, "counting");
    *start = (uint64_t)(uintptr_t)g->code;
    return pc - *start < 64;
}

/* Run the program, and return the lines; the emulator stays. */
static unsigned run(struct gpus *g, emu_symbol_fn *symbol, struct emu **out,
                    struct line lines[LINES])
{
    const struct emu_config config = {.engine = EMU_ENGINE_JIT,
                                      .simd = level,
                                      .threads = 1,
                                      .native_hot = 1,
                                      .perf_map = true,
                                      .symbol = symbol,
                                      .symbol_ctx = g};
    struct emu_dispatch d = gpus_dispatch(g, &(struct load){.groups = 2});
    struct emu_native_stats stats;
    struct emu_fault fault;
    struct emu_stats ran = {0};
    ck_assert_int_eq(emu_create(&config, out), RD_OK);
    ck_assert_int_eq(emu_mem_add(*out, (uint64_t)(uintptr_t)g->code, GPU_CODE,
                                 EMU_MEM_READ | EMU_MEM_EXEC, "code"),
                     RD_OK);
    ck_assert_int_eq(emu_run(*out, &d, &fault, &ran), RD_OK);
    unsigned n = read_map(lines);
    emu_native_stats(*out, &stats);
    ck_assert_uint_gt(stats.traces, 1);
    ck_assert_uint_eq(n, stats.traces + 1); /* and the stubs */
    size_t bytes = 0;
    for (unsigned i = 0; i < n; i++) {
        ck_assert_msg(is_code(&lines[i]), "line %u: %s", i, lines[i].name);
        for (unsigned k = 0; k < i; k++)
            ck_assert(lines[i].start >= lines[k].start + lines[k].bytes ||
                      lines[k].start >= lines[i].start + lines[i].bytes);
        bytes += i ? lines[i].bytes : 0;
    }
    ck_assert_uint_eq(bytes, stats.bytes);
    return n;
}

static bool has(const struct line *lines, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(lines[i].name, name) == 0)
            return true;
    return false;
}

static struct gpus g;

/* Processes of the same number may have left a file. */
static void setup(void)
{
    char path[64];
    map_path(path);
    unlink(path);
    gpus_create(&g, level, 1, 0);
    gpus_place(&g, program);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

START_TEST(named)
{
    struct line lines[LINES];
    struct emu *emu;
    unsigned n = run(&g, name_it, &emu, lines);
    ck_assert_str_eq(lines[0].name, "native code's stubs");
    ck_assert(has(lines, n, "counting+0x0 s_mov_b32 (full)"));
    ck_assert(has(lines, n, "counting+0x8 v_add_nc_u32 (full)"));
    emu_destroy(emu);
    ck_assert_uint_eq(read_map(lines), 0); /* nothing waits */
}
END_TEST

START_TEST(unnamed)
{
    char name[64];
    struct line lines[LINES];
    struct emu *emu;
    unsigned n = run(&g, NULL, &emu, lines);
    snprintf(name, sizeof name, "0x%" PRIxPTR " v_add_nc_u32 (full)",
             (uintptr_t)g.code + 8);
    ck_assert(has(lines, n, name));
    emu_destroy(emu);
}
END_TEST

/* Old lines of a process of the same number go, and a link is not followed. */
START_TEST(starts_anew)
{
    char path[64], other[64];
    struct line lines[LINES];
    struct emu *emu;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    snprintf(other, sizeof other, "/tmp/perf-test-%ld", (long)getpid());
    FILE *f = fopen(other, "w");
    ck_assert_ptr_nonnull(f);
    fputs("1 1 mine\n", f);
    fclose(f);
    ck_assert_int_eq(symlink(other, path), 0);
    unsigned n = run(&g, name_it, &emu, lines);
    ck_assert(!has(lines, n, "mine"));
    f = fopen(other, "r");
    char text[64];
    ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
    ck_assert_str_eq(text, "1 1 mine\n");
    ck_assert_ptr_null(fgets(text, sizeof text, f));
    fclose(f);
    unlink(other);
    emu_destroy(emu);
}
END_TEST

/* Without being asked for there is no file. */
START_TEST(not_wanted)
{
    struct line lines[LINES];
    struct result r = gpus_run(&g, GPU_NATIVE, &(struct load){.groups = 2});
    ck_assert_int_eq(r.status, RD_OK);
    ck_assert_uint_eq(read_map(lines), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("perf map");
    TCase *c = tcase_create("lines");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, starts_anew); /* first, where tests share a process */
    tcase_add_test(c, named);
    tcase_add_test(c, unnamed);
    tcase_add_test(c, not_wanted);
    suite_add_tcase(s, c);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
