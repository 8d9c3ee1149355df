/* kernelize.c: from expressions to kernels with explicit buffers.
 *
 * What is computed once per element of its users is fused; memory is made for what is
 * asked for, for CONTIGUOUS, for what a reduction would compute again and again, and
 * between a reduction and the next one. A kernel is a SINK over PARAMs; its KERNEL node
 * lists the BUFFERs by slot, each AFTER the kernel that writes it. Runs nothing.
 * SPDX-License-Identifier: MIT
 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPLIT_FROM                                                                     \
    32768               /* elements of a reduction with little else to do in parallel */
#define SPLIT_MAX  8192 /* work-items that share it */
#define MAX_INPUTS 62

struct kernelize {
    struct cc_context *c;
    struct cc_graph *g;
    struct cc_map now;     /* node -> what replaces it: memory, or itself rebuilt */
    struct cc_map reduces; /* replaced nodes with a reduction that is not yet memory */
    uint32_t *uses;        /* by id */
};

static cc_ref make_kernel(struct kernelize *k, cc_ref n);

/* ---- large reductions in two steps ---- */

/* One sum of many elements: work-items sum every d-th element, then one sums those. */
static cc_ref split_reduce(struct kernelize *k, cc_ref n)
{
    cc_ref s = n->src[0];
    int64_t shape[CC_MAX_DIMS + 1], total = 1, parts = SPLIT_MAX;
    if (n->op != CC_REDUCE || n->n_src != 1 || s->ndim >= CC_MAX_DIMS)
        return n;
    for (uint32_t i = 1; i < n->n_arg; i++)
        total *= s->shape[n->arg[i]];
    int64_t axis = n->n_arg > 1 ? n->arg[1] : 0;
    for (uint32_t i = 1; i < n->n_arg; i++)
        if (s->shape[n->arg[i]] > s->shape[axis])
            axis = n->arg[i];
    if (total < SPLIT_FROM || cc_elements(n) >= 256)
        return n;
    int64_t size = s->shape[axis];
    while (parts > 1 && (size % parts || size / parts < 4))
        parts /= 2;
    if (parts < 8)
        return n;
    for (int64_t i = 0; i < s->ndim; i++)
        shape[i + (i > axis)] = s->shape[i];
    shape[axis] = size / parts;
    shape[axis + 1] = parts;
    cc_ref two = cc_reshape(k->g, s, s->ndim + 1u, shape);
    cc_ref first = cc_uop(k->g, CC_REDUCE, CC_DT_VOID, 1, &two, 2,
                          (int64_t[]){n->arg[0], axis}, NULL);
    first =
        cc_alu1(k->g, CC_CONTIGUOUS, first); /* the shape of s again, axis smaller */
    return cc_uop(k->g, CC_REDUCE, CC_DT_VOID, 1, &first, n->n_arg, n->arg, NULL);
}

/* ---- what becomes memory ---- */

static bool has_reduce(struct kernelize *k, cc_ref n)
{
    return cc_map_get(&k->reduces, n) != NULL;
}

static bool repeats(cc_ref n)
{
    return n->op == CC_EXPAND && cc_elements(n) > cc_elements(n->src[0]);
}

/* Rebuild over memory where there is some; sources are done. */
static cc_ref replace(struct kernelize *k, cc_ref n)
{
    cc_ref few[3];
    if (cc_realized(n) || n->op == CC_KERNEL || n->n_src == 0 || n->n_src > 3)
        return n;
    for (uint32_t i = 0; i < n->n_src; i++) {
        few[i] = cc_map_get(&k->now, n->src[i]);
        if (has_reduce(k, few[i]) && (repeats(n) || n->op == CC_REDUCE))
            few[i] = make_kernel(k, few[i]);
    }
    cc_ref r = cc_with_src(k->g, n, few);
    bool reduces = r->op == CC_REDUCE;
    for (uint32_t i = 0; i < r->n_src; i++)
        reduces = reduces || has_reduce(k, r->src[i]);
    if (reduces && cc_map_set(&k->reduces, r, r) != RD_OK)
        return cc_fail(k->g, RD_E_NOMEM, "out of memory");
    if (r->op == CC_CONTIGUOUS || (r->op == CC_REDUCE && k->uses[n->id] > 1))
        r = make_kernel(k, r);
    return r;
}

/* ---- one kernel ---- */

struct inputs {
    cc_ref memory[MAX_INPUTS];
    uint32_t n;
};

static cc_ref input(struct kernelize *k, struct inputs *in, cc_ref memory)
{
    uint32_t i = 0;
    char text[96];
    while (i < in->n && in->memory[i] != memory)
        i++;
    if (i == MAX_INPUTS)
        return cc_fail(k->g, RD_E_RANGE, "%s: a kernel of more than %d buffers",
                       cc_describe(memory, text, sizeof text), MAX_INPUTS);
    if (i == in->n)
        in->memory[in->n++] = memory;
    cc_ref buffer = cc_realized(memory);
    return cc_param(k->g, buffer->dtype, i + 1, buffer->ndim, buffer->shape);
}

/* The expression over PARAMs. */
static cc_ref over_params(struct kernelize *k, struct inputs *in, cc_ref root)
{
    struct cc_map done = {0};
    cc_ref *nodes, r = root;
    uint32_t count;
    if (cc_visible(root, &nodes, &count) != RD_OK)
        return cc_fail(k->g, RD_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count && k->g->status == RD_OK; i++) {
        r = cc_realized(nodes[i]) ? input(k, in, nodes[i])
                                  : cc_rebuild(k->g, nodes[i], &done);
        if (cc_map_set(&done, nodes[i], r) != RD_OK)
            cc_fail(k->g, RD_E_NOMEM, "out of memory");
    }
    free(nodes);
    cc_map_free(&done);
    return r;
}

/* e_ or r_ (with reductions) and the shape. */
static void name_kernel(cc_ref n, bool reduces, char *name, size_t size)
{
    int used = snprintf(name, size, "%c", reduces ? 'r' : 'e');
    for (unsigned i = 0; i < n->ndim && (size_t)used + 24 < size; i++)
        used +=
            snprintf(name + used, size - (size_t)used, "_%lld", (long long)n->shape[i]);
}

/* AFTER(BUFFER, KERNEL) that holds the value of n. */
static cc_ref make_kernel(struct kernelize *k, cc_ref n)
{
    cc_ref known = cc_map_get(&k->now, n), src[MAX_INPUTS + 2];
    struct inputs in = {.n = 0};
    char name[120];
    if (cc_realized(n) || n->op == CC_INVALID)
        return n;
    if (known && cc_realized(known))
        return known;
    cc_ref value = over_params(k, &in, n);
    if (value->op == CC_INVALID)
        return value;
    cc_ref out = cc_new_buffer(k->c, n->dtype, n->ndim, n->shape);
    cc_ref target = cc_param(k->g, n->dtype, 0, n->ndim, n->shape);
    cc_ref store = cc_store(k->g, target, value);
    name_kernel(n, has_reduce(k, n), name, sizeof name);
    src[0] = cc_sink(k->g, 1, &store, name);
    src[1] = out;
    memcpy(src + 2, in.memory, in.n * sizeof *src);
    cc_ref kernel = cc_uop(k->g, CC_KERNEL, CC_DT_VOID, in.n + 2, src, 0, NULL, NULL);
    cc_ref after = cc_after(k->g, out, kernel);
    if (after->op != CC_INVALID && cc_map_set(&k->now, n, after) != RD_OK)
        return cc_fail(k->g, RD_E_NOMEM, "out of memory");
    return after;
}

/* ---- all of it ---- */

static void count_uses(struct kernelize *k, const cc_ref *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < nodes[i]->n_src && !cc_realized(nodes[i]); j++)
            k->uses[nodes[i]->src[j]->id]++;
}

/* Put everything below root through f, in a graph of replacements. */
static rd_status rebuild_all(struct kernelize *k, cc_ref root,
                             cc_ref (*f)(struct kernelize *, cc_ref))
{
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_visible(root, &nodes, &count);
    if (st != RD_OK)
        return st;
    free(k->uses);
    k->uses = calloc(root->id + 1ull, sizeof *k->uses);
    if (!k->uses)
        st = RD_E_NOMEM;
    if (st == RD_OK)
        count_uses(k, nodes, count);
    for (uint32_t i = 0; i < count && st == RD_OK; i++) {
        if (cc_map_get(&k->now, nodes[i]))
            continue;
        cc_ref r = f(k, nodes[i]);
        st = k->g->status == RD_OK ? cc_map_set(&k->now, nodes[i], r) : k->g->status;
    }
    free(nodes);
    return st;
}

/* First pass: CONTIGUOUS where large reductions are cut. */
static cc_ref split_step(struct kernelize *k, cc_ref n)
{
    if (cc_realized(n) || n->op == CC_KERNEL)
        return n;
    return split_reduce(k, cc_rebuild(k->g, n, &k->now));
}

/* The tensor's own node, as memory. */
static rd_status one_target(struct kernelize *k, struct cc_tensor *t)
{
    cc_ref old = t->ref;
    if (cc_realized(old))
        return RD_OK;
    struct cc_map kept = k->now;
    k->now = (struct cc_map){0};
    rd_status st = rebuild_all(k, old, split_step);
    cc_ref split = st == RD_OK ? cc_map_get(&k->now, old) : old;
    cc_map_free(&k->now);
    k->now = kept;
    if (st == RD_OK)
        st = rebuild_all(k, split, replace);
    if (st != RD_OK)
        return st;
    cc_ref memory = make_kernel(k, cc_map_get(&k->now, split));
    if (k->g->status != RD_OK)
        return k->g->status;
    return cc_map_set(&k->now, old, memory);
}

/* Every tensor that computes from what is memory now reads that memory. */
static rd_status update_tensors(struct kernelize *k, const cc_ref *olds, size_t n)
{
    struct cc_context *c = k->c;
    struct cc_map done = {0};
    rd_status st = RD_OK;
    for (size_t i = 0; i < n && st == RD_OK; i++)
        st = cc_map_set(&done, olds[i], cc_map_get(&k->now, olds[i]));
    for (struct cc_tensor *t = c->tensors; t && st == RD_OK; t = t->next) {
        cc_ref *nodes;
        uint32_t count;
        st = cc_visible(t->ref, &nodes, &count);
        for (uint32_t i = 0; i < count && st == RD_OK; i++)
            if (!cc_map_get(&done, nodes[i]))
                st = cc_map_set(&done, nodes[i],
                                nodes[i]->op == CC_KERNEL || cc_realized(nodes[i])
                                    ? nodes[i]
                                    : cc_rebuild(c->g, nodes[i], &done));
        if (st == RD_OK)
            t->ref = cc_map_get(&done, t->ref);
        free(nodes);
    }
    cc_map_free(&done);
    return st;
}

rd_status cc_kernelize(struct cc_context *c, size_t n, struct cc_tensor *const *tensors)
{
    struct kernelize k = {.c = c, .g = c->g};
    cc_ref *olds = calloc(n + 1, sizeof *olds);
    size_t n_olds = 0;
    rd_status st = olds ? c->g->status : RD_E_NOMEM;
    for (size_t i = 0; i < n && st == RD_OK; i++) {
        if (!cc_realized(tensors[i]->ref))
            olds[n_olds++] = tensors[i]->ref;
        st = one_target(&k, tensors[i]);
    }
    if (st == RD_OK)
        st = update_tensors(&k, olds, n_olds);
    free(olds);
    free(k.uses);
    cc_map_free(&k.now);
    cc_map_free(&k.reduces);
    return st;
}
