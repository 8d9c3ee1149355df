/* test_packed.c: packed 16-bit and mixed-precision functions against wide-integer
 * models, in every float mode, at every SIMD level.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "../suite.h"
#include "levels.h"

typedef __int128 wide;

enum { NEAREST, UP, DOWN, TO_ZERO };

struct rows {
    uint32_t s0[32], s1[32], s2[32], d[32];
};

static void run(const char *name, enum level level, struct rows *r,
                const struct lane_mode *m)
{
    level_entry(level, name)->fn.row(r->d, NULL, r->s0, r->s1, r->s2, m);
}

/* MXCSR as the emulator sets it for f16 operations. */
static unsigned csr_of(unsigned round, unsigned denorm)
{
    static const unsigned rounds[] = {0x0000, 0x4000, 0x2000, 0x6000};
    return 0x1f80 | rounds[round] | (denorm & 1 ? 0 : 0x0040) |
           (denorm & 2 ? 0 : 0x8000);
}

static void set_modes(struct lane_mode *m, unsigned i)
{
    m->round64 = i & 3;
    m->denorm64 = i >> 2 & 3;
    m->fp16_ovfl = i >> 4 & 1;
    m->ieee = i >> 5 & 1;
}

/* ---- integers */

enum int_kind { MAD, MUL, ADD, SUB, SHL, SHR, MAX, MIN };

struct int_op {
    const char *name;
    enum int_kind kind;
    bool is_signed, saturates;
};

static const struct int_op int_ops[] = {
    {"v_pk_mad_i16", MAD, true, true},       {"v_pk_mad_u16", MAD, false, true},
    {"v_pk_mul_lo_u16", MUL, false, true},   {"v_pk_add_i16", ADD, true, true},
    {"v_pk_add_u16", ADD, false, true},      {"v_pk_sub_i16", SUB, true, true},
    {"v_pk_sub_u16", SUB, false, true},      {"v_pk_lshlrev_b16", SHL, false, false},
    {"v_pk_lshrrev_b16", SHR, false, false}, {"v_pk_ashrrev_i16", SHR, true, false},
    {"v_pk_max_i16", MAX, true, false},      {"v_pk_max_u16", MAX, false, false},
    {"v_pk_min_i16", MIN, true, false},      {"v_pk_min_u16", MIN, false, false},
};

static uint16_t int_model(const struct int_op *op, uint16_t a, uint16_t b, uint16_t c,
                          bool clamp)
{
    int64_t x = op->is_signed ? (int16_t)a : a, y = op->is_signed ? (int16_t)b : b;
    int64_t z = op->is_signed ? (int16_t)c : c, r = 0;
    int64_t low = op->is_signed ? INT16_MIN : 0;
    int64_t high = op->is_signed ? INT16_MAX : UINT16_MAX;
    switch (op->kind) {
    case MAD:
        r = x * y + z;
        break;
    case MUL:
        r = x * y;
        break;
    case ADD:
        r = x + y;
        break;
    case SUB:
        r = x - y;
        break;
    case SHL:
        r = y * (1 << a % 16);
        break;
    case SHR:
        r = y >> a % 16;
        break;
    case MAX:
        r = x > y ? x : y;
        break;
    case MIN:
        r = x < y ? x : y;
        break;
    }
    if (clamp && op->saturates)
        r = r < low ? low : r > high ? high : r;
    return (uint16_t)r;
}

static uint32_t random_int_pair(uint64_t *seed)
{
    static const uint16_t special[] = {0, 1, 0x7fff, 0x8000, 0xffff, 15, 16, 17};
    uint64_t r = random_bits(seed);
    uint32_t lo = r >> 32 & 1 ? special[r >> 33 & 7] : (uint32_t)r & 0xffff;
    uint32_t hi = r >> 40 & 1 ? special[r >> 41 & 7] : (uint32_t)r >> 16;
    return lo | hi << 16;
}

START_TEST(integers_match)
{
    const struct int_op *op = &int_ops[_i];
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 6;
        for (unsigned i = 0; i < 500 && level_runs(level); i++) {
            struct rows r;
            struct lane_mode m = level_mode();
            m.clamp = i & 1;
            for (unsigned l = 0; l < 32; l++) {
                r.s0[l] = random_int_pair(&seed);
                r.s1[l] = random_int_pair(&seed);
                r.s2[l] = random_int_pair(&seed);
            }
            run(op->name, level, &r, &m);
            for (unsigned l = 0; l < 32; l++) {
                uint32_t lo = int_model(op, (uint16_t)r.s0[l], (uint16_t)r.s1[l],
                                        (uint16_t)r.s2[l], m.clamp);
                uint32_t hi =
                    int_model(op, (uint16_t)(r.s0[l] >> 16), (uint16_t)(r.s1[l] >> 16),
                              (uint16_t)(r.s2[l] >> 16), m.clamp);
                ck_assert_msg(r.d[l] == (lo | hi << 16), "%s(%08x, %08x, %08x) = %08x",
                              op->name, r.s0[l], r.s1[l], r.s2[l], r.d[l]);
            }
        }
    }
}
END_TEST

/* ---- f16: exact sums and products in units of 2^-48 */

static bool is_nan(uint16_t h)
{
    return (h & 0x7fff) > 0x7c00;
}

static bool is_inf(uint16_t h)
{
    return (h & 0x7fff) == 0x7c00;
}

/* In units of 2^-24. */
static int64_t fixed(uint16_t h)
{
    int e = h >> 10 & 31;
    int64_t m = e ? (int64_t)((h & 0x3ff) | 0x400) << (e - 1) : h & 0x3ff;
    return h & 0x8000 ? -m : m;
}

static uint16_t flush(uint16_t h, bool keep)
{
    return keep || (h & 0x7c00) ? h : h & 0x8000;
}

/* Round magnitude * 2^-48 to f16 by the mode. */
static uint16_t round_half(wide magnitude, bool negative, const struct lane_mode *m)
{
    int top = -1;
    while (magnitude >> (top + 1))
        top++;
    int e = top - 48, drop = e < -14 ? 24 : top - 10;
    wide q = magnitude >> drop, rest = magnitude - (q << drop);
    wide half = (wide)1 << (drop - 1);
    bool up = m->round64 == NEAREST ? rest > half || (rest == half && (q & 1))
              : m->round64 == UP    ? rest && !negative
              : m->round64 == DOWN  ? rest && negative
                                    : false;
    q += up;
    uint32_t bits = (uint32_t)q + (e < -14 ? 0 : (uint32_t)(e + 14) << 10);
    bool to_inf = m->round64 == NEAREST || m->round64 == (negative ? DOWN : UP);
    if (bits >= 0x7c00)
        bits = to_inf && !m->fp16_ovfl ? 0x7c00 : 0x7bff;
    if (bits < 0x400 && !(m->denorm64 & 2))
        bits = 0;
    return (uint16_t)(bits | (negative ? 0x8000 : 0));
}

static uint16_t fma_model(uint16_t a, uint16_t b, uint16_t c, const struct lane_mode *m)
{
    if (is_nan(a))
        return a | 0x200;
    if (is_nan(b))
        return b | 0x200;
    if (is_nan(c))
        return c | 0x200;
    a = flush(a, m->denorm64 & 1);
    b = flush(b, m->denorm64 & 1);
    c = flush(c, m->denorm64 & 1);
    bool negative = (a ^ b) >> 15 & 1, c_negative = c >> 15;
    if (is_inf(a) || is_inf(b)) {
        bool zero = !(a & 0x7fff) || !(b & 0x7fff);
        if (zero || (is_inf(c) && negative != c_negative))
            return 0xfe00;
        return negative ? 0xfc00 : 0x7c00;
    }
    if (is_inf(c))
        return c;
    wide product = (wide)fixed(a) * fixed(b),
         sum = product + (wide)fixed(c) * (1 << 24);
    if (sum == 0) {
        bool both_zero = product == 0 && fixed(c) == 0;
        bool sign = both_zero && negative == c_negative ? negative : m->round64 == DOWN;
        return sign ? 0x8000 : 0;
    }
    return round_half(sum < 0 ? -sum : sum, sum < 0, m);
}

static uint16_t add_model(uint16_t a, uint16_t b, const struct lane_mode *m)
{
    return is_nan(a) ? a | 0x200 : fma_model(0x3c00, a, b, m);
}

/* -0 keeps a zero product's sign in every rounding mode but DOWN, which wants +0. */
static uint16_t mul_model(uint16_t a, uint16_t b, const struct lane_mode *m)
{
    bool negative = (a ^ b) >> 15 & 1;
    return fma_model(a, b, negative ? 0x8000 : 0, m);
}

/* IEEE: a signalling NaN wins; otherwise numbers win over NaNs; -0 < +0; of two NaNs
 * the first is taken. */
static uint16_t least_model(uint16_t a, uint16_t b, bool greatest,
                            const struct lane_mode *m)
{
    if (m->ieee && is_nan(a) && !(a & 0x200))
        return a | 0x200;
    if (m->ieee && is_nan(b) && !(b & 0x200))
        return b | 0x200;
    a = flush(a, m->denorm64 & 1);
    b = flush(b, m->denorm64 & 1);
    if (is_nan(b))
        return a;
    if (is_nan(a))
        return b;
    int64_t x = 2 * fixed(a) + !(a >> 15), y = 2 * fixed(b) + !(b >> 15);
    x = is_inf(a) ? (a >> 15 ? INT64_MIN : INT64_MAX) : x;
    y = is_inf(b) ? (b >> 15 ? INT64_MIN : INT64_MAX) : y;
    return (x < y) != greatest ? a : b;
}

enum half_kind { FMA16, ADD16, MUL16, MIN16, MAX16 };

static const struct {
    const char *name;
    enum half_kind kind;
} half_ops[] = {
    {"v_pk_fma_f16", FMA16}, {"v_pk_add_f16", ADD16}, {"v_pk_mul_f16", MUL16},
    {"v_pk_min_f16", MIN16}, {"v_pk_max_f16", MAX16},
};

static uint16_t half_model(enum half_kind kind, uint32_t a, uint32_t b, uint32_t c,
                           const struct lane_mode *m)
{
    uint16_t x = (uint16_t)a, y = (uint16_t)b;
    switch (kind) {
    case FMA16:
        return fma_model(x, y, (uint16_t)c, m);
    case ADD16:
        return add_model(x, y, m);
    case MUL16:
        return mul_model(x, y, m);
    case MIN16:
        return least_model(x, y, false, m);
    default:
        return least_model(x, y, true, m);
    }
}

static uint32_t random_half_pair(uint64_t *seed, bool finite)
{
    return random_half(seed, false, finite) | (uint32_t)random_half(seed, false, finite)
                                                  << 16;
}

static void check_halves(unsigned op, enum level level, unsigned i, uint64_t *seed)
{
    struct rows r;
    struct lane_mode m = level_mode();
    set_modes(&m, i);
    for (unsigned l = 0; l < 32; l++) {
        bool finite = i >> 6 & 1; /* a ROW_FORM leaves rows with NaNs alone */
        r.s0[l] = random_half_pair(seed, finite);
        r.s1[l] = random_half_pair(seed, finite);
        r.s2[l] = random_half_pair(seed, finite);
    }
    unsigned old = _mm_getcsr();
    _mm_setcsr(csr_of(m.round64, m.denorm64));
    run(half_ops[op].name, level, &r, &m);
    _mm_setcsr(old);
    for (unsigned l = 0; l < 32; l++) {
        uint32_t lo = half_model(half_ops[op].kind, r.s0[l], r.s1[l], r.s2[l], &m);
        uint32_t hi = half_model(half_ops[op].kind, r.s0[l] >> 16, r.s1[l] >> 16,
                                 r.s2[l] >> 16, &m);
        ck_assert_msg(r.d[l] == (lo | hi << 16),
                      "%s(%08x, %08x, %08x) = %08x, not %08x (%s, mode %u)",
                      half_ops[op].name, r.s0[l], r.s1[l], r.s2[l], r.d[l],
                      lo | hi << 16, level_name(level), i & 63);
    }
}

START_TEST(halves_match)
{
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 7;
        for (unsigned i = 0; i < 64 * 30 && level_runs(level); i++)
            check_halves((unsigned)_i, level, i, &seed);
    }
}
END_TEST

/* ---- FMA_MIX */

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float number(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* The host's FMA under the same MXCSR, with the NaN rule of the emulator. */
static uint32_t fma32_model(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t s[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++)
        if ((s[i] & 0x7fffffff) > 0x7f800000)
            return s[i] | 0x400000;
    volatile float x = number(a), y = number(b), z = number(c);
    float r = fmaf(x, y, z);
    return r != r ? 0xffc00000u : bits(r);
}

static uint16_t half_of_single(uint32_t u, const struct lane_mode *m)
{
    bool negative = u >> 31;
    int e = (int)(u >> 23 & 255) - 127;
    if ((u & 0x7fffffff) >= 0x7f800000)
        return (uint16_t)((negative ? 0x8000 : 0) | 0x7c00 |
                          (u & 0x7fffff ? 0x200 | (u >> 13 & 0x3ff) : 0));
    if (!(u & 0x7fffffff))
        return negative ? 0x8000 : 0;
    wide v = (wide)((u & 0x7fffff) | 0x800000); /* 2^(e - 23) */
    if (e > 16)
        v = (wide)1 << (48 + 17);
    else if (e >= -25)
        v <<= e + 25;
    else
        v = 1; /* sticky */
    return round_half(v, negative, m);
}

static void check_mix(const char *name, enum level level, unsigned i, uint64_t *seed)
{
    bool narrow = !strcmp(name, "v_fma_mixlo_f16") || !strcmp(name, "v_fma_mixhi_f16");
    struct rows r;
    uint32_t want[32];
    struct lane_mode m = level_mode();
    set_modes(&m, i);
    m.denorm64 = 3;
    m.round32 = m.round64;
    for (unsigned l = 0; l < 32; l++) {
        r.s0[l] = random_single(seed, i >> 6 & 1);
        r.s1[l] = random_single(seed, i >> 6 & 1);
        r.s2[l] = random_single(seed, i >> 6 & 1);
    }
    unsigned old = _mm_getcsr();
    _mm_setcsr(csr_of(m.round64, 3));
    run(name, level, &r, &m);
    for (unsigned l = 0; l < 32; l++)
        want[l] = fma32_model(r.s0[l], r.s1[l], r.s2[l]);
    _mm_setcsr(old);
    for (unsigned l = 0; l < 32; l++) {
        uint32_t w = narrow ? half_of_single(want[l], &m) : want[l];
        ck_assert_msg(r.d[l] == w, "%s(%08x, %08x, %08x) = %08x, not %08x", name,
                      r.s0[l], r.s1[l], r.s2[l], r.d[l], w);
    }
}

START_TEST(mixed_fma_matches)
{
    static const char *const names[] = {"v_fma_mix_f32", "v_fma_mixlo_f16",
                                        "v_fma_mixhi_f16"};
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        uint64_t seed = 8;
        for (unsigned i = 0; i < 1000 && level_runs(level); i++)
            check_mix(names[_i], level, i, &seed);
    }
}
END_TEST

/* f32 denormals are flushed by their own mode though the f16 mode is active. */
START_TEST(mix_flushes_f32_denormals)
{
    struct lane_mode m = level_mode();
    struct rows r = {{0x00400000}, {0x7f000000}, {0}, {0}}; /* 2^-127 * 2^127 */
    run("v_fma_mixlo_f16", LEVEL_GENERIC, &r, &m);
    ck_assert_uint_eq(r.d[0], 0x3c00);
    m.denorm32 = 0;
    run("v_fma_mixlo_f16", LEVEL_GENERIC, &r, &m);
    ck_assert_uint_eq(r.d[0], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packed");
    TCase *tc = tcase_create("packed");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, integers_match, 0, sizeof int_ops / sizeof *int_ops);
    tcase_add_loop_test(tc, halves_match, 0, sizeof half_ops / sizeof *half_ops);
    tcase_add_loop_test(tc, mixed_fma_matches, 0, 3);
    tcase_add_test(tc, mix_flushes_f32_denormals);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
