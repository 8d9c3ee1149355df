/* context.c: tensors, their memory, and running kernels.
 *
 * Knows neither how kernels are made (kernelize.c) nor who runs them.
 * SPDX-License-Identifier: MIT
 */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rd_status interpret(void *user, const struct cc_prog *p, size_t n_args,
                           const struct cc_arg_buffer *args, char *error)
{
    (void)user;
    return cc_interpret(p, n_args, args, error);
}

rd_status cc_context_create(cc_run_fn *run, void *user, struct cc_context **out)
{
    struct cc_context *c = calloc(1, sizeof *c);
    if (!c)
        return RD_E_NOMEM;
    rd_status st = cc_graph_create(&c->g);
    if (st != RD_OK) {
        free(c);
        return st;
    }
    cc_context_set_runner(c, run, user);
    *out = c;
    return RD_OK;
}

void cc_context_set_runner(struct cc_context *c, cc_run_fn *run, void *user)
{
    c->run = run ? run : interpret;
    c->user = user;
}

void cc_context_destroy(struct cc_context *c)
{
    if (!c)
        return;
    while (c->tensors) {
        struct cc_tensor *next = c->tensors->next;
        free(c->tensors);
        c->tensors = next;
    }
    for (uint64_t i = 0; i < c->cap_buffers; i++)
        free(c->buffers[i].data);
    free(c->buffers);
    cc_map_free(&c->done);
    cc_graph_destroy(c->g);
    free(c);
}

struct cc_graph *cc_context_graph(struct cc_context *c)
{
    return c->g;
}

const char *cc_context_error(const struct cc_context *c)
{
    return c->g->status != RD_OK ? c->g->error : c->error;
}

uint64_t cc_context_runs(const struct cc_context *c)
{
    return c->runs;
}

cc_ref cc_tensor_ref(const struct cc_tensor *t)
{
    return t->ref;
}

cc_ref cc_new_buffer(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                     const int64_t *shape)
{
    return cc_buffer(c->g, dtype, CC_SPACE_GLOBAL, (unsigned)c->g->next_buffer++, ndim,
                     shape);
}

cc_ref cc_realized(cc_ref n)
{
    if (n->op == CC_AFTER && n->n_src == 2 && n->src[1]->op == CC_KERNEL)
        n = n->src[0];
    return n->op == CC_BUFFER && n->arg[0] == CC_SPACE_GLOBAL ? n : NULL;
}

rd_status cc_visible(cc_ref root, cc_ref **nodes, uint32_t *count)
{
    uint32_t all, kept = 0;
    rd_status st = cc_toposort(root, nodes, &all);
    if (st != RD_OK)
        return st;
    bool *seen = calloc(root->id + 1ull, sizeof *seen);
    if (!seen) {
        free(*nodes);
        return RD_E_NOMEM;
    }
    seen[root->id] = true;
    for (uint32_t i = all; i-- > 0;)
        for (uint32_t j = 0; j < (*nodes)[i]->n_src; j++)
            if (seen[(*nodes)[i]->id] && !cc_realized((*nodes)[i]))
                seen[(*nodes)[i]->src[j]->id] = true;
    for (uint32_t i = 0; i < all; i++)
        if (seen[(*nodes)[i]->id])
            (*nodes)[kept++] = (*nodes)[i];
    free(seen);
    *count = kept;
    return RD_OK;
}

rd_status cc_buffer_memory(struct cc_context *c, cc_ref buffer,
                           struct cc_arg_buffer **memory)
{
    uint64_t slot = (uint64_t)buffer->arg[1];
    uint64_t bytes = (uint64_t)cc_elements(buffer) * cc_dtype_bytes(buffer->dtype);
    if (slot >= c->cap_buffers) {
        uint64_t cap = 2 * slot + 16;
        struct cc_arg_buffer *bigger = realloc(c->buffers, cap * sizeof *bigger);
        if (!bigger)
            return RD_E_NOMEM;
        memset(bigger + c->cap_buffers, 0, (cap - c->cap_buffers) * sizeof *bigger);
        c->buffers = bigger;
        c->cap_buffers = cap;
    }
    struct cc_arg_buffer *b = &c->buffers[slot];
    if (!b->data) {
        b->data = calloc(1, bytes + 16);
        if (!b->data)
            return RD_E_NOMEM;
        b->bytes = bytes;
    }
    *memory = b;
    return RD_OK;
}

rd_status cc_tensor_new(struct cc_context *c, cc_ref expr, struct cc_tensor **out)
{
    if (c->g->status != RD_OK)
        return c->g->status;
    struct cc_tensor *t = malloc(sizeof *t);
    if (!t)
        return RD_E_NOMEM;
    *t = (struct cc_tensor){c->tensors, expr};
    c->tensors = t;
    *out = t;
    return RD_OK;
}

rd_status cc_tensor_from(struct cc_context *c, enum cc_dtype dtype, unsigned ndim,
                         const int64_t *shape, const void *data, struct cc_tensor **out)
{
    struct cc_arg_buffer *memory;
    cc_ref buffer = cc_new_buffer(c, dtype, ndim, shape);
    rd_status st = c->g->status;
    if (st == RD_OK)
        st = cc_buffer_memory(c, buffer, &memory);
    if (st == RD_OK && data)
        memcpy(memory->data, data, memory->bytes);
    return st == RD_OK ? cc_tensor_new(c, buffer, out) : st;
}

/* ---- running ---- */

static rd_status run_kernel(struct cc_context *c, cc_ref kernel)
{
    struct cc_arg_buffer args[64], *memory;
    struct cc_prog *p;
    uint32_t n = kernel->n_src - 1;
    if (n > 64)
        return RD_E_RANGE;
    rd_status st = RD_OK;
    for (uint32_t i = 0; i < n && st == RD_OK; i++) {
        st = cc_buffer_memory(c, cc_realized(kernel->src[i + 1]), &memory);
        if (st == RD_OK)
            args[i] = *memory;
    }
    if (st == RD_OK)
        st = cc_linearize(c->g, kernel->src[0], &p);
    if (st != RD_OK)
        return st;
    st = c->run(c->user, p, n, args, c->error);
    c->runs++;
    cc_prog_destroy(p);
    return st;
}

/* Run what the node waits for, sources first. */
static rd_status run_kernels(struct cc_context *c, cc_ref root)
{
    cc_ref *nodes;
    uint32_t count;
    rd_status st = cc_toposort(root, &nodes, &count);
    if (st != RD_OK)
        return st;
    for (uint32_t i = 0; i < count && st == RD_OK; i++) {
        if (nodes[i]->op != CC_KERNEL || cc_map_get(&c->done, nodes[i]))
            continue;
        st = run_kernel(c, nodes[i]);
        if (st == RD_OK)
            st = cc_map_set(&c->done, nodes[i], nodes[i]);
    }
    free(nodes);
    return st;
}

rd_status cc_realize(struct cc_context *c, size_t n, struct cc_tensor *const *tensors)
{
    rd_status st = cc_kernelize(c, n, tensors);
    for (size_t i = 0; i < n && st == RD_OK; i++) {
        cc_ref after = tensors[i]->ref;
        st = run_kernels(c, after);
        for (struct cc_tensor *t = c->tensors; t && st == RD_OK; t = t->next)
            if (t->ref == after)
                t->ref = cc_realized(after);
    }
    return st;
}

rd_status cc_tensor_read(struct cc_context *c, struct cc_tensor *t, void *data,
                         uint64_t bytes)
{
    struct cc_arg_buffer *memory;
    rd_status st = cc_realize(c, 1, &t);
    if (st == RD_OK)
        st = cc_buffer_memory(c, t->ref, &memory);
    if (st != RD_OK)
        return st;
    if (bytes != memory->bytes) {
        snprintf(c->error, sizeof c->error, "the tensor has %llu bytes, not %llu",
                 (unsigned long long)memory->bytes, (unsigned long long)bytes);
        return RD_E_INVALID;
    }
    memcpy(data, memory->data, bytes);
    return RD_OK;
}
