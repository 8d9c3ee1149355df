/* test_wmma.c: the matrix operations against element-by-element models, in both wave
 * sizes, with every modifier, at every SIMD level.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "../suite.h"
#include "dot2_ref.h"
#include "levels.h"

/* Matrices as mathematics has them; 16-bit elements in the low bits. */
struct matrices {
    uint32_t a[16][16], b[16][16], c[16][16], d[16][16]; /* a[m][k], b[k][n] */
};

/* The same in registers: [half][row], rows of 32 lanes. */
struct registers {
    uint32_t a[2][8 * 32], b[2][8 * 32], c[2][8 * 32], d[2][8 * 32];
};

struct shape {
    const char *name;
    unsigned bits; /* of an element of A and B */
    bool is_float, bf16;
    enum ref_format out; /* of the float forms */
};

static const struct shape shapes[] = {
    {"v_wmma_f32_16x16x16_f16", 16, true, false, REF_F32},
    {"v_wmma_f32_16x16x16_bf16", 16, true, true, REF_F32},
    {"v_wmma_f16_16x16x16_f16", 16, true, false, REF_F16},
    {"v_wmma_bf16_16x16x16_bf16", 16, true, true, REF_BF16},
    {"v_wmma_i32_16x16x16_iu8", 8, false, false, REF_F32},
    {"v_wmma_i32_16x16x16_iu4", 4, false, false, REF_F32},
};

/* Put the matrices where manual 7.9 says; op_sel chooses the half of 16-bit C and D.
 * Everything else is noise that must survive (D) or not matter. */
static void pack(const struct matrices *x, const struct shape *s, unsigned halves,
                 bool high, uint64_t *seed, struct registers *r)
{
    unsigned per_row = 32 / s->bits, lanes = 32 * halves;
    uint32_t *noise = &r->a[0][0];
    for (size_t i = 0; i < sizeof *r / sizeof *noise; i++)
        noise[i] = (uint32_t)random_bits(seed);
    for (unsigned l = 0; l < lanes; l++) {
        unsigned h = l / 32, lane = l % 32, i = l % 16;
        for (unsigned row = 0; row < 16 / per_row; row++) {
            uint32_t a = 0, b = 0;
            for (unsigned e = 0; e < per_row; e++) {
                a |= x->a[i][row * per_row + e] << (e * s->bits);
                b |= x->b[row * per_row + e][i] << (e * s->bits);
            }
            r->a[h][row * 32 + lane] = a;
            r->b[h][row * 32 + lane] = b;
        }
        for (unsigned row = 0; row < 256 / lanes; row++) {
            uint32_t c = x->c[row * (lanes / 16) + l / 16][i];
            uint32_t *reg = &r->c[h][row * 32 + lane];
            if (!s->is_float || s->out == REF_F32)
                *reg = c;
            else
                *reg = high ? (*reg & 0xffff) | c << 16 : (*reg & 0xffff0000) | c;
        }
    }
}

static void expect(const struct matrices *x, const struct shape *s, unsigned halves,
                   bool high, struct registers *r)
{
    unsigned lanes = 32 * halves;
    for (unsigned l = 0; l < lanes; l++) {
        for (unsigned row = 0; row < 256 / lanes; row++) {
            uint32_t v = x->d[row * (lanes / 16) + l / 16][l % 16];
            uint32_t *reg = &r->d[l / 32][row * 32 + l % 32];
            if (!s->is_float || s->out == REF_F32)
                *reg = v;
            else
                *reg = high ? (*reg & 0xffff) | v << 16 : (*reg & 0xffff0000) | v;
        }
    }
}

static void model_float(struct matrices *x, const struct shape *s,
                        const struct lane_mode *m)
{
    uint32_t sign = s->out == REF_F32 ? 0x80000000u : 0x8000u;
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 16; j++) {
            uint32_t c = x->c[i][j];
            c = m->neg_hi & 4 ? c & ~sign : c;
            c = m->neg & 4 ? c ^ sign : c;
            for (unsigned k = 0; k < 16; k += 2) {
                uint16_t a[2] = {(uint16_t)x->a[i][k], (uint16_t)x->a[i][k + 1]};
                uint16_t b[2] = {(uint16_t)x->b[k][j], (uint16_t)x->b[k + 1][j]};
                a[0] ^= m->neg & 1 ? 0x8000 : 0;
                a[1] ^= m->neg_hi & 1 ? 0x8000 : 0;
                b[0] ^= m->neg & 2 ? 0x8000 : 0;
                b[1] ^= m->neg_hi & 2 ? 0x8000 : 0;
                c = ref_dot2(a, b, c, s->bf16, s->out, m->fp16_ovfl);
            }
            x->d[i][j] = c;
        }
    }
}

static void model_int(struct matrices *x, const struct shape *s,
                      const struct lane_mode *m)
{
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 16; j++) {
            int64_t sum = (int32_t)x->c[i][j];
            for (unsigned k = 0; k < 16; k++) {
                int64_t a = x->a[i][k], b = x->b[k][j], half = 1 << (s->bits - 1);
                a -= m->neg & 1 && a >= half ? 2 * half : 0;
                b -= m->neg & 2 && b >= half ? 2 * half : 0;
                sum += a * b;
            }
            if (m->clamp)
                sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
            x->d[i][j] = (uint32_t)sum;
        }
    }
}

static void fill(struct matrices *x, const struct shape *s, unsigned round,
                 uint64_t *seed)
{
    bool finite = round % 3 != 0;
    for (unsigned i = 0; i < 16; i++) {
        for (unsigned j = 0; j < 16; j++) {
            uint64_t r = random_bits(seed);
            /* specials are rare enough to leave finite elements in each matrix */
            bool tame = finite || (r >> 40 & 15) != 0;
            x->a[i][j] = random_half(seed, s->bf16, tame);
            x->b[i][j] = random_half(seed, s->bf16, tame);
            x->c[i][j] = s->out == REF_F32 ? random_single(seed, tame)
                                           : random_half(seed, s->bf16, tame);
            if (!s->is_float) {
                uint32_t mask = (1u << s->bits) - 1;
                x->a[i][j] = (uint32_t)r & mask;
                x->b[i][j] = (uint32_t)(r >> 8) & mask;
                uint32_t near = (r >> 61 & 1 ? 0x7ffffff0u : 0x80000000u) +
                                (uint32_t)(r >> 16 & 15);
                x->c[i][j] = r >> 60 & 1 ? near : (uint32_t)(r >> 16);
            }
        }
    }
}

/* A 16-bit float with an exponent field from least to most, or a zero; f16 denormals.
 */
static uint16_t bounded_half(uint64_t *seed, bool bf16, unsigned least, unsigned most)
{
    uint64_t r = random_bits(seed);
    unsigned bits = bf16 ? 7 : 10,
             field = least + (unsigned)(r >> 16 & 0xffff) % (most - least + 1);
    uint16_t h = (uint16_t)((r & 0x8000) | (r & ((1u << bits) - 1)) | field << bits);
    switch (r >> 40 & 15) {
    case 0:
        return h & 0x8000;
    case 1: /* denormal, in bf16 zero */
        return (uint16_t)(h & ((1u << bits) - 1)) | (h & 0x8000);
    case 2:
        return (uint16_t)((h & 0x8000) | (r >> 50 & 1 ? most : least) << bits);
    default:
        return h;
    }
}

static uint32_t bounded_single(uint64_t *seed, unsigned around)
{
    uint64_t r = random_bits(seed);
    uint32_t sign = r & 0x80000000u, fraction = r & 0x7fffff;
    switch (r >> 40 & 7) {
    case 0:
        return sign;
    case 1:
        return sign | (r >> 50 & 1 ? 0x0d800000u : 0x7b800000u);
    case 2:
        return sign | fraction;
    case 3:
        return sign | fraction | (27 + (uint32_t)(r >> 44) % 220) << 23;
    default:
        return sign | fraction | (around + (uint32_t)(r >> 44) % 40) << 23;
    }
}

/* Matrices that the vector form takes: no specials, bounded exponents (those of bf16
 * products are just within bounds); many zeros, sums that cancel, a C that dominates.
 */
static void fill_bounded(struct matrices *x, const struct shape *s, unsigned round,
                         uint64_t *seed)
{
    unsigned narrow = round % 3, least = s->bf16 ? 89 : 1, most = s->bf16 ? 172 : 30;
    if (narrow)
        least = s->bf16 ? 120 : 11, most = s->bf16 ? 134 : 16;
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 16; j++) {
            uint64_t r = random_bits(seed);
            x->a[i][j] = bounded_half(seed, s->bf16, least, most);
            x->b[i][j] = bounded_half(seed, s->bf16, least, most);
            x->c[i][j] = s->out == REF_F32 ? bounded_single(seed, 80 + 20 * narrow)
                                           : bounded_half(seed, s->bf16, least, most);
            if (round / 3 % 4 == 1 && i < 12) /* C and little else */
                x->a[i][j] &= 0x8000;
            if (round / 3 % 4 == 2)
                x->c[i][j] &= s->out == REF_F32 ? 0x80000000u : 0x8000u;
            if (round / 3 % 4 > 1 && (r & 7)) { /* products that cancel */
                x->a[i][j] = x->a[i][j & ~1u];
                x->b[j][i] = x->b[j & ~1u][i] ^ (j & 1 ? 0x8000u : 0);
            }
        }
}

/* Of the matrices before, at this level. */
static _Alignas(64) uint32_t kept[LEVEL_COUNT][2][MATRIX_FACTORS_DWORDS];

static void call_with(const struct shape *s, enum level level, struct registers *r,
                      unsigned halves, const struct lane_mode *m, bool keep)
{
    struct matrix_io io = {.d = {r->d[0], r->d[1]},
                           .a = {r->a[0], r->a[1]},
                           .b = {r->b[0], r->b[1]},
                           .c = {r->c[0], r->c[1]},
                           .halves = halves,
                           .mode = m};
    for (unsigned i = 0; i < 2 && keep; i++)
        io.factors[i] = (void *)kept[level][i];
    level_entry(level, s->name)->fn.matrix(&io);
}

static void call(const struct shape *s, enum level level, struct registers *r,
                 unsigned halves, const struct lane_mode *m)
{
    call_with(s, level, r, halves, m, true);
}

typedef void fill_fn(struct matrices *x, const struct shape *s, unsigned round,
                     uint64_t *seed);

static void check_one(const struct shape *s, unsigned round, uint64_t *seed,
                      fill_fn *fill_in)
{
    struct matrices x;
    struct lane_mode m = level_mode();
    unsigned halves = 1 + (round & 1);
    m.neg = s->is_float ? random_bits(seed) & 7 : random_bits(seed) & 3;
    m.neg_hi = s->is_float ? random_bits(seed) & 7 : 0;
    m.clamp = random_bits(seed) & 1;
    m.fp16_ovfl = random_bits(seed) & 1;
    bool high = s->is_float && s->out != REF_F32 && (random_bits(seed) & 1);
    m.op_sel = high ? 4 : 0;
    fill_in(&x, s, round, seed);
    if (s->is_float)
        model_float(&x, s, &m);
    else
        model_int(&x, s, &m);
    struct registers in;
    pack(&x, s, halves, high, seed, &in);
    for (enum level level = 0; level < LEVEL_COUNT; level++) {
        if (!level_runs(level))
            continue;
        struct registers got = in, want = in;
        expect(&x, s, halves, high, &want);
        unsigned csr = _mm_getcsr();
        _mm_setcsr(round & 2 ? csr | 0xe040u : csr);
        call(s, level, &got, halves, &m);
        _mm_setcsr(csr);
        for (unsigned i = 0; i < 512; i++)
            ck_assert_msg((&got.d[0][0])[i] == (&want.d[0][0])[i],
                          "%s (%s), wave%u, half %u, row %u, lane %u: %08x, not %08x",
                          s->name, level_name(level), 32 * halves, i / 256, i / 32 % 8,
                          i % 32, (&got.d[0][0])[i], (&want.d[0][0])[i]);
    }
}

/* What is kept of A and B serves no matrices but those, taken in the same way. */
START_TEST(factors_are_those_of_the_matrices)
{
    const struct shape *s = &shapes[_i];
    uint64_t seed = 7;
    struct lane_mode m = level_mode();
    struct matrices x;
    struct registers in;
    fill_bounded(&x, s, 1, &seed);
    pack(&x, s, 1, false, &seed, &in);
    for (unsigned round = 0; round < 40; round++) {
        uint64_t r = random_bits(&seed);
        unsigned at = (unsigned)(r >> 8 & 7) * 32 + (unsigned)(r >> 16 & 15);
        if (r & 1)
            (r & 2 ? in.a[0] : in.b[0])[at] ^= 1u << (r >> 24 & 31);
        if (r & 4)
            m.neg ^= r >> 32 & 3;
        for (enum level level = 0; level < LEVEL_COUNT && level_runs(level); level++) {
            struct registers got = in, want = in;
            call_with(s, level, &want, 1, &m, false);
            call_with(s, level, &got, 1, &m, true);
            ck_assert_mem_eq(got.d[0], want.d[0], sizeof got.d[0]);
        }
    }
}
END_TEST

START_TEST(matrices_match_the_model)
{
    uint64_t seed = 4;
    for (unsigned round = 0; round < 120; round++)
        check_one(&shapes[_i], round, &seed, fill);
}
END_TEST

START_TEST(bounded_matrices_match_the_model)
{
    uint64_t seed = 6;
    for (unsigned round = 0; round < 96 && shapes[_i].is_float; round++)
        check_one(&shapes[_i], round, &seed, fill_bounded);
}
END_TEST

/* D may be A, B or C: everything is read before anything is written. */
START_TEST(destination_may_be_a_source)
{
    const struct shape *s = &shapes[_i];
    uint64_t seed = 5;
    struct lane_mode m = level_mode();
    struct matrices x;
    struct registers in;
    fill(&x, s, 1, &seed);
    pack(&x, s, 1, false, &seed, &in);
    for (enum level level = 0; level < LEVEL_COUNT && level_runs(level); level++) {
        for (unsigned which = 0; which < 3; which++) {
            struct registers apart = in, same = in;
            uint32_t *const source[] = {same.a[0], same.b[0], same.c[0]};
            memcpy(apart.d[0], source[which], sizeof apart.d[0]);
            call(s, level, &apart, 1, &m);
            struct matrix_io io = {.d = {source[which]},
                                   .a = {same.a[0]},
                                   .b = {same.b[0]},
                                   .c = {same.c[0]},
                                   .halves = 1,
                                   .mode = &m};
            level_entry(level, s->name)->fn.matrix(&io);
            ck_assert_mem_eq(source[which], apart.d[0], sizeof apart.d[0]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wmma");
    TCase *tc = tcase_create("wmma");
    const int n = sizeof shapes / sizeof *shapes;
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, matrices_match_the_model, 0, n);
    tcase_add_loop_test(tc, bounded_matrices_match_the_model, 0, n);
    tcase_add_loop_test(tc, factors_are_those_of_the_matrices, 0, n);
    tcase_add_loop_test(tc, destination_may_be_a_source, 0, n);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
