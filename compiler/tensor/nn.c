/* nn.c: expressions made of other expressions: rounding, selection, windows,
 * convolution, normalisation, attention.
 *
 * Everything here is elementwise operations, reductions and movement of tensor.c: no
 * kernel of its own. Builds nodes only.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cc_tensor.h"
#include "graph.h"

#include <math.h>
#include <string.h>

static cc_ref number(struct cc_graph *g, cc_ref like, double v)
{
    return cc_is_float(like->dtype) ? cc_const_float(g, like->dtype, v)
                                    : cc_const_int(g, like->dtype, (int64_t)v);
}

static bool has_axis(struct cc_graph *g, const char *what, cc_ref a, unsigned axis)
{
    char text[96];
    if (a->op != CC_INVALID && axis >= a->ndim)
        cc_fail(g, RD_E_INVALID, "%s: no axis %u in %s", what, axis,
                cc_describe(a, text, sizeof text));
    return axis < a->ndim;
}

/* ---- elementwise ---- */

cc_ref cc_t_floor(struct cc_graph *g, cc_ref a)
{
    if (!cc_is_float(a->dtype))
        return a;
    cc_ref t = cc_alu1(g, CC_TRUNC, a), above = cc_alu2(g, CC_CMPLT, a, t);
    return cc_where(g, above, cc_alu2(g, CC_SUB, t, number(g, a, 1)), t);
}

cc_ref cc_t_ceil(struct cc_graph *g, cc_ref a)
{
    if (!cc_is_float(a->dtype))
        return a;
    return cc_alu1(g, CC_NEG, cc_t_floor(g, cc_alu1(g, CC_NEG, a)));
}

cc_ref cc_t_round(struct cc_graph *g, cc_ref a)
{
    if (!cc_is_float(a->dtype))
        return a;
    /* halves to even: of the two neighbours, the one that is twice an integer */
    cc_ref low = cc_t_floor(g, a), one = number(g, a, 1), half = number(g, a, 0.5);
    cc_ref rest = cc_alu2(g, CC_SUB, a, low);
    cc_ref pair = cc_t_floor(g, cc_alu2(g, CC_MUL, low, half));
    cc_ref even = cc_alu2(g, CC_CMPEQ, cc_alu2(g, CC_ADD, pair, pair), low);
    cc_ref tie = cc_alu2(g, CC_CMPEQ, rest, half);
    cc_ref up = cc_alu2(g, CC_CMPLT, half, rest);
    up = cc_alu2(g, CC_OR, up, cc_alu2(g, CC_AND, tie, cc_t_not(g, even)));
    return cc_where(g, up, cc_alu2(g, CC_ADD, low, one), low);
}

cc_ref cc_t_abs(struct cc_graph *g, cc_ref a)
{
    if (cc_is_unsigned(a->dtype))
        return a;
    return cc_alu2(g, CC_MAX, a, cc_alu1(g, CC_NEG, a));
}

cc_ref cc_t_sign(struct cc_graph *g, cc_ref a)
{
    cc_ref zero = number(g, a, 0), one = number(g, a, 1);
    cc_ref r = cc_where(g, cc_alu2(g, CC_CMPLT, zero, a), one, zero);
    if (cc_is_unsigned(a->dtype))
        return r;
    return cc_where(g, cc_alu2(g, CC_CMPLT, a, zero), number(g, a, -1), r);
}

cc_ref cc_t_clamp(struct cc_graph *g, cc_ref a, double least, double most)
{
    cc_ref top = number(g, a, most);
    cc_ref r = cc_alu2(g, CC_MAX, a, number(g, a, least));
    return cc_where(g, cc_alu2(g, CC_CMPLT, top, r), top, r);
}

cc_ref cc_t_cos(struct cc_graph *g, cc_ref a)
{
    if (!cc_is_float(a->dtype))
        a = cc_cast(g, a, CC_DT_F32);
    return cc_alu1(g, CC_SIN, cc_alu2(g, CC_ADD, a, number(g, a, M_PI_2)));
}

cc_ref cc_t_gelu(struct cc_graph *g, cc_ref a)
{
    if (!cc_is_float(a->dtype))
        a = cc_cast(g, a, CC_DT_F32);
    cc_ref cube = cc_alu2(g, CC_MUL, cc_alu2(g, CC_MUL, a, a), a);
    cc_ref x = cc_alu2(g, CC_ADD, a, cc_alu2(g, CC_MUL, cube, number(g, a, 0.044715)));
    cc_ref t = cc_t_tanh(g, cc_alu2(g, CC_MUL, x, number(g, a, 0.7978845608028654)));
    t = cc_alu2(g, CC_ADD, t, number(g, a, 1));
    return cc_alu2(g, CC_MUL, cc_alu2(g, CC_MUL, a, number(g, a, 0.5)), t);
}

/* ---- positions ---- */

/* 0, 1, 2, ... along one axis of the shape of a, as i32 that broadcasts. */
static cc_ref along(struct cc_graph *g, cc_ref a, unsigned axis)
{
    int64_t shape[CC_MAX_DIMS];
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i] = i == axis ? a->shape[i] : 1;
    return cc_reshape(g, cc_t_iota(g, 1, &a->shape[axis]), a->ndim, shape);
}

cc_ref cc_t_argmax(struct cc_graph *g, cc_ref a, unsigned axis, bool keep)
{
    if (!has_axis(g, "argmax", a, axis))
        return cc_fail(g, RD_E_INVALID, "argmax");
    /* the first of the largest is the one with most elements after it */
    cc_ref last = cc_const_int(g, CC_DT_I32, a->shape[axis] - 1);
    cc_ref after = cc_t_binary(g, CC_SUB, last, along(g, a, axis));
    cc_ref top = cc_t_binary(g, CC_CMPEQ, a, cc_t_max(g, a, 1u << axis, true));
    cc_ref rank = cc_t_where(g, top, after, cc_const_int(g, CC_DT_I32, -1));
    cc_ref r = cc_t_max(g, rank, 1u << axis, keep);
    return cc_alu2(g, CC_SUB, last, r);
}

cc_ref cc_t_argmin(struct cc_graph *g, cc_ref a, unsigned axis, bool keep)
{
    if (cc_is_float(a->dtype))
        return cc_t_argmax(g, cc_alu1(g, CC_NEG, a), axis, keep);
    cc_ref ones = cc_const_int(g, a->dtype, a->dtype == CC_DT_BOOL ? 1 : -1);
    return cc_t_argmax(g, cc_alu2(g, CC_XOR, a, ones), axis, keep);
}

cc_ref cc_t_one_hot(struct cc_graph *g, cc_ref index, int64_t classes)
{
    int64_t shape[CC_MAX_DIMS + 1];
    if (index->ndim >= CC_MAX_DIMS)
        return cc_fail(g, RD_E_INVALID, "one_hot: too many axes");
    memcpy(shape, index->shape, index->ndim * sizeof *shape);
    shape[index->ndim] = 1;
    cc_ref column = cc_reshape(g, index, index->ndim + 1u, shape);
    return cc_t_binary(g, CC_CMPEQ, column,
                       cc_cast(g, cc_t_iota(g, 1, &classes), index->dtype));
}

cc_ref cc_t_rows(struct cc_graph *g, cc_ref table, cc_ref index)
{
    int64_t shape[3];
    char text[96];
    if (table->ndim != 2 || index->ndim != 1 || !cc_is_int(index->dtype))
        return cc_fail(g, RD_E_INVALID,
                       "rows: needs a table of two axes and one axis of integers, not "
                       "%s",
                       cc_describe(index, text, sizeof text));
    cc_ref pick = cc_t_one_hot(g, index, table->shape[0]);
    shape[0] = index->shape[0];
    shape[1] = table->shape[0];
    shape[2] = 1;
    pick = cc_reshape(g, pick, 3, shape);
    shape[0] = 1;
    shape[2] = table->shape[1];
    cc_ref x = cc_t_where(g, pick, cc_reshape(g, table, 3, shape), number(g, table, 0));
    return cc_reduce(g, CC_ADD, x, 1, (int64_t[]){1});
}

cc_ref cc_t_tril(struct cc_graph *g, cc_ref a)
{
    if (a->ndim < 2)
        return cc_fail(g, RD_E_INVALID, "tril: fewer than two axes");
    cc_ref row = along(g, a, a->ndim - 2u), column = along(g, a, a->ndim - 1u);
    cc_ref above = cc_t_binary(g, CC_CMPLT, row, column);
    return cc_t_where(g, above, number(g, a, 0), a);
}

/* ---- windows ---- */

static cc_ref resize(struct cc_graph *g, cc_ref a, unsigned axis, int64_t size)
{
    int64_t pairs[2 * CC_MAX_DIMS];
    for (unsigned i = 0; i < a->ndim; i++) {
        pairs[2 * i] = 0;
        pairs[2 * i + 1] = i == axis ? size : a->shape[i];
    }
    return cc_shrink(g, a, pairs);
}

cc_ref cc_t_repeat(struct cc_graph *g, cc_ref a, unsigned axis, int64_t times)
{
    int64_t shape[CC_MAX_DIMS + 1];
    if (!has_axis(g, "repeat", a, axis) || a->ndim >= CC_MAX_DIMS)
        return cc_fail(g, RD_E_INVALID, "repeat: too many axes");
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i + (i >= axis)] = a->shape[i];
    shape[axis] = 1;
    cc_ref r = cc_reshape(g, a, a->ndim + 1u, shape);
    shape[axis] = times;
    r = cc_expand(g, r, a->ndim + 1u, shape);
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i] = i == axis ? times * a->shape[i] : a->shape[i];
    return cc_reshape(g, r, a->ndim, shape);
}

/* Axis of size n becomes (windows, size): element (o, k) is o * stride + k * dilation.
 * The axis repeated often enough is cut into pieces a little longer than it, so that
 * piece k begins dilation elements later. */
static cc_ref window(struct cc_graph *g, cc_ref a, unsigned axis, int64_t size,
                     int64_t stride, int64_t dilation)
{
    int64_t shape[CC_MAX_DIMS + 2], order[CC_MAX_DIMS + 2];
    char text[96];
    if (!has_axis(g, "window", a, axis) || a->ndim + 2 > CC_MAX_DIMS)
        return cc_fail(g, RD_E_INVALID, "window: too many axes");
    int64_t n = a->shape[axis], span = dilation * (size - 1) + 1;
    if (size < 1 || stride < 1 || dilation < 1 || span > n)
        return cc_fail(g, RD_E_INVALID,
                       "window: %lld elements, %lld apart, do not fit axis %u of %s",
                       (long long)size, (long long)dilation, axis,
                       cc_describe(a, text, sizeof text));
    int64_t count = (n - span) / stride + 1;
    int64_t piece = n + dilation, factor = 1;
    while (factor * n + dilation < count * stride)
        factor++;
    piece = factor * n + dilation;
    cc_ref r = cc_t_repeat(g, a, axis, (size * piece + n - 1) / n);
    r = resize(g, r, axis, size * piece);
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i + (i > axis)] = r->shape[i];
    shape[axis] = size;
    shape[axis + 1] = piece;
    r = resize(g, cc_reshape(g, r, a->ndim + 1u, shape), axis + 1, count * stride);
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i + (i > axis ? 2 : 0)] = a->shape[i];
    shape[axis] = size;
    shape[axis + 1] = count;
    shape[axis + 2] = stride;
    r = resize(g, cc_reshape(g, r, a->ndim + 2u, shape), axis + 2, 1);
    for (unsigned i = 0; i < a->ndim; i++)
        shape[i + (i > axis)] = a->shape[i];
    shape[axis] = size;
    shape[axis + 1] = count;
    r = cc_reshape(g, r, a->ndim + 1u, shape);
    for (unsigned i = 0; i <= a->ndim; i++)
        order[i] = i == axis ? axis + 1u : i == axis + 1 ? axis : i;
    return cc_permute(g, r, a->ndim + 1u, order);
}

cc_ref cc_t_windows(struct cc_graph *g, cc_ref a, const struct cc_window *w)
{
    int64_t pairs[2 * CC_MAX_DIMS] = {0};
    char text[96];
    if (a->ndim < 2 || a->ndim > CC_MAX_DIMS - 4)
        return cc_fail(g, RD_E_INVALID, "windows: %s has not two axes to move over",
                       cc_describe(a, text, sizeof text));
    unsigned y = a->ndim - 2u;
    for (unsigned i = 0; i < 2; i++)
        pairs[2 * (y + i)] = pairs[2 * (y + i) + 1] = w->pad[i];
    cc_ref r = w->pad[0] || w->pad[1] ? cc_pad(g, a, pairs) : a;
    int64_t stride[2], dilation[2];
    for (unsigned i = 0; i < 2; i++) {
        stride[i] = w->stride[i] ? w->stride[i] : 1;
        dilation[i] = w->dilation[i] ? w->dilation[i] : 1;
    }
    r = window(g, r, y, w->size[0], stride[0], dilation[0]);     /* .. oy ky x */
    r = window(g, r, y + 2, w->size[1], stride[1], dilation[1]); /* .. oy ky ox kx */
    if (r->op == CC_INVALID)
        return r;
    int64_t order[CC_MAX_DIMS];
    for (unsigned i = 0; i < r->ndim; i++)
        order[i] = i;
    order[y + 1] = y + 2;
    order[y + 2] = y + 1;
    return cc_permute(g, r, r->ndim, order); /* .. oy ox ky kx */
}

cc_ref cc_t_conv2d(struct cc_graph *g, cc_ref x, cc_ref weight,
                   const struct cc_window *w)
{
    char text[96];
    if (x->ndim != 4 || weight->ndim != 4 || x->shape[1] != weight->shape[1])
        return cc_fail(g, RD_E_INVALID,
                       "conv2d(%%%u, %%%u): needs (n, c, h, w) and (o, c, h, w): %s",
                       x->id, weight->id, cc_describe(x, text, sizeof text));
    struct cc_window window = *w;
    window.size[0] = weight->shape[2];
    window.size[1] = weight->shape[3];
    cc_ref v = cc_t_windows(g, x, &window); /* n c oy ox ky kx */
    if (v->op == CC_INVALID)
        return v;
    const int64_t *s = v->shape;
    v = cc_reshape(g, v, 7, (int64_t[]){s[0], 1, s[1], s[2], s[3], s[4], s[5]});
    const int64_t *k = weight->shape;
    cc_ref f = cc_reshape(g, weight, 7, (int64_t[]){1, k[0], k[1], 1, 1, k[2], k[3]});
    cc_ref p = cc_t_binary(g, CC_MUL, v, f); /* n o c oy ox ky kx */
    return cc_t_sum(g, p, 1u << 2 | 1u << 5 | 1u << 6, false);
}

cc_ref cc_t_max_pool(struct cc_graph *g, cc_ref x, const struct cc_window *w)
{
    cc_ref v = cc_t_windows(g, x, w);
    return v->op == CC_INVALID ? v : cc_t_max(g, v, 3u << (v->ndim - 2u), false);
}

cc_ref cc_t_avg_pool(struct cc_graph *g, cc_ref x, const struct cc_window *w)
{
    cc_ref v = cc_t_windows(g, x, w);
    return v->op == CC_INVALID ? v : cc_t_mean(g, v, 3u << (v->ndim - 2u), false);
}

cc_ref cc_t_cumsum(struct cc_graph *g, cc_ref a, unsigned axis)
{
    int64_t pairs[2 * CC_MAX_DIMS] = {0};
    if (!has_axis(g, "cumsum", a, axis))
        return cc_fail(g, RD_E_INVALID, "cumsum");
    pairs[2 * axis] = a->shape[axis] - 1;
    cc_ref v = window(g, cc_pad(g, a, pairs), axis, a->shape[axis], 1, 1);
    return v->op == CC_INVALID ? v : cc_t_sum(g, v, 2u << axis, false);
}

/* ---- statistics ---- */

cc_ref cc_t_var(struct cc_graph *g, cc_ref a, unsigned axes, bool keep)
{
    cc_ref d = cc_t_binary(g, CC_SUB, a, cc_t_mean(g, a, axes, true));
    return cc_t_mean(g, cc_t_binary(g, CC_MUL, d, d), axes, keep);
}

cc_ref cc_t_layer_norm(struct cc_graph *g, cc_ref a, unsigned axes, double epsilon)
{
    cc_ref d = cc_t_binary(g, CC_SUB, a, cc_t_mean(g, a, axes, true));
    cc_ref v = cc_t_var(g, a, axes, true);
    v = cc_t_binary(g, CC_ADD, v, number(g, v, epsilon));
    return cc_t_binary(g, CC_FDIV, d, cc_alu1(g, CC_SQRT, v));
}

cc_ref cc_t_log_softmax(struct cc_graph *g, cc_ref a, unsigned axis)
{
    if (!cc_is_float(a->dtype))
        a = cc_cast(g, a, CC_DT_F32);
    cc_ref d = cc_t_binary(g, CC_SUB, a, cc_t_max(g, a, 1u << axis, true));
    cc_ref sum = cc_t_sum(g, cc_t_exp(g, d), 1u << axis, true);
    return cc_t_binary(g, CC_SUB, d, cc_t_log(g, sum));
}

cc_ref cc_t_attention(struct cc_graph *g, cc_ref q, cc_ref k, cc_ref v, bool causal)
{
    if (q->ndim < 2)
        return cc_fail(g, RD_E_INVALID, "attention: fewer than two axes");
    double scale = 1 / sqrt((double)q->shape[q->ndim - 1]);
    cc_ref s = cc_t_matmul(g, q, cc_t_transpose(g, k));
    if (s->op == CC_INVALID)
        return s;
    s = cc_alu2(g, CC_MUL, s, number(g, s, scale));
    if (causal) {
        cc_ref row = along(g, s, s->ndim - 2u), column = along(g, s, s->ndim - 1u);
        s = cc_t_where(g, cc_t_binary(g, CC_CMPLT, row, column),
                       number(g, s, -INFINITY), s);
    }
    return cc_t_matmul(g, cc_t_softmax(g, s, s->ndim - 1u), v);
}

cc_ref cc_t_randint(struct cc_graph *g, unsigned ndim, const int64_t *shape,
                    int64_t low, int64_t high, uint64_t seed)
{
    cc_ref u = cc_t_rand(g, ndim, shape, seed);
    u = cc_alu2(g, CC_MUL, u, number(g, u, (double)(high - low)));
    return cc_alu2(g, CC_ADD, cc_cast(g, u, CC_DT_I32),
                   cc_const_int(g, CC_DT_I32, low));
}
