/* test_recipes.c: every recipe of native code beside the semantics function of its
 * opcode, and what native code puts around those functions where it calls them: sources
 * from VGPRs, SGPRs and constants, with modifiers, on special values and random ones,
 * in each MODE that recipes know, with all lanes, some and none.
 *
 *     test_recipes [avx2 | avx512 [wave64 | plain]]
 *
 * plain: recipes that other hosts have a better one for, on any host.
 *
 * SPDX-License-Identifier: MIT
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpus.h"
#include "native.h"
#include "recipe.h"

static enum emu_simd level = EMU_SIMD_AVX2;
static bool wave64;
static struct gpus g;

static void setup(void)
{
    gpus_create(&g, level, 1, 0);
    g.wave64 = wave64;
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
    return (strcmp(name + n - 4, "_f32") == 0 &&
            strncmp(name, "v_cvt_f32_u", 11) != 0) ||
           strcmp(name + n - 4, "_f16") == 0;
}

static bool is_accumulating(const struct recipe *r)
{
    return r->op == ISA_V_FMAC_F32 || r->op == ISA_V_FMAC_F16 ||
           r->op == ISA_V_PK_FMAC_F16;
}

static bool is_literal(const struct recipe *r)
{
    return r->op == ISA_V_FMAAK_F32 || r->op == ISA_V_FMAMK_F32 ||
           r->op == ISA_V_FMAAK_F16 || r->op == ISA_V_FMAMK_F16;
}

/* Instructions with modifiers by half. False: it is none. */
static bool put_packed(struct text *t, const struct recipe *r, unsigned d,
                       unsigned variant)
{
    const char *name = isa_op_name(r->op);
    bool mix = strncmp(name, "v_fma_mix", 9) == 0,
         dot = strncmp(name, "v_dot4", 6) == 0;
    bool packed = strncmp(name, "v_pk_", 5) == 0 && r->op != ISA_V_PK_FMAC_F16;
    const bool three = r->n_src == 3;
    unsigned m = 5 * variant + variant / 3;
    if (!mix && !dot && !packed)
        return false;
    const char *second = variant % 4 == 1 ? "s12" : mix && m & 1 ? "-|v3|" : "v3";
    const char *third = variant % 5 == 2 ? "s12" : mix && m & 2 ? "-v4" : "v4";
    put(t, "%s v%u, %s, %s%s%s", name, d, mix && m & 4 ? "|v2|" : "v2", second,
        three ? ", " : "", three ? third : "");
    if (!dot)
        put(t, three ? " op_sel:[%u,%u,%u]" : " op_sel:[%u,%u]", m & 1, m >> 1 & 1,
            m >> 2 & 1);
    if (!dot)
        put(t, three ? " op_sel_hi:[%u,%u,%u]" : " op_sel_hi:[%u,%u]", m >> 3 & 1,
            m >> 4 & 1, m >> 2 & 1);
    if (dot || (packed && has_floats(name)))
        put(t, three ? " neg_lo:[%u,%u,%u]" : " neg_lo:[%u,%u]", m >> 1 & 1, m & 1,
            dot ? 0 : m >> 3 & 1);
    if (packed && has_floats(name))
        put(t, three ? " neg_hi:[%u,%u,%u]" : " neg_hi:[%u,%u]", m >> 2 & 1, m >> 4 & 1,
            m >> 1 & 1);
    put(t, "\n");
    return true;
}

/* Pairs that overlap, some of them the row that is written. */
static void put_double(struct text *t, const struct recipe *r, unsigned d,
                       unsigned variant)
{
    static const char *const sources[3][3] = {{"v[2:3]", "s[12:13]", "-v[3:4]"},
                                              {"v[3:4]", "|v[2:3]|", "-2.0"},
                                              {"v[2:3]", "-|v[3:4]|", "-s[12:13]"}};
    put(t, "%s v[%u:%u], %s, %s", isa_op_name(r->op), d, d + 1, sources[0][variant % 3],
        sources[1][variant / 3 % 3]);
    if (r->n_src == 3)
        put(t, ", %s", sources[2][variant / 9]);
    put(t, "\nv_xor_b32 v5, v%u, v5\n", d + 1);
}

/* One instruction, its result in VGPR d. */
static void put_variant(struct text *t, const struct recipe *r, unsigned d,
                        unsigned variant)
{
    static const char *const pairs[] = {"v[3:4]", "s[12:13]", "-5"};
    const char *name = isa_op_name(r->op), *s[3], *pair = pairs[0];
    const char *to = wave64 ? "s[20:21]" : "s20", *from = wave64 ? "s[12:13]" : "s13";
    const unsigned variant_of = variant;
    bool floats = has_floats(name) && r->op != ISA_V_PK_FMAC_F16;
    for (unsigned i = 0; i < 3; i++, variant /= 3) {
        s[i] = source(r->kind == RECIPE_PAIR ? 0 : i, variant % 3, floats);
        if (i + 1 == r->n_src) /* one SGPR operand at most beside it */
            pair = pairs[variant % 3 == 1 && s[0][0] == 's' ? 0 : variant % 3];
    }
    if (wave64 && r->kind >= RECIPE_SELECT && s[1][0] == 's')
        s[1] = "v3"; /* the mask's pair is one more scalar */
    if (r->op == ISA_V_LDEXP_F32 && s[1][0] == '|') /* an integer */
        s[1] = "-3";
    if (r->op == ISA_V_DIV_FMAS_F32)
        put(t, "s_mov_b32 vcc_lo, %s\n", variant_of % 2 ? "s14" : "0");
    if (r->op == ISA_V_DIV_FMAS_F32 && s[1][0] == 's') /* VCC counts as an SGPR */
        s[1] = "v3";
    if (r->op == ISA_V_PK_FMAC_F16) /* VOP2 only */
        s[1] = "v3";
    bool accumulates = is_accumulating(r);
    put(t, "v_mov_b32 v%u, %s\n", d, accumulates ? "v4" : "0x1234");
    switch (r->kind) {
    case RECIPE_PAIR:
        if (r->flags & RECIPE_FLOAT) {
            put_double(t, r, d, variant_of);
            break;
        }
        put(t, "%s v[%u:%u], %s%s, %s%s%s\nv_xor_b32 v5, v%u, v5\n", name, d, d + 1,
            r->n_src == 3 ? "null, " : "", s[0], r->n_src == 3 ? "v3" : pair,
            r->n_src == 3 ? ", " : "", r->n_src == 3 ? pair : "", d + 1);
        break;
    case RECIPE_MASK:
        if (r->flags & RECIPE_WIDE0)
            put(t, "%s %s, %s, %s\nv_mov_b32 v%u, s20\n", name, to,
                pairs[variant_of % 3], variant_of % 5 ? "v[2:3]" : "s[14:15]", d);
        else
            put(t, "%s %s, %s, %s\nv_mov_b32 v%u, s20\n", name, to, s[0], s[1], d);
        if (wave64)
            put(t, "v_xor_b32 v5, s21, v5\n");
        break;
    case RECIPE_CARRY:
        if (r->n_src == 3) /* its sources take no |...| */
            put(t, "%s v%u, %s, %s, %s, %s\nv_xor_b32 v5, s20, v5\n", name, d, to, s[0],
                s[1][0] == '|' ? "-v3" : s[1], s[2][1] == '|' ? "-v4" : s[2]);
        else
            put(t, "%s v%u, %s, %s, %s\nv_xor_b32 v5, s20, v5\n", name, d, to, s[0],
                s[1]);
        break;
    case RECIPE_CARRY_IN:
        put(t, "%s v%u, %s, %s, %s, %s\nv_xor_b32 v5, s20, v5\n", name, d, to, s[0],
            s[1], from);
        break;
    case RECIPE_SELECT:
        put(t, "%s v%u, %s, %s, %s\n", name, d, s[0], s[1], from);
        break;
    case RECIPE_VALUE:
        if (put_packed(t, r, d, variant_of))
            break;
        /* fall through */
    default:
        if (r->op == ISA_V_FMAAK_F32 || r->op == ISA_V_FMAAK_F16)
            put(t, "%s v%u, %s, v3, 0x3c49\n", name, d, s[0]);
        else if (r->op == ISA_V_FMAMK_F32 || r->op == ISA_V_FMAMK_F16)
            put(t, "%s v%u, %s, 0x3c49, v3\n", name, d, s[0]);
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
    if (is_literal(r))
        return 2; /* they have no modifiers */
    if (r->n_src == 1)
        return 3;
    bool two = r->n_src == 2 || r->kind >= RECIPE_SELECT || is_accumulating(r);
    return two ? 9 : VARIANTS;
}

/* v1 to v4, s[12:15] from memory; MODE[9:0]. */
static void put_begin(struct text *t, unsigned mode)
{
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
}

/* VGPRs from RESULT on to memory, and v5. */
static void put_end(struct text *t, unsigned n)
{
    put(t, "s_mov_b64 exec, -1\n");
    for (unsigned i = 0; i < n; i++)
        put(t,
            "global_store_b32 v1, v%u, s[2:3]\n"
            "s_add_u32 s2, s2, 0x100\ns_addc_u32 s3, s3, 0\n",
            RESULT + i);
    put(t, "global_store_b32 v1, v5, s[2:3]\ns_endpgm\n");
}

static void put_exec(struct text *t, uint32_t exec)
{
    put(t, "s_mov_b32 exec_lo, 0x%x\n", exec);
    if (wave64)
        put(t, "s_mov_b32 exec_hi, 0x%x\n", exec & 0x10 ? exec : exec >> 3);
}

static void put_program(struct text *t, const struct recipe *r, unsigned mode,
                        uint32_t exec)
{
    unsigned n = variants_of(r);
    put_begin(t, mode);
    for (unsigned i = 0; i < n; i++)
        put(t, "v_mov_b32 v%u, 0\n", RESULT + i);
    put_exec(t, exec);
    for (unsigned i = 0; i < n; i++)
        put_variant(t, r, RESULT + i, i);
    put_end(t, n);
}

/* v2 to v4, s12 to s14: special values as the upper words of f64 and below. */
static void fill_doubles(unsigned seed)
{
    static const uint32_t upper[] = {
        0,          0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000,
        0x7ff80000, 0xfff80001, 0x7ff40000, 0xfff00001, 0x00100000, 0x800fffff,
        0x7fefffff, 0x40080000, 0x00000001, 0x43400000, 0x3ca00000};
    const unsigned n = sizeof upper / sizeof *upper;
    for (unsigned row = 0; row < 4; row++)
        for (unsigned l = 0; l < 32; l++) {
            uint32_t word = upper[(l * (1 + 2 * row) + seed * (3 + row)) % n];
            if (row == 0)
                word = l % 4 == 0 ? 0 : l % 4 == 1 ? 1 : word ^ seed;
            memcpy(g.data + 128ul * row + 4ul * l, &word, sizeof word);
        }
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
    static const uint16_t halves[] = {
        0,      0x8000, 1,      0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
        0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0xfe02,
        0x7c01, 0xfd03, 0x3c01, 0x3bff, 0x3800, 0x3555, 0x1401, 0x0801,
        0x6400, 0x6401, 0x4248, 0xffff, 0x7fff, 0x000f, 0x0011, 0x1400};
    uint32_t word, n = sizeof special / sizeof *special;
    _Static_assert(sizeof special / sizeof *special == sizeof halves / sizeof *halves,
                   "as many halves");
    gpus_fill(&g, seed);
    if (seed == 0)
        return;
    for (unsigned i = 0; i < 128 && seed % 8 == 5; i++) { /* floats that are near 1 */
        memcpy(&word, g.data + 4ul * i, sizeof word);
        word = word << 31 | (0x20000000 + word * 97u % 0x30000000);
        memcpy(g.data + 4ul * i, &word, sizeof word);
    }
    if (seed % 8 == 5)
        return;
    if (seed % 8 == 3) {
        fill_doubles(seed);
        return;
    }
    for (unsigned row = 0; row < 4; row++)
        for (unsigned l = 0; l < 32; l++) {
            unsigned i = l * (row == 1 ? 1 : 1 + 2 * row) + seed * row * 7;
            word = special[i % n];
            if (seed % 2 == 0)
                word = halves[i % n] | (uint32_t)halves[(7 * i + seed) % n] << 16;
            memcpy(g.data + 128ul * row + 4ul * l, &word, sizeof word);
        }
}

static void same(const struct load *load, const char *name)
{
    struct result r = gpus_compare(&g, load, name);
    ck_assert_msg(r.status == RD_OK, "%s: status %d", name, r.status);
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
            for (unsigned seed = 0; seed < (k ? 4u : 40u); seed++) {
                fill(seed);
                same(&load, isa_op_name(r->op));
            }
        }
}
END_TEST

/* s20, s21 and SCC to v16 to v18. */
#define RESULTS                                                                        \
    "\ns_cselect_b32 s22, 1, 2\nv_mov_b32 v16, s20\nv_mov_b32 v17, s21\n"              \
    "v_mov_b32 v18, s22"

/* What stands around a semantics function: results are v16 to v18. */
static const char *const lines[] = {
    /* f32: modifiers, SGPRs, constants */
    "v_rcp_f32 v16, v2",
    "v_rcp_f32 v16, -|v2|",
    "v_rcp_f32 v16, s12",
    "v_rcp_iflag_f32 v16, -s13",
    "v_rsq_f32 v16, v3",
    "v_exp_f32 v16, v2",
    "v_log_f32 v16, |v2|",
    "v_sin_f32 v16, v3",
    "v_sqrt_f32 v16, v2",
    "v_ldexp_f32 v16, v2, v3",
    "v_med3_f32 v16, -v2, |v3|, s12",
    "v_frexp_mant_f32 v16, v2",
    "v_cvt_i32_f32 v16, v2",
    "v_cvt_u32_f32 v16, -v2",
    /* masks in and out */
    "v_div_scale_f32 v16, s20, v2, v3, v2\nv_mov_b32 v17, s20",
    "v_div_scale_f32 v16, vcc_lo, v3, v3, v2\nv_mov_b32 v17, vcc_lo",
    "s_mov_b32 vcc_lo, s13\nv_div_fmas_f32 v16, v2, -v3, v4",
    "v_div_fixup_f32 v16, v2, v3, |v4|",
    "v_dual_max_f32 v16, v2, v3 :: v_dual_mul_f32 v17, v4, v5",
    "v_dual_mul_f32 v16, v2, v4 :: v_dual_min_f32 v17, v3, v5",
    "v_dual_max_f32 v2, v3, v4 :: v_dual_max_f32 v3, v2, v5\nv_mov_b32 v16, v2\n"
    "v_mov_b32 v17, v3",
    "v_dual_max_f32 v2, v4, v2 :: v_dual_cndmask_b32 v3, v2, v5\nv_mov_b32 v16, v2\n"
    "v_mov_b32 v17, v3",
    "v_max_f32 v16, v2, v3 quad_perm:[1,0,3,2]",
    "v_max_f32 v16, |v2|, -v3 row_ror:5",
    "v_min_f32 v16, v2, v3 row_shr:3 bound_ctrl:1",
    "v_max_f32 v16, v2, v3 row_shl:1 row_mask:0x2",
    "v_cmp_class_f32 s20, v2, v3\nv_mov_b32 v17, s20",
    "v_cmp_class_f32 vcc_lo, s12, s13\nv_mov_b32 v17, vcc_lo",
    "v_cmpx_class_f32 v2, v3\nv_mov_b32 v16, v4",
    "v_cmp_lt_u64 s20, v[2:3], v[3:4]\nv_mov_b32 v17, s20",
    "v_cmp_gt_i64 s20, s[12:13], v[3:4]\nv_mov_b32 v17, s20",
    /* counts and fields that are constants */
    "v_lshlrev_b64 v[16:17], 0, v[3:4]",
    "v_lshrrev_b64 v[16:17], 0, v[2:3]",
    "v_lshlrev_b64 v[16:17], 7, v[3:4]",
    "v_lshrrev_b64 v[16:17], 7, v[2:3]",
    "v_lshlrev_b64 v[16:17], 31, v[3:4]",
    "v_lshrrev_b64 v[16:17], 31, v[2:3]",
    "v_lshlrev_b64 v[16:17], 32, v[3:4]",
    "v_lshrrev_b64 v[16:17], 32, v[2:3]",
    "v_lshlrev_b64 v[16:17], 40, v[3:4]",
    "v_lshrrev_b64 v[16:17], 40, v[2:3]",
    "v_lshlrev_b64 v[16:17], 63, v[3:4]",
    "v_lshrrev_b64 v[16:17], 63, v[2:3]",
    "v_lshlrev_b64 v[16:17], 64, v[3:4]",
    "v_lshrrev_b64 v[16:17], 64, v[2:3]",
    "v_lshlrev_b64 v[3:4], 2, v[3:4]\nv_mov_b32 v16, v3\nv_mov_b32 v17, v4",
    "v_lshrrev_b64 v[2:3], 9, v[3:4]\nv_mov_b32 v16, v2\nv_mov_b32 v17, v3",
    "v_lshlrev_b64 v[16:17], 3, s[12:13]",
    "v_bfe_u32 v16, v2, 3, 8",
    "v_bfe_i32 v16, s12, 3, 8",
    "v_bfe_u32 v16, v2, 0, 32",
    "v_bfe_i32 v16, s12, 0, 32",
    "v_bfe_u32 v16, v2, 0, 31",
    "v_bfe_i32 v16, s12, 0, 31",
    "v_bfe_u32 v16, v2, 28, 8",
    "v_bfe_i32 v16, s12, 28, 8",
    "v_bfe_u32 v16, v2, 5, 0",
    "v_bfe_i32 v16, s12, 5, 0",
    "v_bfe_u32 v16, v2, 31, 1",
    "v_bfe_i32 v16, s12, 31, 1",
    "v_bfe_u32 v16, v2, 24, 8",
    "v_bfe_i32 v16, s12, 24, 8",
    "v_bfe_u32 v16, v2, 33, 40",
    "v_bfe_i32 v16, s12, 33, 40",
    "v_lshlrev_b32 v16, 0, v3",
    "v_ashrrev_i32 v16, 0, v3",
    "v_lshrrev_b32 v16, 0, s12",
    "v_lshlrev_b32 v16, 31, v3",
    "v_ashrrev_i32 v16, 31, v3",
    "v_lshrrev_b32 v16, 31, s12",
    "v_lshlrev_b32 v16, 33, v3",
    "v_ashrrev_i32 v16, 33, v3",
    "v_lshrrev_b32 v16, 33, s12",
    "v_lshl_or_b32 v16, v2, 4, v3",
    "v_lshl_add_u32 v16, s12, 2, v3",
    "v_add_lshl_u32 v16, v2, v3, 3",
    "v_bfm_b32 v16, 5, v3",
    "v_bfm_b32 v16, v2, 7",
    "v_alignbit_b32 v16, v2, v3, 8",
    "v_lshlrev_b16 v16, 3, v3",
    "v_ashrrev_i16 v16, 17, v3",
    "v_alignbit_b32 v16, v2, v3, 0",
    "v_alignbit_b32 v16, v2, s12, 63",
    "v_alignbit_b32 v3, v3, v3, 7\nv_mov_b32 v16, v3",
    /* pairs of registers */
    "v_lshlrev_b64 v[16:17], v2, v[3:4]",
    "v_lshrrev_b64 v[16:17], s12, v[2:3]",
    "v_ashrrev_i64 v[16:17], 7, s[12:13]",
    "v_lshlrev_b64 v[3:4], v3, v[2:3]\nv_mov_b32 v16, v3\nv_mov_b32 v17, v4",
    "v_mad_u64_u32 v[16:17], s20, v2, v3, v[3:4]\nv_mov_b32 v18, s20",
    "v_mad_u64_u32 v[16:17], vcc_lo, s12, v3, s[12:13]\nv_mov_b32 v18, vcc_lo",
    "v_mad_u64_u32 v[16:17], null, v2, 10, 0",
    "v_mad_i64_i32 v[16:17], null, v2, s13, v[3:4]",
    "v_mad_u64_u32 v[2:3], null, v2, v3, v[2:3]\nv_mov_b32 v16, v2\nv_mov_b32 v17, v3",
    "v_add_f64 v[16:17], -v[2:3], |v[3:4]|",
    "v_mul_f64 v[16:17], s[12:13], v[3:4]",
    "v_fma_f64 v[16:17], v[2:3], v[3:4], -v[2:3]",
    "v_fma_f64 v[3:4], v[2:3], v[3:4], v[4:5]\nv_mov_b32 v16, v3\nv_mov_b32 v17, v4",
    "v_fma_f64 v[2:3], v[3:4], -v[2:3], v[2:3]\nv_mov_b32 v16, v2\nv_mov_b32 v17, v3",
    "v_add_f64 v[16:17], v[2:3], v[3:4] clamp",
    "v_cvt_f32_f64 v16, v[2:3]",
    "v_cvt_f64_f32 v[16:17], v2",
    "v_rcp_f64 v[16:17], -v[2:3]",
    /* halves */
    "v_add_f16 v16, v2, v3",
    "v_add_f16 v16.h, v2.l, v3.h",
    "v_mul_f16 v16, -|v2|, s12",
    "v_fma_f16 v16, -v2, v3, |v4|",
    "v_fma_f16 v16, v2, v3, v4 op_sel:[1,0,1,1]",
    "v_fmac_f16 v16, v2, v3",
    "v_max_f16 v16, v2, v3",
    "v_cvt_f16_f32 v16, v2",
    "v_cvt_f32_f16 v16, v2",
    "v_cvt_f32_f16 v16, -v2",
    "v_cvt_pk_rtz_f16_f32 v16, v2, v3",
    "v_pack_b32_f16 v16, v2, v3",
    "v_pack_b32_f16 v16, v2, -v3 op_sel:[1,0,0]",
    "v_add_nc_u16 v16, v2, v3",
    "v_mul_lo_u16 v16, v2, s12",
    "v_lshrrev_b16 v16, v2, v3",
    "v_and_b16 v16, v2, v3",
    "v_add_nc_u16 v16, v2, v3 op_sel:[1,0,1]",
    "v_cmp_lt_f16 s20, v2, -v3\nv_mov_b32 v17, s20",
    "v_mad_u16 v16, v2, v3, v4",
    /* packed */
    "v_pk_add_f16 v16, v2, v3",
    "v_pk_add_f16 v16, v2, v3 op_sel:[1,0] op_sel_hi:[0,1]",
    "v_pk_mul_f16 v16, v2, s12 op_sel_hi:[1,0]",
    "v_pk_fma_f16 v16, v2, v3, v4",
    "v_pk_fma_f16 v16, v2, v3, v4 neg_lo:[1,0,1] neg_hi:[0,1,1]",
    "v_pk_fma_f16 v16, v2, v3, v4 op_sel:[0,1,0] op_sel_hi:[1,1,0] neg_lo:[0,1,0]",
    "v_pk_max_f16 v16, v2, v3",
    "v_pk_add_u16 v16, v2, v3",
    "v_pk_add_u16 v16, v2, v3 clamp",
    "v_pk_mad_i16 v16, v2, v3, v4 op_sel:[0,1,1]",
    "v_pk_lshlrev_b16 v16, v2, v3",
    "v_dot2_f32_f16 v16, v2, v3, v4",
    "v_dot4_i32_iu8 v16, v2, v3, v4",
    "v_dot4_i32_iu8 v16, v2, v3, v4 neg_lo:[1,1,0]",
    "v_dot4_i32_iu8 v16, v2, s12, v4 neg_lo:[1,0,0] clamp",
    "v_dot8_u32_u4 v16, v2, v3, v4",
    "v_fma_mix_f32 v16, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,1,0]",
    "v_fma_mixlo_f16 v16, v2, -v3, v4 op_sel_hi:[1,0,1]",
    "v_fma_mixhi_f16 v16, v2, v3, v4 op_sel_hi:[1,1,1]",
    /* others without or with modifiers that recipes do not know */
    "v_perm_b32 v16, v2, v3, v4",
    "v_sad_u8 v16, v2, v3, v4",
    "v_bfe_i32 v16, v2, v3, v4",
    "v_clz_i32_u32 v16, v2",
    "v_bcnt_u32_b32 v16, v2, v3",
    "v_bfrev_b32 v16, v2",
    "v_mul_f32 v16, v2, v3 clamp",
    "v_mul_f32 v16, v2, v3 mul:2",
    "v_add_nc_i32 v16, v2, v3 clamp",
    "v_mbcnt_lo_u32_b32 v16, v2, v3",
    "v_mbcnt_hi_u32_b32 v16, s12, v3",
    /* scalar */
    "s_bfe_u32 s20, s12, s13" RESULTS,
    "s_bfe_u32 s20, s12, 0x90003" RESULTS,
    "s_bfe_i32 s20, s12, s13" RESULTS,
    "s_bfe_i32 s20, s12, 0x70005" RESULTS,
    "s_bfe_i32 s20, s12, 5" RESULTS,
    "s_bfe_u32 s20, s12, 0x200000" RESULTS,
    "s_bfe_i32 s20, s12, 0x250003" RESULTS,
    "s_bfe_u64 s[20:21], s[12:13], s14" RESULTS,
    "s_bfe_u64 s[20:21], s[12:13], 0x2b0011" RESULTS,
    "s_bfe_i64 s[20:21], s[12:13], s15" RESULTS,
    "s_bfe_i64 s[20:21], s[12:13], 0x210007" RESULTS,
    "s_bfe_i64 s[20:21], s[12:13], 0x410007" RESULTS,
    "s_mov_b32 s20, 7\ns_cmp_lt_i32 s12, s13\ns_cmov_b32 s20, s14\nv_mov_b32 v16, s20",
    "s_mov_b64 s[20:21], 7\ns_cmp_lg_u32 s12, 0\ns_cmov_b64 s[20:21], s[14:15]\n"
    "v_mov_b32 v16, s20\nv_mov_b32 v17, s21",
    "s_mov_b64 s[20:21], 7\ns_cmp_lg_u32 s12, s12\ns_cmov_b64 s[20:21], -1\n"
    "v_mov_b32 v16, s20\nv_mov_b32 v17, s21",
    "s_mul_hi_i32 s20, s12, s13" RESULTS,
    "s_mul_hi_i32 s20, -7, s13" RESULTS,
    "s_mul_hi_u32 s20, s12, s13" RESULTS,
    "s_abs_i32 s20, s12" RESULTS,
    "s_abs_i32 s20, 0x80000000" RESULTS,
    "s_pack_ll_b32_b16 s20, s12, s13" RESULTS,
    "s_pack_lh_b32_b16 s20, s12, s13" RESULTS,
    "s_pack_hh_b32_b16 s20, s12, s13" RESULTS,
    "s_pack_hl_b32_b16 s20, s12, s13" RESULTS,
    "s_bitcmp0_b32 s12, s13" RESULTS,
    "s_bitcmp1_b32 s12, 7" RESULTS,
    "s_bitcmp0_b64 s[12:13], s14" RESULTS,
    "s_bitcmp1_b64 s[12:13], 40" RESULTS,
    "s_setprio 2\ns_getreg_b32 s20, hwreg(HW_REG_STATUS, 3, 2)" RESULTS,
    "v_readfirstlane_b32 s20, v4" RESULTS,
    "v_readlane_b32 s20, v4, 37" RESULTS,
    "v_readlane_b32 s20, v4, s12" RESULTS,
    "v_readlane_b32 s20, v1, 3\nv_readfirstlane_b32 s21, v2" RESULTS,
    /* lanes, in waves of 64 too: v16 to v18 and v4 are in registers */
    "v_readlane_b32 s23, v4, 37\nv_readlane_b32 s24, v4, 5\nv_mov_b32 v16, "
    "s23\nv_mov_b32 v17, s24",
    "v_readlane_b32 s23, v4, s12\nv_readlane_b32 s24, v2, s13\nv_mov_b32 v16, "
    "s23\nv_mov_b32 v17, s24",
    "s_mov_b32 m0, 45\nv_readlane_b32 s23, v4, m0\nv_mov_b32 v16, s23",
    "v_readfirstlane_b32 s23, v4\nv_mov_b32 v16, s23",
    "s_mov_b32 exec_lo, 0\nv_readfirstlane_b32 s23, v4\nv_mov_b32 v16, s23",
    "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, 0x50\nv_readfirstlane_b32 s23, "
    "v4\nv_mov_b32 v16, s23",
    "v_readlane_b32 exec_lo, v4, 63\nv_mov_b32 v16, v2\nv_mov_b32 v17, v3",
    "v_writelane_b32 v16, s12, 33\nv_writelane_b32 v17, -5, 31",
    "v_writelane_b32 v16, s12, s13\nv_add_nc_u32 v17, v16, v4",
    "v_writelane_b32 v16, 0x12345, 63\nv_mov_b32 v16, v2\nv_writelane_b32 v16, s12, "
    "0\nv_readlane_b32 s23, v16, 63\nv_mov_b32 v17, s23",
    "s_mov_b32 m0, 70\nv_writelane_b32 v4, exec_lo, m0\nv_mov_b32 v16, v4",
    "v_writelane_b32 v62, s12, 3\nv_writelane_b32 v63, s13, 40\nv_mov_b32 v16, "
    "v62\nv_mov_b32 v17, v63",
    /* DPP */
    "v_mov_b32_dpp v16, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "v_mov_b32_dpp v16, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_mov_b32_dpp v16, v2 row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:1",
    "v_add_f32_dpp v16, -v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v2, v2, v2 row_shr:8 row_mask:0xf bank_mask:0xf\nv_mov_b32 v16, v2",
    "v_add_nc_u32_dpp v16, v2, v3 row_xmask:5 row_mask:0xa bank_mask:0x7",
    "v_add_nc_u32_dpp v16, v2, v3 row_share:5 row_mask:0x6 bank_mask:0xf fi:1",
    "v_sub_f32_dpp v16, |v2|, v3 row_half_mirror row_mask:0xf bank_mask:0xe "
    "bound_ctrl:1 fi:1",
    "v_fmac_f32_dpp v16, v2, v3 row_mirror row_mask:0xf bank_mask:0xf fi:1",
    "v_fma_f32 v16, v2, v3, v4 row_ror:3 row_mask:0xf bank_mask:0xf",
    "v_subrev_f32_dpp v16, v2, v3 row_shr:2 row_mask:0xf bank_mask:0xf fi:1",
    "v_and_b32_dpp v16, v2, v3 dpp8:[7,6,5,4,3,2,1,0]",
    "v_and_b32_dpp v16, v2, v3 dpp8:[1,1,5,4,0,2,3,7] fi:1",
    "v_max_f32_dpp v16, v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf",
    "v_add_f16_dpp v16, v2, v3 row_ror:1 row_mask:0xf bank_mask:0xf",
};

static void put_line(struct text *t, const char *line, unsigned mode, uint32_t exec)
{
    put_begin(t, mode);
    for (unsigned i = 0; i < 3; i++)
        put(t, "v_xor_b32 v%u, 0x5a5a1234, v%u\n", RESULT + i, 2 + i);
    put(t, "s_mov_b64 s[20:21], 0\ns_mov_b32 vcc_lo, 0\n");
    put_exec(t, exec);
    put(t, "v_add_nc_u32 v4, v4, v3\n%s\n", line); /* v4 is in a register */
    put_end(t, 3);
}

START_TEST(calls_the_same)
{
    static const uint32_t exec[] = {0xffffffff, 0x8421f00d, 0};
    /* denormals, IEEE, rounding of f32, of f64 and f16 */
    static const unsigned modes[] = {0x2f0, 0xf0, 0xc0, 0x230, 0x2f4, 0x0fd};
    const struct load load = {.groups = 1};
    static struct text t;
    bool pairs = strstr(lines[_i], " s20, ") || strstr(lines[_i], "vcc_lo,") ||
                 strstr(lines[_i], "v_dual");
    if (wave64 && pairs) /* masks of 32 bits; no VOPD there */
        return;
    for (unsigned mode = 0; mode < sizeof modes / sizeof *modes; mode++)
        for (unsigned k = 0; k < 3; k++) {
            put_line(&t, lines[_i], modes[mode], exec[k]);
            gpus_place(&g, t.at);
            for (unsigned seed = 0; seed < (k ? 3u : 12u); seed++) {
                fill(seed);
                same(&load, lines[_i]);
            }
        }
}
END_TEST

/* ---- many instructions at once: rows compete for registers, masks follow masks */

#define MIXED_LENGTH 40u

/* $: a VGPR from RESULT on; %: an SGPR of four, or VCC; &: a mask there. */
static const char *const parts[] = {
    "v_add_f32 $, $, $",
    "v_fmac_f32 $, $, $",
    "v_fma_f32 $, -$, $, |$|",
    "v_max_f32 $, $, $",
    "v_min_f32 $, $, %",
    "v_floor_f32 $, $",
    "v_add_nc_u32 $, $, $",
    "v_lshlrev_b32 $, 3, $",
    "v_xor_b32 $, %, $",
    "v_mul_lo_u32 $, $, $",
    "v_mov_b32 $, $",
    "v_cmp_lt_i32 &, $, $",
    "v_cmp_gt_f32 &, $, $",
    "v_cmp_ne_u32 vcc_lo, $, $",
    "v_cndmask_b32 $, $, $, &",
    "v_cndmask_b32 $, $, $, vcc_lo",
    "v_add_co_u32 $, vcc_lo, $, $",
    "v_add_co_ci_u32 $, vcc_lo, $, $, vcc_lo",
    "v_sub_co_ci_u32 $, &, $, $, &",
    "v_subrev_f32 $, $, $",
    "v_dual_mul_f32 v16, v17, v18 :: v_dual_cndmask_b32 v19, v20, v21",
    "v_dual_add_f32 v18, v19, v20 :: v_dual_mov_b32 v17, v22",
    "v_dual_add_f32 v18, v19, v20 :: v_dual_mov_b32 v17, v18",
    "v_dual_cndmask_b32 v20, v19, v21 :: v_dual_mul_f32 v17, v20, v18",
    "s_add_u32 %, %, 77",
    "s_and_b32 %, %, vcc_lo",
    "s_cmp_lt_u32 %, %",
    "s_cselect_b32 %, %, %",
    "s_mov_b32 vcc_lo, %",
    "s_or_b64 s[14:15], s[14:15], s[12:13]",
    "s_delay_alu instid0(VALU_DEP_1)",
    "v_rcp_f32 $, $",
    "v_add_f16 $, $, $",
    "v_fma_f16 $, $, -$, |$|",
    "v_pk_fma_f16 $, $, $, $ op_sel:[0,1,0]",
    "v_fma_mix_f32 $, $, $, $ op_sel_hi:[1,0,1]",
    "v_cvt_f32_f16 $, $",
    "v_cvt_f16_f32 $, $",
    "v_pack_b32_f16 $, $, $",
    "v_lshrrev_b16 $, 3, $",
    "v_cndmask_b16 $, $, $, &",
    "v_dot4_i32_iu8 $, $, $, $ neg_lo:[1,0,0]",
    "v_mbcnt_lo_u32_b32 $, %, $",
    "v_cmp_lt_u64 &, v[16:17], v[19:20]",
    "v_cmp_ge_i64 vcc_lo, v[17:18], s[12:13]",
    "v_lshlrev_b64 v[16:17], $, v[17:18]",
    "v_lshrrev_b64 v[20:21], 3, v[20:21]",
    "v_mad_u64_u32 v[18:19], null, $, $, v[19:20]",
    "v_mad_u64_u32 v[22:23], &, $, $, v[16:17]",
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 10;
}

static void put_part(struct text *t, uint32_t *state)
{
    static const char *const sgprs[] = {"s12", "s13", "s14", "s15", "vcc_lo"};
    static const char *const pairs[] = {"s[12:13]", "s[12:13]", "s[14:15]", "s[14:15]",
                                        "vcc"};
    const char *p = parts[next_random(state) % (sizeof parts / sizeof *parts)];
    /* two SGPRs at most in a vector instruction: the same one for all */
    unsigned which = next_random(state) % 5;
    const char *sgpr = sgprs[which], *mask = wave64 ? pairs[which] : sgpr;
    if (wave64 && strstr(p, "v_dual"))
        return;
    if (wave64 && *p == 'v' && which == 4) /* VCC is a mask there */
        sgpr = "s15";
    for (; *p; p++)
        if (*p == '$')
            put(t, "v%u", RESULT + next_random(state) % 12);
        else if (*p == '%')
            put(t, "%s", sgpr);
        else if (*p == '&')
            put(t, "%s", mask);
        else
            put(t, "%c", *p);
    put(t, "\n");
}

START_TEST(together)
{
    static const uint32_t exec[] = {0xffffffff, 0x8421f00d, 0};
    const struct load load = {.groups = 1};
    static struct text t;
    uint32_t state = (uint32_t)_i * 2654435761u + 1;
    put_begin(&t, _i & 1 ? 0x2f0 : 0xf0);
    for (unsigned i = 0; i < 12; i++)
        put(&t, "v_add_nc_u32 v%u, %u, v%u\n", RESULT + i, i / 3, 2 + i % 3);
    put(&t, "s_mov_b32 vcc_lo, s13\ns_mov_b32 vcc_hi, s14\n");
    put_exec(&t, exec[_i % 3]);
    put(&t, "s_mov_b32 s24, 3\nloop:\n");
    for (unsigned i = 0; i < MIXED_LENGTH; i++)
        put_part(&t, &state);
    put(&t, "s_sub_u32 s24, s24, 1\ns_cmp_lg_u32 s24, 0\ns_cbranch_scc1 @loop\n");
    put(&t, "s_xor_b32 s12, s12, s13\ns_xor_b32 s12, s12, s14\n"
            "s_xor_b32 s12, s12, s15\ns_xor_b32 s12, s12, vcc_lo\n"
            "s_mul_i32 s14, vcc_hi, 5\ns_xor_b32 s12, s12, s14\n"
            "s_cselect_b32 s13, 1, 2\ns_mov_b64 exec, -1\n"
            "v_add_nc_u32 v5, s12, v5\nv_add_nc_u32 v5, s13, v5\n");
    put_end(&t, 12);
    gpus_place(&g, t.at);
    for (unsigned seed = 0; seed < 4; seed++) {
        fill(seed);
        same(&load, t.at);
    }
}
END_TEST

/* Is there another recipe, for some hosts? */
static bool has_better(const struct recipe *r)
{
    for (unsigned i = 0; i < n_recipes; i++)
        if (recipes[i].op == r->op && &recipes[i] != r &&
            recipes[i].flags & RECIPE_FP16)
            return true;
    return false;
}

static Suite *suite(void)
{
    Suite *s = suite_create("recipes");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 600);
    tcase_add_unchecked_fixture(c, setup, teardown);
    suite_add_tcase(s, c);
    for (unsigned i = 0; i < n_recipes && native_plain; i++)
        if (has_better(&recipes[i]))
            tcase_add_loop_test(c, means_the_same, (int)i, (int)i + 1);
    if (native_plain)
        return s;
    tcase_add_loop_test(c, means_the_same, 0, (int)n_recipes);
    tcase_add_loop_test(c, calls_the_same, 0, (int)(sizeof lines / sizeof *lines));
    TCase *many = tcase_create("together");
    tcase_set_timeout(many, 600);
    tcase_add_unchecked_fixture(many, setup, teardown);
    suite_add_tcase(s, many);
    tcase_add_loop_test(many, together, 0, 300);
    return s;
}

int main(int argc, char **argv)
{
    wave64 = argc > 2 && strcmp(argv[2], "wave64") == 0;
    native_plain = argc > 2 && strcmp(argv[2], "plain") == 0;
    return gpus_main(argc, argv, &level, suite);
}
