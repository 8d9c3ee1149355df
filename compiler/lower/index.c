/* index.c: from whole arrays to elements.
 *
 * A value is asked for by index: movement changes the index, elementwise operations
 * pass it on, memory turns it into an address. Padding adds a condition under which
 * memory is read at all. Knows neither loops of a program nor targets. The same element
 * of the same node is computed once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

/* Which element is wanted, and when. */
struct at {
    unsigned n;
    cc_ref index[CC_MAX_DIMS];
    cc_ref valid; /* NULL: always */
    cc_ref dep;   /* GROUP of what must have happened, or NULL */
};

struct memo {
    cc_ref n;
    const struct at *at;
    uint32_t hash;
    cc_ref result;
};

struct lower {
    struct cc_graph *g;
    struct memo *memo;
    uint32_t cap, count;
    struct cc_map stmts;
    bool auto_axes;  /* no axis is GLOBAL or LOCAL yet */
    bool whole_axes; /* leave each axis one GLOBAL range */
};

static cc_ref value(struct lower *l, cc_ref n, const struct at *at);
static cc_ref stmt(struct lower *l, cc_ref n);

/* ---- memo ---- */

static uint32_t at_hash(cc_ref n, const struct at *at)
{
    uint32_t h = n->id * 2654435761u;
    for (unsigned i = 0; i < at->n; i++)
        h = (h ^ at->index[i]->id) * 2654435761u + 1;
    h = (h ^ (at->valid ? at->valid->id + 1 : 0)) * 2654435761u;
    h = (h ^ (at->dep ? at->dep->id + 1 : 0)) * 2654435761u;
    return h ^ h >> 15;
}

static bool at_same(const struct at *a, const struct at *b)
{
    return a->n == b->n && a->valid == b->valid && a->dep == b->dep &&
           memcmp(a->index, b->index, a->n * sizeof(cc_ref)) == 0;
}

static struct memo *memo_slot(struct memo *memo, uint32_t cap, cc_ref n,
                              const struct at *at, uint32_t hash)
{
    for (uint32_t i = hash;; i++) {
        struct memo *m = &memo[i & (cap - 1)];
        if (!m->n || (m->n == n && m->hash == hash && at_same(m->at, at)))
            return m;
    }
}

static cc_ref memo_get(struct lower *l, cc_ref n, const struct at *at)
{
    return l->cap ? memo_slot(l->memo, l->cap, n, at, at_hash(n, at))->result : NULL;
}

static void memo_set(struct lower *l, cc_ref n, const struct at *at, cc_ref result)
{
    if (2 * l->count >= l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 1024;
        struct memo *bigger = calloc(cap, sizeof *bigger);
        if (!bigger) {
            cc_fail(l->g, RD_E_NOMEM, "out of memory");
            return;
        }
        for (uint32_t i = 0; i < l->cap; i++)
            if (l->memo[i].n)
                *memo_slot(bigger, cap, l->memo[i].n, l->memo[i].at, l->memo[i].hash) =
                    l->memo[i];
        free(l->memo);
        l->memo = bigger;
        l->cap = cap;
    }
    struct at *copy = cc_arena_copy(&l->g->arena, at, sizeof *at);
    if (!copy) {
        cc_fail(l->g, RD_E_NOMEM, "out of memory");
        return;
    }
    uint32_t hash = at_hash(n, at);
    *memo_slot(l->memo, l->cap, n, at, hash) = (struct memo){n, copy, hash, result};
    l->count++;
}

/* ---- indexes ---- */

static cc_ref num(struct lower *l, int64_t v)
{
    return cc_const_int(l->g, CC_DT_I32, v);
}

static cc_ref add(struct lower *l, cc_ref a, cc_ref b)
{
    return cc_s2(l->g, CC_ADD, a, b);
}

static cc_ref times(struct lower *l, cc_ref a, int64_t c)
{
    return cc_s2(l->g, CC_MUL, a, num(l, c));
}

/* Row-major position of an index in a shape. */
static cc_ref flatten(struct lower *l, const int64_t *shape, unsigned n,
                      const cc_ref *index)
{
    cc_ref sum = num(l, 0);
    int64_t stride = 1;
    for (unsigned i = n; i-- > 0; stride *= shape[i])
        sum = add(l, times(l, index[i], stride), sum);
    return sum;
}

static void unflatten(struct lower *l, cc_ref flat, const int64_t *shape, unsigned n,
                      cc_ref *index)
{
    int64_t stride = 1;
    for (unsigned i = n; i-- > 0; stride *= shape[i]) {
        index[i] = cc_s2(l->g, CC_IDIV, flat, num(l, stride));
        if (i > 0)
            index[i] = cc_s2(l->g, CC_MOD, index[i], num(l, shape[i]));
    }
}

static cc_ref both(struct lower *l, cc_ref a, cc_ref b)
{
    return a ? cc_s2(l->g, CC_AND, a, b) : b;
}

/* lo <= x < hi, as far as the bounds of x leave it open; NULL: holds. */
static cc_ref inside(struct lower *l, cc_ref x, int64_t lo, int64_t hi)
{
    cc_ref c = NULL, yes = cc_const_int(l->g, CC_DT_BOOL, 1);
    if (x->vmin < lo)
        c = cc_s2(l->g, CC_CMPNE, cc_s2(l->g, CC_CMPLT, x, num(l, lo)), yes);
    if (x->vmax >= hi)
        c = both(l, c, cc_s2(l->g, CC_CMPLT, x, num(l, hi)));
    return c;
}

static cc_ref add_dep(struct lower *l, cc_ref dep, cc_ref more)
{
    cc_ref src[64];
    uint32_t n = 0;
    if (!dep)
        return cc_group(l->g, 1, &more);
    if (dep->n_src == 64)
        return cc_fail(l->g, RD_E_RANGE, "AFTER with more than 64 dependencies");
    for (; n < dep->n_src; n++) {
        if (dep->src[n] == more)
            return dep;
        src[n] = dep->src[n];
    }
    src[n++] = more;
    return cc_group(l->g, n, src);
}

/* The same wish, put to the source of a movement, INDEX or AFTER. cond: out, what
 * padding asks, or NULL. */
static struct at through(struct lower *l, cc_ref n, const struct at *at, cc_ref *cond)
{
    struct at r = *at, none = {0};
    cc_ref s = n->src[0];
    *cond = NULL;
    r.n = s->ndim;
    switch (n->op) {
    case CC_RESHAPE:
        unflatten(l, flatten(l, n->shape, n->ndim, at->index), s->shape, s->ndim,
                  r.index);
        break;
    case CC_EXPAND:
        for (unsigned i = 0; i < s->ndim; i++)
            r.index[i] = s->shape[i] == 1 ? num(l, 0) : at->index[i];
        break;
    case CC_PERMUTE:
        for (unsigned i = 0; i < s->ndim; i++)
            r.index[n->arg[i]] = at->index[i];
        break;
    case CC_FLIP:
        for (uint32_t i = 0; i < n->n_arg; i++)
            r.index[n->arg[i]] = cc_s2(l->g, CC_SUB, num(l, s->shape[n->arg[i]] - 1),
                                       at->index[n->arg[i]]);
        break;
    case CC_SHRINK:
        for (unsigned i = 0; i < s->ndim; i++)
            r.index[i] = add(l, at->index[i], num(l, n->arg[2 * i]));
        break;
    case CC_PAD:
        for (unsigned i = 0; i < s->ndim; i++) {
            int64_t lo = n->arg[2 * i];
            cc_ref c = inside(l, at->index[i], lo, lo + s->shape[i]);
            r.index[i] = add(l, at->index[i], num(l, -lo));
            if (c)
                *cond = both(l, *cond, c);
        }
        if (*cond)
            r.valid = both(l, at->valid, *cond);
        break;
    case CC_INDEX:
        for (uint32_t i = 1; i < n->n_src; i++) {
            cc_ref x = value(l, n->src[i], &none);
            r.index[i - 1] = x->dtype == CC_DT_I32 ? x : cc_cast(l->g, x, CC_DT_I32);
        }
        memcpy(r.index + n->n_src - 1, at->index, at->n * sizeof(cc_ref));
        break;
    default: /* AFTER */
        for (uint32_t i = 1; i < n->n_src; i++)
            r.dep = add_dep(l, r.dep, stmt(l, n->src[i]));
        break;
    }
    return r;
}

static bool is_view_step(cc_ref n)
{
    return cc_ops[n->op].class_ == CC_CLASS_MOVE || n->op == CC_INDEX ||
           n->op == CC_AFTER || (n->op == CC_LOAD && n->n_src == 1);
}

static bool is_base(cc_ref n)
{
    return n->op == CC_PARAM || n->op == CC_BUFFER;
}

/* Memory itself, with the order it is used in. */
static cc_ref ordered(struct lower *l, cc_ref base, cc_ref dep)
{
    cc_ref src[65] = {base};
    if (!dep || dep->op != CC_GROUP)
        return base;
    memcpy(src + 1, dep->src, dep->n_src * sizeof *src);
    return cc_simplify_node(
        l->g, cc_uop(l->g, CC_AFTER, CC_DT_VOID, dep->n_src + 1, src, 0, NULL, NULL));
}

/* ---- values ---- */

static cc_ref load(struct lower *l, cc_ref base, const struct at *at)
{
    cc_ref src[3] = {ordered(l, base, at->dep),
                     flatten(l, base->shape, base->ndim, at->index), at->valid};
    return cc_simplify_node(
        l->g, cc_uop(l->g, CC_LOAD, CC_DT_VOID, at->valid ? 3 : 2, src, 0, NULL, NULL));
}

static cc_ref reduce(struct lower *l, cc_ref n, const struct at *at)
{
    struct at r = *at;
    cc_ref s = n->src[0], src[2 * CC_MAX_DIMS];
    unsigned axes = 0, n_src = 1, next = 0;
    for (uint32_t i = 1; i < n->n_arg; i++)
        axes |= 1u << n->arg[i];
    r.n = s->ndim;
    for (unsigned i = 0; i < s->ndim; i++) {
        if (!(axes >> i & 1)) {
            r.index[i] = at->index[next++];
        } else if (s->shape[i] == 1) {
            r.index[i] = num(l, 0);
        } else {
            r.index[i] =
                cc_range(l->g, s->shape[i], l->g->next_range++, CC_AXIS_REDUCE);
            src[n_src++] = r.index[i];
        }
    }
    for (uint32_t i = 1; i < n->n_src && n_src < 2 * CC_MAX_DIMS; i++)
        src[n_src++] = n->src[i];
    src[0] = value(l, s, &r);
    if (n_src == 1)
        return src[0];
    return cc_uop(l->g, CC_REDUCE, CC_DT_VOID, n_src, src, 1, n->arg, NULL);
}

static cc_ref fragment_product(struct lower *l, cc_ref n, const struct at *at)
{
    static const uint32_t first[3] = {0, 16, 32};
    cc_ref src[40];
    char text[96];
    if (at->n != 1 || !cc_is_const(at->index[0]))
        return cc_fail(l->g, RD_E_INVALID, "%s: its elements must be stored as a whole",
                       cc_describe(n, text, sizeof text));
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t which = i < 16 ? 0 : i < 32 ? 1 : 2;
        struct at r = {.n = 1, .valid = at->valid, .dep = at->dep};
        r.index[0] = num(l, i - first[which]);
        src[i] = value(l, n->src[which], &r);
    }
    cc_ref product = cc_uop(l->g, CC_WMMA, CC_DT_VOID, 40, src, n->n_arg, n->arg, NULL);
    return cc_uop(l->g, CC_EXTRACT, CC_DT_VOID, 1, &product, 1, at->index[0]->arg,
                  NULL);
}

static cc_ref elementwise(struct lower *l, cc_ref n, const struct at *at)
{
    cc_ref src[4] = {NULL};
    struct at scalar = {.valid = at->valid, .dep = at->dep};
    for (uint32_t i = 0; i < n->n_src && i < 4; i++)
        src[i] = value(l, n->src[i], n->src[i]->ndim ? at : &scalar);
    return cc_simplify_node(
        l->g, cc_uop(l->g, n->op, n->dtype, n->n_src, src, n->n_arg, n->arg, n->name));
}

static cc_ref moved(struct lower *l, cc_ref n, const struct at *at)
{
    cc_ref cond, base = n->src[0];
    struct at r = through(l, n, at, &cond);
    cc_ref v = value(l, base, &r);
    while (is_view_step(base))
        base = base->src[0];
    if (!cond || is_base(base)) /* a gated LOAD gives 0 by itself */
        return v;
    return cc_s3(l->g, CC_WHERE, cond, v, cc_const_int(l->g, n->dtype, 0));
}

static cc_ref value_of(struct lower *l, cc_ref n, const struct at *at)
{
    char text[96];
    if (is_base(n))
        return load(l, n, at);
    if (n->op == CC_LOAD && n->n_src == 1)
        return value(l, n->src[0], at);
    if (is_view_step(n))
        return moved(l, n, at);
    switch (n->op) {
    case CC_CONST:
    case CC_RANGE:
    case CC_SPECIAL:
        return n;
    case CC_IOTA:
        return flatten(l, n->shape, n->ndim, at->index);
    case CC_CONTIGUOUS:
        return value(l, n->src[0], at);
    case CC_REDUCE:
        return reduce(l, n, at);
    case CC_WMMA:
        return fragment_product(l, n, at);
    case CC_LOAD: {
        struct at none = {0};
        cc_ref src[3] = {NULL};
        src[0] = ordered(l, n->src[0], NULL);
        for (uint32_t i = 1; i < n->n_src; i++)
            src[i] = value(l, n->src[i], &none);
        return cc_uop(l->g, CC_LOAD, n->dtype, n->n_src, src, 0, NULL, NULL);
    }
    default:
        if (n->dtype == CC_DT_VOID || n->n_src == 0 || n->op == CC_EXTRACT)
            return cc_fail(l->g, RD_E_INVALID, "%s: is no value",
                           cc_describe(n, text, sizeof text));
        return elementwise(l, n, at);
    }
}

static cc_ref value(struct lower *l, cc_ref n, const struct at *at)
{
    if (n->op == CC_CONST || n->op == CC_INVALID || l->g->status != RD_OK)
        return n;
    cc_ref r = memo_get(l, n, at);
    if (!r) {
        r = value_of(l, n, at);
        memo_set(l, n, at, r);
    }
    return r;
}

/* ---- stores ---- */

/* Is the value a fragment, or computed from one element by element? */
static bool has_wmma(struct lower *l, cc_ref value)
{
    cc_ref *nodes;
    uint32_t count;
    if (cc_sorted(l->g, value, &nodes, &count) != RD_OK)
        return false;
    bool *has = calloc(value->id + 1ull, sizeof *has), found = false;
    for (uint32_t i = 0; i < count && has; i++) {
        cc_ref n = nodes[i];
        has[n->id] = n->op == CC_WMMA;
        for (uint32_t j = 0; j < n->n_src && cc_is_alu(n->op); j++)
            has[n->id] = has[n->id] || has[n->src[j]->id];
        found = has[n->id]; /* the value is the last */
    }
    if (!has)
        cc_fail(l->g, RD_E_NOMEM, "out of memory");
    free(has);
    free(nodes);
    return found;
}

/* Store one element. */
static cc_ref store_at(struct lower *l, cc_ref n, const struct at *where)
{
    cc_ref view = n->src[0], v = n->src[1], cond, src[4];
    struct at at = *where, value_at = {.n = v->ndim, .valid = where->valid};
    char text[96];
    memcpy(value_at.index, where->index, sizeof value_at.index);
    while (is_view_step(view) && view->op != CC_PAD) {
        struct at r = through(l, view, &at, &cond);
        at = r;
        view = view->src[0];
    }
    if (!is_base(view))
        return cc_fail(l->g, RD_E_INVALID, "%s: its target is no memory",
                       cc_describe(n, text, sizeof text));
    src[0] = ordered(l, view, at.dep);
    src[1] = flatten(l, view->shape, view->ndim, at.index);
    src[2] = value(l, v, &value_at);
    src[3] = at.valid;
    return cc_uop(l->g, CC_STORE, CC_DT_VOID, at.valid ? 4 : 3, src, 0, NULL, NULL);
}

/* One element per work-item: workgroups of up to 256. */
static cc_ref store_auto(struct lower *l, cc_ref n)
{
    cc_ref view = n->src[0], flat = num(l, 0);
    int64_t total = cc_elements(view), local = 256;
    struct at at = {.n = view->ndim};
    while (local > total && local > 1)
        local /= 2;
    int64_t groups = (total + local - 1) / local;
    if (groups > 1)
        flat =
            times(l, cc_range(l->g, groups, l->g->next_range++, CC_AXIS_GLOBAL), local);
    if (local > 1)
        flat = add(l, flat, cc_range(l->g, local, l->g->next_range++, CC_AXIS_LOCAL));
    if (groups * local != total)
        at.valid = cc_s2(l->g, CC_CMPLT, flat, num(l, total));
    unflatten(l, flat, view->shape, view->ndim, at.index);
    return store_at(l, n, &at);
}

/* A workgroup for every element: axes to be cut up later. */
static cc_ref store_axes(struct lower *l, cc_ref n)
{
    cc_ref view = n->src[0];
    struct at at = {.n = view->ndim};
    for (unsigned i = 0; i < view->ndim; i++)
        at.index[i] =
            view->shape[i] == 1
                ? num(l, 0)
                : cc_range(l->g, view->shape[i], l->g->next_range++, CC_AXIS_GLOBAL);
    return store_at(l, n, &at);
}

static cc_ref store(struct lower *l, cc_ref n)
{
    cc_ref view = n->src[0], ranges[CC_MAX_DIMS], parts[8];
    struct at at = {.n = view->ndim};
    unsigned n_ranges = 0, last = view->ndim;
    char text[96];
    if (cc_elements(view) == 0)
        return cc_group(l->g, 0, NULL);
    if (l->auto_axes)
        return l->whole_axes ? store_axes(l, n) : store_auto(l, n);
    bool whole = view->ndim && has_wmma(l, n->src[1]);
    if (whole && view->shape[--last] != 8)
        return cc_fail(l->g, RD_E_INVALID, "%s: stores fragments to a target of %lld",
                       cc_describe(n, text, sizeof text), (long long)view->shape[last]);
    for (unsigned i = 0; i < last; i++) {
        at.index[i] = num(l, 0);
        if (view->shape[i] > 1) {
            bool few = i + 1u == last && view->shape[i] <= 16;
            at.index[i] = cc_range(l->g, view->shape[i], l->g->next_range++,
                                   few ? CC_AXIS_UPCAST : CC_AXIS_LOOP);
            ranges[n_ranges++] = at.index[i];
        }
    }
    if (!whole)
        return cc_end(l->g, store_at(l, n, &at), n_ranges, ranges);
    for (unsigned i = 0; i < 8; i++) {
        at.index[last] = num(l, i);
        parts[i] = store_at(l, n, &at);
    }
    return cc_end(l->g, cc_group(l->g, 8, parts), n_ranges, ranges);
}

static cc_ref stmt_of(struct lower *l, cc_ref n)
{
    struct at none = {0};
    if (n->op == CC_STORE && n->n_src == 2)
        return store(l, n);
    if (n->op == CC_RANGE)
        return n;
    if (n->dtype != CC_DT_VOID)
        return value(l, n, &none);
    cc_ref *src = cc_arena_alloc(&l->g->arena, (n->n_src + 1ull) * sizeof *src);
    if (!src)
        return cc_fail(l->g, RD_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < n->n_src; i++) {
        cc_ref s = n->src[i];
        bool memory = n->op == CC_STORE && i == 0;
        src[i] = memory ? s : stmt(l, s);
    }
    return cc_uop(l->g, n->op, CC_DT_VOID, n->n_src, src, n->n_arg, n->arg, n->name);
}

static cc_ref stmt(struct lower *l, cc_ref n)
{
    cc_ref r = cc_map_get(&l->stmts, n);
    if (r || n->op == CC_INVALID || l->g->status != RD_OK)
        return r ? r : n;
    r = stmt_of(l, n);
    if (cc_map_set(&l->stmts, n, r) != RD_OK)
        return cc_fail(l->g, RD_E_NOMEM, "out of memory");
    return r;
}

static bool any_parallel(const cc_ref *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i]->op == CC_SPECIAL ||
            (nodes[i]->op == CC_RANGE && nodes[i]->arg[1] <= CC_AXIS_WARP))
            return true;
    return false;
}

static cc_ref lower_sink(struct cc_graph *g, cc_ref sink, bool whole_axes)
{
    struct lower l = {.g = g, .whole_axes = whole_axes};
    cc_ref *nodes;
    uint32_t count;
    if (cc_sorted(g, sink, &nodes, &count) != RD_OK)
        return &g->invalid;
    /* Axes of its own: only when nothing but whole stores is asked for. */
    l.auto_axes = !any_parallel(nodes, count);
    for (uint32_t i = 0; i < count && l.auto_axes; i++)
        if (nodes[i]->op == CC_END || nodes[i]->op == CC_AFTER ||
            nodes[i]->op == CC_RANGE || nodes[i]->op == CC_WMMA)
            l.auto_axes = false;
    free(nodes);
    if (whole_axes && !l.auto_axes)
        return cc_fail(g, RD_E_INVALID, "the kernel has axes of its own");
    cc_ref r = stmt(&l, sink);
    free(l.memo);
    cc_map_free(&l.stmts);
    return r;
}

cc_ref cc_lower_index(struct cc_graph *g, cc_ref sink)
{
    return lower_sink(g, sink, false);
}

cc_ref cc_lower_axes(struct cc_graph *g, cc_ref sink)
{
    return lower_sink(g, sink, true);
}
