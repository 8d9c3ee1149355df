/* opt.c: a kernel cut up as cc_opt.h says.
 *
 * The kernel is lowered to one store inside ranges. Each range then becomes an
 * expression of new ranges and of numbers: the store is copied for each register that a
 * work-item has of the output, the body of a reduction for each step that is written
 * out. Equal nodes are one, so copies share what they have in common.
 *
 * SPDX-License-Identifier: MIT
 */
#include "opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COPIES 512
#define MAX_DEPTH  4000

static cc_ref num(struct opt *o, int64_t v)
{
    return cc_const_int(o->g, CC_DT_I32, v);
}

static cc_ref plus(struct opt *o, cc_ref a, cc_ref b)
{
    return cc_s2(o->g, CC_ADD, a, b);
}

static cc_ref times(struct opt *o, cc_ref a, int64_t c)
{
    return cc_s2(o->g, CC_MUL, a, num(o, c));
}

static const char *const names[CC_OPT_COUNT] = {"LOCAL", "UPCAST", "UNROLL", "GROUP",
                                                "TC",    "SWAP",   "PAD"};

void cc_opt_print(const struct cc_opt *opt, char *text)
{
    snprintf(text, 40, "%s %u %lld",
             (unsigned)opt->kind < CC_OPT_COUNT ? names[opt->kind] : "?", opt->axis,
             (long long)opt->amount);
}

/* ---- axes ---- */

/* Steps of the loop that stay of an axis. */
static int64_t outer(const struct opt_axis *a)
{
    return a->padded / (a->lanes * a->copies * a->tile);
}

void opt_place(struct opt *o, unsigned axis, int64_t copy, cc_ref place)
{
    struct opt_axis *a = &o->axis[axis];
    cc_ref x = a->loop ? times(o, a->loop, a->lanes) : num(o, 0);
    if (a->lane)
        x = plus(o, x, a->lane);
    x = plus(o, times(o, x, a->copies), num(o, copy));
    x = times(o, x, a->tile);
    a->index = place ? plus(o, x, place) : x;
}

/* The ranges of the kernel: outputs in order, then reductions. */
static bool find_axes(struct opt *o, cc_ref sink)
{
    cc_ref *nodes;
    uint32_t count;
    if (cc_sorted(o->g, sink, &nodes, &count) != RD_OK)
        return false;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            cc_ref n = nodes[i];
            if (n->op != CC_RANGE || (n->arg[1] == CC_AXIS_GLOBAL) != (pass == 0) ||
                o->n_axes == 2 * CC_MAX_DIMS)
                continue;
            unsigned at = o->n_axes++;
            while (pass == 0 && at > 0 && o->axis[at - 1].range->arg[0] > n->arg[0]) {
                o->axis[at] = o->axis[at - 1];
                at--;
            }
            int64_t size = n->src[0]->arg[0];
            o->axis[at] = (struct opt_axis){.range = n,
                                            .size = size,
                                            .padded = size,
                                            .lanes = 1,
                                            .copies = 1,
                                            .tile = 1};
        }
        if (pass == 0)
            o->n_out = o->n_axes;
    }
    free(nodes);
    for (unsigned i = 0; i < o->n_axes; i++)
        o->axis[i].order = i;
    return true;
}

/* ---- choices ---- */

static bool refuse(struct opt *o, const struct cc_opt *opt, const char *why)
{
    char text[40];
    cc_opt_print(opt, text);
    cc_fail(o->g, RD_E_INVALID, "%s: %s", text, why);
    return false;
}

static bool split(struct opt *o, const struct cc_opt *opt, struct opt_axis *a,
                  int64_t *part)
{
    if (opt->amount < 2 || *part != 1)
        return refuse(o, opt, "the axis is split so already, or by less than 2");
    if (outer(a) % opt->amount)
        return refuse(o, opt, "does not divide the axis");
    *part = opt->amount;
    return true;
}

static bool choose_product(struct opt *o, const struct cc_opt *opt, cc_ref sink)
{
    unsigned n = (unsigned)opt->amount;
    if (o->product || n >= o->n_out || opt->axis >= o->n_out || n == opt->axis)
        return refuse(o, opt, "takes two output axes, once");
    if (!opt_find_product(o, sink, opt->axis, n))
        return refuse(o, opt,
                      "the kernel is no product of f16 matrices over these axes");
    if (o->axis[o->k].lanes != 1)
        return refuse(o, opt, "work-items share the reduction already");
    unsigned all[3] = {o->m, o->n, o->k};
    for (unsigned i = 0; i < 3; i++) {
        if (outer(&o->axis[all[i]]) % 16)
            return refuse(o, opt, "an axis is no multiple of 16");
        o->axis[all[i]].tile = 16;
    }
    o->product = true;
    return true;
}

static bool choose(struct opt *o, const struct cc_opt *opt, cc_ref sink)
{
    bool reduction = opt->kind == CC_OPT_UNROLL || opt->kind == CC_OPT_GROUP;
    unsigned at = opt->axis + (reduction ? o->n_out : 0);
    struct opt_axis *a = &o->axis[at];
    if (at >= (reduction ? o->n_axes : o->n_out))
        return refuse(o, opt, "no such axis");
    switch (opt->kind) {
    case CC_OPT_LOCAL:
        return split(o, opt, a, &a->lanes);
    case CC_OPT_GROUP:
        if (o->product || (opt->amount & (opt->amount - 1)))
            return refuse(o, opt, "no power of two, or a product of matrices");
        return split(o, opt, a, &a->lanes);
    case CC_OPT_UPCAST:
    case CC_OPT_UNROLL:
        return split(o, opt, a, &a->copies);
    case CC_OPT_TC:
        return choose_product(o, opt, sink);
    case CC_OPT_SWAP: {
        struct opt_axis *b = &o->axis[opt->amount];
        if (opt->amount < 0 || opt->amount >= o->n_out || a == b)
            return refuse(o, opt, "no such axes");
        unsigned t = a->order;
        a->order = b->order;
        b->order = t;
        return true;
    }
    case CC_OPT_PAD:
        if (opt->amount < 2 || a->padded != a->size ||
            a->lanes * a->copies * a->tile != 1)
            return refuse(o, opt, "the axis is padded or split already");
        a->padded = (a->size + opt->amount - 1) / opt->amount * opt->amount;
        return true;
    default:
        return refuse(o, opt, "no such choice");
    }
}

static cc_ref range_of(struct opt *o, int64_t size, enum cc_axis axis)
{
    return size == 1 ? NULL : cc_range(o->g, size, o->g->next_range++, axis);
}

/* New ranges: the grid's in the order asked for; work-items of outputs before those
 * that share a reduction, so that the latter are neighbours. */
static void make_ranges(struct opt *o)
{
    for (unsigned order = 0; order < o->n_out; order++)
        for (unsigned i = 0; i < o->n_out; i++)
            if (o->axis[i].order == order)
                o->axis[i].loop = range_of(o, outer(&o->axis[i]), CC_AXIS_GLOBAL);
    o->flat = num(o, 0);
    for (unsigned i = 0; i < o->n_axes; i++) {
        struct opt_axis *a = &o->axis[i];
        a->lane = range_of(o, a->lanes, CC_AXIS_LOCAL);
        if (a->lane)
            o->flat = plus(o, times(o, o->flat, a->lanes), a->lane);
        if (i >= o->n_out)
            a->loop = range_of(o, outer(a), CC_AXIS_REDUCE);
    }
    if (o->product)
        o->wave_lane = range_of(o, 32, CC_AXIS_WARP);
}

/* ---- values ---- */

/* v of the 32 lanes of a wave, or of fewer neighbours, folded for all of them. */
static cc_ref across_wave(struct opt *o, enum cc_op op, cc_ref v, int64_t lanes)
{
    cc_ref lane = cc_s2(o->g, CC_MOD, o->flat, num(o, 32));
    for (int64_t step = (lanes < 32 ? lanes : 32) / 2; step > 0; step /= 2) {
        cc_ref from = times(o, cc_s2(o->g, CC_XOR, lane, num(o, step)), 4);
        cc_ref moved = cc_uop(o->g, CC_CUSTOM, v->dtype, 2, (cc_ref[]){from, v}, 0,
                              NULL, "ds_bpermute");
        v = cc_s2(o->g, op, v, moved);
    }
    return v;
}

/* Work-items of some of the axes together. */
static int64_t lanes_of(const struct opt *o, unsigned from, unsigned to)
{
    int64_t lanes = 1;
    for (unsigned i = from; i < to; i++)
        lanes *= o->axis[i].lanes;
    return lanes;
}

/* The same across the waves that share a reduction: through LDS. */
static cc_ref across_waves(struct opt *o, enum cc_op op, cc_ref v, int64_t lanes)
{
    struct cc_graph *g = o->g;
    int64_t waves = lanes / 32, count = lanes_of(o, 0, o->n_axes) / 32;
    cc_ref lds = cc_buffer(g, v->dtype, CC_SPACE_LOCAL, g->next_slot++, 1, &count);
    cc_ref wave = cc_s2(g, CC_IDIV, o->flat, num(o, 32));
    cc_ref first = cc_s2(g, CC_CMPEQ, cc_s2(g, CC_MOD, o->flat, num(o, 32)), num(o, 0));
    cc_ref put = cc_uop(g, CC_STORE, CC_DT_VOID, 4, (cc_ref[]){lds, wave, v, first}, 0,
                        NULL, NULL);
    cc_ref all = cc_after(g, lds, cc_barrier(g, put)), r = NULL;
    cc_ref base = times(o, cc_s2(g, CC_IDIV, o->flat, num(o, lanes)), waves);
    for (int64_t i = 0; i < waves; i++) {
        cc_ref x = cc_alu2(g, CC_LOAD, all, plus(o, base, num(o, i)));
        r = r ? cc_alu2(g, op, r, x) : x;
    }
    return r;
}

/* Neighbours share a reduction: those of all its axes, which are the last ones. */
static cc_ref share(struct opt *o, enum cc_op op, cc_ref v, int64_t lanes)
{
    if (lanes != lanes_of(o, o->n_out, o->n_axes))
        return cc_fail(o->g, RD_E_INVALID,
                       "GROUP: work-items share one reduction, not several");
    if (cc_dtype_bytes(v->dtype) != 4)
        return cc_fail(o->g, RD_E_INVALID,
                       "GROUP: work-items exchange values of 4 bytes, not %s",
                       cc_dtype_name(v->dtype));
    v = across_wave(o, op, v, lanes);
    return lanes > 32 ? across_waves(o, op, v, lanes) : v;
}

/* The axis of a range; n_axes if it is none. */
static unsigned axis_of(const struct opt *o, cc_ref range)
{
    unsigned i = 0;
    while (i < o->n_axes && o->axis[i].range != range)
        i++;
    return i;
}

/* A reduction's body for every step that is written out. */
static cc_ref unrolled(struct opt *o, cc_ref n, uint32_t i)
{
    cc_ref r = NULL;
    if (i == n->n_src)
        return o->product ? opt_product(o, n->src[0]) : opt_fresh(o, n->src[0]);
    unsigned at = axis_of(o, n->src[i]);
    if (at < o->n_out || at == o->n_axes)
        return cc_fail(o->g, RD_E_INVALID, "a reduction over no axis of its own");
    for (int64_t c = 0; c < o->axis[at].copies && o->g->status == RD_OK; c++) {
        opt_place(o, at, c, NULL);
        o->axis[at].copy = num(o, c);
        cc_ref x = unrolled(o, n, i + 1);
        r = r ? cc_alu2(o->g, (enum cc_op)n->arg[0], r, x) : x;
    }
    return r;
}

static cc_ref reduction(struct opt *o, cc_ref n)
{
    cc_ref src[2 * CC_MAX_DIMS + 1];
    uint32_t n_src = 1;
    enum cc_op op = (enum cc_op)n->arg[0];
    if (n->n_src > 2 * CC_MAX_DIMS)
        return cc_fail(o->g, RD_E_RANGE, "too many axes");
    src[0] = unrolled(o, n, 1);
    for (uint32_t i = 1; i < n->n_src; i++) {
        unsigned at = axis_of(o, n->src[i]);
        if (at < o->n_axes && o->axis[at].loop)
            src[n_src++] = o->axis[at].loop;
    }
    cc_ref v = n_src == 1
                   ? src[0]
                   : cc_uop(o->g, CC_REDUCE, CC_DT_VOID, n_src, src, 1, n->arg, NULL);
    int64_t lanes = 1;
    for (uint32_t i = 1; i < n->n_src && o->g->status == RD_OK; i++)
        lanes *= o->axis[axis_of(o, n->src[i])].lanes;
    return lanes > 1 ? share(o, op, v, lanes) : v;
}

static cc_ref value_of(struct opt *o, cc_ref n)
{
    cc_ref src[130];
    if (n->op == CC_RANGE) {
        unsigned at = axis_of(o, n);
        if (at == o->n_axes)
            return n;
        const struct opt_axis *a = &o->axis[at];
        if (a->padded == a->size)
            return a->index;
        cc_ref last = num(o, a->size - 1); /* what is beyond is not stored */
        return cc_s3(o->g, CC_WHERE, cc_s2(o->g, CC_CMPLT, a->index, last), a->index,
                     last);
    }
    if (n->op == CC_REDUCE)
        return reduction(o, n);
    if (n->n_src == 0)
        return n;
    if (n->n_src > 130)
        return cc_fail(o->g, RD_E_RANGE, "a node with more than 130 sources");
    for (uint32_t i = 0; i < n->n_src; i++)
        src[i] = opt_value(o, n->src[i]);
    return cc_simplify_node(o->g, cc_with_src(o->g, n, src));
}

cc_ref opt_value(struct opt *o, cc_ref n)
{
    cc_ref r = cc_map_get(o->memo, n);
    if (r || o->g->status != RD_OK)
        return r ? r : n;
    if (++o->depth > MAX_DEPTH)
        return cc_fail(o->g, RD_E_RANGE, "expressions are nested too deep for choices");
    r = value_of(o, n);
    o->depth--;
    if (cc_map_set(o->memo, n, r) != RD_OK)
        cc_fail(o->g, RD_E_NOMEM, "out of memory");
    return r;
}

cc_ref opt_fresh(struct opt *o, cc_ref n)
{
    struct cc_map mine = {0}, *before = o->memo;
    o->memo = &mine;
    cc_ref r = opt_value(o, n);
    o->memo = before;
    cc_map_free(&mine);
    return r;
}

/* ---- stores ---- */

/* The store for one choice of copies, without what lies beyond the axes. */
static cc_ref store_copy(struct opt *o, cc_ref store)
{
    cc_ref src[4] = {NULL};
    for (uint32_t i = 0; i < store->n_src && i < 4; i++)
        src[i] = opt_fresh(o, store->src[i]);
    uint32_t n = store->n_src;
    for (unsigned i = 0; i < o->n_out && o->g->status == RD_OK; i++) {
        const struct opt_axis *a = &o->axis[i];
        if (a->padded == a->size)
            continue;
        cc_ref valid = cc_s2(o->g, CC_CMPLT, a->index, num(o, a->size));
        src[3] = src[3] ? cc_s2(o->g, CC_AND, src[3], valid) : valid;
        n = 4;
    }
    return cc_uop(o->g, CC_STORE, CC_DT_VOID, n, src, 0, NULL, NULL);
}

/* Copies of the store over axes from axis on. */
static void copies(struct opt *o, cc_ref store, unsigned axis, cc_ref *list,
                   uint32_t *n)
{
    if (o->g->status != RD_OK)
        return;
    if (axis == o->n_out) {
        if (*n < MAX_COPIES)
            list[(*n)++] = store_copy(o, store);
        else
            cc_fail(o->g, RD_E_RANGE, "more than %d copies of a store", MAX_COPIES);
        return;
    }
    struct opt_axis *a = &o->axis[axis];
    cc_ref half = o->product ? cc_s2(o->g, CC_IDIV, o->wave_lane, num(o, 16)) : NULL;
    cc_ref low = o->product ? cc_s2(o->g, CC_MOD, o->wave_lane, num(o, 16)) : NULL;
    for (int64_t c = 0; c < a->copies; c++) {
        bool m = o->product && axis == o->m, nn = o->product && axis == o->n;
        a->copy = num(o, c);
        for (int64_t i = 0; i < (m ? 8 : 1); i++) {
            if (m)
                o->element = i;
            opt_place(o, axis, c, m ? plus(o, half, num(o, 2 * i)) : nn ? low : NULL);
            copies(o, store, axis + 1, list, n);
        }
    }
}

static cc_ref grouped(struct cc_graph *g, cc_ref *list, uint32_t n)
{
    while (n > 100) {
        uint32_t out = 0;
        for (uint32_t i = 0; i < n; i += 100)
            list[out++] = cc_group(g, n - i < 100 ? n - i : 100, list + i);
        n = out;
    }
    return n == 1 ? list[0] : cc_group(g, n, list);
}

static cc_ref apply(struct opt *o, cc_ref sink, size_t n, const struct cc_opt *opts)
{
    uint32_t count = 0;
    if (sink->op != CC_SINK || sink->n_src != 1 || sink->src[0]->op != CC_STORE ||
        !find_axes(o, sink))
        return cc_fail(o->g, RD_E_INVALID, "choices are for kernels with one store");
    for (size_t i = 0; i < n; i++)
        if (!choose(o, &opts[i], sink))
            return &o->g->invalid;
    make_ranges(o);
    cc_ref *list = calloc(MAX_COPIES, sizeof *list);
    if (!list)
        return cc_fail(o->g, RD_E_NOMEM, "out of memory");
    copies(o, sink->src[0], 0, list, &count);
    cc_ref all = o->g->status == RD_OK ? grouped(o->g, list, count) : &o->g->invalid;
    free(list);
    return cc_sink(o->g, 1, &all, sink->name);
}

rd_status cc_linearize_opts(struct cc_graph *g, cc_ref sink, size_t n,
                            const struct cc_opt *opts, struct cc_prog **out)
{
    struct opt o = {.g = g};
    if (n == 0)
        return cc_linearize(g, sink, out);
    if (cc_verify(g, sink) != RD_OK)
        return g->status;
    cc_ref k = cc_lower_axes(g, sink);
    if (g->status == RD_OK)
        k = apply(&o, cc_simplify(g, k), n, opts);
    return cc_linearize_scalar(g, k, out);
}

bool opt_shape_of(struct cc_graph *g, cc_ref sink, struct opt_shape *shape)
{
    struct opt o = {.g = g};
    cc_ref k = cc_verify(g, sink) == RD_OK ? cc_lower_axes(g, sink) : sink;
    if (g->status != RD_OK)
        return false;
    k = cc_simplify(g, k);
    if (k->op != CC_SINK || k->n_src != 1 || k->src[0]->op != CC_STORE ||
        !find_axes(&o, k))
        return false;
    *shape = (struct opt_shape){.n_out = o.n_out, .n_axes = o.n_axes};
    for (unsigned i = 0; i < o.n_axes; i++)
        shape->size[i] = o.axis[i].size;
    return true;
}
