/* reduce.c: reductions over ranges become loops that add to registers.
 *
 * Reductions over the same ranges share one loop; so do the terms of an unrolled one,
 * which go to several registers where few reductions would wait for each other.
 * Products of matrices accumulate in place. The order of a reduction is not defined, so
 * terms may be added in any. Knows no target.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TERMS 64
#define SPREAD    4 /* registers for the terms of a lone reduction */

static cc_ref identity(struct cc_graph *g, enum cc_op op, enum cc_dtype dtype)
{
    if (op == CC_ADD)
        return cc_const_int(g, dtype, 0);
    if (op == CC_MUL)
        return cc_const_int(g, dtype, 1);
    if (cc_is_float(dtype))
        return cc_const_float(g, dtype, -__builtin_inf());
    if (cc_is_unsigned(dtype))
        return cc_const_int(g, dtype, 0);
    return cc_const_int(g, dtype,
                        -(int64_t)(1ull << (8 * cc_dtype_bytes(dtype) - 2)) * 2);
}

static cc_ref store3(struct cc_graph *g, cc_ref buffer, cc_ref index, cc_ref v)
{
    return cc_uop(g, CC_STORE, CC_DT_VOID, 3, (cc_ref[]){buffer, index, v}, 0, NULL,
                  NULL);
}

/* ---- terms ---- */

struct terms {
    uint32_t n;
    cc_ref term[MAX_TERMS];
};

static uint32_t count_terms(enum cc_op op, cc_ref n)
{
    if (n->op != op)
        return 1;
    uint32_t a = count_terms(op, n->src[0]);
    return a > MAX_TERMS ? a : a + count_terms(op, n->src[1]);
}

static void add_terms(enum cc_op op, cc_ref n, struct terms *t)
{
    if (n->op != op) {
        t->term[t->n++] = n;
        return;
    }
    add_terms(op, n->src[0], t);
    add_terms(op, n->src[1], t);
}

static void find_terms(enum cc_op op, cc_ref body, struct terms *t)
{
    t->n = 0;
    if (count_terms(op, body) <= MAX_TERMS)
        add_terms(op, body, t);
    else
        t->term[t->n++] = body;
}

/* An element of a product of matrices that adds to nothing? */
static bool is_product(cc_ref n)
{
    if (n->op != CC_EXTRACT || n->src[0]->op != CC_WMMA || n->src[0]->n_src != 40)
        return false;
    for (uint32_t i = 32; i < 40; i++)
        if (!cc_is_const(n->src[0]->src[i]) || n->src[0]->src[i]->arg[0] != 0)
            return false;
    return true;
}

/* ---- one loop ---- */

#define MAX_CHAINS 256

struct loop {
    struct cc_graph *g;
    cc_ref ranges[2 * CC_MAX_DIMS];
    uint32_t n_ranges;
    cc_ref begun[CC_DT_COUNT], inside[CC_DT_COUNT], buffer[CC_DT_COUNT];
    int64_t used[CC_DT_COUNT]; /* registers given out */
    cc_ref *stores;            /* of the loop's body */
    cc_ref *first;             /* what comes before it */
    uint32_t n_stores, n_first, cap;
    cc_ref chain[MAX_CHAINS]; /* first product of each chain */
    int64_t base[MAX_CHAINS];
    uint32_t n_chains;
};

/* One reduction of it. */
struct member {
    cc_ref node; /* as it was */
    cc_ref made; /* with its sources lowered */
    unsigned spread;
    int64_t at; /* its first register */
};

static cc_ref number(struct loop *l, int64_t i)
{
    return cc_const_int(l->g, CC_DT_I32, i);
}

static cc_ref old(struct loop *l, enum cc_dtype dtype, int64_t at)
{
    return cc_alu2(l->g, CC_LOAD, l->inside[dtype], number(l, at));
}

static void push(struct loop *l, cc_ref store)
{
    if (l->n_stores < l->cap)
        l->stores[l->n_stores++] = store;
}

/* c += a b, term by term; the eight elements at once. */
static void product_chain(struct loop *l, const struct terms *t, int64_t base)
{
    cc_ref src[40], w = NULL;
    for (uint32_t k = 0; k < t->n; k++) {
        cc_ref p = t->term[k]->src[0];
        memcpy(src, p->src, sizeof src);
        for (int64_t i = 0; i < 8; i++)
            src[32 + i] = w ? cc_uop(l->g, CC_EXTRACT, CC_DT_VOID, 1, &w, 1, &i, NULL)
                            : old(l, CC_DT_F32, base + i);
        w = cc_uop(l->g, CC_WMMA, CC_DT_VOID, 40, src, p->n_arg, p->arg, NULL);
    }
    for (int64_t i = 0; i < 8; i++)
        push(l, store3(l->g, l->begun[CC_DT_F32], number(l, base + i),
                       cc_uop(l->g, CC_EXTRACT, CC_DT_VOID, 1, &w, 1, &i, NULL)));
}

static bool all_products(const struct terms *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!is_product(t->term[i]))
            return false;
    return true;
}

/* The chain that a product begins; UINT32_MAX if there is no room. */
static uint32_t chain_of(struct loop *l, cc_ref product, bool *fresh)
{
    uint32_t i = 0;
    while (i < l->n_chains && l->chain[i] != product)
        i++;
    *fresh = i == l->n_chains;
    if (*fresh && i < MAX_CHAINS)
        l->chain[l->n_chains++] = product;
    return i < MAX_CHAINS ? i : UINT32_MAX;
}

/* Give a reduction its registers. */
static void reserve(struct loop *l, struct member *m, uint32_t members)
{
    struct terms t;
    bool fresh = false;
    find_terms((enum cc_op)m->made->arg[0], m->made->src[0], &t);
    m->spread = 1;
    if (all_products(&t)) {
        uint32_t c = chain_of(l, t.term[0]->src[0], &fresh);
        if (c == UINT32_MAX) {
            cc_fail(l->g, RD_E_RANGE, "more than %d products in a loop", MAX_CHAINS);
            return;
        }
        if (fresh) {
            l->base[c] = l->used[CC_DT_F32];
            l->used[CC_DT_F32] += 8;
        }
        m->at = l->base[c] + t.term[0]->arg[0];
        return;
    }
    if (members < SPREAD && t.n >= SPREAD)
        m->spread = SPREAD;
    m->at = l->used[m->node->dtype];
    l->used[m->node->dtype] += m->spread;
}

static void accumulate(struct loop *l, const struct member *m)
{
    struct terms t;
    enum cc_op op = (enum cc_op)m->made->arg[0];
    enum cc_dtype dtype = m->node->dtype;
    find_terms(op, m->made->src[0], &t);
    if (all_products(&t)) {
        bool fresh;
        uint32_t c = chain_of(l, t.term[0]->src[0], &fresh);
        if (fresh)
            product_chain(l, &t, l->base[c]);
        return;
    }
    for (unsigned s = 0; s < m->spread; s++) {
        cc_ref v = old(l, dtype, m->at + s);
        for (uint32_t i = s; i < t.n; i += m->spread)
            v = cc_alu2(l->g, op, v, t.term[i]);
        push(l, store3(l->g, l->begun[dtype], number(l, m->at + s), v));
    }
}

/* Registers begin as what changes nothing. */
static void begin(struct loop *l, const struct member *m, cc_ref outer_of[])
{
    enum cc_dtype dtype = m->node->dtype;
    cc_ref zero = identity(l->g, (enum cc_op)m->made->arg[0], dtype);
    for (unsigned s = 0; s < m->spread && l->n_first < l->cap; s++)
        l->first[l->n_first++] =
            store3(l->g, outer_of[dtype], number(l, m->at + s), zero);
}

static cc_ref finish(struct loop *l, const struct member *m, cc_ref end)
{
    enum cc_dtype dtype = m->node->dtype;
    cc_ref done = cc_simplify_node(l->g, cc_after(l->g, l->begun[dtype], end));
    cc_ref v = NULL;
    for (unsigned s = 0; s < m->spread; s++) {
        cc_ref x = cc_alu2(l->g, CC_LOAD, done, number(l, m->at + s));
        v = v ? cc_alu2(l->g, (enum cc_op)m->made->arg[0], v, x) : x;
    }
    return v;
}

static cc_ref group_of(struct cc_graph *g, cc_ref *list, uint32_t n)
{
    while (n > 100) { /* operations take only so many sources */
        uint32_t out = 0;
        for (uint32_t i = 0; i < n; i += 100)
            list[out++] = cc_group(g, n - i < 100 ? n - i : 100, list + i);
        n = out;
    }
    return n == 1 ? list[0] : cc_group(g, n, list);
}

/* The ranges that any of them is in, loops first made outermost. */
static uint32_t outer_ranges(struct cc_graph *g, struct cc_map *memo,
                             const struct member *m, uint32_t n, cc_ref *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct cc_live *live = cc_live(g, memo, m[i].made);
        for (uint32_t j = 0; live && j < live->n && count < 128; j++) {
            uint32_t k = 0;
            while (k < count && out[k] != live->range[j])
                k++;
            if (k == count)
                out[count++] = live->range[j];
        }
    }
    return count;
}

/* Lower the members of one loop; done: out, what each of them is now. */
static void lower_loop(struct loop *l, struct cc_map *memo, struct member *m,
                       uint32_t n, struct cc_map *done)
{
    cc_ref outer[128], outside[CC_DT_COUNT] = {NULL};
    uint32_t n_outer = outer_ranges(l->g, memo, m, n, outer);
    for (uint32_t i = 0; i < n; i++)
        reserve(l, &m[i], n);
    for (unsigned d = 0; d < CC_DT_COUNT; d++)
        if (l->used[d]) {
            l->buffer[d] = cc_buffer(l->g, (enum cc_dtype)d, CC_SPACE_REG,
                                     l->g->next_slot++, 1, &l->used[d]);
            outside[d] = cc_tail(l->g, CC_AFTER, l->buffer[d], n_outer, outer);
        }
    for (uint32_t i = 0; i < n && l->g->status == RD_OK; i++)
        begin(l, &m[i], outside);
    cc_ref before = group_of(l->g, l->first, l->n_first);
    for (unsigned d = 0; d < CC_DT_COUNT; d++)
        if (l->used[d]) {
            l->begun[d] = cc_after(l->g, l->buffer[d], before);
            l->inside[d] = cc_simplify_node(
                l->g, cc_tail(l->g, CC_AFTER, l->begun[d], l->n_ranges, l->ranges));
        }
    l->n_chains = 0;
    for (uint32_t i = 0; i < n && l->g->status == RD_OK; i++)
        accumulate(l, &m[i]);
    cc_ref end =
        cc_end(l->g, group_of(l->g, l->stores, l->n_stores), l->n_ranges, l->ranges);
    for (uint32_t i = 0; i < n && l->g->status == RD_OK; i++)
        if (cc_map_set(done, m[i].node, finish(l, &m[i], end)) != RD_OK)
            cc_fail(l->g, RD_E_NOMEM, "out of memory");
}

/* ---- all of them ---- */

struct reduces {
    struct cc_graph *g;
    cc_ref *nodes;
    uint32_t count;
    uint32_t *level; /* of each node: REDUCEs inside each other, itself included */
    uint32_t top;
    struct cc_map done, live, at; /* at: node -> its place in nodes + 1 */
    struct member *members;
    uint8_t *taken;
};

static bool is_reduce(cc_ref n)
{
    return n->op == CC_REDUCE && n->n_src > 1;
}

static bool same_ranges(cc_ref a, cc_ref b)
{
    return a->n_src == b->n_src &&
           memcmp(a->src + 1, b->src + 1, (a->n_src - 1) * sizeof(cc_ref)) == 0;
}

static void find_levels(struct reduces *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        cc_ref n = s->nodes[i];
        for (uint32_t j = 0; j < n->n_src; j++) {
            uintptr_t k = (uintptr_t)cc_map_get(&s->at, n->src[j]);
            s->level[i] = s->level[k - 1] > s->level[i] ? s->level[k - 1] : s->level[i];
        }
        s->level[i] += is_reduce(n);
        s->top = s->level[i] > s->top ? s->level[i] : s->top;
        if (cc_map_set(&s->at, n, (const void *)(uintptr_t)(i + 1)) != RD_OK)
            cc_fail(s->g, RD_E_NOMEM, "out of memory");
    }
}

/* The loop of node i, with all others of its level over the same ranges. */
static void lower_with(struct reduces *s, uint32_t i)
{
    struct loop *l = calloc(1, sizeof *l);
    uint32_t n = 0;
    for (uint32_t j = i; j < s->count; j++)
        if (is_reduce(s->nodes[j]) && s->level[j] == s->level[i] && !s->taken[j] &&
            same_ranges(s->nodes[j], s->nodes[i])) {
            s->taken[j] = 1;
            s->members[n++] = (struct member){
                .node = s->nodes[j], .made = cc_rebuild(s->g, s->nodes[j], &s->done)};
        }
    uint32_t cap = n * 8 * SPREAD;
    cc_ref *lists = calloc(2ull * cap, sizeof *lists);
    if (l && lists && s->g->status == RD_OK) {
        l->g = s->g;
        l->stores = lists;
        l->first = lists + cap;
        l->cap = cap;
        l->n_ranges = s->members[0].made->n_src - 1;
        if (l->n_ranges > 2 * CC_MAX_DIMS)
            l->n_ranges = 2 * CC_MAX_DIMS;
        memcpy(l->ranges, s->members[0].made->src + 1, l->n_ranges * sizeof(cc_ref));
        lower_loop(l, &s->live, s->members, n, &s->done);
    } else {
        cc_fail(s->g, RD_E_NOMEM, "out of memory");
    }
    free(lists);
    free(l);
}

static void lower_level(struct reduces *s, uint32_t level)
{
    for (uint32_t i = 0; i < s->count && s->g->status == RD_OK; i++)
        if (s->level[i] == level && is_reduce(s->nodes[i]) && !s->taken[i])
            lower_with(s, i);
    for (uint32_t i = 0; i < s->count && s->g->status == RD_OK; i++) {
        if (s->level[i] != level || is_reduce(s->nodes[i]))
            continue;
        cc_ref r = cc_simplify_node(s->g, cc_rebuild(s->g, s->nodes[i], &s->done));
        if (cc_map_set(&s->done, s->nodes[i], r) != RD_OK)
            cc_fail(s->g, RD_E_NOMEM, "out of memory");
    }
}

static void lower_all(struct reduces *s)
{
    find_levels(s);
    for (uint32_t level = 0; level <= s->top && s->g->status == RD_OK; level++)
        lower_level(s, level);
}

cc_ref cc_lower_reduce(struct cc_graph *g, cc_ref sink)
{
    struct reduces s = {.g = g};
    if (cc_sorted(g, sink, &s.nodes, &s.count) != RD_OK)
        return &g->invalid;
    s.level = calloc(s.count + 1ull, sizeof *s.level);
    s.members = calloc(s.count + 1ull, sizeof *s.members);
    s.taken = calloc(s.count + 1ull, 1);
    if (s.level && s.members && s.taken)
        lower_all(&s);
    else
        cc_fail(g, RD_E_NOMEM, "out of memory");
    cc_ref r = cc_map_get(&s.done, sink);
    free(s.nodes);
    free(s.level);
    free(s.members);
    free(s.taken);
    cc_map_free(&s.done);
    cc_map_free(&s.live);
    cc_map_free(&s.at);
    return g->status == RD_OK && r ? r : &g->invalid;
}
