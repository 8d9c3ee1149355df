/* test_dot.c: dot-product lane functions against models, at every SIMD level and host
 * rounding mode.
 * SPDX-License-Identifier: MIT
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "../suite.h"
#include "dot2_ref.h"
#include "levels.h"

struct rows {
    uint32_t s0[32], s1[32], s2[32], d[32];
};

static void run(const char *name, enum level level, struct rows *r,
                const struct lane_mode *m)
{
    level_entry(level, name)->fn.row(r->d, NULL, r->s0, r->s1, r->s2, m);
}

struct float_dot {
    const char *name;
    bool bf16;
    enum ref_format out;
};

static const struct float_dot float_dots[] = {
    {"v_dot2_f32_f16", false, REF_F32},    {"v_dot2_f32_bf16", true, REF_F32},
    {"v_dot2acc_f32_f16", false, REF_F32}, {"v_dot2acc_f32_bf16", true, REF_F32},
    {"v_dot2_f16_f16", false, REF_F16},    {"v_dot2_bf16_bf16", true, REF_BF16},
};

static uint32_t random_pair(uint64_t *seed, bool bf16)
{
    return random_half(seed, bf16, false) | (uint32_t)random_half(seed, bf16, false)
                                                << 16;
}

static void compare(const struct float_dot *dot, const struct rows *r, bool ovfl,
                    enum level level)
{
    for (unsigned l = 0; l < 32; l++) {
        uint16_t a[2] = {(uint16_t)r->s0[l], (uint16_t)(r->s0[l] >> 16)};
        uint16_t b[2] = {(uint16_t)r->s1[l], (uint16_t)(r->s1[l] >> 16)};
        uint32_t c = dot->out == REF_F32 ? r->s2[l] : r->s2[l] & 0xffff;
        uint32_t want = ref_dot2(a, b, c, dot->bf16, dot->out, ovfl);
        ck_assert_msg(r->d[l] == want, "%s (%s): %08x.%08x+%08x = %08x, not %08x",
                      dot->name, level_name(level), r->s0[l], r->s1[l], c, r->d[l],
                      want);
    }
}

/* Whatever MXCSR holds, the result must be the same. */
static void check_random(const struct float_dot *dot, enum level level, unsigned csr)
{
    uint64_t seed = 1;
    struct lane_mode m = level_mode();
    unsigned old = _mm_getcsr();
    for (unsigned i = 0; i < 600; i++) {
        struct rows r;
        for (unsigned l = 0; l < 32; l++) {
            r.s0[l] = random_pair(&seed, dot->bf16);
            r.s1[l] = random_pair(&seed, dot->bf16);
            r.s2[l] = dot->out == REF_F32 ? random_single(&seed, false)
                                          : random_half(&seed, dot->bf16, false);
        }
        m.fp16_ovfl = i & 1;
        _mm_setcsr((old & ~0xe040u) | csr);
        run(dot->name, level, &r, &m);
        _mm_setcsr(old);
        compare(dot, &r, m.fp16_ovfl, level);
    }
}

START_TEST(float_dots_match_the_model)
{
    static const unsigned csr[] = {0x0000, 0x2000, 0x4000, 0x6000, 0x8040};
    for (enum level level = 0; level < LEVEL_COUNT; level++)
        for (unsigned i = 0; i < sizeof csr / sizeof *csr && level_runs(level); i++)
            check_random(&float_dots[_i], level, csr[i]);
}
END_TEST

/* Cancellation to a few units of the grid, where the rules show most. */
START_TEST(float_dots_match_near_cancellation)
{
    const struct float_dot *dot = &float_dots[_i];
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 2;
        struct lane_mode m = level_mode();
        for (unsigned i = 0; i < 600 && level_runs(level); i++) {
            struct rows r;
            for (unsigned l = 0; l < 32; l++) {
                r.s0[l] = random_pair(&seed, dot->bf16);
                r.s1[l] = random_pair(&seed, dot->bf16);
                uint16_t a[2] = {(uint16_t)r.s0[l], (uint16_t)(r.s0[l] >> 16)};
                uint16_t b[2] = {(uint16_t)r.s1[l], (uint16_t)(r.s1[l] >> 16)};
                uint32_t p = ref_dot2(a, b, 0, dot->bf16, dot->out, false);
                p ^= dot->out == REF_F32 ? 0x80000000u : 0x8000u;
                r.s2[l] = p + (uint32_t)(random_bits(&seed) % 5) - 2;
                if (dot->out != REF_F32)
                    r.s2[l] &= 0xffff;
            }
            run(dot->name, level, &r, &m);
            compare(dot, &r, false, level);
        }
    }
}
END_TEST

struct known {
    uint32_t a, b, c, want;
};

/* Worked out by hand from the rules of dot2.h. */
START_TEST(known_f16_steps)
{
    static const struct known known[] = {
        {0x40003c00, 0x42004000, 0x00000000, 0x41000000}, /* 1*2 + 2*3 = 8 */
        {0x3c003c00, 0x3c003c00, 0x40a00000, 0x40e00000}, /* 1 + 1 + 5 */
        {0x00000000, 0x00000000, 0x80000000, 0x00000000}, /* all zero: +0 */
        {0x00000000, 0x00000000, 0x80000001, 0x00000000}, /* C subnormal: 0 */
        {0x00000000, 0x00000000, 0x00800000, 0x00800000},
        {0x3c003c00, 0xbc003c00, 0x00000000, 0xb3800000}, /* 1 + ~1 = -2^-24 */
        {0x00007e00, 0x00003c00, 0x7fc00000, 0xffc00a3d}, /* factor NaN first */
        {0x00007c00, 0x00000000, 0x7fc00000, 0xffc00000}, /* inf * 0 */
        {0x00007c00, 0x00003c00, 0x7f800001, 0x7fc00001}, /* then C's NaN */
        {0x00007c00, 0x00003c00, 0xff800000, 0xffc00000}, /* inf - inf */
        {0x00007c00, 0x0000bc00, 0x3f800000, 0xff800000},
        {0x00007bff, 0x00007bff, 0x7f7fffff, 0x7f7fffff},
    };
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        struct lane_mode m = level_mode();
        for (unsigned i = 0; i < sizeof known / sizeof *known && level_runs(level);
             i++) {
            struct rows r = {{known[i].a}, {known[i].b}, {known[i].c}, {0}};
            run("v_dot2_f32_f16", level, &r, &m);
            ck_assert_msg(r.d[0] == known[i].want, "case %u: %08x", i, r.d[0]);
        }
    }
}
END_TEST

struct int_dot {
    const char *name;
    unsigned bits;
    bool by_neg; /* NEG chooses signedness; C and D are signed */
};

static const struct int_dot int_dots[] = {
    {"v_dot4_i32_iu8", 8, true},
    {"v_dot8_i32_iu4", 4, true},
    {"v_dot4_u32_u8", 8, false},
    {"v_dot8_u32_u4", 4, false},
};

static int64_t element(uint32_t v, unsigned i, unsigned bits, bool is_signed)
{
    int64_t e = v >> (i * bits) & ((1u << bits) - 1);
    return is_signed && e >> (bits - 1) ? e - (1 << bits) : e;
}

static uint32_t ref_int_dot(const struct int_dot *dot, uint32_t a, uint32_t b,
                            uint32_t c, const struct lane_mode *m)
{
    int64_t sum = dot->by_neg ? (int64_t)(int32_t)c : (int64_t)c;
    int64_t low = dot->by_neg ? INT32_MIN : 0;
    int64_t high = dot->by_neg ? INT32_MAX : UINT32_MAX;
    for (unsigned i = 0; i < 32 / dot->bits; i++)
        sum += element(a, i, dot->bits, dot->by_neg && (m->neg & 1)) *
               element(b, i, dot->bits, dot->by_neg && (m->neg & 2));
    if (m->clamp)
        sum = sum < low ? low : sum > high ? high : sum;
    return (uint32_t)sum;
}

static uint32_t random_word(uint64_t *seed)
{
    static const uint32_t special[] = {0,          1,          0xffffffff, 0x80000000,
                                       0x7fffffff, 0x80808080, 0x88888888, 0x7fffff00};
    uint64_t r = random_bits(seed);
    return r >> 32 & 1 ? (uint32_t)r : special[r >> 33 & 7];
}

START_TEST(int_dots_match)
{
    const struct int_dot *dot = &int_dots[_i];
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 3;
        for (unsigned i = 0; i < 800 && level_runs(level); i++) {
            struct lane_mode m = level_mode();
            struct rows r;
            m.clamp = i & 1;
            m.neg = i >> 1 & 3;
            for (unsigned l = 0; l < 32; l++) {
                r.s0[l] = random_word(&seed);
                r.s1[l] = random_word(&seed);
                r.s2[l] = random_word(&seed);
            }
            run(dot->name, level, &r, &m);
            for (unsigned l = 0; l < 32; l++) {
                uint32_t want = ref_int_dot(dot, r.s0[l], r.s1[l], r.s2[l], &m);
                ck_assert_msg(r.d[l] == want, "%s(%08x, %08x, %08x) = %08x, not %08x",
                              dot->name, r.s0[l], r.s1[l], r.s2[l], r.d[l], want);
            }
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dot");
    TCase *tc = tcase_create("dot");
    const int floats = sizeof float_dots / sizeof *float_dots;
    const int ints = sizeof int_dots / sizeof *int_dots;
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, float_dots_match_the_model, 0, floats);
    tcase_add_loop_test(tc, float_dots_match_near_cancellation, 0, floats);
    tcase_add_test(tc, known_f16_steps);
    tcase_add_loop_test(tc, int_dots_match, 0, ints);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
