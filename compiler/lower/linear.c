/* linear.c: a graph of scalars in ranges, put in order.
 *
 * A node goes into the innermost loop that it depends on; what a loop needs from
 * outside comes before it. AFTER and GROUP vanish: they are the order. Knows no target.
 * SPDX-License-Identifier: MIT
 */
#include "lower.h"
#include "prog.h"

#include <stdlib.h>
#include <string.h>

struct linear {
    struct cc_graph *g;
    struct cc_prog *p;
    struct cc_map live;
    struct cc_map place; /* node -> &index of the operation */
    struct cc_map ended; /* RANGE -> its END */
    struct cc_map open;  /* RANGE -> itself while its loop is written */
};

static void emit(struct linear *l, cc_ref n);

static bool failed(struct linear *l)
{
    return l->g->status != RD_OK;
}

static void set_place(struct linear *l, cc_ref n, uint32_t index)
{
    uint32_t *p = cc_arena_copy(&l->g->arena, &index, sizeof index);
    if (!p || cc_map_set(&l->place, n, p) != RD_OK)
        cc_fail(l->g, RD_E_NOMEM, "out of memory");
}

static bool emitted(struct linear *l, cc_ref n)
{
    return cc_map_get(&l->place, n) != NULL;
}

static cc_ref memory_of(cc_ref n)
{
    while (n->op == CC_AFTER)
        n = n->src[0];
    return n;
}

static uint32_t place(struct linear *l, cc_ref n)
{
    const uint32_t *p = cc_map_get(&l->place, n->op == CC_AFTER ? memory_of(n) : n);
    char text[96];
    if (p)
        return *p;
    cc_fail(l->g, RD_E_INVALID, "%s: is used outside of its loop",
            cc_describe(n, text, sizeof text));
    return 0;
}

static void append(struct linear *l, cc_ref n, uint32_t n_src)
{
    uint32_t few[40];
    char text[96];
    if (n_src > 40) {
        cc_fail(l->g, RD_E_INVALID, "%s: too many sources",
                cc_describe(n, text, sizeof text));
        return;
    }
    for (uint32_t i = 0; i < n_src; i++)
        few[i] = place(l, n->src[i]);
    if (failed(l))
        return;
    uint32_t at =
        cc_prog_add(l->p, n->op, n->dtype, n_src, few, n->n_arg, n->arg, n->name);
    if (l->p->status != RD_OK)
        cc_fail(l->g, l->p->status, "%s: %s", cc_describe(n, text, sizeof text),
                l->p->error);
    set_place(l, n, at);
}

/* ---- loops ---- */

static bool in_body(struct linear *l, cc_ref n, cc_ref end)
{
    const struct cc_live *live = cc_live(l->g, &l->live, n);
    for (uint32_t i = 1; live && i < end->n_src; i++)
        if (cc_live_has(live, end->src[i]))
            return true;
    return false;
}

/* Are all loops open that a node is in? */
static bool is_ready(struct linear *l, cc_ref n)
{
    const struct cc_live *live = cc_live(l->g, &l->live, n);
    for (uint32_t i = 0; live && i < live->n; i++)
        if (!cc_map_get(&l->open, live->range[i]))
            return false;
    return true;
}

/* Write what the loop needs from outside; what belongs to loops inside comes there. */
static void emit_before(struct linear *l, cc_ref end)
{
    cc_ref *nodes;
    uint32_t count;
    if (cc_sorted(l->g, end->src[0], &nodes, &count) != RD_OK)
        return;
    for (uint32_t i = 0; i < count && !failed(l); i++)
        if (!in_body(l, nodes[i], end) && is_ready(l, nodes[i]))
            emit(l, nodes[i]);
    free(nodes);
}

static void emit_loop(struct linear *l, cc_ref end)
{
    char text[96];
    emit_before(l, end);
    for (uint32_t i = 1; i < end->n_src && !failed(l); i++) {
        cc_ref r = end->src[i];
        if (cc_map_get(&l->ended, r))
            cc_fail(l->g, RD_E_INVALID, "%s: is ended twice",
                    cc_describe(r, text, sizeof text));
        for (uint32_t j = 0; j < r->n_src; j++)
            emit(l, r->src[j]);
        append(l, r, r->n_src);
        if (cc_map_set(&l->open, r, r) != RD_OK ||
            cc_map_set(&l->ended, r, end) != RD_OK)
            cc_fail(l->g, RD_E_NOMEM, "out of memory");
    }
    emit(l, end->src[0]);
    for (uint32_t i = end->n_src; i-- > 1 && !failed(l);) {
        uint32_t range = place(l, end->src[i]);
        set_place(l, end,
                  cc_prog_add(l->p, CC_END, CC_DT_VOID, 1, &range, 0, NULL, NULL));
        if (cc_map_set(&l->open, end->src[i], NULL) != RD_OK)
            return;
    }
}

/* Every loop around the node must be open. */
static void check_open(struct linear *l, cc_ref n)
{
    const struct cc_live *live = cc_live(l->g, &l->live, n);
    char a[96], b[96];
    for (uint32_t i = 0; live && i < live->n && !failed(l); i++)
        if (!cc_map_get(&l->open, live->range[i]))
            cc_fail(
                l->g, RD_E_INVALID, "%s: depends on %s, whose loop is not around it",
                cc_describe(n, a, sizeof a), cc_describe(live->range[i], b, sizeof b));
}

static void emit(struct linear *l, cc_ref n)
{
    char text[96];
    if (failed(l) || emitted(l, n))
        return;
    if (n->op == CC_END && n->n_src > 1) {
        emit_loop(l, n);
        return;
    }
    check_open(l, n);
    if (n->op == CC_RANGE) /* open: its place is known */
        return;
    for (uint32_t i = 0; i < n->n_src; i++)
        emit(l, n->src[i]);
    if (failed(l) || emitted(l, n))
        return;
    switch (n->op) {
    case CC_SINK:
    case CC_GROUP:
    case CC_END:
        set_place(l, n, 0);
        break;
    case CC_AFTER:
        if (memory_of(n)->op != CC_PARAM && memory_of(n)->op != CC_BUFFER)
            cc_fail(l->g, RD_E_INVALID, "%s: orders a value that is no memory",
                    cc_describe(n, text, sizeof text));
        set_place(l, n, 0);
        break;
    case CC_BARRIER:
        append(l, n, 0);
        break;
    default:
        append(l, n, n->n_src);
        break;
    }
}

/* Parameters first, by slot: they are the kernel's signature. */
static void emit_params(struct linear *l, const cc_ref *nodes, uint32_t count)
{
    for (int64_t slot = 0; slot < 64; slot++) {
        cc_ref found = NULL;
        char a[96], b[96];
        for (uint32_t i = 0; i < count; i++) {
            if (nodes[i]->op != CC_PARAM || nodes[i]->arg[0] != slot)
                continue;
            if (found)
                cc_fail(l->g, RD_E_INVALID, "%s and %s share slot %d",
                        cc_describe(found, a, sizeof a),
                        cc_describe(nodes[i], b, sizeof b), (int)slot);
            found = nodes[i];
            emit(l, found);
        }
    }
}

static rd_status linear(struct linear *l, cc_ref sink)
{
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_sorted(l->g, sink, &nodes, &count);
    if (st != RD_OK)
        return st;
    emit_params(l, nodes, count);
    for (uint32_t i = 0; i < count; i++) /* memory lives as long as the kernel */
        if (nodes[i]->op == CC_BUFFER)
            emit(l, nodes[i]);
    free(nodes);
    emit(l, sink);
    return l->g->status;
}

static rd_status to_prog(struct cc_graph *g, cc_ref sink, struct cc_prog **out)
{
    struct linear l = {.g = g};
    rd_status st = cc_prog_create(sink->name[0] ? sink->name : "kernel", &l.p);
    if (st != RD_OK) {
        cc_fail(g, st, "out of memory");
        return st;
    }
    st = linear(&l, sink);
    cc_map_free(&l.live);
    cc_map_free(&l.place);
    cc_map_free(&l.ended);
    cc_map_free(&l.open);
    if (st != RD_OK) {
        cc_prog_destroy(l.p);
        return st;
    }
    *out = l.p;
    return RD_OK;
}

rd_status cc_linearize_scalar(struct cc_graph *g, cc_ref sink, struct cc_prog **out)
{
    struct cc_prog *raw, *clean, *done;
    cc_ref k = sink;
    if (g->status == RD_OK)
        k = cc_lower_reduce(g, cc_simplify(g, k));
    if (g->status == RD_OK)
        k = cc_lower_dims(g, k);
    if (g->status == RD_OK)
        k = cc_lower_ops(g, k);
    if (g->status != RD_OK)
        return g->status;
    rd_status st = to_prog(g, k, &raw);
    if (st != RD_OK)
        return st;
    st = cc_prog_clean(raw, &clean);
    cc_prog_destroy(raw);
    if (st == RD_OK) {
        st = cc_prog_barriers(clean, &done);
        cc_prog_destroy(clean);
    }
    if (st != RD_OK)
        cc_fail(g, st, "program passes: %s", rd_status_text(st));
    else
        *out = done;
    return st;
}

rd_status cc_linearize(struct cc_graph *g, cc_ref sink, struct cc_prog **out)
{
    if (cc_verify(g, sink) != RD_OK)
        return g->status;
    return cc_linearize_scalar(g, cc_lower_index(g, sink), out);
}
