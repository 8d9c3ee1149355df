/* lower.c: from elements in ranges to what a program can say.
 *
 * Each step rebuilds the graph, sources first. Reductions become loops over a register,
 * parallel axes become indexes of the launch, rare operations become common ones.
 * SPDX-License-Identifier: MIT
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- which ranges a node is in ---- */

bool cc_live_has(const struct cc_live *live, cc_ref range)
{
    for (uint32_t i = 0; i < live->n; i++)
        if (live->range[i] == range)
            return true;
    return false;
}

static struct cc_live *live_new(struct cc_graph *g, uint32_t n)
{
    return cc_arena_alloc(&g->arena, sizeof(struct cc_live) + n * sizeof(cc_ref));
}

/* The union; one of the two if it is all. */
static const struct cc_live *live_join(struct cc_graph *g, const struct cc_live *a,
                                       const struct cc_live *b)
{
    uint32_t more = 0;
    if (a == b || b->n == 0)
        return a;
    for (uint32_t i = 0; i < b->n; i++)
        more += !cc_live_has(a, b->range[i]);
    if (more == 0)
        return a;
    struct cc_live *r = live_new(g, a->n + more);
    if (!r)
        return NULL;
    for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool from_a = j == b->n || (i < a->n && a->range[i]->id <= b->range[j]->id);
        cc_ref x = from_a ? a->range[i++] : b->range[j++];
        if (r->n == 0 || r->range[r->n - 1] != x)
            r->range[r->n++] = x;
    }
    return r;
}

static const struct cc_live *live_without(struct cc_graph *g, const struct cc_live *a,
                                          cc_ref end)
{
    struct cc_live *r = live_new(g, a->n);
    for (uint32_t i = 0; r && i < a->n; i++) {
        bool ended = false;
        for (uint32_t j = 1; j < end->n_src; j++)
            ended = ended || end->src[j] == a->range[i];
        if (!ended)
            r->range[r->n++] = a->range[i];
    }
    return r;
}

const struct cc_live *cc_live(struct cc_graph *g, struct cc_map *memo, cc_ref n)
{
    static const struct cc_live none;
    const struct cc_live *r = cc_map_get(memo, n);
    if (r)
        return r;
    r = &none;
    bool ends = n->op == CC_END || n->op == CC_REDUCE;
    for (uint32_t i = 0; i < (ends ? 1 : n->n_src) && r; i++) {
        const struct cc_live *s = cc_live(g, memo, n->src[i]);
        r = s ? live_join(g, r, s) : NULL;
    }
    if (r && ends)
        r = live_without(g, r, n);
    if (r && n->op == CC_RANGE) {
        struct cc_live *self = live_new(g, 1);
        if (self) {
            self->n = 1;
            self->range[0] = n;
        }
        r = self ? live_join(g, self, r) : NULL;
    }
    if (!r || cc_map_set(memo, n, r) != RD_OK) {
        cc_fail(g, RD_E_NOMEM, "out of memory");
        return NULL;
    }
    return r;
}

/* ---- rebuilding ---- */

struct step {
    struct cc_graph *g;
    struct cc_map live;
    cc_ref *locals; /* LOCAL and WARP ranges of the kernel */
    uint32_t n_locals;
    struct cc_map dims; /* RANGE -> index of the launch */
};

typedef cc_ref step_fn(struct step *s, cc_ref n);

/* Rebuild everything, putting each node through f. */
static cc_ref rebuild(struct step *s, cc_ref root, step_fn *f)
{
    struct cc_map done = {0};
    cc_ref *nodes, r = root;
    uint32_t count;
    if (cc_sorted(s->g, root, &nodes, &count) != RD_OK)
        return &s->g->invalid;
    for (uint32_t i = 0; i < count && s->g->status == RD_OK; i++) {
        r = f(s, cc_rebuild(s->g, nodes[i], &done));
        r = cc_simplify_node(s->g, r);
        if (cc_map_set(&done, nodes[i], r) != RD_OK)
            cc_fail(s->g, RD_E_NOMEM, "out of memory");
    }
    free(nodes);
    cc_map_free(&done);
    return s->g->status == RD_OK ? r : &s->g->invalid;
}

cc_ref cc_tail(struct cc_graph *g, enum cc_op op, cc_ref head, uint32_t n,
               const cc_ref *rest)
{
    cc_ref src[130] = {head};
    if (n == 0)
        return head;
    if (n > 129)
        return cc_fail(g, RD_E_RANGE, "%s of more than 129 nodes", cc_op_name(op));
    memcpy(src + 1, rest, n * sizeof *src);
    return cc_uop(g, op, CC_DT_VOID, n + 1, src, 0, NULL, NULL);
}

/* ---- parallel axes ---- */

static cc_ref base_of(cc_ref memory)
{
    while (memory->op == CC_AFTER)
        memory = memory->src[0];
    return memory;
}

static bool is_global(cc_ref memory)
{
    cc_ref m = base_of(memory);
    return m->op == CC_PARAM || m->arg[0] == CC_SPACE_GLOBAL;
}

/* All lanes would write the same place: let lane 0 do it. */
static cc_ref gate_step(struct step *s, cc_ref n)
{
    struct cc_graph *g = s->g;
    if (n->op != CC_STORE || !is_global(n->src[0]))
        return n;
    cc_ref gate = n->n_src > 3 ? n->src[3] : NULL;
    const struct cc_live *live = cc_live(g, &s->live, n->src[1]);
    for (uint32_t i = 0; i < s->n_locals && live; i++) {
        if (cc_live_has(live, s->locals[i]))
            continue;
        cc_ref zero = cc_const_int(g, s->locals[i]->dtype, 0);
        cc_ref first = cc_s2(g, CC_CMPEQ, s->locals[i], zero);
        gate = gate ? cc_s2(g, CC_AND, gate, first) : first;
    }
    if (!gate || n->n_src > 4)
        return n;
    return cc_uop(g, CC_STORE, CC_DT_VOID, 4,
                  (cc_ref[]){n->src[0], n->src[1], n->src[2], gate}, 0, NULL, NULL);
}

static cc_ref dims_step(struct step *s, cc_ref n)
{
    cc_ref rest[130];
    uint32_t count = 0;
    if (n->op == CC_RANGE && n->arg[1] <= CC_AXIS_WARP) {
        cc_ref r = cc_map_get(&s->dims, n);
        return r ? r : n;
    }
    if (n->op != CC_AFTER || n->n_src > 129)
        return n;
    for (uint32_t i = 1; i < n->n_src; i++) /* indexes of the launch are no events */
        if (n->src[i]->dtype == CC_DT_VOID || n->src[i]->op == CC_RANGE ||
            n->src[i]->op == CC_LOAD)
            rest[count++] = n->src[i];
    return count == n->n_src - 1 ? n : cc_tail(s->g, CC_AFTER, n->src[0], count, rest);
}

/* END of a parallel axis ends nothing. */
static cc_ref end_step(struct step *s, cc_ref n)
{
    cc_ref rest[130];
    uint32_t count = 0;
    if (n->op != CC_END || n->n_src > 129)
        return n;
    for (uint32_t i = 1; i < n->n_src; i++)
        if (n->src[i]->arg[1] > CC_AXIS_WARP)
            rest[count++] = n->src[i];
    return count == n->n_src - 1 ? n : cc_tail(s->g, CC_END, n->src[0], count, rest);
}

/* The order in which ranges share one launch index: later in it, faster. */
static int order_dims(const void *pa, const void *pb)
{
    cc_ref a = *(const cc_ref *)pa, b = *(const cc_ref *)pb;
    if (a->arg[1] != b->arg[1])
        return a->arg[1] < b->arg[1] ? -1 : 1;
    return a->arg[0] < b->arg[0] ? -1 : a->arg[0] > b->arg[0];
}

/* Give each of the ranges its part of one launch index. */
static void assign_dims(struct step *s, cc_ref *ranges, uint32_t n, const char *name)
{
    struct cc_graph *g = s->g;
    int64_t total = 1, stride = 1;
    char text[96];
    for (uint32_t i = 0; i < n; i++) {
        if (!cc_is_const(ranges[i]->src[0]) || ranges[i]->n_src != 1 ||
            ranges[i]->src[0]->arg[0] < 1 || total > INT32_MAX) {
            cc_fail(g, RD_E_INVALID, "%s: a parallel axis needs a constant size",
                    cc_describe(ranges[i], text, sizeof text));
            return;
        }
        total *= ranges[i]->src[0]->arg[0];
    }
    if (n == 0)
        return;
    if (total > (name[0] == 'l' ? 1024 : INT32_MAX)) {
        cc_fail(g, RD_E_RANGE, "%s: %lld work-items in a workgroup, at most 1024",
                cc_describe(ranges[0], text, sizeof text), (long long)total);
        return;
    }
    cc_ref id = cc_uop(g, CC_SPECIAL, CC_DT_I32, 0, NULL, 1, &total, name);
    for (uint32_t i = n; i-- > 0;) {
        int64_t size = ranges[i]->src[0]->arg[0];
        cc_ref x = cc_s2(g, CC_IDIV, id, cc_const_int(g, CC_DT_I32, stride));
        if (i > 0)
            x = cc_s2(g, CC_MOD, x, cc_const_int(g, CC_DT_I32, size));
        if (total == 1)
            x = cc_const_int(g, CC_DT_I32, 0);
        if (cc_map_set(&s->dims, ranges[i], x) != RD_OK)
            cc_fail(g, RD_E_NOMEM, "out of memory");
        stride *= size;
    }
}

/* The parallel ranges of one kind, in order; caller frees. */
static cc_ref *collect_dims(struct step *s, cc_ref sink, bool global, uint32_t *n)
{
    cc_ref *nodes;
    uint32_t count;
    *n = 0;
    if (cc_sorted(s->g, sink, &nodes, &count) != RD_OK)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i]->op == CC_RANGE && nodes[i]->arg[1] <= CC_AXIS_WARP &&
            global == (nodes[i]->arg[1] == CC_AXIS_GLOBAL))
            nodes[(*n)++] = nodes[i];
    qsort(nodes, *n, sizeof *nodes, order_dims);
    return nodes;
}

cc_ref cc_lower_dims(struct cc_graph *g, cc_ref sink)
{
    struct step s = {.g = g};
    uint32_t n_globals;
    s.locals = collect_dims(&s, sink, false, &s.n_locals);
    cc_ref r = rebuild(&s, sink, gate_step);
    cc_ref *globals = collect_dims(&s, sink, true, &n_globals);
    if (g->status == RD_OK) {
        assign_dims(&s, globals, n_globals, "gidx0");
        assign_dims(&s, s.locals, s.n_locals, "lidx0");
        r = rebuild(&s, r, end_step);
        r = rebuild(&s, r, dims_step);
    }
    free(globals);
    free(s.locals);
    cc_map_free(&s.live);
    cc_map_free(&s.dims);
    return r;
}

/* ---- operations ---- */

static cc_ref narrow(struct cc_graph *g, cc_ref n, enum cc_dtype wide)
{
    cc_ref src[3];
    for (uint32_t i = 0; i < n->n_src; i++)
        src[i] = n->src[i]->dtype == CC_DT_BOOL
                     ? n->src[i]
                     : cc_simplify_node(g, cc_cast(g, n->src[i], wide));
    cc_ref r = cc_simplify_node(
        g, cc_uop(g, n->op, CC_DT_VOID, n->n_src, src, n->n_arg, n->arg, n->name));
    return r->dtype == CC_DT_BOOL ? r : cc_simplify_node(g, cc_cast(g, r, n->dtype));
}

static cc_ref u32(struct cc_graph *g, uint32_t v)
{
    return cc_const_int(g, CC_DT_U32, v);
}

static cc_ref rotate(struct cc_graph *g, cc_ref x, uint32_t by)
{
    return cc_s2(g, CC_OR, cc_s2(g, CC_SHL, x, u32(g, by)),
                 cc_s2(g, CC_SHR, x, u32(g, 32 - by)));
}

/* The two u32 of a u64. */
static cc_ref half_of(struct cc_graph *g, cc_ref x, bool high)
{
    if (high)
        x = cc_s2(g, CC_SHR, x, cc_const_int(g, CC_DT_U64, 32));
    return cc_simplify_node(g, cc_cast(g, x, CC_DT_U32));
}

/* scalar.c says what it is and whose. */
static cc_ref expand_threefry(struct cc_graph *g, cc_ref n)
{
    static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    cc_ref k[3] = {half_of(g, n->src[1], false), half_of(g, n->src[1], true), NULL};
    cc_ref x = half_of(g, n->src[0], false), y = half_of(g, n->src[0], true);
    k[2] = cc_s2(g, CC_XOR, cc_s2(g, CC_XOR, k[0], k[1]), u32(g, 0x1bd11bdau));
    x = cc_s2(g, CC_ADD, x, k[0]);
    y = cc_s2(g, CC_ADD, y, k[1]);
    for (uint32_t i = 0; i < 20; i++) {
        x = cc_s2(g, CC_ADD, x, y);
        y = cc_s2(g, CC_XOR, rotate(g, y, rotation[i % 8]), x);
        if (i % 4 == 3) {
            x = cc_s2(g, CC_ADD, x, k[(i / 4 + 1) % 3]);
            y = cc_s2(g, CC_ADD, y, k[(i / 4 + 2) % 3]);
            y = cc_s2(g, CC_ADD, y, u32(g, i / 4 + 1));
        }
    }
    cc_ref high =
        cc_s2(g, CC_SHL, cc_cast(g, y, CC_DT_U64), cc_const_int(g, CC_DT_U64, 32));
    return cc_s2(g, CC_OR, high, cc_cast(g, x, CC_DT_U64));
}

static cc_ref ops_step(struct step *s, cc_ref n)
{
    struct cc_graph *g = s->g;
    if (!cc_is_alu(n->op) || n->op == CC_BITCAST || n->op == CC_CAST ||
        n->op == CC_WHERE)
        return n;
    switch (n->src[0]->dtype) {
    case CC_DT_F16:
    case CC_DT_BF16:
        return narrow(g, n, CC_DT_F32);
    case CC_DT_I8:
    case CC_DT_I16:
        return narrow(g, n, CC_DT_I32);
    case CC_DT_U8:
    case CC_DT_U16:
        return narrow(g, n, CC_DT_U32);
    default:
        break;
    }
    cc_ref simple = cc_decompose(g, n);
    if (simple)
        return simple;
    if (n->op == CC_POW)
        return cc_s1(g, CC_EXP2,
                     cc_alu2(g, CC_MUL, cc_s1(g, CC_LOG2, n->src[0]), n->src[1]));
    if (n->op == CC_THREEFRY)
        return expand_threefry(g, n);
    return n;
}

cc_ref cc_lower_ops(struct cc_graph *g, cc_ref sink)
{
    struct step s = {.g = g};
    return rebuild(&s, rebuild(&s, sink, ops_step), ops_step);
}
