/* eval.c: the reference for tensors: each node whole, from its definition.
 *
 * Slow and plain on purpose; shares with the compiler only scalar.c. What it knows of
 * movement is written here once more, as lists of elements.
 * SPDX-License-Identifier: MIT
 */
#include "context.h"

#include <stdlib.h>
#include <string.h>

struct eval {
    struct cc_context *c;
    union cc_value **value; /* by id */
};

/* Coordinates of a row-major position. */
static void coordinates(cc_ref n, int64_t flat, int64_t *at)
{
    for (unsigned i = n->ndim; i-- > 0; flat /= n->shape[i])
        at[i] = flat % n->shape[i];
}

static int64_t position(cc_ref n, const int64_t *at)
{
    int64_t flat = 0;
    for (unsigned i = 0; i < n->ndim; i++)
        flat = flat * n->shape[i] + at[i];
    return flat;
}

/* Which element of the source an element of a movement is; -1 for padding. */
static int64_t moved(cc_ref n, int64_t flat)
{
    cc_ref s = n->src[0];
    int64_t at[CC_MAX_DIMS] = {0}, from[CC_MAX_DIMS];
    coordinates(n, flat, at);
    memcpy(from, at, sizeof from);
    switch (n->op) {
    case CC_EXPAND:
        for (unsigned i = 0; i < n->ndim; i++)
            from[i] = s->shape[i] == 1 ? 0 : at[i];
        break;
    case CC_PERMUTE:
        for (unsigned i = 0; i < n->ndim; i++)
            from[n->arg[i]] = at[i];
        break;
    case CC_FLIP:
        for (uint32_t i = 0; i < n->n_arg; i++)
            from[n->arg[i]] = s->shape[n->arg[i]] - 1 - at[n->arg[i]];
        break;
    case CC_SHRINK:
    case CC_PAD:
        for (unsigned i = 0; i < n->ndim; i++) {
            from[i] = n->op == CC_PAD ? at[i] - n->arg[2 * i] : at[i] + n->arg[2 * i];
            if (from[i] < 0 || from[i] >= s->shape[i])
                return -1;
        }
        break;
    default:
        return flat;
    }
    return position(s, from);
}

static void do_move(struct eval *e, cc_ref n, union cc_value *out)
{
    for (int64_t i = 0; i < cc_elements(n); i++) {
        int64_t from = moved(n, i);
        union cc_value zero = {0};
        out[i] = from < 0 ? zero : e->value[n->src[0]->id][from];
    }
}

static union cc_value identity(enum cc_op op, enum cc_dtype dtype)
{
    union cc_value v = {0};
    if (op == CC_MAX && cc_is_float(dtype))
        v.f = -__builtin_inf();
    else if (op == CC_MAX)
        v.i = cc_is_unsigned(dtype) ? 0 : INT64_MIN >> (64 - 8 * cc_dtype_bytes(dtype));
    else if (op == CC_MUL && cc_is_float(dtype))
        v.f = 1;
    else if (op == CC_MUL)
        v.i = 1;
    return v;
}

static void do_reduce(struct eval *e, cc_ref n, union cc_value *out)
{
    cc_ref s = n->src[0];
    unsigned axes = 0;
    for (uint32_t i = 1; i < n->n_arg; i++)
        axes |= 1u << n->arg[i];
    enum cc_op op = (enum cc_op)n->arg[0];
    for (int64_t i = 0; i < cc_elements(n); i++)
        out[i] = identity(op, n->dtype);
    for (int64_t i = 0; i < cc_elements(s); i++) {
        int64_t at[CC_MAX_DIMS], to = 0;
        coordinates(s, i, at);
        for (unsigned d = 0; d < s->ndim; d++)
            if (!(axes >> d & 1))
                to = to * s->shape[d] + at[d];
        union cc_value pair[2] = {out[to], e->value[s->id][i]};
        out[to] = cc_scalar(op, n->dtype, n->dtype, pair);
    }
}

static void do_elementwise(struct eval *e, cc_ref n, union cc_value *out)
{
    for (int64_t i = 0; i < cc_elements(n); i++) {
        union cc_value s[3];
        for (uint32_t j = 0; j < n->n_src && j < 3; j++)
            s[j] = e->value[n->src[j]->id][n->src[j]->ndim ? i : 0];
        out[i] = cc_scalar(n->op, n->dtype, n->src[0]->dtype, s);
    }
}

static rd_status do_buffer(struct eval *e, cc_ref n, union cc_value *out)
{
    unsigned bytes = cc_dtype_bytes(n->dtype);
    char *data = malloc(cc_buffer_bytes(n) + 1);
    rd_status st = data ? cc_buffer_read(e->c, cc_realized(n), data) : RD_E_NOMEM;
    for (int64_t i = 0; i < cc_elements(n) && st == RD_OK; i++)
        out[i] = cc_load_scalar(n->dtype, data + i * bytes);
    free(data);
    return st;
}

static rd_status do_node(struct eval *e, cc_ref n)
{
    int64_t count = cc_elements(n);
    char text[96];
    union cc_value *out = calloc((size_t)count + 1, sizeof *out);
    e->value[n->id] = out;
    if (!out)
        return RD_E_NOMEM;
    if (cc_ops[n->op].class_ == CC_CLASS_MOVE || n->op == CC_CONTIGUOUS) {
        do_move(e, n, out);
    } else if (cc_realized(n)) {
        return do_buffer(e, n, out);
    } else if (n->op == CC_CONST) {
        out[0] = cc_const_value(n);
    } else if (n->op == CC_IOTA) {
        for (int64_t i = 0; i < count; i++)
            out[i].i = i;
    } else if (n->op == CC_REDUCE && n->n_src == 1) {
        do_reduce(e, n, out);
    } else if (cc_is_alu(n->op)) {
        do_elementwise(e, n, out);
    } else {
        cc_fail(e->c->g, RD_E_UNSUPPORTED, "%s: has no value by itself",
                cc_describe(n, text, sizeof text));
        return RD_E_UNSUPPORTED;
    }
    return RD_OK;
}

rd_status cc_evaluate(struct cc_context *c, cc_ref expr, union cc_value **values)
{
    struct eval e = {.c = c};
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_visible(expr, &nodes, &count);
    if (st != RD_OK)
        return st;
    e.value = calloc(expr->id + 1ull, sizeof *e.value);
    st = e.value ? RD_OK : RD_E_NOMEM;
    for (uint32_t i = 0; i < count && st == RD_OK; i++)
        st = do_node(&e, nodes[i]);
    if (st == RD_OK) {
        *values = e.value[expr->id];
        e.value[expr->id] = NULL;
    }
    for (uint32_t i = 0; e.value && i <= expr->id; i++)
        free(e.value[i]);
    free(e.value);
    free(nodes);
    return st;
}
