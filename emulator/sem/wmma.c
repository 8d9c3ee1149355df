/* wmma.c: V_WMMA_*: D = A * B + C on 16x16 matrices (manual 7.9 and 16.10).
 *
 * Layout, for lane l of all lanes (0..31, or 0..63 in a wave64) and register r:
 *   A  row l % 16, B  column l % 16; register r holds K elements in order, lowest bits
 *      first. Lanes from 16 on must repeat lanes 0..15 (manual 7.9): they are not read.
 *   C, D  element number r * (number of lanes) + l of the matrix in row order. 16-bit
 *      elements sit in the half that OP_SEL[2] selects; D's other half is kept.
 *
 * The float forms are eight steps of dot2.h for each element, K in ascending order,
 * whatever MODE says. NEG and NEG_HI negate the even and odd K elements of A (bit 0)
 * and B (bit 1); bit 2 of NEG negates C, bit 2 of NEG_HI takes its absolute value
 * first. For the integer forms NEG means signed, and CLAMP saturates the final sum.
 *
 * The inner loops run over the 16 columns so that they vectorise.
 * SPDX-License-Identifier: MIT
 */
#include "wmmahost.h"

#define N 16

/* A (transposed) or B: one row of 16 lanes per k. */
struct factors {
    F32 significand[N][N];
    I32 alignment[N][N];
    U32 raw[N][N];
};

struct accumulator {
    U32 e[N][N]; /* f32 bits, or integers */
};

/* Returns whether an element is infinite or NaN. */
static inline bool load_factors(struct factors *f, const uint32_t *rows, U32 flip,
                                F32 scale, I32 bias, bool bf16)
{
    const U32 inf = bf16 ? 0x7f80 : 0x7c00;
    U32 special = 0;
    for (unsigned r = 0; r < 8; r++) {
        for (unsigned i = 0; i < N; i++) {
            U32 pair = rows[r * 32 + i] ^ flip;
            U32 lo = pair & 0xffff, hi = pair >> 16;
            f->raw[2 * r][i] = lo;
            f->raw[2 * r + 1][i] = hi;
            special |= (U32)((lo & inf) == inf) | (U32)((hi & inf) == inf);
        }
    }
    for (unsigned k = 0; k < N; k++) {
        for (unsigned i = 0; i < N; i++) {
            f->significand[k][i] = dot2_significand(f->raw[k][i], bf16) * scale;
            f->alignment[k][i] = dot2_alignment(f->raw[k][i], bf16) + bias;
        }
    }
    return special;
}

/* Rows of lanes as the matrix has them: row i is register i / halves of a half. */
static inline unsigned row_half(const struct matrix_io *io, unsigned i)
{
    return i & (io->halves - 1);
}
static inline unsigned row_at(const struct matrix_io *io, unsigned i)
{
    return 32 * (i >> (io->halves - 1));
}

static inline void load_c(const struct matrix_io *io, struct accumulator *acc)
{
    for (unsigned i = 0; i < 8; i++)
        memcpy(&acc->e[0][0] + 32 * i, io->c[row_half(io, i)] + row_at(io, i),
               32 * sizeof(U32));
}

static inline void store_d(const struct matrix_io *io, const struct accumulator *acc)
{
    for (unsigned i = 0; i < 8; i++)
        memcpy(io->d[row_half(io, i)] + row_at(io, i), &acc->e[0][0] + 32 * i,
               32 * sizeof(U32));
}

/* C's modifiers and widening to f32 bits. */
static inline void prepare_c(const struct matrix_io *io, struct accumulator *acc,
                             enum dot2_out out)
{
    U32 *e = &acc->e[0][0];
    unsigned shift = io->mode->op_sel & 4 ? 16 : 0;
    U32 keep = io->mode->neg_hi & 4 ? ~DOT2_SIGN : ~0u;
    U32 flip = io->mode->neg & 4 ? DOT2_SIGN : 0;
    for (unsigned i = 0; i < N * N; i++) {
        U32 v = e[i];
        if (out == DOT2_F16)
            v = dot2_widen_f16(v >> shift & 0xffff);
        else if (out == DOT2_BF16)
            v = v >> shift << 16;
        e[i] = (v & keep) ^ flip;
    }
}

/* Narrow the results and merge them with the halves of D that stay. */
static inline void store_d16(const struct matrix_io *io, struct accumulator *acc,
                             enum dot2_out out)
{
    unsigned shift = io->mode->op_sel & 4 ? 16 : 0;
    for (unsigned i = 0; i < 8; i++) {
        const U32 *e = &acc->e[0][0] + 32 * i;
        uint32_t *d = io->d[row_half(io, i)] + row_at(io, i);
        for (unsigned l = 0; l < 32; l++) {
            U32 v = out == DOT2_F16 ? dot2_narrow_f16(e[l]) : e[l] >> 16;
            d[l] = (d[l] & 0xffff0000u >> shift) | v << shift;
        }
    }
}

/* Columns of row m, one step: K elements k and k + 1. */
static inline void step_row(const struct factors *a, const struct factors *b,
                            unsigned m, unsigned k, U32 *c, enum dot2_out out,
                            const struct lane_mode *mode)
{
    const U32 huge = dot2_huge(mode);
    const I32 exact = mode->exact_sums ? ~0 : 0;
    const F32 a0 = a->significand[k][m], a1 = a->significand[k + 1][m];
    const I32 g0 = a->alignment[k][m], g1 = a->alignment[k + 1][m];
    for (unsigned n = 0; n < N; n++)
        c[n] = dot2_sum(a0 * b->significand[k][n], g0 + b->alignment[k][n],
                        a1 * b->significand[k + 1][n], g1 + b->alignment[k + 1][n],
                        c[n], out, huge, exact);
}

static inline void step_row_special(const struct factors *a, const struct factors *b,
                                    unsigned m, unsigned k, U32 *c, enum dot2_out out,
                                    bool bf16, const struct lane_mode *mode)
{
    U32 old[N];
    memcpy(old, c, sizeof old);
    step_row(a, b, m, k, c, out, mode);
    for (unsigned n = 0; n < N; n++)
        c[n] = dot2_special(a->raw[k][m], b->raw[k][n], a->raw[k + 1][m],
                            b->raw[k + 1][n], old[n], c[n], out, bf16);
}

#ifdef HOST_VECTORS
/* Factors and sums as wmmahost.h wants them. */
struct host_matrices {
    const struct matrix_factors *a, *b;
    _Alignas(64) struct accumulator acc;
    U32 largest[N]; /* magnitude of an F16 result */
    U32 (*d)[N];    /* where sums go: acc, or the registers themselves */
};

/* No infinite or NaN factor, and products within bounds. */
static inline bool host_products(const struct host_matrices *x, bool bf16)
{
    U32 a = x->a->most, b = x->b->most;
    if (!bf16)
        return a < 0x1f && b < 0x1f;
    return a < 0xff && b < 0xff && a + b <= 254 + DOT2_HOST_MOST &&
           x->a->least + x->b->least >= 254 + DOT2_HOST_LEAST;
}

/* C as wmmahost.h takes it; false if a magnitude is beyond that. */
static inline bool host_sums(const struct matrix_io *io, struct accumulator *acc,
                             enum dot2_out out)
{
    U32 *e = &acc->e[0][0];
    bool plain = out == DOT2_F32 && !((io->mode->neg | io->mode->neg_hi) & 4);
    bool beyond = false;
    if (!plain) {
        load_c(io, acc);
        prepare_c(io, acc, out);
    }
    for (unsigned i = 0; i < 8; i++) {
        const U32 *from = plain ? io->c[row_half(io, i)] + row_at(io, i) : e + 32 * i;
        for (unsigned n = 0; n < 32; n += HV_LANES)
            hvi_store(e + 32 * i + n, dot2_host_c(hvi_load(from + n), &beyond));
    }
    return !beyond;
}

/* Not inlined: the host's float mode changes around it. */
__attribute__((noinline)) static void host_steps(struct host_matrices *x,
                                                 enum dot2_out out)
{
    if (out == DOT2_F16)
        dot2_host_steps(x->d, x->acc.e, x->a, x->b, DOT2_F16, x->largest);
    else if (out == DOT2_BF16)
        dot2_host_steps(x->d, x->acc.e, x->a, x->b, DOT2_BF16, x->largest);
    else
        dot2_host_steps(x->d, x->acc.e, x->a, x->b, DOT2_F32, x->largest);
}

/* The usual case in vector form; false (nothing is written) where it does not apply. */
static inline bool multiply_host(const struct matrix_io *io, U32 flip_a, U32 flip_b,
                                 enum dot2_out out, bool bf16)
{
    struct host_matrices x;
    struct matrix_factors own[2];
    const unsigned control = 0xffc0, nearest = 0x1f80, to_zero = 0x7f80;
    if (io->mode->exact_sums || (out == DOT2_F16 && io->mode->fp16_ovfl))
        return false;
    own[0].key = own[1].key = 0;
    struct matrix_factors *a = io->factors[0] ? io->factors[0] : &own[0],
                          *b = io->factors[1] ? io->factors[1] : &own[1];
    dot2_host_load(a, io->a[0], flip_a, bf16, false);
    dot2_host_load(b, io->b[0], flip_b, bf16, true);
    x.a = a;
    x.b = b;
    if (!host_products(&x, bf16))
        return false;
    if (!host_sums(io, &x.acc, out))
        return false;
    bool direct = out == DOT2_F32 && io->halves == 1; /* two rows are a register */
    x.d = direct ? (U32(*)[N])io->d[0] : x.acc.e;
    memset(x.largest, 0, sizeof x.largest);
    unsigned mxcsr = _mm_getcsr(), wanted = out == DOT2_F16 ? to_zero : nearest;
    bool other = (mxcsr ^ wanted) & control; /* flags are nobody's */
    if (other)
        _mm_setcsr(wanted);
    host_steps(&x, out);
    if (other)
        _mm_setcsr(mxcsr);
    for (unsigned i = 0; i < N && out == DOT2_F16; i++)
        if (x.largest[i] >= DOT2_INF)
            return false;
    if (out != DOT2_F32)
        store_d16(io, &x.acc, out);
    else if (!direct)
        store_d(io, &x.acc);
    return true;
}
#endif

static inline void multiply(const struct matrix_io *io, enum dot2_out out, bool bf16)
{
    struct factors a, b;
    struct accumulator acc;
    const struct lane_mode *mode = io->mode;
    const F32 scale = bf16 ? DOT2_SCALE_BF16 : DOT2_SCALE_F16;
    U32 flip_a = (mode->neg & 1 ? 0x8000u : 0) | (mode->neg_hi & 1 ? DOT2_SIGN : 0);
    U32 flip_b = (mode->neg & 2 ? 0x8000u : 0) | (mode->neg_hi & 2 ? DOT2_SIGN : 0);
#ifdef HOST_VECTORS
    if (multiply_host(io, flip_a, flip_b, out, bf16))
        return;
#endif
    bool special = load_factors(&a, io->a[0], flip_a, 1.0f, 0, bf16);
    special |= load_factors(&b, io->b[0], flip_b, scale, DOT2_ALIGN_BIAS, bf16);
    load_c(io, &acc);
    prepare_c(io, &acc, out);
    for (unsigned k = 0; k < N; k += 2) {
        if (special) {
            for (unsigned m = 0; m < N; m++)
                step_row_special(&a, &b, m, k, acc.e[m], out, bf16, mode);
        } else {
            for (unsigned m = 0; m < N; m++)
                step_row(&a, &b, m, k, acc.e[m], out, mode);
        }
    }
    if (out == DOT2_F32)
        store_d(io, &acc);
    else
        store_d16(io, &acc, out);
}

MATRIX_OP(v_wmma_f32_16x16x16_f16)
{
    multiply(io, DOT2_F32, false);
}

MATRIX_OP(v_wmma_f32_16x16x16_bf16)
{
    multiply(io, DOT2_F32, true);
}

MATRIX_OP(v_wmma_f16_16x16x16_f16)
{
    multiply(io, DOT2_F16, false);
}

MATRIX_OP(v_wmma_bf16_16x16x16_bf16)
{
    multiply(io, DOT2_BF16, true);
}

#ifdef HOST_VECTORS
static inline void integer_rows(const struct matrix_io *io, U32 (*a)[N], U32 (*b)[N],
                                bool clamp)
{
    for (unsigned n = 0; n < N; n += HV_LANES) {
        hvi vb[8];
        for (unsigned p = 0; p < 8; p++)
            vb[p] = hvi_load(&b[p][n]);
        for (unsigned m = 0; m < N; m++) {
            unsigned half = row_half(io, m / 2), at = row_at(io, m / 2) + m % 2 * N + n;
            hvi c = hvi_load(io->c[half] + at);
            hvi_store(io->d[half] + at, wmma_host_integer_row(c, a, m, vb, clamp));
        }
    }
}

static inline void multiply_integers(const struct matrix_io *io, unsigned bits)
{
    _Alignas(64) U32 a[8][N], b[8][N];
    wmma_host_integers(a, io->a[0], bits, io->mode->neg & 1);
    wmma_host_integers(b, io->b[0], bits, io->mode->neg & 2);
    if (io->mode->clamp)
        integer_rows(io, a, b, true);
    else
        integer_rows(io, a, b, false);
}
#else
/* Elements of `bits` bits, as integers. */
static inline void load_integers(I32 e[N][N], const uint32_t *rows, unsigned bits,
                                 bool is_signed)
{
    const unsigned per_row = 32 / bits;
    const I32 keep = is_signed ? -1 : (1 << bits) - 1;
    for (unsigned k = 0; k < N; k++) {
        const uint32_t *row = rows + k / per_row * 32;
        unsigned up = 32 - bits - k % per_row * bits;
        for (unsigned i = 0; i < N; i++)
            e[k][i] = (I32)(row[i] << up) >> (32 - bits) & keep;
    }
}

static inline void multiply_integers(const struct matrix_io *io, unsigned bits)
{
    struct accumulator acc;
    I32 a[N][N], b[N][N];
    const bool clamp = io->mode->clamp;
    load_integers(a, io->a[0], bits, io->mode->neg & 1);
    load_integers(b, io->b[0], bits, io->mode->neg & 2);
    load_c(io, &acc);
    for (unsigned m = 0; m < N; m++) {
        I32 row[N] = {0};
        for (unsigned k = 0; k < N; k++)
            for (unsigned n = 0; n < N; n++)
                row[n] += a[k][m] * b[k][n];
        for (unsigned n = 0; n < N; n++) {
            U32 s = (U32)row[n], c = acc.e[m][n], r = s + c;
            U32 limit = (c >> 31) + INT32_MAX;
            bool overflow = ((s ^ r) & (c ^ r)) >> 31;
            acc.e[m][n] = clamp && overflow ? limit : r;
        }
    }
    store_d(io, &acc);
}
#endif

MATRIX_OP(v_wmma_i32_16x16x16_iu8)
{
    multiply_integers(io, 8);
}

MATRIX_OP(v_wmma_i32_16x16x16_iu4)
{
    multiply_integers(io, 4);
}

#include "wmma.inc"
