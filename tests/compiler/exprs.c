/* exprs.c: see exprs.h. Inputs are small numbers, so that integers exercise signs and
 * floats stay away from overflow.
 * SPDX-License-Identifier: MIT
 */
#include "exprs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exprs_input.h"
#include "graph.h"

#define RANDOM 160u

static struct cc_context *ctx;
static struct cc_graph *g;
static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

#define SHAPE(...)                                                                     \
    (const int64_t[])                                                                  \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

cc_ref exprs_input(enum cc_dtype dtype, unsigned ndim, const int64_t *shape)
{
    struct cc_tensor *t;
    int64_t count = 1;
    for (unsigned i = 0; i < ndim; i++)
        count *= shape[i];
    unsigned bytes = cc_dtype_bytes(dtype);
    char *data = calloc((size_t)count + 1, bytes);
    for (int64_t i = 0; data && i < count; i++) {
        union cc_value v;
        if (cc_is_float(dtype))
            v.f = ((double)rnd(32) - 16) / 4;
        else
            v.i = (int64_t)rnd(80) - (cc_is_unsigned(dtype) ? 0 : 40);
        cc_store_scalar(dtype, data + i * bytes, cc_fit(dtype, v));
    }
    if (!data || cc_tensor_from(ctx, dtype, ndim, shape, data, &t) != RD_OK)
        abort();
    free(data);
    return cc_tensor_ref(t);
}

static cc_ref input(enum cc_dtype dtype, unsigned ndim, const int64_t *shape)
{
    return exprs_input(dtype, ndim, shape);
}

/* Integers of any number of bits. */
static cc_ref wide(enum cc_dtype dtype)
{
    static const int64_t n = 150;
    uint64_t data[150];
    struct cc_tensor *t;
    for (int i = 0; i < 150; i++) {
        uint64_t high = rnd(1u << 31), low = rnd(1u << 31), top = rnd(4);
        data[i] = (top << 62 | high << 31 | low) >> rnd(64);
        data[i] = rnd(3) ? data[i] : 0 - data[i];
    }
    if (cc_tensor_from(ctx, dtype, 1, &n, data, &t) != RD_OK)
        abort();
    return cc_tensor_ref(t);
}

static cc_ref f46(void)
{
    return input(CC_DT_F32, 2, SHAPE(4, 6));
}

static cc_ref i46(void)
{
    return input(CC_DT_I32, 2, SHAPE(4, 6));
}

static cc_ref f357(void)
{
    return input(CC_DT_F32, 3, SHAPE(3, 5, 7));
}

static cc_ref num(double v)
{
    return cc_const_float(g, CC_DT_F32, v);
}

static cc_ref positive(cc_ref x)
{
    return cc_t_binary(g, CC_ADD, cc_t_binary(g, CC_MUL, x, x), num(0.5));
}

/* ---- the fixed list ---- */

#define EXPRS(X)                                                                       \
    X(add_row, cc_t_binary(g, CC_ADD, f46(), input(CC_DT_F32, 1, SHAPE(6))))           \
    X(sub_scalar, cc_t_binary(g, CC_SUB, f46(), num(1.5)))                             \
    X(mul_column, cc_t_binary(g, CC_MUL, f46(), input(CC_DT_F32, 2, SHAPE(4, 1))))     \
    X(div, cc_t_binary(g, CC_FDIV, f46(), positive(f46())))                            \
    X(div_of_integers, cc_t_binary(g, CC_FDIV, i46(), cc_const_int(g, CC_DT_I32, 7)))  \
    X(pow_two, cc_t_binary(g, CC_POW, positive(f46()), num(1.5)))                      \
    X(max_of_two, cc_t_binary(g, CC_MAX, f46(), f46()))                                \
    X(idiv, cc_t_binary(g, CC_IDIV, i46(), i46()))                                     \
    X(mod, cc_t_binary(g, CC_MOD, i46(), i46()))                                       \
    X(idiv_const, cc_t_binary(g, CC_IDIV, i46(), cc_const_int(g, CC_DT_I32, 7)))       \
    X(mod_const, cc_t_binary(g, CC_MOD, i46(), cc_const_int(g, CC_DT_I32, 8)))         \
    X(udiv, cc_t_binary(g, CC_IDIV, input(CC_DT_U32, 1, SHAPE(33)),                    \
                        input(CC_DT_U32, 1, SHAPE(33))))                               \
    X(umod_const, cc_t_binary(g, CC_MOD, input(CC_DT_U32, 1, SHAPE(33)),               \
                              cc_const_int(g, CC_DT_U32, 10)))                         \
    X(and_bits, cc_t_binary(g, CC_AND, i46(), i46()))                                  \
    X(or_bits, cc_t_binary(g, CC_OR, i46(), i46()))                                    \
    X(xor_bits, cc_t_binary(g, CC_XOR, i46(), i46()))                                  \
    X(shift_left, cc_t_binary(g, CC_SHL, i46(), cc_const_int(g, CC_DT_I32, 5)))        \
    X(shift_right, cc_t_binary(g, CC_SHR, i46(), cc_const_int(g, CC_DT_I32, 2)))       \
    X(less, cc_t_binary(g, CC_CMPLT, f46(), f46()))                                    \
    X(equal, cc_t_binary(g, CC_CMPEQ, i46(), i46()))                                   \
    X(not_equal, cc_t_binary(g, CC_CMPNE, f46(), f46()))                               \
    X(neg, cc_t_unary(g, CC_NEG, f46()))                                               \
    X(neg_int, cc_t_unary(g, CC_NEG, i46()))                                           \
    X(exp2, cc_t_unary(g, CC_EXP2, f46()))                                             \
    X(log2, cc_t_unary(g, CC_LOG2, positive(f46())))                                   \
    X(sin, cc_t_unary(g, CC_SIN, f46()))                                               \
    X(sqrt, cc_t_unary(g, CC_SQRT, positive(f46())))                                   \
    X(recip, cc_t_unary(g, CC_RECIP, positive(f46())))                                 \
    X(trunc, cc_t_unary(g, CC_TRUNC, f46()))                                           \
    X(exp, cc_t_exp(g, f46()))                                                         \
    X(log, cc_t_log(g, positive(f46())))                                               \
    X(relu, cc_t_relu(g, f46()))                                                       \
    X(sigmoid, cc_t_sigmoid(g, f46()))                                                 \
    X(tanh, cc_t_tanh(g, f46()))                                                       \
    X(where, cc_t_where(g, cc_t_binary(g, CC_CMPLT, f46(), num(0)), f46(), i46()))     \
    X(logic_not, cc_t_not(g, input(CC_DT_BOOL, 1, SHAPE(9))))                          \
    X(bool_add, cc_t_binary(g, CC_ADD, input(CC_DT_BOOL, 1, SHAPE(9)),                 \
                            input(CC_DT_BOOL, 1, SHAPE(9))))                           \
    X(sum_all, cc_t_sum(g, f46(), 0, false))                                           \
    X(sum_rows, cc_t_sum(g, f46(), 2, false))                                          \
    X(sum_columns_keep, cc_t_sum(g, f46(), 1, true))                                   \
    X(sum_middle, cc_t_sum(g, f357(), 2, false))                                       \
    X(sum_ends, cc_t_sum(g, f357(), 5, false))                                         \
    X(sum_i8, cc_t_sum(g, input(CC_DT_I8, 1, SHAPE(100)), 0, false))                   \
    X(sum_f16, cc_t_sum(g, input(CC_DT_F16, 1, SHAPE(100)), 0, false))                 \
    X(sum_bf16, cc_t_sum(g, input(CC_DT_BF16, 1, SHAPE(100)), 0, false))               \
    X(sum_bool, cc_t_sum(g, input(CC_DT_BOOL, 1, SHAPE(100)), 0, false))               \
    X(sum_big, cc_t_sum(g, input(CC_DT_F32, 1, SHAPE(65536)), 0, false))               \
    X(sum_big_i32, cc_t_sum(g, input(CC_DT_I32, 2, SHAPE(3, 40000)), 2, false))        \
    X(max_all, cc_t_max(g, f46(), 0, false))                                           \
    X(max_rows_int, cc_t_max(g, i46(), 2, false))                                      \
    X(min_rows, cc_t_min(g, f46(), 2, false))                                          \
    X(min_int, cc_t_min(g, i46(), 1, false))                                           \
    X(min_u8, cc_t_min(g, input(CC_DT_U8, 1, SHAPE(20)), 0, false))                    \
    X(prod, cc_t_prod(g, input(CC_DT_F32, 2, SHAPE(3, 4)), 2, false))                  \
    X(mean, cc_t_mean(g, f46(), 2, false))                                             \
    X(mean_int, cc_t_mean(g, i46(), 0, false))                                         \
    X(softmax, cc_t_softmax(g, f46(), 1))                                              \
    X(softmax_first, cc_t_softmax(g, f357(), 0))                                       \
    X(matmul, cc_t_matmul(g, f46(), input(CC_DT_F32, 2, SHAPE(6, 5))))                 \
    X(matmul_f16, cc_t_matmul(g, input(CC_DT_F16, 2, SHAPE(7, 9)),                     \
                              input(CC_DT_F16, 2, SHAPE(9, 3))))                       \
    X(matmul_int, cc_t_matmul(g, i46(), input(CC_DT_I32, 2, SHAPE(6, 5))))             \
    X(matmul_batch, cc_t_matmul(g, f357(), input(CC_DT_F32, 2, SHAPE(7, 4))))          \
    X(matmul_chain,                                                                    \
      cc_t_matmul(g, cc_t_matmul(g, f46(), cc_t_transpose(g, f46())), f46()))          \
    X(reshape, cc_reshape(g, f46(), 3, SHAPE(2, 4, 3)))                                \
    X(permute, cc_permute(g, f357(), 3, SHAPE(2, 0, 1)))                               \
    X(expand, cc_expand(g, input(CC_DT_F32, 2, SHAPE(1, 5)), 2, SHAPE(4, 5)))          \
    X(pad, cc_pad(g, f46(), SHAPE(1, 2, 0, 3)))                                        \
    X(pad_of_sum, cc_pad(g, cc_t_binary(g, CC_ADD, f46(), num(1)), SHAPE(1, 2, 3, 0))) \
    X(shrink, cc_shrink(g, f46(), SHAPE(1, 3, 2, 6)))                                  \
    X(flip, cc_flip(g, f357(), 2, SHAPE(0, 2)))                                        \
    X(flip_pad_permute,                                                                \
      cc_permute(g, cc_pad(g, cc_flip(g, f46(), 1, SHAPE(1)), SHAPE(0, 1, 2, 0)), 2,   \
                 SHAPE(1, 0)))                                                         \
    X(concat, cc_t_concat(g, f46(), f46(), 1))                                         \
    X(concat_first, cc_t_concat(g, i46(), i46(), 0))                                   \
    X(reshape_of_permute,                                                              \
      cc_reshape(g, cc_permute(g, f46(), 2, SHAPE(1, 0)), 1, SHAPE(24)))               \
    X(contiguous, cc_alu2(g, CC_ADD, cc_alu1(g, CC_CONTIGUOUS, f46()), f46()))         \
    X(iota, cc_t_iota(g, 2, SHAPE(5, 300)))                                            \
    X(full, cc_t_full(g, CC_DT_F16, 2, SHAPE(3, 5), 2.5))                              \
    X(rand, cc_t_rand(g, 1, SHAPE(500), 7))                                            \
    X(randn, cc_t_randn(g, 1, SHAPE(100), 7))                                          \
    X(scalar, cc_t_binary(g, CC_ADD, input(CC_DT_F32, 0, SHAPE(0)), num(1)))           \
    X(one_element, cc_t_sum(g, input(CC_DT_F32, 1, SHAPE(1)), 0, true))                \
    X(odd_size, cc_t_binary(g, CC_MUL, input(CC_DT_F32, 1, SHAPE(1009)), num(3)))      \
    X(norm,                                                                            \
      cc_t_binary(g, CC_FDIV, f46(),                                                   \
                  cc_t_unary(g, CC_SQRT, cc_t_mean(g, positive(f46()), 2, true))))     \
    X(sum_of_max, cc_t_sum(g, cc_t_max(g, f357(), 4, false), 2, false))                \
    X(i64_add, cc_t_binary(g, CC_ADD, input(CC_DT_I64, 1, SHAPE(20)),                  \
                           input(CC_DT_I32, 1, SHAPE(20))))                            \
    X(i64_mul, cc_t_binary(g, CC_MUL, input(CC_DT_I64, 1, SHAPE(20)),                  \
                           input(CC_DT_I64, 1, SHAPE(20))))                            \
    X(u64_shift, cc_t_binary(g, CC_SHL, input(CC_DT_U64, 1, SHAPE(20)),                \
                             cc_const_int(g, CC_DT_U64, 40)))                          \
    X(i64_less, cc_t_binary(g, CC_CMPLT, input(CC_DT_I64, 1, SHAPE(20)),               \
                            input(CC_DT_I64, 1, SHAPE(20))))                           \
    X(f64_mul_add, cc_t_binary(g, CC_ADD,                                              \
                               cc_t_binary(g, CC_MUL, input(CC_DT_F64, 1, SHAPE(20)),  \
                                           input(CC_DT_F64, 1, SHAPE(20))),            \
                               input(CC_DT_F64, 1, SHAPE(20))))                        \
    X(u8_wraps, cc_t_binary(g, CC_MUL, input(CC_DT_U8, 1, SHAPE(30)),                  \
                            input(CC_DT_U8, 1, SHAPE(30))))                            \
    X(i16_wraps, cc_t_binary(g, CC_MUL,                                                \
                             cc_t_binary(g, CC_MUL, input(CC_DT_I16, 1, SHAPE(30)),    \
                                         input(CC_DT_I16, 1, SHAPE(30))),              \
                             input(CC_DT_I16, 1, SHAPE(30))))                          \
    X(f16_chain, cc_t_exp(g, cc_t_binary(g, CC_MUL, input(CC_DT_F16, 1, SHAPE(30)),    \
                                         input(CC_DT_F16, 1, SHAPE(30)))))             \
    X(i64_div_wide, cc_t_binary(g, CC_IDIV, wide(CC_DT_I64), wide(CC_DT_I64)))         \
    X(i64_mod_wide, cc_t_binary(g, CC_MOD, wide(CC_DT_I64), wide(CC_DT_I64)))          \
    X(u64_div_wide, cc_t_binary(g, CC_IDIV, wide(CC_DT_U64), wide(CC_DT_U64)))         \
    X(u64_mod_wide, cc_t_binary(g, CC_MOD, wide(CC_DT_U64), wide(CC_DT_U64)))          \
    X(u64_div_const,                                                                   \
      cc_t_binary(g, CC_IDIV, wide(CC_DT_U64), cc_const_int(g, CC_DT_U64, 1000)))      \
    X(i64_mod_const,                                                                   \
      cc_t_binary(g, CC_MOD, wide(CC_DT_I64), cc_const_int(g, CC_DT_I64, -8)))         \
    X(i64_mul_wide, cc_t_binary(g, CC_MUL, wide(CC_DT_I64), wide(CC_DT_I64)))          \
    X(i64_to_f32, cc_cast(g, wide(CC_DT_I64), CC_DT_F32))                              \
    X(u64_to_f32, cc_cast(g, wide(CC_DT_U64), CC_DT_F32))                              \
    X(i64_to_f64, cc_cast(g, wide(CC_DT_I64), CC_DT_F64))                              \
    X(u64_to_i16, cc_cast(g, wide(CC_DT_U64), CC_DT_I16))                              \
    X(i64_max_wide, cc_t_max(g, wide(CC_DT_I64), 0, false))                            \
    X(u64_max_wide, cc_t_max(g, wide(CC_DT_U64), 0, false))                            \
    X(floor, cc_t_floor(g, f46()))                                                     \
    X(ceil, cc_t_ceil(g, f46()))                                                       \
    X(round, cc_t_round(g, f46()))                                                     \
    X(abs, cc_t_abs(g, f46()))                                                         \
    X(abs_int, cc_t_abs(g, i46()))                                                     \
    X(sign, cc_t_sign(g, f46()))                                                       \
    X(sign_u8, cc_t_sign(g, input(CC_DT_U8, 1, SHAPE(9))))                             \
    X(clamp, cc_t_clamp(g, f46(), -1.5, 2))                                            \
    X(clamp_int, cc_t_clamp(g, i46(), -7, 20))                                         \
    X(cos, cc_t_cos(g, f46()))                                                         \
    X(gelu, cc_t_gelu(g, f46()))                                                       \
    X(argmax, cc_t_argmax(g, f357(), 1, false))                                        \
    X(argmax_int, cc_t_argmax(g, i46(), 1, true))                                      \
    X(argmin, cc_t_argmin(g, f46(), 0, false))                                         \
    X(argmin_u16, cc_t_argmin(g, input(CC_DT_U16, 1, SHAPE(65)), 0, false))            \
    X(one_hot, cc_t_one_hot(g, input(CC_DT_U8, 1, SHAPE(20)), 80))                     \
    X(rows, cc_t_rows(g, f46(), cc_t_clamp(g, input(CC_DT_I32, 1, SHAPE(9)), 0, 3)))   \
    X(tril, cc_t_tril(g, f357()))                                                      \
    X(repeat, cc_t_repeat(g, f46(), 1, 3))                                             \
    X(windows, cc_t_windows(g, f357(), &(struct cc_window){.size = {2, 3}}))           \
    X(windows_far, cc_t_windows(g, input(CC_DT_I32, 2, SHAPE(9, 11)),                  \
                                &(struct cc_window){{2, 3}, {3, 2}, {4, 3}, {1, 0}}))  \
    X(conv2d,                                                                          \
      cc_t_conv2d(g, input(CC_DT_F32, 4, SHAPE(2, 3, 6, 7)),                           \
                  input(CC_DT_F32, 4, SHAPE(4, 3, 3, 2)), &(struct cc_window){0}))     \
    X(conv2d_strided,                                                                  \
      cc_t_conv2d(                                                                     \
          g, input(CC_DT_F32, 4, SHAPE(1, 2, 9, 8)),                                   \
          input(CC_DT_F32, 4, SHAPE(3, 2, 3, 3)),                                      \
          &(struct cc_window){.stride = {2, 3}, .dilation = {2, 1}, .pad = {1, 2}}))   \
    X(conv2d_f16, cc_t_conv2d(g, input(CC_DT_F16, 4, SHAPE(1, 4, 5, 5)),               \
                              input(CC_DT_F16, 4, SHAPE(2, 4, 1, 5)),                  \
                              &(struct cc_window){.pad = {0, 2}}))                     \
    X(conv2d_int, cc_t_conv2d(g, input(CC_DT_I8, 4, SHAPE(1, 2, 7, 7)),                \
                              input(CC_DT_I8, 4, SHAPE(2, 2, 3, 3)),                   \
                              &(struct cc_window){.pad = {1, 1}}))                     \
    X(max_pool, cc_t_max_pool(g, input(CC_DT_F32, 4, SHAPE(1, 2, 7, 9)),               \
                              &(struct cc_window){.size = {2, 3}, .stride = {2, 3}}))  \
    X(avg_pool, cc_t_avg_pool(g, input(CC_DT_F32, 3, SHAPE(2, 7, 9)),                  \
                              &(struct cc_window){.size = {3, 3}, .pad = {1, 1}}))     \
    X(cumsum, cc_t_cumsum(g, f46(), 1))                                                \
    X(cumsum_first_int, cc_t_cumsum(g, i46(), 0))                                      \
    X(var, cc_t_var(g, f46(), 2, false))                                               \
    X(layer_norm, cc_t_layer_norm(g, f357(), 4, 1e-5))                                 \
    X(log_softmax, cc_t_log_softmax(g, f46(), 1))                                      \
    X(attention, cc_t_attention(g, f357(), f357(), f357(), false))                     \
    X(attention_causal, cc_t_attention(g, input(CC_DT_F32, 4, SHAPE(2, 3, 9, 8)),      \
                                       input(CC_DT_F32, 4, SHAPE(2, 3, 9, 8)),         \
                                       input(CC_DT_F32, 4, SHAPE(2, 3, 9, 8)), true))  \
    X(randint, cc_t_randint(g, 1, SHAPE(300), -5, 9, 11))                              \
    X(matmul_batches, cc_t_matmul(g, input(CC_DT_F32, 4, SHAPE(2, 1, 5, 6)),           \
                                  input(CC_DT_F32, 3, SHAPE(3, 6, 4))))                \
    X(matmul_bf16, cc_t_matmul(g, input(CC_DT_BF16, 2, SHAPE(16, 16)),                 \
                               input(CC_DT_BF16, 2, SHAPE(16, 16))))                   \
    X(matmul_f16_tiles, cc_t_matmul(g, input(CC_DT_F16, 2, SHAPE(32, 48)),             \
                                    input(CC_DT_F16, 2, SHAPE(48, 16))))               \
    X(matmul_f64, cc_t_matmul(g, input(CC_DT_F64, 2, SHAPE(5, 7)),                     \
                              input(CC_DT_F64, 2, SHAPE(7, 3))))                       \
    X(matmul_i64, cc_t_matmul(g, input(CC_DT_I64, 2, SHAPE(5, 7)),                     \
                              input(CC_DT_I64, 2, SHAPE(7, 3))))                       \
    X(empty_sum, cc_t_sum(g, cc_shrink(g, f46(), SHAPE(0, 4, 2, 2)), 2, false))        \
    X(bitcast, cc_bitcast(g, f46(), CC_DT_U32))                                        \
    X(bitcast_f16, cc_bitcast(g, input(CC_DT_F16, 1, SHAPE(30)), CC_DT_I16))

#define X(name, expr)                                                                  \
    static cc_ref x_##name(void)                                                       \
    {                                                                                  \
        return expr;                                                                   \
    }
EXPRS(X)
#undef X

static const struct {
    const char *name;
    cc_ref (*build)(void);
} fixed[] = {
#define X(name, expr) {#name, x_##name},
    EXPRS(X)
#undef X
};

#define N_FIXED (sizeof fixed / sizeof fixed[0])
#define N_DT    (CC_DT_COUNT - 1u)

/* Every dtype added to itself, and cast to every other. */
static cc_ref dtype_expr(unsigned i, char *name)
{
    enum cc_dtype from = (enum cc_dtype)(1 + i / N_DT),
                  to = (enum cc_dtype)(1 + i % N_DT);
    snprintf(name, 64, "%s to %s", cc_dtype_name(from), cc_dtype_name(to));
    cc_ref x = input(from, 1, SHAPE(37));
    if (from == to)
        return cc_t_binary(g, CC_ADD, x, input(from, 1, SHAPE(37)));
    return cc_cast(g, x, to);
}

/* ---- random graphs ---- */

static cc_ref random_leaf(void)
{
    static const enum cc_dtype dtypes[] = {CC_DT_F32, CC_DT_F32, CC_DT_I32, CC_DT_F16};
    int64_t shape[3];
    unsigned ndim = 1 + rnd(3);
    for (unsigned i = 0; i < ndim; i++)
        shape[i] = 1 + rnd(7);
    return input(dtypes[rnd(4)], ndim, shape);
}

static cc_ref random_move(cc_ref x)
{
    int64_t a[2 * CC_MAX_DIMS] = {0};
    switch (rnd(6)) {
    case 0:
        for (unsigned i = 0; i < x->ndim; i++)
            a[i] = x->ndim - 1 - i;
        return cc_permute(g, x, x->ndim, a);
    case 1:
        for (unsigned i = 0; i < 2u * x->ndim; i++)
            a[i] = rnd(3);
        return cc_pad(g, x, a);
    case 2:
        for (unsigned i = 0; i < x->ndim; i++) {
            a[2 * i] = rnd((uint32_t)x->shape[i]);
            a[2 * i + 1] = a[2 * i] + 1 + rnd((uint32_t)(x->shape[i] - a[2 * i]));
        }
        return cc_shrink(g, x, a);
    case 3:
        a[0] = x->ndim ? rnd(x->ndim) : 0;
        return x->ndim ? cc_flip(g, x, 1, a) : x;
    case 4:
        a[0] = cc_elements(x);
        return cc_reshape(g, x, 1, a);
    default:
        a[0] = 2;
        for (unsigned i = 0; i < x->ndim; i++)
            a[i + 1] = x->shape[i];
        return x->ndim < 4 ? cc_t_broadcast(g, x, x->ndim + 1u, a) : x;
    }
}

static bool fits(cc_ref a, cc_ref b)
{
    for (unsigned i = 0; i < a->ndim && i < b->ndim; i++) {
        int64_t x = a->shape[a->ndim - 1 - i], y = b->shape[b->ndim - 1 - i];
        if (x != y && x != 1 && y != 1)
            return false;
    }
    return true;
}

static cc_ref random_unary(cc_ref x)
{
    switch (rnd(6)) {
    case 0:
        return cc_t_unary(g, CC_SIN, x);
    case 1:
        return cc_t_unary(g, CC_NEG, x);
    case 2:
        return cc_t_unary(g, CC_RECIP, cc_cast(g, positive(x), CC_DT_F32));
    case 3:
        return cc_t_relu(g, x);
    case 4:
        return cc_t_tanh(g, x);
    default:
        return cc_t_unary(g, CC_SQRT, positive(x));
    }
}

static cc_ref random_binary(cc_ref x, cc_ref y)
{
    static const enum cc_op ops[] = {CC_ADD, CC_SUB, CC_MUL, CC_MAX};
    if (!fits(x, y))
        return cc_t_binary(g, CC_ADD, cc_t_sum(g, x, 0, false), y);
    if (cc_is_int(x->dtype) && cc_is_int(y->dtype) && rnd(3) == 0)
        return cc_t_where(g, cc_t_binary(g, CC_CMPLT, x, y), x, y);
    return cc_t_binary(g, ops[rnd(4)], x, y);
}

static cc_ref random_expr(unsigned i, char *name)
{
    snprintf(name, 64, "random %u", i);
    cc_ref x = random_leaf();
    for (unsigned steps = 2 + rnd(7); steps > 0; steps--) {
        if (cc_elements(x) > 4000)
            x = cc_t_sum(g, x, 1, false);
        switch (rnd(5)) {
        case 0:
            x = random_move(x);
            break;
        case 1:
            x = random_unary(x);
            break;
        case 2:
            if (x->ndim)
                x = rnd(2) ? cc_t_mean(g, x, 1u << rnd(x->ndim), rnd(2))
                           : cc_t_max(g, x, 1u << rnd(x->ndim), rnd(2));
            break;
        default:
            x = random_binary(x, rnd(4) ? random_leaf() : x);
            break;
        }
    }
    return x;
}

unsigned exprs_count(void)
{
    return (unsigned)N_FIXED + N_DT * N_DT + matrix_count() + RANDOM;
}

cc_ref exprs_build(struct cc_context *c, unsigned i, char *name)
{
    ctx = c;
    g = cc_context_graph(c);
    seed = 1000 + i;
    for (int j = 0; j < 4; j++)
        rnd(2);
    if (i < N_FIXED) {
        snprintf(name, 64, "%s", fixed[i].name);
        return fixed[i].build();
    }
    i -= (unsigned)N_FIXED;
    if (i < N_DT * N_DT)
        return dtype_expr(i, name);
    i -= N_DT * N_DT;
    return i < matrix_count() ? matrix_build(g, i, name)
                              : random_expr(i - matrix_count(), name);
}

/* ---- comparing ---- */

void exprs_check(struct cc_context *c, cc_ref expr, double tolerance, char *text)
{
    union cc_value *want;
    struct cc_tensor *t;
    text[0] = 0;
    enum cc_dtype dtype = expr->dtype;
    int64_t count = cc_elements(expr);
    unsigned bytes = cc_dtype_bytes(dtype);
    rd_status st = cc_tensor_new(c, expr, &t);
    if (st == RD_OK)
        st = cc_evaluate(c, expr, &want);
    if (st != RD_OK) {
        snprintf(text, 512, "reference: %s", cc_context_error(c));
        return;
    }
    char *got = calloc((size_t)count + 1, bytes);
    double top = 0;
    for (int64_t i = 0; i < count && cc_is_float(dtype); i++)
        if (isfinite(want[i].f) && fabs(want[i].f) > top)
            top = fabs(want[i].f);
    st = cc_tensor_read(c, t, got, (uint64_t)count * bytes);
    if (st != RD_OK)
        snprintf(text, 512, "%s: %s", rd_status_text(st), cc_context_error(c));
    if (dtype == CC_DT_F16 && tolerance < 0x1p-10)
        tolerance = 0x1p-10; /* one unit: a value may fall to either side */
    if (dtype == CC_DT_BF16 && tolerance < 0x1p-7)
        tolerance = 0x1p-7;
    if (dtype == CC_DT_F64)
        tolerance = 1e-11;
    for (int64_t i = 0; i < count && !text[0]; i++) {
        union cc_value v = cc_load_scalar(dtype, got + i * bytes);
        bool same = cc_is_float(dtype)
                        ? v.f == want[i].f || (isnan(v.f) && isnan(want[i].f)) ||
                              fabs(v.f - want[i].f) <= tolerance * (top > 1 ? top : 1)
                        : v.i == want[i].i;
        if (!same && cc_is_float(dtype))
            snprintf(text, 512, "element %lld is %.9g, not %.9g", (long long)i, v.f,
                     want[i].f);
        else if (!same)
            snprintf(text, 512, "element %lld is %lld, not %lld", (long long)i,
                     (long long)v.i, (long long)want[i].i);
    }
    free(got);
    free(want);
}

unsigned exprs_check_all(unsigned step, double tolerance,
                         rd_status (*create)(struct cc_context **c), unsigned *tried)
{
    unsigned from = 0, to = exprs_count(), wrong = 0;
    const char *only = getenv("CC_EXPR");
    if (only) {
        from = (unsigned)atoi(only);
        to = from + 1;
    }
    *tried = 0;
    for (unsigned i = from; i < to; i += step, ++*tried) {
        struct cc_context *c;
        char name[64] = "", text[512] = "no context";
        if (create(&c) == RD_OK) {
            exprs_check(c, exprs_build(c, i, name), tolerance, text);
            cc_context_destroy(c);
        }
        if (text[0]) {
            fprintf(stderr, "%u, %s: %s\n", i, name, text);
            wrong++;
        }
    }
    return wrong;
}
