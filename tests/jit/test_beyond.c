/* test_beyond.c: branches out of the memory that their code lies in: a fault if they
 * are taken and nothing is there, else the wave goes on, there or behind them.
 *
 *     test_beyond [avx2 | avx512]
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "gpus.h"

#define HALF (GPU_CODE / 2)

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
    gpus_fill(&g, 7);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

/* Forty rounds, with a branch in each of them and one behind. */
static const char frame[] = "s_mov_b32 s9, 40\n"
                            "loop:\n"
                            "v_add_nc_u32 v4, s9, v4\n"
                            "%s\n"
                            "s_sub_u32 s9, s9, 1\n"
                            "s_cmp_lg_u32 s9, 0\n"
                            "s_cbranch_scc1 @loop\n"
                            "%s\n"
                            "v_lshlrev_b32 v1, 2, v0\n"
                            "global_store_b32 v1, v4, s[2:3]\n"
                            "s_endpgm\n";

static struct result run_frame(const char *inside, const char *behind, const char *name)
{
    char text[1024];
    snprintf(text, sizeof text, frame, inside, behind);
    gpus_place(&g, text);
    return gpus_compare(&g, &(struct load){.groups = 3}, name);
}

START_TEST(not_taken)
{
    static const char *const branches[] = {
        "s_cmp_eq_u32 s9, 0\ns_cbranch_scc1 -30000",
        "s_cmp_lg_u32 s9, 0\ns_cbranch_scc0 30000",
        "s_mov_b64 vcc, 1\ns_cbranch_vccz -30000",
        "s_mov_b64 vcc, 0\ns_cbranch_vccnz -30000",
        "s_cbranch_execz 30000",
        "s_cbranch_cdbgsys 30000",
        "s_cmp_eq_u32 s9, 0\ns_cbranch_scc1 -30000\ns_cbranch_execz 30000",
    };
    struct result r = run_frame(branches[_i], "", branches[_i]);
    ck_assert_int_eq(r.status, RD_OK);
    ck_assert_uint_gt(r.stats.instructions, 3 * 40 * 5); /* all rounds */
}
END_TEST

START_TEST(taken)
{
    static const struct {
        const char *inst;
        int distance;
    } c[] = {{"s_cbranch_scc0", -30000},
             {"s_branch", 30000},
             {"s_cbranch_execnz", -20000},
             {"s_cbranch_vccz", 16384},
             {"s_call_b64 s[10:11],", 20000}};
    char branch[64], text[96];
    snprintf(branch, sizeof branch, "%s %d", c[_i].inst, c[_i].distance);
    snprintf(text, sizeof text, "s_mov_b64 vcc, 0\n%s", branch);
    struct result r = run_frame("s_cbranch_execz -30000", text, branch);
    ck_assert_int_eq(r.status, RD_E_FAULT);
    ck_assert_int_eq(r.fault.kind, EMU_FAULT_FETCH);
    ck_assert_uint_eq(r.fault.address,
                      r.fault.pc + 4 + (uint64_t)(int64_t)c[_i].distance * 4);
    ck_assert_uint_eq(r.fault.bytes, 4);
    ck_assert_int_eq(strncmp(r.fault.inst, c[_i].inst, strlen(c[_i].inst)), 0);
}
END_TEST

static void two_regions(struct emu *emu)
{
    uint64_t va = (uint64_t)(uintptr_t)g.code;
    ck_assert_int_eq(emu_mem_remove(emu, va), RD_OK);
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(
            emu_mem_add(emu, va + i * HALF, HALF, EMU_MEM_READ | EMU_MEM_EXEC, "half"),
            RD_OK);
}

/* Into another region and back, in each round. */
START_TEST(to_another_region)
{
    static const char there[] = "v_add_nc_u32 v4, 3, v4\ns_branch %d\n";
    char text[1024], branch[64], back[128];
    int behind = 4; /* in the code: the instruction behind the branch */
    snprintf(branch, sizeof branch, "s_cmp_lg_u32 s9, 5\ns_cbranch_scc%d %d", _i,
             (int)HALF / 4 - behind);
    snprintf(text, sizeof text, frame, branch, "");
    gpus_place(&g, text);
    snprintf(back, sizeof back, there, behind - ((int)HALF / 4 + 2));
    (void)gpus_assemble(back, 32, g.code + HALF);
    for (unsigned i = 0; i < GPU_COUNT; i++)
        two_regions(g.emu[i]);
    struct result r = gpus_compare(&g, &(struct load){.groups = 3}, branch);
    ck_assert_int_eq(r.status, RD_OK);
    uint64_t rounds = _i ? 39 : 1, all = 1 + 40 * 6 + 3 + 2 * rounds;
    ck_assert_uint_eq(r.stats.instructions, 3 * all);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("beyond");
    TCase *t = tcase_create("branches");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, not_taken, 0, 7);
    tcase_add_loop_test(t, taken, 0, 5);
    tcase_add_loop_test(t, to_another_region, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

int main(int argc, char **argv)
{
    return gpus_main(argc, argv, &level, suite);
}
