/* derive.c: the dtype and shape of a node, from its operation and sources.
 *
 * Knows no graph: a node is right or it is not, and the text says why. Elementwise
 * operations take equal shapes; a scalar fits any.
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_ELEMENTS ((int64_t)1 << 40)

struct derive {
    struct cc_uop *n;
    int64_t *shape;
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static rd_status wrong(struct derive *d,
                                                             const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->text, d->size, fmt, ap);
    va_end(ap);
    return RD_E_INVALID;
}

static const char *shape_text(cc_ref n, char *text)
{
    int used = snprintf(text, 96, "(");
    for (unsigned i = 0; i < n->ndim && used < 70; i++)
        used += snprintf(text + used, 96 - (size_t)used, "%s%lld", i ? "," : "",
                         (long long)n->shape[i]);
    snprintf(text + used, 96 - (size_t)used, ")");
    return text;
}

static void take_shape(struct derive *d, cc_ref from)
{
    d->n->ndim = from->ndim;
    memcpy(d->shape, from->shape, from->ndim * sizeof *d->shape);
}

static bool same_shape(cc_ref a, cc_ref b)
{
    return a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0;
}

static rd_status take_dims(struct derive *d, size_t count, const int64_t *dims)
{
    int64_t total = 1;
    if (count > CC_MAX_DIMS)
        return wrong(d, "%zu axes, at most %d are possible", count, CC_MAX_DIMS);
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < 0 || dims[i] > MAX_ELEMENTS ||
            (dims[i] && total > MAX_ELEMENTS / dims[i]))
            return wrong(d, "axis %zu of size %lld", i, (long long)dims[i]);
        total *= dims[i];
        d->shape[i] = dims[i];
    }
    d->n->ndim = (uint8_t)count;
    return RD_OK;
}

static rd_status need_dtype(struct derive *d, enum cc_dtype dtype)
{
    if (d->n->dtype == CC_DT_VOID)
        d->n->dtype = (uint8_t)dtype;
    if (d->n->dtype != dtype)
        return wrong(d, "dtype is %s, its sources make it %s",
                     cc_dtype_name(d->n->dtype), cc_dtype_name(dtype));
    return RD_OK;
}

/* The common shape of sources first.., into the node. */
static rd_status common_shape(struct derive *d)
{
    const struct cc_uop *n = d->n;
    char a[96], b[96];
    for (uint32_t i = 0; i < n->n_src; i++) {
        cc_ref s = n->src[i];
        if (s->dtype == CC_DT_VOID)
            return wrong(d, "source %u has no value", i);
        if (s->ndim == 0)
            continue;
        if (d->n->ndim == 0)
            take_shape(d, s);
        else if (!same_shape(d->n, s))
            return wrong(d, "shapes %s and %s differ", shape_text(d->n, a),
                         shape_text(s, b));
    }
    return RD_OK;
}

static bool float_only(enum cc_op op)
{
    return op == CC_EXP2 || op == CC_LOG2 || op == CC_SIN || op == CC_SQRT ||
           op == CC_RECIP || op == CC_TRUNC || op == CC_FDIV || op == CC_POW;
}

static bool int_only(enum cc_op op)
{
    return op == CC_IDIV || op == CC_MOD || op == CC_SHL || op == CC_SHR;
}

static rd_status derive_alu(struct derive *d)
{
    const struct cc_uop *n = d->n;
    uint32_t first = n->op == CC_WHERE;
    rd_status st = common_shape(d);
    if (st != RD_OK)
        return st;
    enum cc_dtype dt = n->src[first]->dtype;
    if (first && n->src[0]->dtype != CC_DT_BOOL)
        return wrong(d, "the condition is %s, not bool",
                     cc_dtype_name(n->src[0]->dtype));
    for (uint32_t i = first + 1; i < n->n_src; i++)
        if (n->src[i]->dtype != dt)
            return wrong(d, "dtypes %s and %s differ", cc_dtype_name(dt),
                         cc_dtype_name(n->src[i]->dtype));
    if (float_only(n->op) && !cc_is_float(dt))
        return wrong(d, "needs a float, not %s", cc_dtype_name(dt));
    if (int_only(n->op) && !cc_is_int(dt))
        return wrong(d, "needs an integer, not %s", cc_dtype_name(dt));
    if ((n->op == CC_AND || n->op == CC_OR || n->op == CC_XOR) && cc_is_float(dt))
        return wrong(d, "needs bits, not %s", cc_dtype_name(dt));
    if ((n->op == CC_NEG || n->op == CC_SUB || n->op == CC_MULACC) && dt == CC_DT_BOOL)
        return wrong(d, "not defined for bool");
    if (n->op == CC_MULHI && dt != CC_DT_U32)
        return wrong(d, "needs u32, not %s", cc_dtype_name(dt));
    if (n->op == CC_THREEFRY && dt != CC_DT_U64)
        return wrong(d, "needs u64, not %s", cc_dtype_name(dt));
    return need_dtype(d, cc_ops[n->op].class_ == CC_CLASS_CMP ? CC_DT_BOOL : dt);
}

/* ---- movement ---- */

static rd_status derive_reshape(struct derive *d)
{
    cc_ref s = d->n->src[0];
    char a[96], b[96];
    rd_status st = take_dims(d, d->n->n_arg, d->n->arg);
    if (st == RD_OK && cc_elements(d->n) != cc_elements(s))
        return wrong(d, "shape %s does not hold the elements of %s",
                     shape_text(d->n, a), shape_text(s, b));
    return st;
}

static rd_status derive_expand(struct derive *d)
{
    cc_ref s = d->n->src[0];
    rd_status st = take_dims(d, d->n->n_arg, d->n->arg);
    if (st != RD_OK)
        return st;
    if (d->n->ndim != s->ndim)
        return wrong(d, "%u axes from %u", d->n->ndim, s->ndim);
    for (unsigned i = 0; i < s->ndim; i++)
        if (s->shape[i] != d->shape[i] && s->shape[i] != 1)
            return wrong(d, "axis %u of size %lld cannot become %lld", i,
                         (long long)s->shape[i], (long long)d->shape[i]);
    return RD_OK;
}

static rd_status derive_permute(struct derive *d)
{
    cc_ref s = d->n->src[0];
    unsigned seen = 0;
    if (d->n->n_arg != s->ndim)
        return wrong(d, "%u axes listed of %u", d->n->n_arg, s->ndim);
    for (unsigned i = 0; i < s->ndim; i++) {
        int64_t axis = d->n->arg[i];
        if (axis < 0 || axis >= s->ndim || (seen >> axis & 1))
            return wrong(d, "axis %lld is missing or listed twice", (long long)axis);
        seen |= 1u << axis;
        d->shape[i] = s->shape[axis];
    }
    d->n->ndim = s->ndim;
    return RD_OK;
}

static rd_status derive_box(struct derive *d)
{
    cc_ref s = d->n->src[0];
    int64_t dims[CC_MAX_DIMS];
    if (d->n->n_arg != 2u * s->ndim)
        return wrong(d, "%u arguments for %u axes", d->n->n_arg, s->ndim);
    for (unsigned i = 0; i < s->ndim; i++) {
        int64_t a = d->n->arg[2 * i], b = d->n->arg[2 * i + 1];
        if (d->n->op == CC_PAD) {
            if (a < 0 || b < 0 || a > MAX_ELEMENTS || b > MAX_ELEMENTS)
                return wrong(d, "negative or huge padding of axis %u", i);
            dims[i] = s->shape[i] + a + b;
        } else {
            if (a < 0 || b < a || b > s->shape[i])
                return wrong(d, "[%lld, %lld) is not inside axis %u of size %lld",
                             (long long)a, (long long)b, i, (long long)s->shape[i]);
            dims[i] = b - a;
        }
    }
    return take_dims(d, s->ndim, dims);
}

static rd_status derive_axes(struct derive *d, uint32_t first, unsigned *axes)
{
    cc_ref s = d->n->src[0];
    *axes = 0;
    for (uint32_t i = first; i < d->n->n_arg; i++) {
        int64_t axis = d->n->arg[i];
        if (axis < 0 || axis >= s->ndim || (*axes >> axis & 1))
            return wrong(d, "no axis %lld, or listed twice", (long long)axis);
        *axes |= 1u << axis;
    }
    return RD_OK;
}

static rd_status derive_move(struct derive *d)
{
    unsigned axes;
    rd_status st = need_dtype(d, d->n->src[0]->dtype);
    if (st != RD_OK)
        return st;
    if (d->n->dtype == CC_DT_VOID)
        return wrong(d, "source 0 has no value");
    switch (d->n->op) {
    case CC_RESHAPE:
        return derive_reshape(d);
    case CC_EXPAND:
        return derive_expand(d);
    case CC_PERMUTE:
        return derive_permute(d);
    case CC_FLIP:
        take_shape(d, d->n->src[0]);
        return derive_axes(d, 0, &axes);
    default:
        return derive_box(d);
    }
}

/* ---- the others ---- */

static rd_status derive_index(struct derive *d)
{
    cc_ref s = d->n->src[0];
    uint32_t n = d->n->n_src - 1;
    if (n > s->ndim)
        return wrong(d, "%u indexes into %u axes", n, s->ndim);
    for (uint32_t i = 1; i <= n; i++)
        if (!cc_is_int(d->n->src[i]->dtype) || d->n->src[i]->ndim)
            return wrong(d, "index %u is not an integer scalar", i - 1);
    d->n->ndim = (uint8_t)(s->ndim - n);
    memcpy(d->shape, s->shape + n, d->n->ndim * sizeof *d->shape);
    return need_dtype(d, s->dtype);
}

static rd_status derive_cast(struct derive *d)
{
    cc_ref s = d->n->src[0];
    if (d->n->dtype == CC_DT_VOID || s->dtype == CC_DT_VOID)
        return wrong(d, "needs a dtype");
    if (d->n->op == CC_BITCAST &&
        (cc_dtype_bytes(d->n->dtype) != cc_dtype_bytes(s->dtype) ||
         (d->n->dtype == CC_DT_BOOL) != (s->dtype == CC_DT_BOOL)))
        return wrong(d, "%s and %s differ in size", cc_dtype_name(s->dtype),
                     cc_dtype_name(d->n->dtype));
    take_shape(d, s);
    return RD_OK;
}

static rd_status derive_reduce(struct derive *d)
{
    cc_ref s = d->n->src[0];
    unsigned axes;
    if (d->n->arg[0] != CC_ADD && d->n->arg[0] != CC_MUL && d->n->arg[0] != CC_MAX)
        return wrong(d, "can fold by ADD, MUL or MAX only");
    if (s->dtype == CC_DT_VOID)
        return wrong(d, "source 0 has no value");
    for (uint32_t i = 1; i < d->n->n_src; i++)
        if (d->n->src[i]->op != CC_RANGE)
            return wrong(d, "source %u is not a RANGE", i);
    rd_status st = derive_axes(d, 1, &axes);
    if (st != RD_OK)
        return st;
    for (unsigned i = 0; i < s->ndim; i++) {
        if (!(axes >> i & 1))
            d->shape[d->n->ndim++] = s->shape[i];
        else if (s->shape[i] == 0 && d->n->arg[0] == CC_MAX)
            return wrong(d, "MAX of no elements");
    }
    return need_dtype(d, s->dtype);
}

static rd_status derive_wmma(struct derive *d)
{
    const struct cc_uop *n = d->n;
    if (n->arg[0] != 16 || n->arg[1] != 16 || n->arg[2] != 16)
        return wrong(d, "only 16x16x16 exists");
    if (n->n_src == 3) {
        static const int64_t sizes[3] = {16, 16, 8};
        for (unsigned i = 0; i < 3; i++)
            if (n->src[i]->ndim != 1 || n->src[i]->shape[0] != sizes[i])
                return wrong(d, "source %u must have shape (%lld)", i,
                             (long long)sizes[i]);
    } else if (n->n_src != 40) {
        return wrong(d, "takes 3 fragments or 40 scalars");
    }
    uint32_t c = n->n_src == 3 ? 2 : 32;
    for (uint32_t i = 0; i < n->n_src; i++) {
        enum cc_dtype want = i < c ? n->src[0]->dtype : CC_DT_F32;
        if (n->src[i]->dtype != want)
            return wrong(d, "source %u is %s, not %s", i,
                         cc_dtype_name(n->src[i]->dtype), cc_dtype_name(want));
    }
    if (n->src[0]->dtype != CC_DT_F16 && n->src[0]->dtype != CC_DT_BF16)
        return wrong(d, "multiplies f16 or bf16, not %s",
                     cc_dtype_name(n->src[0]->dtype));
    d->n->ndim = 1;
    d->shape[0] = 8;
    return need_dtype(d, CC_DT_F32);
}

static rd_status derive_def(struct derive *d)
{
    const struct cc_uop *n = d->n;
    if (n->dtype == CC_DT_VOID)
        return wrong(d, "needs a dtype");
    switch (n->op) {
    case CC_PARAM:
        if (n->arg[0] < 0 || n->arg[0] > 63)
            return wrong(d, "slot %lld is not 0..63", (long long)n->arg[0]);
        return take_dims(d, n->n_arg - 1, n->arg + 1);
    case CC_BUFFER:
        if (n->arg[1] < 0)
            return wrong(d, "negative slot");
        return take_dims(d, n->n_arg - 2, n->arg + 2);
    case CC_IOTA:
        if (n->dtype != CC_DT_I32)
            return wrong(d, "is i32");
        return take_dims(d, n->n_arg, n->arg);
    case CC_RANGE:
        for (uint32_t i = 0; i < n->n_src; i++)
            if (!cc_is_int(n->dtype) || n->src[i]->dtype != n->dtype || n->src[i]->ndim)
                return wrong(d, "counts up to a scalar of its own integer dtype");
        return RD_OK;
    case CC_SPECIAL:
        if (n->arg[0] < 1 || n->arg[0] > INT32_MAX || n->dtype != CC_DT_I32)
            return wrong(d, "needs a limit of 1 .. 2^31 and i32");
        if (strlen(n->name) != 5 || (n->name[0] != 'g' && n->name[0] != 'l') ||
            strncmp(n->name + 1, "idx", 3) != 0 || n->name[4] < '0' || n->name[4] > '2')
            return wrong(d, "is named gidx0..2 or lidx0..2, not \"%.16s\"", n->name);
        return RD_OK;
    default:
        return RD_OK;
    }
}

static bool is_memory(cc_ref n)
{
    return n->op == CC_PARAM || n->op == CC_BUFFER ||
           (n->op == CC_AFTER && is_memory(n->src[0]));
}

static rd_status derive_mem(struct derive *d)
{
    const struct cc_uop *n = d->n;
    uint32_t value = n->op == CC_STORE ? (n->n_src == 2 ? 1 : 2) : 0;
    cc_ref view = n->src[0];
    char a[96], b[96];
    if (view->dtype == CC_DT_VOID)
        return wrong(d, "source 0 is no memory");
    if ((n->n_src > 2 || (n->op == CC_LOAD && n->n_src == 2)) &&
        (!is_memory(view) || !cc_is_int(n->src[1]->dtype) || n->src[1]->ndim))
        return wrong(d, "takes a buffer and an integer scalar as index");
    uint32_t gate = n->op == CC_LOAD ? 2 : 3;
    if (n->n_src > gate && n->src[gate]->dtype != CC_DT_BOOL)
        return wrong(d, "the gate is %s, not bool", cc_dtype_name(n->src[gate]->dtype));
    if (value) {
        cc_ref v = n->src[value];
        if (v->dtype != view->dtype)
            return wrong(d, "stores %s to memory of %s", cc_dtype_name(v->dtype),
                         cc_dtype_name(view->dtype));
        if (v->ndim && (n->n_src != 2 || !same_shape(v, view)))
            return wrong(d, "a value of shape %s does not fit a target of %s",
                         shape_text(v, a), shape_text(view, b));
        return need_dtype(d, CC_DT_VOID);
    }
    if (n->n_src == 1)
        take_shape(d, view);
    return need_dtype(d, view->dtype);
}

static rd_status derive_flow(struct derive *d)
{
    const struct cc_uop *n = d->n;
    for (uint32_t i = 1; n->op == CC_END && i < n->n_src; i++)
        if (n->src[i]->op != CC_RANGE)
            return wrong(d, "source %u is not a RANGE", i);
    if (n->op == CC_END && n->n_src > 1 && n->src[0]->dtype != CC_DT_VOID)
        return wrong(d, "source 0 has no side effect");
    if (n->op == CC_IF && n->src[0]->dtype != CC_DT_BOOL)
        return wrong(d, "the condition is %s, not bool",
                     cc_dtype_name(n->src[0]->dtype));
    if (n->op == CC_ENDIF && n->src[0]->op != CC_IF)
        return wrong(d, "source 0 is not an IF");
    if (n->op == CC_KERNEL && n->src[0]->op != CC_SINK && n->src[0]->op != CC_PROGRAM)
        return wrong(d, "source 0 is neither SINK nor PROGRAM");
    for (uint32_t i = 1; n->op == CC_PROGRAM && i < n->n_arg; i++)
        if (n->arg[i] < 1 || n->arg[i] > INT32_MAX)
            return wrong(d, "launches %lld groups or work-items", (long long)n->arg[i]);
    return need_dtype(d, CC_DT_VOID);
}

static rd_status derive_misc(struct derive *d)
{
    const struct cc_uop *n = d->n;
    switch (n->op) {
    case CC_INDEX:
        return derive_index(d);
    case CC_CAST:
    case CC_BITCAST:
        return derive_cast(d);
    case CC_REDUCE:
        return derive_reduce(d);
    case CC_WMMA:
        return derive_wmma(d);
    case CC_EXTRACT:
        if (n->src[0]->ndim != 1 || n->arg[0] < 0 || n->arg[0] >= n->src[0]->shape[0])
            return wrong(d, "no element %lld", (long long)n->arg[0]);
        return need_dtype(d, n->src[0]->dtype);
    case CC_CUSTOM:
        if (strcmp(n->name, "ds_bpermute") != 0)
            return wrong(d, "no intrinsic \"%.40s\"", n->name);
        if (n->n_src != 2 || n->src[0]->dtype != CC_DT_I32 ||
            cc_dtype_bytes(n->src[1]->dtype) != 4)
            return wrong(d, "ds_bpermute takes i32 and 32 bits");
        if (n->dtype == CC_DT_VOID)
            d->n->dtype = n->src[1]->dtype;
        return common_shape(d);
    case CC_AFTER:
        if (n->src[0]->dtype == CC_DT_VOID)
            return wrong(d, "source 0 has no value");
        take_shape(d, n->src[0]);
        return need_dtype(d, n->src[0]->dtype);
    default:
        return wrong(d, "cannot be built");
    }
}

/* Arguments as uop.def lists them. */
static rd_status check_args(struct derive *d)
{
    const struct cc_uop *n = d->n;
    const char *a = cc_ops[n->op].args;
    uint32_t i = 0;
    for (; *a && *a != '*'; a++, i++) {
        if (i >= n->n_arg)
            return wrong(d, "argument %u is missing", i);
        int64_t limit = *a == 's'   ? CC_SPACE_COUNT
                        : *a == 'a' ? CC_AXIS_COUNT
                        : *a == 'o' ? CC_OP_COUNT
                                    : 0;
        if (limit && (n->arg[i] < 0 || n->arg[i] >= limit))
            return wrong(d, "argument %u is out of range", i);
    }
    if (*a != '*' && i != n->n_arg)
        return wrong(d, "%u arguments, %u are possible", n->n_arg, i);
    return RD_OK;
}

rd_status cc_derive(struct cc_uop *n, int64_t *shape, char *text, size_t size)
{
    struct derive d = {n, shape, text, size};
    if (n->op >= CC_OP_COUNT || n->dtype >= CC_DT_COUNT)
        return wrong(&d, "no such operation or dtype");
    const struct cc_op_info *op = &cc_ops[n->op];
    if ((int)n->n_src < op->min_src ||
        (op->max_src >= 0 && (int)n->n_src > op->max_src))
        return wrong(&d, "%u sources", n->n_src);
    rd_status st = check_args(&d);
    if (st != RD_OK)
        return st;
    switch (op->class_) {
    case CC_CLASS_DEF:
        return derive_def(&d);
    case CC_CLASS_MOVE:
        return derive_move(&d);
    case CC_CLASS_UN:
    case CC_CLASS_BIN:
    case CC_CLASS_CMP:
    case CC_CLASS_TERN:
        return derive_alu(&d);
    case CC_CLASS_MEM:
        return derive_mem(&d);
    case CC_CLASS_FLOW:
        return derive_flow(&d);
    case CC_CLASS_MISC:
        return derive_misc(&d);
    }
    return wrong(&d, "no such class");
}
