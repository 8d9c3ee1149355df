/* test_special.c: single results that rules elsewhere do not cover: behaviour taken
 * from hardware tests, examples of the manual, corner cases.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "valu.h"

static const struct {
    const char *name;
    uint64_t a, b, c, want;
} rows[] = {
    /* bit counts, manual 16.8 */
    {"v_clz_i32_u32", 0, 0, 0, 0xffffffff},
    {"v_clz_i32_u32", 0x0000ffff, 0, 0, 16},
    {"v_clz_i32_u32", 1, 0, 0, 31},
    {"v_ctz_i32_b32", 0, 0, 0, 0xffffffff},
    {"v_ctz_i32_b32", 0xff000008, 0, 0, 3},
    {"v_cls_i32", 0, 0, 0, 0xffffffff},
    {"v_cls_i32", 0x80000000, 0, 0, 1},
    {"v_cls_i32", 0x0fffffff, 0, 0, 4},
    {"v_cls_i32", 0xfffffffe, 0, 0, 31},
    {"v_cls_i32", 0xffffffff, 0, 0, 0xffffffff},
    {"v_bfe_i32", 0x7f, 0, 7, 0xffffffff},
    {"v_bfe_u32", 0xffffffff, 16, 0, 0},
    {"v_bfe_i32", 0xffffffff, 0, 32, 0}, /* S2[4:0] */
    {"v_sat_pk_u8_i16", 0xffff0100, 0, 0, 0x00ff},
    {"v_cvt_i32_i16", 0x8000, 0, 0, 0xffff8000},
    /* conversions */
    {"v_cvt_off_f32_i4", 8, 0, 0, 0xbf000000},
    {"v_cvt_off_f32_i4", 0x17, 0, 0, 0x3ee00000},
    {"v_cvt_i32_f32", 0x7fc00000, 0, 0, 0},
    {"v_cvt_u32_f32", 0xbf800000, 0, 0, 0},
    {"v_cvt_u32_f32", 0x7f800000, 0, 0, 0xffffffff},
    {"v_cvt_nearest_i32_f32", 0x3effffff, 0, 0, 0},
    {"v_cvt_nearest_i32_f32", 0xbf000000, 0, 0, 0},
    {"v_cvt_f32_u32", 0xffffffff, 0, 0, 0x4f800000},
    {"v_cvt_f32_ubyte2", 0x00ab0000, 0, 0, 0x432b0000},
    {"v_cvt_pk_rtz_f16_f32", 0x477ff000, 0xc77fffff, 0, 0xfbff7bff},
    {"v_cvt_pk_i16_f32", 0x42c90000, 0xc24acccd, 0, 0xffce0064}, /* 100.5, -50.7 */
    {"v_cvt_pk_u8_f32", 0x43008000, 0, 0, 128},                  /* 128.5 */
    {"v_cvt_pk_u8_f32", 0x44000000, 6, 0x11223344, 0x11ff3344},
    {"v_cvt_pk_norm_u16_f32", 0x3f800000, 0x3f000000, 0, 0x8000ffff},
    {"v_cvt_pk_norm_i16_f32", 0xbf800000, 0x7fc00000, 0, 0x00008001},
    {"v_cvt_pk_i16_i32", 0x00012345, 0xffff0000, 0, 0x80007fff},
    {"v_cvt_pk_u16_u32", 0x00012345, 7, 0, 0x0007ffff},
    {"v_cvt_f32_f16", 0x7c01, 0, 0, 0x7fc02000},
    {"v_cvt_f64_f32", 0x7f800001, 0, 0, 0x7ff8000020000000},
    /* fract stays below one */
    {"v_fract_f32", 0x80000001, 0, 0, 0x3f7fffff},
    {"v_fract_f32", 0xbfa00000, 0, 0, 0x3f400000},
    {"v_fract_f32", 0x7f800000, 0, 0, 0xffc00000},
    {"v_fract_f64", 0x8000000000000001, 0, 0, 0x3fefffffffffffff},
    {"v_ceil_f32", 0xbf000000, 0, 0, 0x80000000},
    {"v_floor_f32", 0x80000000, 0, 0, 0x80000000},
    {"v_frexp_exp_i32_f32", 0x7f800000, 0, 0, 0},
    {"v_frexp_exp_i32_f32", 1, 0, 0, 0xffffff6c}, /* -148 */
    {"v_frexp_mant_f32", 0x80000000, 0, 0, 0x80000000},
    /* DX9 multiplication */
    {"v_mul_dx9_zero_f32", 0x80000000, 0x7fc00000, 0, 0},
    {"v_fma_dx9_zero_f32", 0x7f800000, 0, 0x3f800000, 0x3f800000},
    {"v_mullit_f32", 0x7f800000, 0, 0x3f800000, 0},
    {"v_mullit_f32", 0x40000000, 0x40400000, 0x80000000, 0xff7fffff},
    /* cube maps */
    {"v_cubeid_f32", 0x3f800000, 0xbf800000, 0x3f000000, 0x40400000},
    {"v_cubesc_f32", 0xc0000000, 0x3f800000, 0x3f800000, 0x3f800000},
    {"v_cubetc_f32", 0x3f800000, 0xc0000000, 0x3f800000, 0xbf800000},
    {"v_cubema_f32", 0x3f800000, 0x3f800000, 0xbf800000, 0xc0000000},
    /* division fix-up: manual 16.12, the NaN quotient from hardware */
    {"v_div_fixup_f32", 0x7fc00000, 0x3f800000, 0x3f800000, 0x7f800000},
    {"v_div_fixup_f32", 0x3f800000, 0, 0, 0xffc00000},
    {"v_div_fixup_f32", 0x3f800000, 0x80000000, 0x3f800000, 0xff800000},
    {"v_div_fixup_f32", 0x3f800000, 0x7f800000, 0xbf800000, 0x80000000},
    {"v_div_fixup_f32", 0x40400000, 0xc0000000, 0x40c00000, 0xc0400000},
    {"v_div_fixup_f32", 0, 0x7f800001, 0xff800002, 0xffc00002},
    {"v_div_fixup_f32", 0x3f800000, 0x7e800000, 0x00800000, 0},
    {"v_div_fixup_f16", 0x3c00, 0, 0xc000, 0xfc00},
    {"v_div_fixup_f16", 0x3c00, 0x7c00, 0xfc00, 0xfe00},
    /* segments of 2/pi */
    {"v_trig_preop_f64", 0x3ff0000000000000, 0, 0, 0x3fe45f306dc9c882},
    {"v_trig_preop_f64", 0x3ff0000000000000, 1, 0, 0x3c94a7f09d5f47d4},
    {"v_trig_preop_f64", 0x3ff0000000000000, 31, 0, 0},
};

START_TEST(single_results)
{
    struct lane_mode m = level_mode();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t got = valu1(rows[i].name, &m, rows[i].a, rows[i].b, rows[i].c);
        ck_assert_msg(got == rows[i].want, "%s(%llx, %llx, %llx) = %llx, not %llx",
                      rows[i].name, (unsigned long long)rows[i].a,
                      (unsigned long long)rows[i].b, (unsigned long long)rows[i].c,
                      (unsigned long long)got, (unsigned long long)rows[i].want);
    }
}
END_TEST

/* Tests on hardware: a zero operand gives NaN and the flag. */
START_TEST(division_scale_flags)
{
    struct lane_mode m = level_mode();
    const uint32_t one = 0x3f800000, huge = 0x7f000000;
    ck_assert_uint_eq(valu1("v_div_scale_f32", &m, 0, one, 0) & 0x7fc00000, 0x7fc00000);
    ck_assert(valu1_mask("v_div_scale_f32", &m, 0, one, 0));
    ck_assert_uint_eq(valu1("v_div_scale_f32", &m, one, huge, one), one);
    ck_assert(valu1_mask("v_div_scale_f32", &m, one, huge, one));
    ck_assert(!valu1_mask("v_div_scale_f32", &m, one, one, one));
    ck_assert_uint_eq(valu1("v_div_scale_f32", &m, 1, 1, one), 0x15000000);
    m.denorm32 = 0; /* now it is zero */
    ck_assert(valu1_mask("v_div_scale_f32", &m, 1, 1, one));
}
END_TEST

START_TEST(classes)
{
    static const uint32_t f32[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000,
                                   0x80000001, 0x80000000, 0x00000000, 0x007fffff,
                                   0x00800000, 0x7f800000};
    static const uint16_t f16[] = {0x7c01, 0x7e00, 0xfc00, 0xbc00, 0x8001,
                                   0x8000, 0x0000, 0x03ff, 0x0400, 0x7c00};
    static const uint64_t f64[] = {
        0x7ff0000000000001, 0x7ff8000000000000, 0xfff0000000000000, 0xbff0000000000000,
        0x8000000000000001, 0x8000000000000000, 0x0000000000000000, 0x000fffffffffffff,
        0x0010000000000000, 0x7ff0000000000000};
    struct lane_mode m = level_mode();
    for (unsigned i = 0; i < 10; i++)
        for (unsigned bit = 0; bit < 10; bit++) {
            uint64_t mask = 1u << bit;
            ck_assert(valu1_mask("v_cmp_class_f32", &m, f32[i], mask, 0) == (i == bit));
            ck_assert(valu1_mask("v_cmp_class_f16", &m, f16[i], mask, 0) == (i == bit));
            ck_assert(valu1_mask("v_cmp_class_f64", &m, f64[i], mask, 0) == (i == bit));
        }
}
END_TEST

/* f32, with a NaN: only the negated relations and U hold. */
START_TEST(unordered_compares)
{
    static const char *const holds[] = {"u",   "nge", "nlg", "ngt",
                                        "nle", "neq", "nlt", "t"};
    static const char *const fails[] = {"f", "lt", "eq", "le", "gt", "lg", "ge", "o"};
    struct lane_mode m = level_mode();
    for (unsigned i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "v_cmp_%s_f32", holds[i]);
        ck_assert(valu1_mask(name, &m, 0x7fc00000, 0x3f800000, 0));
        snprintf(name, sizeof name, "v_cmp_%s_f32", fails[i]);
        ck_assert(!valu1_mask(name, &m, 0x3f800000, 0x7fc00000, 0));
        snprintf(name, sizeof name, "v_cmp_%s_f64", holds[i]);
        ck_assert(valu1_mask(name, &m, 0x7ff8000000000000, 0, 0));
        snprintf(name, sizeof name, "v_cmp_%s_f64", fails[i]);
        ck_assert(!valu1_mask(name, &m, 0x7ff8000000000000, 0, 0));
    }
    ck_assert(valu1_mask("v_cmp_eq_f32", &m, 0, 0x80000000, 0));
    ck_assert(valu1_mask("v_cmp_nlg_f16", &m, 0, 0x8000, 0));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, single_results);
    tcase_add_test(tc, division_scale_flags);
    tcase_add_test(tc, classes);
    tcase_add_test(tc, unordered_compares);
}

int main(void)
{
    return valu_main("valu_special", add);
}
