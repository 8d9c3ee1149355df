/* walk.c: visiting what a node needs, and maps by node.
 *
 * Without recursion: graphs are as deep as they are large. Sources come first.
 * SPDX-License-Identifier: MIT
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct frame {
    cc_ref n;
    uint32_t next;
};

struct walker {
    struct frame *stack;
    uint32_t depth, cap;
    uint8_t *seen;
    cc_ref *out;
    uint32_t count;
};

static rd_status push(struct walker *w, cc_ref n)
{
    if (w->seen[n->id])
        return RD_OK;
    w->seen[n->id] = 1;
    if (!cc_room(&w->stack, &w->cap, w->depth + 1, sizeof *w->stack))
        return RD_E_NOMEM;
    w->stack[w->depth++] = (struct frame){n, 0};
    return RD_OK;
}

rd_status cc_toposort(cc_ref root, cc_ref **nodes, uint32_t *count)
{
    if (root->op == CC_INVALID)
        return RD_E_INVALID;
    struct walker w = {.seen = calloc(root->id + 1ull, 1),
                       .out = malloc((root->id + 1ull) * sizeof(cc_ref))};
    rd_status st = w.seen && w.out ? push(&w, root) : RD_E_NOMEM;
    while (st == RD_OK && w.depth) {
        struct frame *f = &w.stack[w.depth - 1];
        if (f->next < f->n->n_src) {
            st = push(&w, f->n->src[f->next++]);
        } else {
            w.out[w.count++] = f->n;
            w.depth--;
        }
    }
    free(w.stack);
    free(w.seen);
    if (st != RD_OK) {
        free(w.out);
        return st;
    }
    *nodes = w.out;
    *count = w.count;
    return RD_OK;
}

rd_status cc_sorted(struct cc_graph *g, cc_ref root, cc_ref **nodes, uint32_t *count)
{
    rd_status st = g->status == RD_OK ? cc_toposort(root, nodes, count) : g->status;
    if (st != RD_OK)
        cc_fail(g, st, "no graph, or out of memory");
    return st;
}

const void *cc_map_get(const struct cc_map *m, cc_ref n)
{
    return n->id < m->cap ? m->at[n->id] : NULL;
}

rd_status cc_map_set(struct cc_map *m, cc_ref n, const void *value)
{
    if (n->op == CC_INVALID)
        return RD_E_INVALID;
    if (n->id >= m->cap) {
        uint32_t cap = m->cap ? m->cap : 64;
        while (cap <= n->id)
            cap *= 2;
        const void **at = realloc(m->at, cap * sizeof *at);
        if (!at)
            return RD_E_NOMEM;
        memset(at + m->cap, 0, (cap - m->cap) * sizeof *at);
        m->at = at;
        m->cap = cap;
    }
    m->at[n->id] = value;
    return RD_OK;
}

void cc_map_free(struct cc_map *m)
{
    free(m->at);
    m->at = NULL;
    m->cap = 0;
}
