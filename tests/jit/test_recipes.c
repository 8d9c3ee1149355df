/* test_recipes.c: every recipe of native code beside the semantics function of its
 * opcode: sources from VGPRs, SGPRs and constants, with modifiers, on special values
 * and random ones, in each MODE that recipes know, with all lanes, some and none.
 *
 *     test_recipes [avx2 | avx512]
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpus.h"
#include "recipe.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static struct gpus g;

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
}

static void teardown(void)
{
    gpus_destroy(&g);
}

#define TEXT     8192
#define VARIANTS 27u
#define RESULT   16u /* VGPR of the first variant's result */

struct text {
    char at[TEXT];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t,
                                                      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->n += (size_t)vsnprintf(t->at + t->n, TEXT - t->n, format, list);
    va_end(list);
    ck_assert_uint_lt(t->n, TEXT);
}

/* Source i of a variant: a VGPR, an SGPR (two of them at most in an instruction), a
 * constant. */
static const char *source(unsigned i, unsigned how, bool floats)
{
    static const char *const rows[] = {"v2", "v3", "v4"};
    static const char *const sgprs[] = {"s12", "s13", "s12"};
    static const char *const negated[] = {"-v2", "|v3|", "-|v4|"};
    if (how == 0)
        return rows[i];
    if (how == 1)
        return sgprs[i];
    return floats ? negated[i] : i ? "5" : "-1";
}

static bool has_floats(const char *name)
{
    size_t n = strlen(name);
    return strcmp(name + n - 4, "_f32") == 0 && strncmp(name, "v_cvt_f32_u", 11) != 0;
}

/* One instruction, its result in VGPR d. */
static void put_variant(struct text *t, const struct recipe *r, unsigned d,
                        unsigned variant)
{
    const char *name = isa_op_name(r->op), *s[3];
    bool floats = has_floats(name);
    for (unsigned i = 0; i < 3; i++, variant /= 3)
        s[i] = source(i, variant % 3, floats);
    bool accumulates = r->op == ISA_V_FMAC_F32;
    put(t, "v_mov_b32 v%u, %s\n", d, accumulates ? "v4" : "0x1234");
    switch (r->kind) {
    case RECIPE_MASK:
        put(t, "%s s20, %s, %s\nv_mov_b32 v%u, s20\n", name, s[0], s[1], d);
        break;
    case RECIPE_CARRY:
        put(t, "%s v%u, s20, %s, %s\nv_xor_b32 v5, s20, v5\n", name, d, s[0], s[1]);
        break;
    case RECIPE_CARRY_IN:
        put(t, "%s v%u, s20, %s, %s, s13\nv_xor_b32 v5, s20, v5\n", name, d, s[0],
            s[1]);
        break;
    case RECIPE_SELECT:
        put(t, "%s v%u, %s, %s, s13\n", name, d, s[0], s[1]);
        break;
    default:
        if (r->op == ISA_V_FMAAK_F32)
            put(t, "%s v%u, %s, v3, 0x40490fdb\n", name, d, s[0]);
        else if (r->op == ISA_V_FMAMK_F32)
            put(t, "%s v%u, %s, 0x40490fdb, v3\n", name, d, s[0]);
        else if (r->n_src == 1)
            put(t, "%s v%u, %s\n", name, d, s[0]);
        else if (r->n_src == 2 || accumulates)
            put(t, "%s v%u, %s, %s\n", name, d, s[0], s[1]);
        else
            put(t, "%s v%u, %s, %s, %s\n", name, d, s[0], s[1], s[2]);
    }
}

static unsigned variants_of(const struct recipe *r)
{
    if (r->op == ISA_V_FMAAK_F32 || r->op == ISA_V_FMAMK_F32)
        return 2; /* they have no modifiers */
    if (r->n_src == 1)
        return 3;
    bool two = r->n_src == 2 || r->kind >= RECIPE_SELECT || r->op == ISA_V_FMAC_F32;
    return two ? 9 : VARIANTS;
}

/* mode: MODE[9:0]. */
static void put_program(struct text *t, const struct recipe *r, unsigned mode,
                        uint32_t exec)
{
    unsigned n = variants_of(r);
    t->n = 0;
    put(t,
        "v_lshlrev_b32 v1, 2, v0\n"
        "global_load_b32 v2, v1, s[0:1]\n"
        "global_load_b32 v3, v1, s[0:1] offset:128\n"
        "global_load_b32 v4, v1, s[0:1] offset:256\n"
        "s_load_b128 s[12:15], s[0:1], 0x180\n"
        "v_mov_b32 v5, 0\n"
        "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x%x\n",
        mode);
    for (unsigned i = 0; i < n; i++)
        put(t, "v_mov_b32 v%u, 0\n", RESULT + i);
    put(t, "s_mov_b32 exec_lo, 0x%x\n", exec);
    for (unsigned i = 0; i < n; i++)
        put_variant(t, r, RESULT + i, i);
    put(t, "s_mov_b32 exec_lo, -1\n");
    for (unsigned i = 0; i < n; i++)
        put(t, "global_store_b32 v1, v%u, s[2:3] offset:%u\n", RESULT + i, 128 * i);
    put(t, "global_store_b32 v1, v5, s[2:3] offset:4032\ns_endpgm\n");
}

/* Rows of special values, each against each as seeds go by, and random ones. */
static void fill(unsigned seed)
{
    static const uint32_t special[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff,
        0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff,
        0x7f800000, 0xff800000, 0x7fc00001, 0xffc00002, 0x7f800001, 0xffa00003,
        0x4b000001, 0x3effffff, 0x3f000000, 0x4f000000, 0xcf000000, 0x40490fdb,
        31,         32,         33,         0xffffffff, 0x7fffffff, 0xffffff,
        0x1000000,  0xaaaaaaaa};
    uint32_t word, n = sizeof special / sizeof *special;
    gpus_fill(&g, seed);
    if (seed == 0)
        return;
    for (unsigned row = 0; row < 4; row++)
        for (unsigned l = 0; l < 32; l++) {
            word = special[(l * (row == 1 ? 1 : 1 + 2 * row) + seed * row * 7) % n];
            memcpy(g.data + 128ul * row + 4ul * l, &word, sizeof word);
        }
}

START_TEST(means_the_same)
{
    static const uint32_t exec[] = {0xffffffff, 0x8421f00d, 0};
    const struct recipe *r = &recipes[_i];
    const struct load load = {.groups = 1};
    static struct text t;
    if (r->flags & (level == EMU_SIMD_AVX2 ? RECIPE_EVEX : RECIPE_VEX))
        return;
    for (unsigned mode = 0; mode < 4; mode++)
        for (unsigned k = 0; k < 3; k++) {
            put_program(&t, r, 0xc0u | (mode & 1 ? 0x30u : 0) | (mode & 2 ? 0x200u : 0),
                        exec[k]);
            gpus_place(&g, t.at);
            for (unsigned seed = 0; seed < (k ? 4u : 33u); seed++) {
                fill(seed);
                (void)gpus_compare(&g, &load, isa_op_name(r->op));
            }
        }
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "avx512") == 0)
        level = EMU_SIMD_AVX512;
    if (!gpus_possible(level)) {
        puts("skipped: the host lacks the SIMD level");
        return 77;
    }
    Suite *s = suite_create("recipes");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 600);
    tcase_add_unchecked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, means_the_same, 0, (int)n_recipes);
    suite_add_tcase(s, c);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
