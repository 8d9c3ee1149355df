/* bounds.c: what an integer or bool can be at most and at least, from its sources.
 *
 * Never wrong, sometimes wide: whatever could wrap gets the bounds of its dtype. Floats
 * get everything. Bounds of u64 are those of i64 unless they are known to be smaller.
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

static void dtype_bounds(enum cc_dtype dtype, int64_t *min, int64_t *max)
{
    unsigned bits = 8 * cc_dtype_bytes(dtype);
    *min = INT64_MIN;
    *max = INT64_MAX;
    if (dtype == CC_DT_BOOL) {
        *min = 0;
        *max = 1;
    } else if (cc_is_int(dtype) && bits < 64) {
        bool u = cc_is_unsigned(dtype);
        *min = u ? 0 : -((int64_t)1 << (bits - 1));
        *max = ((int64_t)1 << (u ? bits : bits - 1)) - 1;
    }
}

static int64_t clamp128(__int128 v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

struct bounds {
    __int128 min, max;
};

static struct bounds product(cc_ref a, cc_ref b)
{
    __int128 p[4] = {(__int128)a->vmin * b->vmin, (__int128)a->vmin * b->vmax,
                     (__int128)a->vmax * b->vmin, (__int128)a->vmax * b->vmax};
    struct bounds r = {p[0], p[0]};
    for (int i = 1; i < 4; i++) {
        r.min = p[i] < r.min ? p[i] : r.min;
        r.max = p[i] > r.max ? p[i] : r.max;
    }
    return r;
}

/* Division and remainder by a positive divisor. */
static struct bounds quotient(const struct cc_uop *n, struct bounds all)
{
    cc_ref a = n->src[0], b = n->src[1];
    if (b->vmin <= 0)
        return all;
    if (n->op == CC_IDIV) {
        struct bounds r = {a->vmin / (a->vmin < 0 ? b->vmin : b->vmax),
                           a->vmax / (a->vmax < 0 ? b->vmax : b->vmin)};
        return r;
    }
    struct bounds r = {a->vmin < 0 ? -(b->vmax - 1) : 0, a->vmax < 0 ? 0 : b->vmax - 1};
    if (a->vmin > r.min && a->vmin < 0)
        r.min = a->vmin;
    if (a->vmax < r.max && a->vmax > 0)
        r.max = a->vmax;
    if (a->vmin >= 0 && a->vmax < b->vmin)
        r = (struct bounds){a->vmin, a->vmax};
    return r;
}

static struct bounds compare(const struct cc_uop *n)
{
    cc_ref a = n->src[0], b = n->src[1];
    struct bounds r = {0, 1};
    if (cc_is_float(a->dtype) || a->dtype == CC_DT_U64 || b->dtype == CC_DT_U64)
        return r;
    if (n->op == CC_CMPLT) {
        r.min = a->vmax < b->vmin;
        r.max = a->vmin < b->vmax;
    } else {
        bool apart = a->vmax < b->vmin || b->vmax < a->vmin;
        bool equal = a->vmin == a->vmax && b->vmin == b->vmax && a->vmin == b->vmin;
        equal = equal || a == b;
        if (apart || equal)
            r.min = r.max = n->op == CC_CMPEQ ? equal : apart;
    }
    return r;
}

static struct bounds bits(const struct cc_uop *n, struct bounds all)
{
    cc_ref a = n->src[0], b = n->src[1];
    int64_t mask = 1;
    if (a->vmin < 0 && b->vmin < 0)
        return all;
    if (n->op == CC_AND) { /* a side that is not negative bounds the result */
        int64_t max = a->vmin < 0   ? b->vmax
                      : b->vmin < 0 ? a->vmax
                                    : (a->vmax < b->vmax ? a->vmax : b->vmax);
        return (struct bounds){0, max};
    }
    if (a->vmin < 0 || b->vmin < 0)
        return all;
    while (mask < a->vmax || mask < b->vmax)
        mask = mask << 1 | 1;
    return (struct bounds){0, mask};
}

static struct bounds shift(const struct cc_uop *n, struct bounds all)
{
    cc_ref a = n->src[0], b = n->src[1];
    if (b->vmin != b->vmax || b->vmin < 0 || b->vmin > 62)
        return all;
    if (n->op == CC_SHR)
        return (struct bounds){a->vmin >> b->vmin, a->vmax >> b->vmin};
    return (struct bounds){(__int128)a->vmin * ((__int128)1 << b->vmin),
                           (__int128)a->vmax * ((__int128)1 << b->vmin)};
}

static struct bounds operation(const struct cc_uop *n, struct bounds all)
{
    cc_ref a = n->n_src > 0 ? n->src[0] : n, b = n->n_src > 1 ? n->src[1] : a;
    switch (n->op) {
    case CC_CONST:
        return (struct bounds){n->arg[0], n->arg[0]};
    case CC_SPECIAL:
        return (struct bounds){0, n->arg[0] - 1};
    case CC_RANGE:
        if (n->n_src == 2)
            return (struct bounds){a->vmin, b->vmax > a->vmin ? b->vmax - 1 : a->vmin};
        return (struct bounds){0, a->vmax > 0 ? a->vmax - 1 : 0};
    case CC_RESHAPE:
    case CC_EXPAND:
    case CC_PERMUTE:
    case CC_SHRINK:
    case CC_FLIP:
    case CC_CONTIGUOUS:
        return (struct bounds){a->vmin, a->vmax};
    case CC_CAST:
        if (cc_is_float(a->dtype) || a->dtype == CC_DT_U64)
            return all;
        if (n->dtype == CC_DT_BOOL)
            return all;
        return (struct bounds){a->vmin, a->vmax};
    case CC_NEG:
        return (struct bounds){-(__int128)a->vmax, -(__int128)a->vmin};
    case CC_ADD:
        if (n->dtype == CC_DT_BOOL)
            return (struct bounds){a->vmin | b->vmin, a->vmax | b->vmax};
        return (struct bounds){(__int128)a->vmin + b->vmin,
                               (__int128)a->vmax + b->vmax};
    case CC_SUB:
        return (struct bounds){(__int128)a->vmin - b->vmax,
                               (__int128)a->vmax - b->vmin};
    case CC_MUL:
        return product(a, b);
    case CC_IDIV:
    case CC_MOD:
        return quotient(n, all);
    case CC_MAX:
        return (struct bounds){a->vmin > b->vmin ? a->vmin : b->vmin,
                               a->vmax > b->vmax ? a->vmax : b->vmax};
    case CC_AND:
    case CC_OR:
    case CC_XOR:
        return bits(n, all);
    case CC_SHL:
    case CC_SHR:
        return shift(n, all);
    case CC_CMPLT:
    case CC_CMPEQ:
    case CC_CMPNE:
        return compare(n);
    case CC_WHERE:
        a = n->src[1];
        b = n->src[2];
        return (struct bounds){a->vmin < b->vmin ? a->vmin : b->vmin,
                               a->vmax > b->vmax ? a->vmax : b->vmax};
    default:
        return all;
    }
}

void cc_bounds(struct cc_uop *n)
{
    dtype_bounds(n->dtype, &n->vmin, &n->vmax);
    if ((!cc_is_int(n->dtype) && n->dtype != CC_DT_BOOL) ||
        (n->dtype == CC_DT_U64 && n->op != CC_CONST))
        return;
    struct bounds all = {n->vmin, n->vmax};
    struct bounds r = operation(n, all);
    if (r.min < all.min || r.max > all.max) /* could wrap */
        return;
    n->vmin = clamp128(r.min);
    n->vmax = clamp128(r.max);
}
