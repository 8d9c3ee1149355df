/* tensor.c: expressions of tensors, in terms of the IR's operations.
 *
 * Builds nodes only. Knows no kernels and no memory.
 * SPDX-License-Identifier: MIT
 */
#include "cc_tensor.h"
#include "graph.h"

#include <math.h>
#include <string.h>

/* ---- dtypes ---- */

static enum cc_dtype promote(enum cc_dtype a, enum cc_dtype b)
{
    if (a == b)
        return a;
    if (cc_is_float(a) || cc_is_float(b)) {
        if (!cc_is_float(a) || !cc_is_float(b))
            return cc_is_float(a) ? a : b;
        if (a + b == CC_DT_F16 + CC_DT_BF16)
            return CC_DT_F32;
        return a > b ? a : b;
    }
    if (a == CC_DT_BOOL || b == CC_DT_BOOL)
        return a > b ? a : b;
    unsigned wide_a = cc_dtype_bytes(a), wide_b = cc_dtype_bytes(b);
    if (cc_is_unsigned(a) == cc_is_unsigned(b))
        return wide_a > wide_b ? a : b;
    enum cc_dtype u = cc_is_unsigned(a) ? a : b, s = cc_is_unsigned(a) ? b : a;
    if (cc_dtype_bytes(s) > cc_dtype_bytes(u))
        return s;
    return u == CC_DT_U8 ? CC_DT_I16 : u == CC_DT_U16 ? CC_DT_I32 : CC_DT_I64;
}

static cc_ref to_float(struct cc_graph *g, cc_ref a)
{
    return cc_is_float(a->dtype) ? a : cc_cast(g, a, CC_DT_F32);
}

/* What sums of this dtype are kept in. */
static enum cc_dtype sum_dtype(enum cc_dtype dtype)
{
    switch (dtype) {
    case CC_DT_F16:
    case CC_DT_BF16:
        return CC_DT_F32;
    case CC_DT_BOOL:
    case CC_DT_I8:
    case CC_DT_I16:
        return CC_DT_I32;
    case CC_DT_U8:
    case CC_DT_U16:
        return CC_DT_U32;
    default:
        return dtype;
    }
}

/* ---- shapes ---- */

cc_ref cc_t_broadcast(struct cc_graph *g, cc_ref a, unsigned ndim, const int64_t *shape)
{
    int64_t padded[CC_MAX_DIMS] = {0};
    if (ndim < a->ndim || ndim > CC_MAX_DIMS)
        return cc_fail(g, RD_E_INVALID, "broadcast: %u axes do not fit %u", a->ndim,
                       ndim);
    for (unsigned i = 0; i < ndim; i++)
        padded[i] = i < ndim - a->ndim ? 1 : a->shape[i - (ndim - a->ndim)];
    if (a->ndim != ndim)
        a = cc_reshape(g, a, ndim, padded);
    if (ndim == 0 || memcmp(padded, shape, ndim * sizeof *shape) == 0)
        return a;
    return cc_expand(g, a, ndim, shape);
}

/* The shape that both broadcast to; axes from the right, size 1 gives way. */
static unsigned common_shape(cc_ref a, cc_ref b, int64_t *shape)
{
    unsigned ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    for (unsigned i = 0; i < ndim; i++) {
        int64_t x = i < a->ndim ? a->shape[a->ndim - 1 - i] : 1;
        int64_t y = i < b->ndim ? b->shape[b->ndim - 1 - i] : 1;
        shape[ndim - 1 - i] = x == 1 ? y : x;
    }
    return ndim;
}

static void fit(struct cc_graph *g, cc_ref *a, cc_ref *b)
{
    int64_t shape[CC_MAX_DIMS];
    unsigned ndim = common_shape(*a, *b, shape);
    if ((*a)->ndim != 0)
        *a = cc_t_broadcast(g, *a, ndim, shape);
    if ((*b)->ndim != 0)
        *b = cc_t_broadcast(g, *b, ndim, shape);
}

static unsigned all_axes(cc_ref a, unsigned axes)
{
    return axes ? axes : (1u << a->ndim) - 1;
}

/* ---- elementwise ---- */

cc_ref cc_t_full(struct cc_graph *g, enum cc_dtype dtype, unsigned ndim,
                 const int64_t *shape, double value)
{
    cc_ref c = cc_is_float(dtype) ? cc_const_float(g, dtype, value)
                                  : cc_const_int(g, dtype, (int64_t)value);
    return cc_t_broadcast(g, c, ndim, shape);
}

cc_ref cc_t_iota(struct cc_graph *g, unsigned ndim, const int64_t *shape)
{
    return cc_uop(g, CC_IOTA, CC_DT_I32, 0, NULL, ndim, shape, NULL);
}

cc_ref cc_t_binary(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b)
{
    enum cc_dtype dtype = promote(a->dtype, b->dtype);
    if ((op == CC_FDIV || op == CC_POW) && !cc_is_float(dtype))
        dtype = CC_DT_F32;
    if ((op == CC_SUB || op == CC_IDIV || op == CC_MOD || op == CC_SHL ||
         op == CC_SHR) &&
        dtype == CC_DT_BOOL)
        dtype = CC_DT_I32;
    fit(g, &a, &b);
    return cc_alu2(g, op, cc_cast(g, a, dtype), cc_cast(g, b, dtype));
}

cc_ref cc_t_unary(struct cc_graph *g, enum cc_op op, cc_ref a)
{
    if (op == CC_NEG)
        return cc_alu1(g, op, a->dtype == CC_DT_BOOL ? cc_cast(g, a, CC_DT_I32) : a);
    return cc_alu1(g, op, to_float(g, a));
}

cc_ref cc_t_where(struct cc_graph *g, cc_ref cond, cc_ref a, cc_ref b)
{
    enum cc_dtype dtype = promote(a->dtype, b->dtype);
    fit(g, &a, &b);
    fit(g, &cond, &a);
    fit(g, &cond, &b);
    return cc_where(g, cc_cast(g, cond, CC_DT_BOOL), cc_cast(g, a, dtype),
                    cc_cast(g, b, dtype));
}

cc_ref cc_t_not(struct cc_graph *g, cc_ref a)
{
    return cc_alu2(g, CC_CMPNE, cc_cast(g, a, CC_DT_BOOL),
                   cc_const_int(g, CC_DT_BOOL, 1));
}

static cc_ref number(struct cc_graph *g, cc_ref like, double value)
{
    return cc_const_float(g, like->dtype, value);
}

cc_ref cc_t_exp(struct cc_graph *g, cc_ref a)
{
    a = to_float(g, a);
    return cc_alu1(g, CC_EXP2, cc_alu2(g, CC_MUL, a, number(g, a, 1.4426950408889634)));
}

cc_ref cc_t_log(struct cc_graph *g, cc_ref a)
{
    a = to_float(g, a);
    return cc_alu2(g, CC_MUL, cc_alu1(g, CC_LOG2, a), number(g, a, 0.6931471805599453));
}

cc_ref cc_t_relu(struct cc_graph *g, cc_ref a)
{
    return cc_alu2(g, CC_MAX, a, cc_const_int(g, a->dtype, 0));
}

cc_ref cc_t_sigmoid(struct cc_graph *g, cc_ref a)
{
    a = to_float(g, a);
    cc_ref e = cc_t_exp(g, cc_alu1(g, CC_NEG, a));
    return cc_alu1(g, CC_RECIP, cc_alu2(g, CC_ADD, e, number(g, a, 1)));
}

cc_ref cc_t_tanh(struct cc_graph *g, cc_ref a)
{
    a = to_float(g, a);
    cc_ref s = cc_t_sigmoid(g, cc_alu2(g, CC_MUL, a, number(g, a, 2)));
    return cc_alu2(g, CC_SUB, cc_alu2(g, CC_MUL, s, number(g, a, 2)), number(g, a, 1));
}

/* ---- reductions ---- */

static cc_ref fold(struct cc_graph *g, enum cc_op op, cc_ref a, unsigned axes,
                   bool keep)
{
    int64_t list[CC_MAX_DIMS], shape[CC_MAX_DIMS];
    unsigned n = 0;
    axes = all_axes(a, axes);
    for (unsigned i = 0; i < 32 && axes >> i; i++)
        if (axes >> i & 1 && n < CC_MAX_DIMS)
            list[n++] = i;
    cc_ref r = n ? cc_reduce(g, op, a, n, list) : a;
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i] = axes >> i & 1 ? 1 : a->shape[i];
    return keep ? cc_reshape(g, r, a->ndim, shape) : r;
}

static cc_ref wide_fold(struct cc_graph *g, enum cc_op op, cc_ref a, unsigned axes,
                        bool keep)
{
    enum cc_dtype dtype = a->dtype, wide = sum_dtype(dtype);
    cc_ref r = fold(g, op, cc_cast(g, a, wide), axes, keep);
    return cc_is_float(dtype) ? cc_cast(g, r, dtype) : r;
}

cc_ref cc_t_sum(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    return wide_fold(g, CC_ADD, a, axes, keep);
}

cc_ref cc_t_prod(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    return wide_fold(g, CC_MUL, a, axes, keep);
}

cc_ref cc_t_max(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    return fold(g, CC_MAX, a, axes, keep);
}

cc_ref cc_t_min(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    if (cc_is_float(a->dtype))
        return cc_alu1(g, CC_NEG, fold(g, CC_MAX, cc_alu1(g, CC_NEG, a), axes, keep));
    /* ~x turns the order of integers around, whatever their sign */
    cc_ref ones = cc_const_int(g, a->dtype, a->dtype == CC_DT_BOOL ? 1 : -1);
    cc_ref r = fold(g, CC_MAX, cc_alu2(g, CC_XOR, a, ones), axes, keep);
    return cc_alu2(g, CC_XOR, r, ones);
}

cc_ref cc_t_mean(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    double count = 1;
    enum cc_dtype dtype = cc_is_float(a->dtype) ? (enum cc_dtype)a->dtype : CC_DT_F32;
    enum cc_dtype wide = sum_dtype(dtype);
    for (unsigned i = 0; i < a->ndim; i++)
        if (all_axes(a, axes) >> i & 1)
            count *= (double)a->shape[i];
    cc_ref s = fold(g, CC_ADD, cc_cast(g, a, wide), axes, keep);
    return cc_cast(g, cc_alu2(g, CC_MUL, s, number(g, s, 1 / count)), dtype);
}

cc_ref cc_t_softmax(struct cc_graph *g, cc_ref a, unsigned axis)
{
    a = to_float(g, a);
    cc_ref top = cc_t_max(g, a, 1u << axis, true);
    cc_ref e = cc_t_exp(g, cc_t_binary(g, CC_SUB, a, top));
    return cc_t_binary(g, CC_FDIV, e, cc_t_sum(g, e, 1u << axis, true));
}

/* ---- matrices and movement ---- */

cc_ref cc_t_transpose(struct cc_graph *g, cc_ref a)
{
    int64_t order[CC_MAX_DIMS];
    if (a->ndim < 2)
        return cc_fail(g, RD_E_INVALID, "transpose: fewer than two axes");
    for (unsigned i = 0; i < a->ndim; i++)
        order[i] = i;
    order[a->ndim - 2] = a->ndim - 1;
    order[a->ndim - 1] = a->ndim - 2;
    return cc_permute(g, a, a->ndim, order);
}

/* a with an axis of size 1 before position at. */
static cc_ref insert_axis(struct cc_graph *g, cc_ref a, unsigned at)
{
    int64_t shape[CC_MAX_DIMS + 1];
    memcpy(shape, a->shape, at * sizeof *shape);
    shape[at] = 1;
    memcpy(shape + at + 1, a->shape + at, (a->ndim - at) * sizeof *shape);
    return cc_reshape(g, a, a->ndim + 1u, shape);
}

cc_ref cc_t_matmul(struct cc_graph *g, cc_ref a, cc_ref b)
{
    if (a->ndim < 2 || b->ndim < 2 || a->ndim > CC_MAX_DIMS - 1 ||
        b->ndim > CC_MAX_DIMS - 1 || a->shape[a->ndim - 1] != b->shape[b->ndim - 2])
        return cc_fail(g, RD_E_INVALID,
                       "matmul(%%%u, %%%u): inner sizes differ, or fewer than two axes",
                       a->id, b->id);
    enum cc_dtype dtype = promote(a->dtype, b->dtype);
    a = insert_axis(g, cc_cast(g, a, dtype), a->ndim - 1u); /* m 1 k */
    b = insert_axis(g, cc_t_transpose(g, cc_cast(g, b, dtype)),
                    b->ndim - 2u); /* 1 n k */
    enum cc_dtype wide = sum_dtype(dtype);
    cc_ref p = cc_t_binary(g, CC_MUL, cc_cast(g, a, wide), cc_cast(g, b, wide));
    cc_ref r = fold(g, CC_ADD, p, 1u << (p->ndim - 1), false);
    return cc_is_float(dtype) ? cc_cast(g, r, dtype) : r;
}

cc_ref cc_t_concat(struct cc_graph *g, cc_ref a, cc_ref b, unsigned axis)
{
    int64_t after[2 * CC_MAX_DIMS] = {0}, before[2 * CC_MAX_DIMS] = {0};
    int64_t mark[CC_MAX_DIMS];
    if (a->ndim != b->ndim || axis >= a->ndim)
        return cc_fail(g, RD_E_INVALID, "concat(%%%u, %%%u): shapes do not fit", a->id,
                       b->id);
    enum cc_dtype dtype = promote(a->dtype, b->dtype);
    after[2 * axis + 1] = b->shape[axis];
    before[2 * axis] = a->shape[axis];
    memcpy(mark, a->shape, a->ndim * sizeof *mark);
    cc_ref first = cc_pad(g, cc_t_full(g, CC_DT_BOOL, a->ndim, mark, 1), after);
    return cc_where(g, first, cc_pad(g, cc_cast(g, a, dtype), after),
                    cc_pad(g, cc_cast(g, b, dtype), before));
}

/* ---- random numbers ---- */

/* 32 random bits per element. */
static cc_ref random_bits(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                          uint64_t seed)
{
    cc_ref counter = cc_cast(g, cc_t_iota(g, ndim, shape), CC_DT_U64);
    cc_ref key = cc_const_int(g, CC_DT_U64, (int64_t)seed);
    return cc_cast(g, cc_alu2(g, CC_THREEFRY, counter, key), CC_DT_U32);
}

cc_ref cc_t_rand(struct cc_graph *g, unsigned ndim, const int64_t *shape, uint64_t seed)
{
    cc_ref bits = random_bits(g, ndim, shape, seed);
    bits = cc_alu2(g, CC_SHR, bits, cc_const_int(g, CC_DT_U32, 8));
    return cc_alu2(g, CC_MUL, cc_cast(g, bits, CC_DT_F32),
                   cc_const_float(g, CC_DT_F32, 0x1p-24));
}

cc_ref cc_t_randn(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                  uint64_t seed)
{
    cc_ref u = cc_t_rand(g, ndim, shape, seed * 2 + 1);
    cc_ref v = cc_t_rand(g, ndim, shape, seed * 2 + 2);
    cc_ref far = cc_t_log(g, cc_alu2(g, CC_SUB, number(g, u, 1), u)); /* of (0, 1] */
    cc_ref radius = cc_alu1(g, CC_SQRT, cc_alu2(g, CC_MUL, far, number(g, far, -2)));
    cc_ref angle = cc_alu2(g, CC_MUL, v, number(g, v, 6.283185307179586));
    return cc_alu2(g, CC_MUL, radius, cc_alu1(g, CC_SIN, angle));
}
