/* rules.c: the simplification rules, all of them.
 *
 * A rule looks at one node whose sources are simple already and gives a simpler equal
 * node, or NULL. RULE(name, operations) above it says what it does; the table at the
 * end applies them in order until none fits. Rules of integers hold for wrapping
 * arithmetic unless they ask for bounds; no rule changes the value of a float, not even
 * -0 or NaN.
 *
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <stdlib.h>

typedef cc_ref rule_fn(struct cc_graph *g, cc_ref n);

#define RULE(name)                                                                     \
    static cc_ref name(__attribute__((unused)) struct cc_graph *g, cc_ref n)

static bool is_int_const(cc_ref n, int64_t value)
{
    return n->op == CC_CONST && !cc_is_float(n->dtype) && n->arg[0] == value;
}

static bool exact(cc_ref n) /* integers and bools */
{
    return !cc_is_float(n->dtype) && n->dtype != CC_DT_VOID;
}

static cc_ref like(struct cc_graph *g, cc_ref n, int64_t value)
{
    return cc_const_int(g, n->dtype, value);
}

static bool elementwise(cc_ref n)
{
    enum cc_class c = cc_ops[n->op].class_;
    return c == CC_CLASS_UN || c == CC_CLASS_BIN || c == CC_CLASS_CMP ||
           c == CC_CLASS_TERN || n->op == CC_CAST || n->op == CC_BITCAST;
}

/* Could a sum of x and y of this dtype wrap? */
static bool sums_fit(cc_ref n)
{
    __int128 min = (__int128)n->src[0]->vmin + n->src[1]->vmin;
    __int128 max = (__int128)n->src[0]->vmax + n->src[1]->vmax;
    return min == n->vmin && max == n->vmax;
}

/* ---- constants ---- */

/* all sources constant -> constant */
RULE(fold)
{
    union cc_value v[3];
    if (!elementwise(n) || n->n_src > 3 || n->ndim || n->op == CC_CONTIGUOUS)
        return NULL;
    for (uint32_t i = 0; i < n->n_src; i++) {
        if (!cc_is_const(n->src[i]))
            return NULL;
        v[i] = cc_const_value(n->src[i]);
    }
    union cc_value r = cc_scalar(n->op, n->dtype, n->src[0]->dtype, v);
    return cc_uop(g, CC_CONST, n->dtype, 0, NULL, 1, &r.i, NULL);
}

/* bounds meet -> constant */
RULE(single)
{
    if (!exact(n) || n->vmin != n->vmax || n->ndim || n->op == CC_CONST ||
        !(elementwise(n) || n->op == CC_SPECIAL) || n->op == CC_CONTIGUOUS)
        return NULL;
    return like(g, n, n->vmin);
}

/* c + x -> x + c: constants go right; else the older source goes left */
RULE(order)
{
    bool commutes = n->op == CC_ADD || n->op == CC_MUL || n->op == CC_MAX ||
                    n->op == CC_AND || n->op == CC_OR || n->op == CC_XOR ||
                    n->op == CC_CMPEQ || n->op == CC_CMPNE;
    if (!commutes || cc_is_const(n->src[1]) || !cc_is_const(n->src[0]))
        return NULL;
    return cc_uop(g, n->op, n->dtype, 2, (cc_ref[]){n->src[1], n->src[0]}, 0, NULL,
                  NULL);
}

/* ---- neutral and absorbing elements (integers, bools) ---- */

/* x+0 x-0 x|0 x^0 x<<0 x>>0 x*1 x/1 -> x */
RULE(neutral)
{
    cc_ref x = n->src[0], c = n->src[1];
    bool zero = is_int_const(c, 0), one = is_int_const(c, 1);
    if (!exact(n) || x->ndim != n->ndim)
        return NULL;
    switch (n->op) {
    case CC_ADD:
    case CC_SUB:
    case CC_OR:
    case CC_XOR:
    case CC_SHL:
    case CC_SHR:
        return zero ? x : NULL;
    case CC_AND:
        return (one && n->dtype == CC_DT_BOOL) || is_int_const(c, -1) ? x : NULL;
    default:
        return one ? x : NULL;
    }
}

/* x*0 x&0 -> 0; x|true -> true */
RULE(absorb)
{
    cc_ref c = n->src[1];
    if (!exact(n) || n->ndim)
        return NULL;
    if (is_int_const(c, 0) && (n->op == CC_MUL || n->op == CC_AND))
        return c;
    if (n->dtype == CC_DT_BOOL && is_int_const(c, 1) && n->op == CC_OR)
        return c;
    return NULL;
}

/* x*1 x/1 of floats -> x */
RULE(float_neutral)
{
    cc_ref c = n->src[1];
    if (!cc_is_float(n->dtype) || !cc_is_const(c) || cc_const_value(c).f != 1 ||
        n->src[0]->ndim != n->ndim)
        return NULL;
    return n->src[0];
}

/* x-x x^x -> 0; x&x x|x max(x,x) -> x */
RULE(same)
{
    if (!exact(n) || n->src[0] != n->src[1])
        return NULL;
    if ((n->op == CC_SUB || n->op == CC_XOR) && n->ndim == 0)
        return like(g, n, 0);
    return n->op == CC_AND || n->op == CC_OR || n->op == CC_MAX ? n->src[0] : NULL;
}

/* ---- sums ---- */

/* x - c -> x + -c; x << c -> x * 2^c is left alone: the back end wants shifts late */
RULE(sub_const)
{
    if (!cc_is_int(n->dtype) || !cc_is_const(n->src[1]))
        return NULL;
    return cc_s2(g, CC_ADD, n->src[0],
                 like(g, n, (int64_t)(0 - (uint64_t)n->src[1]->arg[0])));
}

/* (x + c) + d -> x + (c + d); (x * c) * d; also & | ^ */
RULE(collect)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (!exact(n) || x->op != n->op || !cc_is_const(d) || !cc_is_const(x->src[1]))
        return NULL;
    return cc_s2(g, n->op, x->src[0], cc_s2(g, n->op, x->src[1], d));
}

/* (x + c) + y -> (x + y) + c: constants float to the end of a sum */
RULE(const_last)
{
    cc_ref x = n->src[0], y = n->src[1];
    if (!cc_is_int(n->dtype) || cc_is_const(y))
        return NULL;
    if (x->op == CC_ADD && cc_is_const(x->src[1]))
        return cc_s2(g, CC_ADD, cc_s2(g, CC_ADD, x->src[0], y), x->src[1]);
    if (y->op == CC_ADD && cc_is_const(y->src[1]))
        return cc_s2(g, CC_ADD, cc_s2(g, CC_ADD, x, y->src[0]), y->src[1]);
    return NULL;
}

/* x*a + x*b -> x*(a+b), with 1 for a missing factor */
RULE(common_factor)
{
    cc_ref a = n->src[0], b = n->src[1];
    if (!cc_is_int(n->dtype))
        return NULL;
    cc_ref xa = a->op == CC_MUL && cc_is_const(a->src[1]) ? a->src[0] : a;
    cc_ref xb = b->op == CC_MUL && cc_is_const(b->src[1]) ? b->src[0] : b;
    if (xa != xb || cc_is_const(xa) || xa->ndim)
        return NULL;
    int64_t ca = xa == a ? 1 : a->src[1]->arg[0], cb = xb == b ? 1 : b->src[1]->arg[0];
    return cc_s2(g, CC_MUL, xa, like(g, n, (int64_t)((uint64_t)ca + (uint64_t)cb)));
}

/* (x + c) * d -> x*d + c*d */
RULE(distribute)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (!cc_is_int(n->dtype) || !cc_is_const(d) || x->op != CC_ADD ||
        !cc_is_const(x->src[1]))
        return NULL;
    return cc_s2(g, CC_ADD, cc_s2(g, CC_MUL, x->src[0], d),
                 cc_s2(g, CC_MUL, x->src[1], d));
}

/* (x/c)*c + x%c -> x, either order, also with a common factor k */
RULE(div_mod_join)
{
    if (!cc_is_int(n->dtype))
        return NULL;
    for (int i = 0; i < 2; i++) {
        cc_ref q = n->src[i], r = n->src[1 - i];
        int64_t k = 1;
        if (r->op == CC_MUL && cc_is_const(r->src[1])) {
            k = r->src[1]->arg[0];
            r = r->src[0];
        }
        if (q->op != CC_MUL || !cc_is_const(q->src[1]) || r->op != CC_MOD ||
            !cc_is_const(r->src[1]) || q->src[0]->op != CC_IDIV)
            continue;
        cc_ref d = q->src[0];
        if (d->src[0] == r->src[0] && d->src[1] == r->src[1] &&
            q->src[1]->arg[0] == k * r->src[1]->arg[0])
            return cc_s2(g, CC_MUL, r->src[0], like(g, n, k));
    }
    return NULL;
}

/* ---- division and remainder by a positive constant ---- */

/* Split a sum into what c divides, as terms / c, and the rest; NULL parts are 0.
 * depth bounds the work. */
static void split(struct cc_graph *g, cc_ref x, int64_t c, int depth, cc_ref *whole,
                  cc_ref *rest)
{
    cc_ref wa, ra, wb, rb;
    *whole = NULL;
    *rest = x;
    if (cc_is_const(x)) {
        int64_t v = x->arg[0], q = v / c - (v % c < 0);
        *whole = q ? like(g, x, q) : NULL;
        *rest = v - q * c ? like(g, x, v - q * c) : NULL;
    } else if (x->op == CC_MUL && cc_is_const(x->src[1]) &&
               x->src[1]->arg[0] % c == 0 && x->src[0]->vmin > INT32_MIN &&
               x->src[0]->vmax < INT32_MAX) {
        *whole = cc_s2(g, CC_MUL, x->src[0], like(g, x, x->src[1]->arg[0] / c));
        *rest = NULL;
    } else if (x->op == CC_ADD && depth && sums_fit(x)) {
        split(g, x->src[0], c, depth - 1, &wa, &ra);
        split(g, x->src[1], c, depth - 1, &wb, &rb);
        *whole = wa && wb ? cc_s2(g, CC_ADD, wa, wb) : wa ? wa : wb;
        *rest = ra && rb ? cc_s2(g, CC_ADD, ra, rb) : ra ? ra : rb;
    }
}

/* x/c with x = c*w + r: w + r/c; x%c: r%c, when nothing is negative */
RULE(div_split)
{
    cc_ref x = n->src[0], c = n->src[1], whole, rest;
    if (!cc_is_const(c) || c->arg[0] <= 1 || x->vmin < 0)
        return NULL;
    split(g, x, c->arg[0], 8, &whole, &rest);
    if (!whole)
        return NULL;
    if (rest && rest->vmin < 0)
        return NULL;
    cc_ref r = rest ? rest : like(g, n, 0);
    if (n->op == CC_MOD)
        return cc_s2(g, CC_MOD, r, c);
    return cc_s2(g, CC_ADD, whole, cc_s2(g, CC_IDIV, r, c));
}

/* (x/c)/d -> x/(c*d) */
RULE(div_div)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (x->op != CC_IDIV || !cc_is_const(d) || !cc_is_const(x->src[1]) ||
        d->arg[0] <= 0 || x->src[1]->arg[0] <= 0 || x->src[0]->vmin < 0)
        return NULL;
    __int128 p = (__int128)d->arg[0] * x->src[1]->arg[0];
    if (p > INT32_MAX)
        return NULL;
    return cc_s2(g, CC_IDIV, x->src[0], like(g, n, (int64_t)p));
}

/* (x%(c*k))%c -> x%c; (x%(c*k))/c -> (x/c)%k */
RULE(mod_inner)
{
    cc_ref x = n->src[0], c = n->src[1];
    if (x->op != CC_MOD || !cc_is_const(c) || !cc_is_const(x->src[1]) ||
        c->arg[0] <= 0 || x->src[1]->arg[0] <= 0 || x->src[1]->arg[0] % c->arg[0] ||
        x->src[0]->vmin < 0)
        return NULL;
    if (n->op == CC_MOD)
        return cc_s2(g, CC_MOD, x->src[0], c);
    return cc_s2(g, CC_MOD, cc_s2(g, CC_IDIV, x->src[0], c),
                 like(g, n, x->src[1]->arg[0] / c->arg[0]));
}

/* (x*c)/(c*k) -> x/k when x*c cannot wrap; (x*c)%(c*k) -> (x%k)*c */
RULE(div_factor)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (x->op != CC_MUL || !cc_is_const(d) || !cc_is_const(x->src[1]) || x->vmin < 0 ||
        x->src[0]->vmin < 0)
        return NULL;
    int64_t c = x->src[1]->arg[0], all = d->arg[0];
    if (c <= 1 || all <= 0 || all % c || all == c ||
        (__int128)x->src[0]->vmax * c != x->vmax)
        return NULL;
    cc_ref k = like(g, n, all / c);
    if (n->op == CC_IDIV)
        return cc_s2(g, CC_IDIV, x->src[0], k);
    return cc_s2(g, CC_MUL, cc_s2(g, CC_MOD, x->src[0], k), x->src[1]);
}

#define PARTS 12

/* The terms of a sum; 0 if there are too many. */
static unsigned terms_of(cc_ref n, cc_ref *list, unsigned count)
{
    if (n->op == CC_ADD) {
        count = terms_of(n->src[0], list, count);
        return count ? terms_of(n->src[1], list, count) : 0;
    }
    if (count == PARTS)
        return 0;
    list[count] = n;
    return count + 1;
}

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* What a term is known to be a multiple of. */
static int64_t multiple(cc_ref t)
{
    return t->op == CC_MUL && cc_is_const(t->src[1]) && t->src[1]->arg[0] > 0
               ? t->src[1]->arg[0]
               : 1;
}

/* The sum of terms as g q + r with 0 <= r < g; false if that is not known. */
static bool divide_terms(struct cc_graph *g, cc_ref n, const cc_ref *t, unsigned count,
                         int64_t by, cc_ref *q, cc_ref *r)
{
    cc_ref zero = like(g, n, 0);
    *q = *r = zero;
    for (unsigned i = 0; i < count; i++) {
        int64_t c = multiple(t[i]);
        if (cc_is_const(t[i])) {
            int64_t k = t[i]->arg[0], low = (k % by + by) % by;
            *q = cc_s2(g, CC_ADD, *q, like(g, n, (k - low) / by));
            *r = cc_s2(g, CC_ADD, *r, like(g, n, low));
        } else if (c % by == 0) {
            *q = cc_s2(g, CC_ADD, *q,
                       cc_s2(g, CC_MUL, t[i]->src[0], like(g, n, c / by)));
        } else {
            *r = cc_s2(g, CC_ADD, *r, t[i]);
        }
    }
    return *q != zero && (*q)->vmin >= 0 && (*r)->vmin >= 0 && (*r)->vmax < by &&
           (*q)->vmax < INT32_MAX / by;
}

/* (8 x + y) / 64 -> x / 8 and (8 x + y) % 64 -> 8 (x % 8) + y when 0 <= y < 8 */
RULE(div_parts)
{
    cc_ref list[PARTS], q, r, d = n->src[1];
    if (n->dtype != CC_DT_I32 || n->src[0]->op != CC_ADD || !cc_is_const(d) ||
        d->arg[0] <= 1 || n->src[0]->vmin < 0)
        return NULL;
    unsigned count = terms_of(n->src[0], list, 0);
    for (unsigned i = 0; i < count; i++) {
        int64_t by = common(d->arg[0], multiple(list[i]));
        if (by <= 1 || !divide_terms(g, n, list, count, by, &q, &r))
            continue;
        cc_ref k = like(g, n, d->arg[0] / by);
        if (n->op == CC_IDIV)
            return cc_s2(g, CC_IDIV, q, k);
        return cc_s2(g, CC_ADD,
                     cc_s2(g, CC_MUL, cc_s2(g, CC_MOD, q, k), like(g, n, by)), r);
    }
    return NULL;
}

/* x%c -> x when 0 <= x < c */
RULE(mod_small)
{
    cc_ref x = n->src[0], c = n->src[1];
    return x->vmin >= 0 && x->vmax < c->vmin && x->ndim == n->ndim ? x : NULL;
}

/* ---- choices and comparisons ---- */

/* where(true, x, y) -> x; where(c, x, x) -> x */
RULE(where_known)
{
    cc_ref pick = NULL;
    if (cc_is_const(n->src[0]))
        pick = n->src[0]->arg[0] ? n->src[1] : n->src[2];
    else if (n->src[1] == n->src[2])
        pick = n->src[1];
    return pick && pick->ndim == n->ndim ? pick : NULL;
}

/* max(x, y) -> the one that is never smaller */
RULE(max_known)
{
    cc_ref a = n->src[0], b = n->src[1];
    if (!exact(n) || n->dtype == CC_DT_U64)
        return NULL;
    if (a->vmin >= b->vmax && a->ndim == n->ndim)
        return a;
    return b->vmin >= a->vmax && b->ndim == n->ndim ? b : NULL;
}

/* x + c < d -> x < d - c when x + c cannot wrap */
RULE(less_const)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (x->op != CC_ADD || !cc_is_int(x->dtype) || x->dtype == CC_DT_U64 ||
        !cc_is_const(d) || !cc_is_const(x->src[1]) || !sums_fit(x))
        return NULL;
    __int128 v = (__int128)d->arg[0] - x->src[1]->arg[0];
    if (v != cc_const_value(like(g, d, (int64_t)v)).i)
        return NULL;
    return cc_s2(g, CC_CMPLT, x->src[0], like(g, d, (int64_t)v));
}

/* c < x + k is handled by the bounds; x*c < d -> x < ceil(d/c) */
RULE(less_factor)
{
    cc_ref x = n->src[0], d = n->src[1];
    if (x->op != CC_MUL || !cc_is_int(x->dtype) || x->dtype == CC_DT_U64 ||
        !cc_is_const(d) || !cc_is_const(x->src[1]) || x->vmin < 0 ||
        x->src[0]->vmin < 0 || d->arg[0] <= 0)
        return NULL;
    int64_t c = x->src[1]->arg[0];
    if (c <= 1 || (__int128)x->src[0]->vmax * c != x->vmax)
        return NULL;
    return cc_s2(g, CC_CMPLT, x->src[0], like(g, d, (d->arg[0] + c - 1) / c));
}

/* (x != true) != true -> x */
RULE(not_not)
{
    cc_ref x = n->src[0];
    if (x->dtype != CC_DT_BOOL || !is_int_const(n->src[1], 1) || x->op != CC_CMPNE ||
        !is_int_const(x->src[1], 1) || x->src[0]->dtype != CC_DT_BOOL)
        return NULL;
    return x->src[0];
}

/* ---- conversions and order ---- */

/* a cast to its own dtype; a cast of a cast between integers that keeps every value */
RULE(cast_twice)
{
    cc_ref x = n->src[0];
    if (x->dtype == n->dtype)
        return x;
    if (n->op != CC_CAST || x->op != CC_CAST || !exact(n) || !exact(x) ||
        !exact(x->src[0]) || n->dtype == CC_DT_BOOL || x->dtype == CC_DT_BOOL)
        return NULL;
    if (x->vmin != x->src[0]->vmin || x->vmax != x->src[0]->vmax ||
        x->dtype == CC_DT_U64 || x->src[0]->dtype == CC_DT_U64)
        return NULL;
    return cc_cast(g, x->src[0], n->dtype);
}

/* after(after(x, a), b) -> after(x, a, b) */
RULE(after_after)
{
    cc_ref x = n->src[0];
    cc_ref src[64];
    if (x->op != CC_AFTER || x->n_src + n->n_src > 64)
        return NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->n_src; i++)
        src[count++] = x->src[i];
    for (uint32_t i = 1; i < n->n_src; i++) {
        uint32_t j = 1;
        while (j < count && src[j] != n->src[i])
            j++;
        if (j == count)
            src[count++] = n->src[i];
    }
    return cc_uop(g, CC_AFTER, n->dtype, count, src, 0, NULL, NULL);
}

/* a gate that always holds is no gate */
RULE(open_gate)
{
    uint32_t gate = n->op == CC_LOAD ? 2 : 3;
    if (n->n_src <= gate || !is_int_const(n->src[gate], 1))
        return NULL;
    return cc_uop(g, n->op, n->dtype, gate, n->src, 0, NULL, NULL);
}

/* ---- the table ---- */

static const struct {
    enum cc_op op; /* CC_INVALID: any */
    rule_fn *rule;
} rules[] = {
    {CC_INVALID, fold},       {CC_INVALID, single},     {CC_INVALID, order},
    {CC_ADD, neutral},        {CC_SUB, neutral},        {CC_OR, neutral},
    {CC_XOR, neutral},        {CC_SHL, neutral},        {CC_SHR, neutral},
    {CC_AND, neutral},        {CC_MUL, neutral},        {CC_IDIV, neutral},
    {CC_MUL, absorb},         {CC_AND, absorb},         {CC_OR, absorb},
    {CC_MUL, float_neutral},  {CC_FDIV, float_neutral}, {CC_SUB, same},
    {CC_XOR, same},           {CC_AND, same},           {CC_OR, same},
    {CC_MAX, same},           {CC_SUB, sub_const},      {CC_ADD, collect},
    {CC_MUL, collect},        {CC_AND, collect},        {CC_OR, collect},
    {CC_XOR, collect},        {CC_ADD, const_last},     {CC_ADD, common_factor},
    {CC_ADD, div_mod_join},   {CC_MUL, distribute},     {CC_MOD, mod_small},
    {CC_IDIV, div_split},     {CC_MOD, div_split},      {CC_IDIV, div_div},
    {CC_IDIV, mod_inner},     {CC_MOD, mod_inner},      {CC_IDIV, div_factor},
    {CC_MOD, div_factor},     {CC_IDIV, div_parts},     {CC_MOD, div_parts},
    {CC_WHERE, where_known},  {CC_MAX, max_known},      {CC_CMPLT, less_const},
    {CC_CMPLT, less_factor},  {CC_CMPNE, not_not},      {CC_CAST, cast_twice},
    {CC_BITCAST, cast_twice}, {CC_AFTER, after_after},  {CC_LOAD, open_gate},
    {CC_STORE, open_gate},
};

cc_ref cc_simplify_node(struct cc_graph *g, cc_ref n)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0];) {
        cc_ref r = NULL;
        if (rules[i].op == n->op || rules[i].op == CC_INVALID)
            r = n->op == CC_INVALID ? NULL : rules[i].rule(g, n);
        if (r && r != n && r->dtype == n->dtype) {
            n = r;
            i = 0;
        } else {
            i++;
        }
    }
    return n;
}

cc_ref cc_s1(struct cc_graph *g, enum cc_op op, cc_ref a)
{
    return cc_simplify_node(g, cc_alu1(g, op, a));
}

cc_ref cc_s2(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b)
{
    return cc_simplify_node(g, cc_alu2(g, op, a, b));
}

cc_ref cc_s3(struct cc_graph *g, enum cc_op op, cc_ref a, cc_ref b, cc_ref c)
{
    return cc_simplify_node(
        g, cc_uop(g, op, CC_DT_VOID, 3, (cc_ref[]){a, b, c}, 0, NULL, NULL));
}

cc_ref cc_rebuild(struct cc_graph *g, cc_ref n, const struct cc_map *done)
{
    cc_ref few[64] = {NULL};
    cc_ref *src = n->n_src <= 64 ? few : malloc(n->n_src * sizeof *src);
    if (!src)
        return cc_fail(g, RD_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < n->n_src; i++)
        src[i] = cc_map_get(done, n->src[i]);
    cc_ref r = cc_with_src(g, n, src);
    if (src != few)
        free(src);
    return r;
}

cc_ref cc_simplify(struct cc_graph *g, cc_ref root)
{
    struct cc_map done = {0};
    cc_ref *nodes;
    uint32_t count;
    cc_ref r = root;
    rd_status st = cc_toposort(root, &nodes, &count);
    if (st != RD_OK)
        return cc_fail(g, st, "nothing to simplify");
    for (uint32_t i = 0; i < count && st == RD_OK; i++) {
        r = cc_simplify_node(g, cc_rebuild(g, nodes[i], &done));
        st = cc_map_set(&done, nodes[i], r);
    }
    free(nodes);
    cc_map_free(&done);
    return st == RD_OK ? r : cc_fail(g, st, "out of memory");
}
